"""The table of what became of requests that were clarified."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from winnow.adapters.store.database import Connection, Database
from winnow.core.clarify.clarification import Clarification
from winnow.core.text.encoding import from_json, to_json
from winnow.ports import Overtaken, StoreError

OVERTAKEN = "This is being clarified elsewhere, too: go on there, or send a message to go on here."


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

    async def save(self, known: Clarification) -> Clarification:
        """See `ports.Clarified.save`."""
        kept = msgspec.structs.replace(known, saved=known.saved + 1)

        def write(db: Connection) -> bool:
            query = "SELECT known FROM clarified WHERE id = ?"
            if (row := db.execute(query, (known.id,)).fetchone()) is not None:
                with suppress(msgspec.MsgspecError):  # what can't be read guards nothing
                    if from_json(row[0], Clarification).saved != known.saved:
                        return False
            change = "INSERT OR REPLACE INTO clarified VALUES (?, ?)"
            db.execute(change, (known.id, to_json(kept)))
            return True

        if await self._database.write(write) is False:  # None: it will be written
            raise Overtaken(OVERTAKEN)
        return kept
