"""The table of decisions."""

from __future__ import annotations

import logging

import msgspec

from winnow.adapters.store.database import Connection
from winnow.core.ledger.ledger import Decision
from winnow.core.text.encoding import from_json, to_json

log = logging.getLogger(__name__)


def save(db: Connection, decision: Decision) -> None:
    """Add to the ledger."""
    insert = "INSERT INTO decisions (key, decision) VALUES (?, ?)"
    db.execute(insert, (decision.key, to_json(decision)))


def decisions(db: Connection, key: str) -> list[Decision]:
    """All of it, or what was decided about the question of this key; newest first.

    A row that can't be understood is left out, so that it does not hide the others.
    """
    query = "SELECT decision FROM decisions WHERE ? IN ('', key) ORDER BY id DESC"
    rows = db.execute(query, (key,)).fetchall()
    return [decision for (text,) in rows if (decision := _decision(text)) is not None]


def _decision(text: str) -> Decision | None:
    try:
        return from_json(text, Decision)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        log.warning("a decision can't be read: %s", type(error).__name__)
        return None
