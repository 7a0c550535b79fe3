"""The table of the user's words that an agent may not have yet."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec

from winnow.adapters.store.database import Connection
from winnow.core.text.encoding import from_json, to_json, to_name
from winnow.ports import Message

log = logging.getLogger(__name__)


def save(db: Connection, message: Message) -> None:
    """Insert or replace."""
    row = (message.id, to_name(message.chat), to_json(message))
    db.execute("INSERT OR REPLACE INTO messages (id, chat, message) VALUES (?, ?, ?)", row)


def forget(db: Connection, ids: Sequence[str]) -> None:
    """These have arrived."""
    db.executemany("DELETE FROM messages WHERE id = ?", [(one,) for one in ids])


def of_chat(db: Connection, chat: str) -> list[Message]:
    """Those of a chat, the oldest first."""
    query = "SELECT message FROM messages WHERE chat = ? ORDER BY rowid"
    return [found for (text,) in db.execute(query, (to_name(chat),)) if (found := _message(text))]


def _message(text: str) -> Message | None:
    try:
        return from_json(text, Message)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        log.warning("a message can't be read: %s", type(error).__name__)
        return None
