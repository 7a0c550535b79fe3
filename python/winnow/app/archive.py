"""The store as a chat uses it: what fails is told to the user, and the chat goes on without."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from winnow import ports
from winnow.core.ledger import Decision

log = logging.getLogger(__name__)


class Archive:
    """A `ports.Store` that never raises.

    Args:
        store: where things are kept.
        tell: takes a sentence for the user. What can't be kept is told once, until it can again;
            what can't be read is missing, and only logged.
    """

    def __init__(self, store: ports.Store, tell: Callable[[str], None]) -> None:
        self._store = store
        self._tell = tell
        self._keeps = True  # it took what it was given last

    def new_id(self) -> str:
        """See `ports.Store.new_id`."""
        return self._store.new_id()

    def save(self, section: ports.StoredSection) -> None:
        """See `ports.Store.save`."""
        with self._keeping():
            self._store.save(section)

    def record(self, decisions: Sequence[Decision]) -> None:
        """See `ports.Store.record`."""
        with self._keeping():
            self._store.record(decisions)

    def load(self, section_id: str) -> ports.StoredSection | None:
        """See `ports.Store.load`."""
        with _reading():
            return self._store.load(section_id)
        return None

    def discussed(self, chat: str) -> list[ports.StoredSection]:
        """See `ports.Store.discussed`."""
        with _reading():
            return self._store.discussed(chat)
        return []

    def decisions(self, key: str = "") -> list[Decision]:
        """See `ports.Store.decisions`."""
        with _reading():
            return self._store.decisions(key)
        return []

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        try:
            yield
        except ports.StoreError as error:
            log.error("%s", error.sentence)
            if self._keeps:
                self._tell(error.sentence)
            self._keeps = False
        else:
            self._keeps = True


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except ports.StoreError as error:
        log.error("%s", error.sentence)
