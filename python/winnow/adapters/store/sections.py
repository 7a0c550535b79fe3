"""The table of sections. A row that can't be understood costs only itself."""

from __future__ import annotations

import logging
import time
from typing import Any

import msgspec

from winnow.adapters.store.database import Connection
from winnow.core.text.encoding import from_json, from_name, packed, to_name
from winnow.core.text.text import renewed
from winnow.ports import StoredSection

log = logging.getLogger(__name__)

_COLUMNS = "id, chat, marker, tool, input, state, lines, created, call"
_BIG = 1 << 16  # characters; of what was answered, only small inputs are ever shown again


def save(db: Connection, section: StoredSection) -> None:
    """Insert or replace."""
    row = (
        section.id,
        to_name(section.chat),
        section.marker,
        section.tool,
        packed(section.input),
        section.state,
        packed(section.lines),
        section.created,
        section.call,
    )
    # An update leaves the row where it is: they are read in the order in which they were made,
    # whatever the clock said.
    db.execute(
        f"INSERT INTO sections ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET input = excluded.input, state = excluded.state, "
        "lines = excluded.lines, call = excluded.call",
        row,
    )


def of_chat(db: Connection, chat: str) -> list[StoredSection]:
    """A chat's sections, the oldest first."""
    query = (
        "SELECT id, chat, marker, tool, CASE WHEN state = 'answered' AND length(input) > ? "
        "THEN '{}' ELSE input END, state, lines, created, call FROM sections WHERE chat = ? "
        "ORDER BY rowid"
    )
    return [found for row in db.execute(query, (_BIG, to_name(chat))) if (found := _section(row))]


def markers(db: Connection) -> list[str]:
    """Those of all chats."""
    return [str(marker) for (marker,) in db.execute("SELECT marker FROM sections")]


def drop_old(db: Connection, keep_hours: float) -> None:
    """Forget what was not answered in this time; 0: nothing."""
    if keep_hours > 0:
        drop = "DELETE FROM sections WHERE created < ? AND state != 'answered'"
        db.execute(drop, (time.time() - keep_hours * 3600,))


def _section(row: tuple[Any, ...]) -> StoredSection | None:
    section_id, chat, marker, tool, arguments, state, lines, created, call = row
    try:
        return msgspec.convert(
            {
                "id": section_id,
                "chat": from_name(chat),
                "marker": marker,
                "tool": tool,
                "input": from_json(arguments, dict[str, Any]),
                "state": state,
                "lines": [renewed(line) for line in from_json(lines, list[str])],
                "created": created,
                "call": call,
            },
            StoredSection,
        )
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        log.warning("a section can't be read: %s", type(error).__name__)
        return None
