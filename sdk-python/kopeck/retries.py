from __future__ import annotations

import math
import random
from email.utils import parsedate_to_datetime

from .errors import KopeckError, TemporaryError

_FIRST_DELAY = 2.0
_MAX_DELAY = 60.0


def retry_delay(retry: int, retry_after: float | None = None) -> float:
    """Seconds before retry number `retry` (from 1): 2 s, doubled each time, plus up to 50% jitter so that clients do not
    come back at the same moment, and never less than `Retry-After`."""
    growing = min(_FIRST_DELAY * 2 ** (retry - 1), _MAX_DELAY)
    return max(growing * (1 + random.random() / 2), retry_after or 0)


def retry_after_of(error: KopeckError) -> float | None:
    return error.retry_after if isinstance(error, TemporaryError) else None


def should_retry(error: KopeckError, repeatable: bool) -> bool:
    """Never after a 4xx other than 429: the request must be fixed. `repeatable` is false for requests that must not be done
    twice and have no key: then only 429 and 503, which did nothing, are retried."""
    # For a longer `Retry-After` than a call should wait, the caller gets the error at once.
    if not error.retryable or (retry_after_of(error) or 0) > _MAX_DELAY:
        return False
    if error.status in (429, 503):
        return True
    return repeatable and (error.status is None or error.status >= 500)


def read_retry_after(header: str | None, now: float) -> float | None:
    """Seconds, or a date."""
    if not header:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(0.0, float(math.ceil(parsedate_to_datetime(header).timestamp() - now)))
    except ValueError:
        return None
