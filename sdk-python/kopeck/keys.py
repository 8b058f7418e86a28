from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from typing import Protocol


class KeyStore(Protocol):
    """Stores the idempotency keys of orders, so that a restarted program retries with the same key."""

    def get(self, external_id: str) -> str | None: ...

    def set(self, external_id: str, key: str) -> None:
        """The payment is sent only after this has stored the key."""


#: Enough for recent orders; for more, use a store.
_MAX_REMEMBERED = 10_000


class Keys:
    """One key per order, also when the program calls `create` again: calling twice never pays twice. A client forgets the
    key when the payment has failed. Keys survive restarts only in a store, where they stay."""

    def __init__(self, store: KeyStore | None) -> None:
        self._store = store
        self._open: OrderedDict[str, str] = OrderedDict()
        # Threads that pay the same order at once get the same key.
        self._lock = threading.Lock()

    def take(self, external_id: str | None, given: str | None) -> str:
        """The key to send for this order."""
        if external_id is None:
            return given or str(uuid.uuid4())
        with self._lock:
            if given is not None:
                return self._remember(external_id, self._keep(external_id, given))
            known = self._open.get(external_id)
            return known or self._remember(external_id, self._find(external_id))

    def failed(self, external_id: str | None) -> None:
        """The payment of this order has failed: the next one is a new payment with a new key."""
        if external_id is not None:
            with self._lock:
                self._open.pop(external_id, None)

    def _find(self, external_id: str) -> str:
        known = self._store.get(external_id) if self._store else None
        return known or self._keep(external_id, str(uuid.uuid4()))

    def _keep(self, external_id: str, key: str) -> str:
        if self._store:
            self._store.set(external_id, key)
        return key

    def _remember(self, external_id: str, key: str) -> str:
        self._open[external_id] = key
        self._open.move_to_end(external_id)
        if len(self._open) > _MAX_REMEMBERED:
            self._open.popitem(last=False)
        return key
