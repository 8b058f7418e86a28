from __future__ import annotations

from typing import Any


class KopeckError(Exception):
    """Any failure of a call. Decide by `code`; the message is for people and may change."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        request_id: str | None = None,
        retryable: bool = False,
        same_key: bool | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        #: Of the HTTP answer, if there was one.
        self.status = status
        #: Give it to support.
        self.request_id = request_id
        #: Whether the same request may succeed later. The library has already made all its retries.
        self.retryable = retryable
        #: Whether the payment must keep its key when it is sent again; with a new key it may be paid twice.
        self.same_key = retryable if same_key is None else same_key
        #: The key of the payment that the call should create.
        self.idempotency_key = idempotency_key


class AuthenticationError(KopeckError):
    """401: the key is wrong, revoked, expired or missing."""


class PermissionDeniedError(KopeckError):
    """403: suspended, another address, a blocked recipient, a limit, or a scope that the key lacks."""


class InvalidRequestError(KopeckError):
    """400 and 422: the request must be fixed; `details` says where, if it is malformed."""

    details: list[dict[str, Any]] = []


class PaymentRefusedError(KopeckError):
    """402 and 409: the payment is refused in the current state."""

    #: With `insufficient_balance`.
    required_usdt: str | None = None
    balance_usdt: str | None = None


class NotFoundError(KopeckError):
    """404."""


class TemporaryError(KopeckError):
    """The service may accept the same request later."""

    retry_after: float | None = None


class RateLimitError(TemporaryError):
    """429, also after all retries."""


class ServiceUnavailableError(TemporaryError):
    """503 and other 5xx. The outcome of a payment is unknown unless `code` is one of the contract's 503 codes."""


class ConnectionFailedError(KopeckError):
    """The service was not reached, or its answer was lost: the outcome of a payment is unknown."""


class TimedOutError(KopeckError):
    """There was no answer in time: the outcome of a payment is unknown."""


class SignatureError(KopeckError):
    """A webhook that is not from the service, is too old, or was changed in transit."""


#: Only after these errors a payment needs another key.
_NEEDS_NEW_KEY = ("idempotency_conflict", "missing_idempotency_key")

_BY_STATUS: dict[int, type[KopeckError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    402: PaymentRefusedError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: PaymentRefusedError,
    422: InvalidRequestError,
    429: RateLimitError,
}


def error_from(
    status: int,
    body: Any,
    *,
    request_id: str | None,
    idempotency_key: str | None,
    retry_after: float | None,
) -> KopeckError:
    """The error for an answer other than 200. `body` is what its JSON says, or None."""
    found = body.get("error") if isinstance(body, dict) else None
    # Answers of proxies in between have no error object of the contract.
    error: dict[str, Any] = found if isinstance(found, dict) and isinstance(found.get("code"), str) else {}
    found = body.get("detail") if isinstance(body, dict) else None
    is_malformed = isinstance(found, list)
    detail: list[dict[str, Any]] = [one for one in found if isinstance(one, dict)] if is_malformed else []
    code: str = error.get("code") or ("malformed_request" if is_malformed else f"http_{status}")
    is_temporary = status in (429, 503) or (status >= 500 and not error)
    message = str(error.get("message") or f"The service answered {status}.")
    if is_malformed:
        message = "; ".join(f"{'.'.join(map(str, one.get('loc', [])))}: {one.get('msg')}" for one in detail)
    kind = _BY_STATUS.get(status, ServiceUnavailableError if status >= 500 else KopeckError)
    made = (InvalidRequestError if is_malformed else kind)(
        message,
        code=code,
        status=status,
        request_id=request_id or error.get("request_id"),
        # A service that is older than the library sends no advice.
        retryable=error.get("retryable", is_temporary),
        # A refused request does not use up its key: an attempt whose answer was lost is found by the same key.
        same_key=error.get("same_key", code not in _NEEDS_NEW_KEY),
        idempotency_key=idempotency_key,
    )
    if isinstance(made, InvalidRequestError):
        made.details = detail
    if isinstance(made, PaymentRefusedError):
        made.required_usdt = error.get("required_usdt")
        made.balance_usdt = error.get("balance_usdt")
    if isinstance(made, TemporaryError):
        made.retry_after = retry_after
    return made
