"""The tables of what the user decided about projects and modes."""

from __future__ import annotations

from winnow.adapters.store.database import Database
from winnow.core.asking.trust import Verdict, Verdicts
from winnow.core.text.encoding import to_name


class SqliteDecided:
    """Implements `ports.Decided`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def verdicts(self, root: str) -> dict[str, Verdict]:
        """See `ports.Decided.verdicts`."""
        query = "SELECT entry, verdict FROM verdicts WHERE root = ? ORDER BY rowid"
        of = (to_name(root),)
        return await self._database.read(lambda db: dict(db.execute(query, of).fetchall()))

    async def decide(self, root: str, verdicts: Verdicts) -> None:
        """See `ports.Decided.decide`."""
        rows = [(to_name(root), entry, verdict) for entry, verdict in verdicts.items()]
        change = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)"
        await self._database.write(lambda db: db.executemany(change, rows))

    async def forget(self, root: str) -> None:
        """See `ports.Decided.forget`."""
        change = "DELETE FROM verdicts WHERE root = ?"
        await self._database.write(lambda db: db.execute(change, (to_name(root),)))

    async def mode(self, chat: str) -> str:
        """See `ports.Decided.mode`."""
        query = "SELECT mode FROM modes WHERE chat = ?"
        of = (to_name(chat),)
        row = await self._database.read(lambda db: db.execute(query, of).fetchone())
        return str(row[0]) if row else ""

    async def set_mode(self, chat: str, mode: str) -> None:
        """See `ports.Decided.set_mode`."""
        change = "INSERT OR REPLACE INTO modes VALUES (?, ?)"
        await self._database.write(lambda db: db.execute(change, (to_name(chat), mode)))
