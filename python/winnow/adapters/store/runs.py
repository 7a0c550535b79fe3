"""The tables of runs: their events, which only ever grow, and what was said in their tasks."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

import msgspec

from winnow.adapters.store.database import Connection, Database
from winnow.core.run.events import Event, RunEvent
from winnow.core.run.transcript import RunTurn
from winnow.core.text.encoding import from_json, to_json

log = logging.getLogger(__name__)

T = TypeVar("T")
_Any: Any = Event


def save_event(db: Connection, event: RunEvent) -> None:
    """Add to the events, once."""
    insert = "INSERT OR IGNORE INTO run_events (run, event) VALUES (?, ?)"
    db.execute(insert, (event.run, to_json(event)))


def save_turn(db: Connection, turn: RunTurn) -> None:
    """Add to a transcript; one that is there stays as it is."""
    row = (turn.run, turn.task, turn.index, to_json(turn))
    db.execute("INSERT OR IGNORE INTO run_turns VALUES (?, ?, ?, ?)", row)


class SqliteRuns:
    """Implements `ports.Runs`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def events(self, run: str = "") -> list[Event]:
        """See `ports.Runs.events`."""
        query = "SELECT event FROM run_events WHERE ? IN ('', run) ORDER BY id"
        if run:  # else its index would be of no use
            query = "SELECT event FROM run_events WHERE run = ? ORDER BY id"
        return await self._read(query, (run,), Event)

    async def of_task(self, run: str, task: str) -> list[Event]:
        """See `ports.Runs.of_task`."""
        query = "SELECT event FROM run_events WHERE run = ? AND instr(event, ?) ORDER BY id"
        found = await self._read(query, (run, to_json(task)), Event)
        return [event for event in found if getattr(event, "task", "") == task]

    async def news(self, after: int, since: float) -> tuple[list[Event], int]:
        """See `ports.Runs.news`."""

        def read(db: Connection) -> tuple[list[str], int]:
            query = "SELECT id, event FROM run_events WHERE id > ? ORDER BY id"
            (newest,) = db.execute("SELECT coalesce(max(id), 0) FROM run_events").fetchone()
            if after:
                found = db.execute(query, (after,)).fetchall()
            else:
                found = [row for run in _alive(db, since) for row in _all_of(db, run)]
            return [event for _, event in found], newest

        texts, newest = await self._database.read(read, patient=True)
        return _decoded(texts, Event), newest

    async def turns(self, run: str, task: str, last: int = 0) -> list[RunTurn]:
        """See `ports.Runs.turns`."""
        query = "SELECT turn FROM run_turns WHERE run = ? AND task = ? ORDER BY number"
        if not last:
            return await self._read(query, (run, task), RunTurn)
        found = await self._read(f"{query} DESC LIMIT {last:d}", (run, task), RunTurn)
        return found[::-1]

    async def lengths(self, run: str) -> dict[str, int]:
        """See `ports.Runs.lengths`."""
        query = "SELECT task, MAX(number) + 1 FROM run_turns WHERE run = ? GROUP BY task"
        return await self._database.read(
            lambda db: dict(db.execute(query, (run,)).fetchall()), patient=True
        )

    async def _read(self, query: str, of: tuple[str, ...], kind: Any) -> list[Any]:
        return await self._database.read(
            lambda db: _decoded([text for (text,) in db.execute(query, of)], kind), patient=True
        )


def _alive(db: Connection, since: float) -> list[str]:
    """The runs whose newest event is not older."""
    newest = "SELECT max(id) FROM run_events GROUP BY run"
    rows = db.execute(f"SELECT run, event FROM run_events WHERE id IN ({newest}) ORDER BY id")
    ends: list[tuple[str, RunEvent | None]] = [(run, _decode(event, _Any)) for run, event in rows]
    return [run for run, event in ends if event is None or event.at > since]


def _all_of(db: Connection, run: str) -> list[tuple[int, str]]:
    query = "SELECT id, event FROM run_events WHERE run = ? ORDER BY id"
    return db.execute(query, (run,)).fetchall()


def _decoded(texts: list[str], kind: Any) -> list[Any]:
    """All of them at once, which is ten times as fast; else one by one, without the damaged."""
    try:
        found: list[Any] = msgspec.json.decode(f"[{','.join(texts)}]", type=list[kind])
    except (msgspec.MsgspecError, UnicodeError):
        return [one for text in texts if (one := _decode(text, kind)) is not None]
    return found


def _decode(text: str, kind: type[T]) -> T | None:
    try:
        return from_json(text, kind)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        log.warning("a part of a run can't be read: %s", type(error).__name__)
        return None
