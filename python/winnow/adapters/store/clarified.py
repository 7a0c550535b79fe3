"""The table of what became of requests that were clarified."""

from __future__ import annotations

import msgspec

from winnow.adapters.store.database import Database
from winnow.core.clarify.clarification import Clarification
from winnow.core.text.encoding import from_json, to_json
from winnow.ports import StoreError


class SqliteClarified:
    """Implements `ports.Clarified`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, id: str) -> Clarification | None:
        """See `ports.Clarified.load`."""
        query = "SELECT known FROM clarified WHERE id = ?"
        row = await self._database.read(lambda db: db.execute(query, (id,)).fetchone())
        try:
            return from_json(row[0], Clarification) if row else None
        except msgspec.MsgspecError as error:
            raise StoreError(f"What was clarified here can't be read: {error}.") from error

    async def save(self, known: Clarification) -> None:
        """See `ports.Clarified.save`."""
        change = "INSERT OR REPLACE INTO clarified VALUES (?, ?)"
        await self._database.write(lambda db: db.execute(change, (known.id, to_json(known))))
