"""The client library of the Kopeck partner API."""

from .client import Kopeck
from .errors import (
    AuthenticationError,
    ConnectionFailedError,
    InvalidRequestError,
    KopeckError,
    NotFoundError,
    PaymentRefusedError,
    PermissionDeniedError,
    RateLimitError,
    ServiceUnavailableError,
    SignatureError,
    TimedOutError,
)
from .events import PositionStore
from .keys import KeyStore
from .payments import PaymentList
from .transport import Http, HttpRequest, HttpResponse
from .types import Payment, PaymentEvent
from .webhook import SIGNATURE_HEADER, verify_webhook

__all__ = [
    "SIGNATURE_HEADER",
    "AuthenticationError",
    "ConnectionFailedError",
    "Http",
    "HttpRequest",
    "HttpResponse",
    "InvalidRequestError",
    "KeyStore",
    "Kopeck",
    "KopeckError",
    "NotFoundError",
    "Payment",
    "PaymentEvent",
    "PaymentList",
    "PaymentRefusedError",
    "PermissionDeniedError",
    "PositionStore",
    "RateLimitError",
    "ServiceUnavailableError",
    "SignatureError",
    "TimedOutError",
    "verify_webhook",
]
