"""What is kept on disk: sections, the ledger, and the user's words on their way to the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from winnow.adapters.store import ledger, messages, runs, sections
from winnow.adapters.store.clarified import SqliteClarified
from winnow.adapters.store.database import Connection, Database
from winnow.adapters.store.decided import SqliteDecided
from winnow.adapters.store.markers import Markers
from winnow.adapters.store.runs import SqliteRuns
from winnow.adapters.store.spill import Spill
from winnow.core.ledger.ledger import Decision
from winnow.core.never import assert_never
from winnow.core.run.events import RunEvent
from winnow.core.run.transcript import RunTurn
from winnow.ports import Kept, Message, StoredSection

Tell = Callable[[str, bool], None]

SOON = 0.1  # seconds that others wait for the file


class SqliteStore:
    """The store port over one SQLite file, which every Neovim of this user shares.

    Attributes:
        decided: the `ports.Decided` in the same file.
        runs: the `ports.Runs` in it.
        clarified: the `ports.Clarified` in it.

    Args:
        path: the database file; its folder is made when missing.
        tell: takes a sentence for the user, and whether all is well.
        keep_hours: unanswered sections that are older are dropped now; 0: none.
    """

    def __init__(self, path: Path, tell: Tell, keep_hours: float = 0) -> None:
        self._markers = Markers()
        self._spill = Spill(path)
        self._unsaved: dict[object, tuple[Kept, ...]] = {}  # in the order in which they came
        self._last: asyncio.Future[None] | None = None  # of what was to be saved

        def opened(db: Connection) -> None:
            for file, left in self._spill.take():
                for one in left:
                    _save(db, one)
                db.commit()
                file.unlink(missing_ok=True)
            sections.drop_old(db, keep_hours)
            self._markers.taken(sections.markers(db))

        self._database = Database(path, tell, opened)
        self.decided = SqliteDecided(self._database)
        self.runs = SqliteRuns(self._database)
        self.clarified = SqliteClarified(self._database)

    def new_marker(self) -> str:
        """See `ports.Store.new_marker`."""
        return self._markers.new()

    def save(self, *kept: Kept) -> asyncio.Future[None]:
        """See `ports.Store.save`."""
        # Of edits to one section only the last is written, see `Database.write`.
        alone = kept[0].id if len(kept) == 1 and isinstance(kept[0], StoredSection) else ""
        key: object = alone or object()
        self._unsaved.pop(key, None)
        self._unsaved[key] = kept

        def run(db: Connection) -> None:
            for one in kept:
                _save(db, one)
            db.commit()
            if self._unsaved.get(key) is kept:
                del self._unsaved[key]

        self._last = self._database.write(run, alone)
        return self._last

    async def settled(self) -> None:
        """Return when all is saved that is to be until now, or soon, if that takes long."""
        if self._last is not None:
            await asyncio.wait({self._last}, timeout=SOON)

    def forget(self, messages_: Sequence[str]) -> asyncio.Future[None]:
        """See `ports.Store.forget`."""
        return self._database.write(lambda db: messages.forget(db, messages_))

    def sections(self, chat: str) -> asyncio.Future[list[StoredSection]]:
        """See `ports.Store.sections`."""
        return self._database.read(lambda db: sections.of_chat(db, chat), patient=True)

    def messages(self, chat: str) -> asyncio.Future[list[Message]]:
        """See `ports.Store.messages`."""
        return self._database.read(lambda db: messages.of_chat(db, chat), patient=True)

    def decisions(self, key: str = "") -> asyncio.Future[list[Decision]]:
        """See `ports.Store.decisions`."""
        return self._database.read(lambda db: ledger.decisions(db, key))

    def close(self, patience: float = 2) -> None:
        """Write what is still to be written, for so many seconds; then give the file back.

        What takes longer is kept beside it, where the next host finds it.
        """
        self._database.close(patience / 4)
        if unsaved := [one for kept in list(self._unsaved.values()) for one in kept]:
            self._spill.write(unsaved)
            self._database.join(patience * 3 / 4)
            if not self._unsaved:
                self._spill.clear()


def _save(db: Connection, kept: Kept) -> None:
    match kept:
        case StoredSection():
            sections.save(db, kept)
        case Decision():
            ledger.save(db, kept)
        case Message():
            messages.save(db, kept)
        case RunEvent():
            runs.save_event(db, kept)
        case RunTurn():
            runs.save_turn(db, kept)
        case _:
            assert_never(kept)
