from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from .errors import KopeckError
from .keys import Keys
from .retries import should_retry
from .transport import Transport
from .types import Payment, PaymentPage

_FIRST_POLL = 1.0
_MAX_POLL = 10.0


class PaymentList:
    """All matching payments, newest first: `for payment in …`."""

    def __init__(self, transport: Transport, query: Mapping[str, Any]) -> None:
        self._transport = transport
        self._query = query

    def page(self) -> PaymentPage:
        """Only the first page; `next_cursor` goes into `starting_after` of the next."""
        return self._page(self._query.get("starting_after"))

    def __iter__(self) -> Iterator[Payment]:
        # The cursor is a payment, not an offset: payments created meanwhile shift nothing.
        after = self._query.get("starting_after")
        while True:
            page = self._page(after)
            yield from page["data"]
            after = page["next_cursor"]
            if not page["has_more"] or after is None:
                return

    def _page(self, after: str | None) -> PaymentPage:
        return self._transport.json("GET", "payments", query={**self._query, "starting_after": after})


class Payments:
    def __init__(self, transport: Transport, keys: Keys) -> None:
        self._transport = transport
        self._keys = keys

    def create(
        self,
        *,
        qr_url: str,
        amount_rub: str | int | Decimal | None = None,
        external_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        quote_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Payment:
        """Pays a QR code once, however often the request is retried. The payment may still be `processing`."""
        if idempotency_key is not None and not re.fullmatch(r"[\x20-\x7e]{1,255}", idempotency_key):
            raise ValueError("idempotency_key must be 1 to 255 printable ASCII characters")
        body = {
            "qr_url": qr_url,
            "amount_rub": amount_rub,
            "external_id": external_id,
            "metadata": metadata,
            "quote_id": quote_id,
        }
        key = self._keys.take(external_id, idempotency_key)
        payment: Payment = self._transport.json("POST", "payments", body=body, idempotency_key=key)
        if payment["status"] == "failed":
            self._keys.failed(external_id)
        return payment

    def create_and_wait(
        self,
        *,
        qr_url: str,
        amount_rub: str | int | Decimal | None = None,
        external_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        quote_id: str | None = None,
        idempotency_key: str | None = None,
        wait: float = 120,
    ) -> Payment:
        """Pays and waits for the outcome. After `wait` seconds it returns the payment as it is: `processing` is not a
        refusal, so it is no error. Do not pay again and do not refund; the outcome comes with the webhook or a later `get`.
        """
        payment = self.create(
            qr_url=qr_url,
            amount_rub=amount_rub,
            external_id=external_id,
            metadata=metadata,
            quote_id=quote_id,
            idempotency_key=idempotency_key,
        )
        return self._wait_from(payment, wait)

    def wait(self, payment_id: str, *, wait: float = 120) -> Payment:
        """Waits for the outcome of a payment; after `wait` seconds it may still be `processing`."""
        return self._wait_from(self.get(payment_id), wait)

    def get(self, payment_id: str) -> Payment:
        return self._transport.json("GET", f"payments/{quote(payment_id, safe='')}")

    def list(
        self,
        *,
        status: str | None = None,
        external_id: str | None = None,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
        limit: int | None = None,
        starting_after: str | None = None,
    ) -> PaymentList:
        query = {
            "status": status,
            "external_id": external_id,
            "created_after": created_after,
            "created_before": created_before,
            "limit": limit,
            "starting_after": starting_after,
        }
        return PaymentList(self._transport, query)

    def _wait_from(self, known: Payment, wait: float) -> Payment:
        """Polls with backoff. A service that cannot be reached for a while does not end the wait."""
        until = self._transport.now() + wait
        payment = known
        pause = _FIRST_POLL
        while payment["status"] == "processing":
            left = until - self._transport.now()
            if left <= 0:
                break
            self._transport.sleep(min(pause, _MAX_POLL, left))
            pause *= 1.5
            try:
                payment = self.get(payment["id"])
            except KopeckError as error:
                if not should_retry(error, True):
                    raise
        return payment
