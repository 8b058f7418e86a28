from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, TypeVar

from .errors import ConnectionFailedError, KopeckError, TimedOutError, error_from
from .retries import read_retry_after, retry_after_of, retry_delay, should_retry

Result = TypeVar("Result")


@dataclass(frozen=True)
class HttpRequest:
    method: str
    url: str
    #: Not shown: they have the API key.
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None
    #: In seconds.
    timeout: float


@dataclass(frozen=True)
class HttpResponse:
    status: int
    #: By their names in lower case.
    headers: Mapping[str, str]
    body: bytes


#: Sends a request once. A TimeoutError, another OSError or an HTTPException says that there is no answer.
Http = Callable[[HttpRequest], HttpResponse]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Followed, a payment would become a GET, or the key would go to another host."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)
_CHUNK = 65_536


def send_with_urllib(request: HttpRequest) -> HttpResponse:
    end = time.monotonic() + request.timeout
    wanted = urllib.request.Request(
        request.url, data=request.body, headers=dict(request.headers), method=request.method
    )
    try:
        response = _opener.open(wanted, timeout=request.timeout)
    except urllib.error.HTTPError as refused:
        response = refused
    with response:
        chunks: list[bytes] = []
        while chunk := response.read(_CHUNK):
            chunks.append(chunk)
            if time.monotonic() > end:
                raise TimeoutError("the answer is too slow")
        headers = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(response.status, headers, b"".join(chunks))


class Transport:
    """Sends requests, and retries them as section 7 of the contract says: each time the same bytes with the same key."""

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        max_retries: int,
        timeout: float,
        http: Http,
        sleep: Callable[[float], None],
        now: Callable[[], float],
    ) -> None:
        if not isinstance(api_key, str) or not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise ValueError("api_key must be the key of the service, such as svc_test_…")
        address = urllib.parse.urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise ValueError("base_url must be a URL such as https://pay.example.com")
        self._authorization = f"Bearer {api_key}"
        self._base = base_url if base_url.endswith("/") else f"{base_url}/"
        self._max_retries = max_retries
        self._timeout = timeout
        self._http = http
        self.sleep = sleep
        self.now = now

    def json(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        repeatable: bool = True,
    ) -> Any:
        """The JSON of the answer."""
        request = self._request(method, path, query, body, idempotency_key)
        return self._send(request, _read_object, idempotency_key, repeatable)

    def text(self, path: str, is_complete: Callable[[str], bool], query: Mapping[str, Any]) -> str:
        """The text that `GET` answers, if it is complete."""

        def read(text: str) -> str:
            if not is_complete(text):
                raise ValueError("the text is incomplete")
            return text

        return self._send(self._request("GET", path, query, None, None), read, None, True)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        idempotency_key: str | None,
    ) -> HttpRequest:
        given = {name: _text_of(value) for name, value in (query or {}).items() if value is not None}
        url = f"{self._base}v1/{path}" + (f"?{urllib.parse.urlencode(given)}" if given else "")
        headers = {"Authorization": self._authorization}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return HttpRequest(method, url, headers, None if body is None else _bytes_of(body), self._timeout)

    def _send(
        self,
        request: HttpRequest,
        read: Callable[[str], Result],
        idempotency_key: str | None,
        repeatable: bool,
    ) -> Result:
        retry = 1
        while True:
            try:
                return self._send_once(request, read, idempotency_key)
            except KopeckError as error:
                if retry > self._max_retries or not should_retry(error, repeatable):
                    raise
                pause = retry_delay(retry, retry_after_of(error))
            self.sleep(pause)
            retry += 1

    def _send_once(
        self, request: HttpRequest, read: Callable[[str], Result], idempotency_key: str | None
    ) -> Result:
        """Whatever goes wrong is a KopeckError."""
        unknown: dict[str, Any] = {"retryable": True, "same_key": True, "idempotency_key": idempotency_key}
        try:
            response = self._http(request)
        except (OSError, http.client.HTTPException) as cause:
            # While it connects, urllib wraps what went wrong.
            if isinstance(getattr(cause, "reason", cause), TimeoutError):
                message = f"No response within {self._timeout:g} s."
                raise TimedOutError(message, code="timeout", **unknown) from cause
            message = "The service could not be reached, or its response was lost."
            raise ConnectionFailedError(message, code="connection_failed", **unknown) from cause
        request_id = response.headers.get("x-request-id")
        if response.status != 200:
            raise error_from(
                response.status,
                _parse(response.body),
                request_id=request_id,
                idempotency_key=idempotency_key,
                retry_after=read_retry_after(response.headers.get("retry-after"), self.now()),
            )
        try:
            return read(response.body.decode())
        except ValueError as cause:
            message = "The response cannot be parsed."
            raise ConnectionFailedError(
                message, code="unreadable_answer", request_id=request_id, **unknown
            ) from cause


def _text_of(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    return str(value)


def _bytes_of(body: Mapping[str, Any]) -> bytes:
    given = {name: value for name, value in body.items() if value is not None}
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"), default=_amount_of).encode()


def _amount_of(value: Any) -> str:
    if isinstance(value, Decimal):
        # Never 1E+2, which `str` makes of a normalized amount.
        return f"{value:f}"
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _read_object(text: str) -> Any:
    """Some proxies answer 200 with their own page."""
    answer = json.loads(text)
    if not isinstance(answer, dict):
        raise ValueError("not an answer")
    return answer
