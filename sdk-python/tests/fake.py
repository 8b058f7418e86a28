"""A client with a scripted service, whose last step repeats, and a clock that moves only by sleeping."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kopeck import HttpRequest, HttpResponse, Kopeck

PAYMENT = {
    "id": "pay_01m7ehqr39e00aq7xw60wbe32j",
    "object": "payment",
    "mode": "test",
    "status": "succeeded",
    "external_id": "order-42",
    "metadata": {},
}

Step = Callable[[], HttpResponse]


def answer(status: int, body: Any, headers: dict[str, str] | None = None) -> Step:
    text = body if isinstance(body, str) else json.dumps(body)
    return lambda: HttpResponse(status, headers or {}, text.encode())


def refusal(
    status: int, code: str, extra: dict[str, Any] | None = None, headers: dict[str, str] | None = None
) -> Step:
    error = {"code": code, "message": f"about {code}", "request_id": "req_1", **(extra or {})}
    return answer(status, {"error": error}, {"x-request-id": "req_1", **(headers or {})})


def cut() -> HttpResponse:
    raise ConnectionResetError("gone")


def late() -> HttpResponse:
    raise TimeoutError("late")


class Scripted:
    def __init__(self, *script: Step, **options: Any) -> None:
        self.requests: list[HttpRequest] = []
        self.pauses: list[float] = []
        #: 2026-11-15T10:00:00Z
        self.now = 1_794_736_800.0
        self._script = script
        self.kopeck = Kopeck(
            "svc_test_abc_secret",
            "https://pay.example/base",
            **{"http": self._send, "sleep": self._sleep, "now": lambda: self.now, **options},
        )

    def _send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        return self._script[min(len(self.requests), len(self._script)) - 1]()

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
