from __future__ import annotations

import re
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Literal, overload

from . import types
from .events import Events
from .keys import Keys, KeyStore
from .payments import Payments
from .transport import Http, Transport, send_with_urllib


class Kopeck:
    """The partner API. Fields have the names of the contract; amounts are decimal strings, never floats.

    `api_key`: `svc_test_…` or `svc_live_…`; it can spend money: keep it on your server. `base_url`: where the service is, such
    as `https://pay.example.com`. `keys` stores the idempotency key of each `external_id`, so that a restarted program retries
    with the same key. `max_retries`: how often a request is retried at most. `timeout`: how many seconds one attempt may take;
    an answer may take 90 s. `http`, `sleep` and `now` (Unix seconds) are for tests.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        keys: KeyStore | None = None,
        max_retries: int = 5,
        timeout: float = 95,
        http: Http = send_with_urllib,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._transport = Transport(
            api_key, base_url, max_retries=max_retries, timeout=timeout, http=http, sleep=sleep, now=now
        )
        self.payments = Payments(self._transport, Keys(keys))
        self.events = Events(self._transport)
        self.qr = Qr(self._transport)
        #: For test keys only.
        self.test = Test(self._transport)

    def ping(self) -> types.Ping:
        """The partner and the mode of the key."""
        return self._transport.json("GET", "ping")

    def balance(self) -> types.Balance:
        return self._transport.json("GET", "balance")

    def rate(self) -> types.Rate:
        return self._transport.json("GET", "rate")

    def quote(self, *, amount_rub: str | int | Decimal, lock: bool | None = None) -> types.Quote:
        """What would be debited now for an amount in rubles. With `lock` the rate is kept: pay with its `quote_id`."""
        return self._transport.json("POST", "quote", body={"amount_rub": amount_rub, "lock": lock})

    @overload
    def statement(self, *, day: str, format: Literal["json"] = "json") -> types.Statement: ...

    @overload
    def statement(self, *, day: str, format: Literal["csv"]) -> str: ...

    def statement(self, *, day: str, format: Literal["json", "csv"] = "json") -> types.Statement | str:
        """The statement of a day (`YYYY-MM-DD`, in UTC), as an object or as the text of a CSV file."""
        query = {"day": day, "format": format}
        if format == "csv":
            return self._transport.text("statement", _has_digest, query)
        return self._transport.json("GET", "statement", query=query)


def _has_digest(text: str) -> bool:
    """It is the last line."""
    return re.search(r"(?:^|\n)digest,[^\n]*\n\Z", text) is not None


class Qr:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def resolve(self, *, qr_url: str) -> types.ResolvedQr:
        """The recipient and the amount of a QR code; nothing is debited."""
        return self._transport.json("POST", "qr/resolve", body={"qr_url": qr_url})


class Test:
    #: Programs that collect tests must not take it for one.
    __test__ = False

    def __init__(self, transport: Transport) -> None:
        self.clock = TestClock(transport)
        self.deposits = TestDeposits(transport)


class TestClock:
    __test__ = False

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def advance(self, *, seconds: int) -> types.TestClock:
        """Moves the test clock: outcomes, webhook retries and the two-hour review come so much earlier."""
        # Repeated after a lost answer, it would move the clock twice.
        return self._transport.json("POST", "test/clock", body={"advance_sec": seconds}, repeatable=False)

    def get(self) -> types.TestClock:
        return self._transport.json("GET", "test/clock")


class TestDeposits:
    __test__ = False

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, *, amount_usdt: str, reference: str) -> types.TestDeposit:
        """Credits the test balance, once per `reference`."""
        body = {"amount_usdt": amount_usdt, "reference": reference}
        return self._transport.json("POST", "test/deposits", body=body)
