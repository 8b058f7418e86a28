"""What the service answers. Amounts are decimal strings, never floats."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class PaymentFailure(TypedDict):
    code: str
    message: str


class _Refunded(TypedDict, total=False):
    #: Only once the recipient has returned money: the sum of all refunds. The status stays `succeeded`.
    refunded_rub: str
    refunded_usdt: str


class Payment(_Refunded):
    id: str
    object: Literal["payment"]
    mode: Literal["live", "test"]
    #: `processing` is not a refusal: the amount is debited and the outcome not yet known.
    status: Literal["processing", "succeeded", "failed"]
    status_detail: Literal["awaiting_gateway", "manual_review", "gateway_declined"] | None
    external_id: str | None
    recipient: str
    amount_rub: str
    amount_usdt: str
    #: RUB for 1 USDT, margin included.
    rate: str
    currency: Literal["RUB"]
    settlement_currency: Literal["USDT"]
    created_at: str
    settled_at: str | None
    error: PaymentFailure | None
    metadata: dict[str, Any]


class PaymentPage(TypedDict):
    data: list[Payment]
    has_more: bool
    next_cursor: str | None
    request_id: str


class PaymentEvent(TypedDict):
    """What a webhook carries and the feed lists."""

    id: str
    event: Literal["payment.succeeded", "payment.failed", "payment.refunded"]
    created_at: str
    data: Payment


class EventPage(TypedDict):
    data: list[PaymentEvent]
    has_more: bool
    #: Pass it as `after`, now or later; with `has_more` also if `data` is empty.
    next_cursor: str
    request_id: str


class Ping(TypedDict):
    ok: bool
    partner_id: str
    #: The mode of the key.
    mode: Literal["live", "test"]
    api_version: str
    request_id: str


class Balance(TypedDict):
    balance_usdt: str
    currency: Literal["USDT"]
    request_id: str


class Rate(TypedDict):
    pair: Literal["USDT/RUB"]
    rate: str
    #: Unix seconds of the exchange data.
    as_of: int
    max_age_sec: int
    #: True when the rate is too old and payments are not accepted.
    stale: bool
    request_id: str


class _Locked(TypedDict, total=False):
    #: Only with `lock`: pay with this `quote_id` before `expires_at`, once and with this amount.
    quote_id: str
    expires_at: str


class Quote(_Locked):
    amount_rub: str
    amount_usdt: str
    rate: str
    pair: Literal["USDT/RUB"]
    fee_rub: Literal["0.00"]
    as_of: int
    max_age_sec: int
    stale: bool
    request_id: str


class ResolvedQr(TypedDict):
    qrc_id: str
    recipient: str
    amount_rub: str
    currency: Literal["RUB"]
    purpose: str
    #: False when the recipient is blocked or the amount is outside the limits.
    payable: bool
    request_id: str


class Balances(TypedDict):
    topup_usdt: str
    treasury_usdt: str
    available_usdt: str
    held_usdt: str
    settled_usdt: str


#: `from` is a word of the language, so this one is not a class.
StatementEntry = TypedDict(
    "StatementEntry",
    {
        "entry_no": str,
        "at": str,
        "kind": str,
        "from": str,
        "to": str,
        "amount_usdt": str,
        "after": Balances,
        "payment_id": str | None,
        "reference": str | None,
    },
)


class OpenHold(TypedDict):
    entry_no: str
    at: str
    amount_usdt: str
    payment_id: str


class Statement(TypedDict):
    """The statement of one day in UTC. Once the day is over, it never changes, not by a byte."""

    object: Literal["statement"]
    partner_id: str
    mode: Literal["live", "test"]
    day: str
    #: False for today: more entries may follow.
    closed: bool
    currency: Literal["USDT"]
    opening: Balances
    entries: list[StatementEntry]
    closing: Balances
    open_holds: list[OpenHold]
    digest: str


class TestClock(TypedDict):
    object: Literal["test_clock"]
    #: Total time advanced, in seconds.
    advanced_sec: int
    request_id: str


class TestDeposit(TypedDict):
    object: Literal["test_deposit"]
    reference: str
    amount_usdt: str
    balance_usdt: str
    request_id: str
