from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from .errors import KopeckError
from .retries import retry_delay, should_retry
from .transport import Transport
from .types import EventPage, PaymentEvent


class PositionStore(Protocol):
    """Stores the position of a reader: one string, in a file, a row or a key. Each mode needs its own."""

    def load(self) -> str | None: ...

    def save(self, event_id: str) -> None: ...


_PAGE = 100


class Events:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, *, after: str | None = None, limit: int | None = None, extra_events: str | None = None
    ) -> EventPage:
        """One page, oldest first."""
        query = {"after": after, "limit": limit, "extra_events": extra_events}
        return self._transport.json("GET", "events", query=query)

    def read(
        self,
        *,
        store: PositionStore | None = None,
        start: str | None = None,
        extra_events: str | None = None,
        follow: bool = True,
        poll: float = 2.0,
        stop: threading.Event | None = None,
        on_error: Callable[[KopeckError], None] | None = None,
    ) -> Iterator[PaymentEvent]:
        """All events, oldest first, each at least once and none left out. An event counts as handled when the loop asks for
        the next one; after a `break` or an error it comes again.

        `start` is the id of the last event that you have, or `latest` for new events only; for an empty store. Without
        `follow` it ends after the last event. `stop` ends the loop. `on_error` gets failures that are retried.
        """
        position = (store.load() if store else None) or start
        failures = 0
        while not _is_set(stop):
            try:
                page = self.list(after=position, limit=_PAGE, extra_events=extra_events)
                failures = 0
            except KopeckError as error:
                if not follow or not should_retry(error, True):
                    raise
                if on_error:
                    on_error(error)
                failures += 1
                self._pause(retry_delay(failures), stop)
                continue
            for event in page["data"]:
                yield event
                # The loop asks for the next event, so this one has been handled.
                if store:
                    store.save(event["id"])
                position = event["id"]
                if _is_set(stop):
                    return
            # `latest` moves with each new event, so it is replaced by the place where it was. And a page can end after its
            # last event.
            if position == "latest" or page["has_more"]:
                if store and position != page["next_cursor"]:
                    store.save(page["next_cursor"])
                position = page["next_cursor"]
            if page["has_more"]:
                continue
            if not follow:
                return
            self._pause(poll, stop)

    def _pause(self, seconds: float, stop: threading.Event | None) -> None:
        if stop is None:
            self._transport.sleep(seconds)
        else:
            stop.wait(seconds)


def _is_set(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()
