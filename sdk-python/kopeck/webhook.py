from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import SignatureError
from .types import PaymentEvent

#: The header that carries the signature.
SIGNATURE_HEADER = "X-Service-Signature"


def verify_webhook(
    raw_body: bytes | str,
    header: str | Mapping[str, Any] | None,
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: Callable[[], float] = time.time,
) -> PaymentEvent:
    """The event of a webhook, if it is from the service and fresh; otherwise a SignatureError. The body must be the raw
    bytes: parsed and serialised again, it has another signature. While a secret is being rotated, pass both. Instead of the
    header `X-Service-Signature` all headers can be passed: without that one, those of Standard Webhooks are verified.
    """
    if not isinstance(raw_body, bytes | str):
        raise TypeError("verify_webhook needs the body as it came (bytes or str), not parsed JSON")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(isinstance(one, str) and one for one in secrets):
        raise ValueError("verify_webhook needs the webhook secret")
    signature = _read_signature(header)
    if not _is_signed(secrets, signature, body):
        raise _refused("signature_mismatch", "No signature matches: wrong secret, or the body was changed.")
    if abs(now() - int(signature.at)) > tolerance:
        raise _refused("timestamp_out_of_tolerance", f"The timestamp is off by more than {tolerance:g} s.")
    try:
        return json.loads(body)
    except ValueError as cause:
        raise _refused("body_malformed", "The body is not JSON.") from cause


@dataclass(frozen=True)
class _Signature:
    """What the headers of a webhook say."""

    #: Unix seconds, as they were written.
    at: str
    digests: list[bytes]
    #: What is signed before the body.
    prefix: str
    #: The key that a secret stands for.
    key_of: Callable[[str], bytes]


def _read_signature(header: str | Mapping[str, Any] | None) -> _Signature:
    if header is None or isinstance(header, str):
        return _read_header(header)
    own = _header_in(header, SIGNATURE_HEADER)
    return _read_header(own) if own or not _header_in(header, "webhook-signature") else _read_standard(header)


def _read_header(header: str | None) -> _Signature:
    """`t=<unix seconds>,v1=<hex>[,v1=<hex>…]`; unknown schemes are ignored."""
    if not header:
        raise _refused("signature_missing", f"The header {SIGNATURE_HEADER} is missing.")
    parts = [part.strip() for part in header.split(",")]
    times = [part[2:] for part in parts if part.startswith("t=")]
    digests = [bytes.fromhex(part[3:]) for part in parts if re.fullmatch(r"v1=[0-9a-f]{64}", part)]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0]) or not digests:
        raise _refused("signature_malformed", "The header is not t=<unix seconds>,v1=<hex digest>.")
    return _Signature(times[0], digests, f"{times[0]}.", str.encode)


def _read_standard(headers: Mapping[str, Any]) -> _Signature:
    """The headers of Standard Webhooks. Signatures are separated by spaces; those of other schemes are ignored."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    event_id, at, signatures = (_header_in(headers, name) or "" for name in names)
    digests = [
        _from_base64(part[3:])
        for part in signatures.split(" ")
        if re.fullmatch(r"v1,[A-Za-z0-9+/]{43}=", part)
    ]
    if not event_id or not re.fullmatch(r"[0-9]{1,12}", at) or not digests:
        raise _refused("signature_malformed", "The header webhook-signature is not v1,<base64>.")
    return _Signature(at, digests, f"{event_id}.{at}.", _standard_key)


def _standard_key(secret: str) -> bytes:
    """What follows `whsec_`."""
    try:
        return _from_base64(secret.removeprefix("whsec_"))
    except ValueError as cause:
        raise ValueError("the webhook secret is not whsec_ and base64") from cause


def _from_base64(text: str) -> bytes:
    """Also in the alphabet of base64url, which older secrets have."""
    padded = text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)
    return base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)


def _is_signed(secrets: Sequence[str], signature: _Signature, body: bytes) -> bool:
    signed = signature.prefix.encode() + body
    made = [hmac.new(signature.key_of(secret), signed, hashlib.sha256).digest() for secret in secrets]
    return any(hmac.compare_digest(one, digest) for one in made for digest in signature.digests)


def _header_in(headers: Mapping[str, Any], name: str) -> str | None:
    """Whatever the case of their names; of several with a name, all."""
    for key, value in headers.items():
        if key.lower() == name.lower():
            return value if isinstance(value, str) else ",".join(value)
    return None


def _refused(code: str, message: str) -> SignatureError:
    return SignatureError(message, code=code)
