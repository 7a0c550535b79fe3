"""What the user decided about projects and modes, in the database of `winnow.adapters.store`."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from winnow.core.trust import Verdict, Verdicts
from winnow.ports import StoreError

T = TypeVar("T")

MIGRATIONS = (
    """
    CREATE TABLE verdicts (
        root TEXT NOT NULL, entry TEXT NOT NULL, verdict TEXT NOT NULL, PRIMARY KEY (root, entry)
    )
    """,
    "CREATE TABLE modes (chat TEXT PRIMARY KEY, mode TEXT NOT NULL)",
)
_PATIENCE = 5.0  # seconds to wait for another process


class SqliteDecided:
    """Implements `ports.Decided`, in other threads than the caller's.

    Args:
        path: the database file, which is there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    async def verdicts(self, root: str) -> dict[str, Verdict]:
        """See `ports.Decided.verdicts`."""
        query = "SELECT entry, verdict FROM verdicts WHERE root = ? ORDER BY rowid"
        return await self._run(lambda db: dict(db.execute(query, (root,)).fetchall()))

    async def decide(self, root: str, verdicts: Verdicts) -> None:
        """See `ports.Decided.decide`."""
        rows = [(root, entry, verdict) for entry, verdict in verdicts.items()]
        change = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)"
        await self._run(lambda db: db.executemany(change, rows))

    async def forget(self, root: str) -> None:
        """See `ports.Decided.forget`."""
        await self._run(lambda db: db.execute("DELETE FROM verdicts WHERE root = ?", (root,)))

    async def mode(self, chat: str) -> str:
        """See `ports.Decided.mode`."""
        query = "SELECT mode FROM modes WHERE chat = ?"
        row = await self._run(lambda db: db.execute(query, (chat,)).fetchone())
        return str(row[0]) if row else ""

    async def set_mode(self, chat: str, mode: str) -> None:
        """See `ports.Decided.set_mode`."""
        change = "INSERT OR REPLACE INTO modes VALUES (?, ?)"
        await self._run(lambda db: db.execute(change, (chat, mode)))

    async def _run(self, what: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            with _failing(), closing(sqlite3.connect(self._path, timeout=_PATIENCE)) as db, db:
                return what(db)

        return await asyncio.to_thread(run)


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeError) as error:
        raise StoreError(f"What you decided can't be kept or looked up: {error}.") from error
