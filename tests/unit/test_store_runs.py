"""Runs on disk: events that only ever grow, and transcripts read by one query."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from winnow.adapters.store import SqliteStore
from winnow.core.run import events as e
from winnow.core.run.transcript import RunTurn
from winnow.core.transcript.entries import Called, Said, Told
from winnow.ports import Message

STARTED = e.RunStarted(1.5, "abcd", "/chat.md", "/shop", "Do \ud83d it")
CREATED = e.TaskCreated(2, "abcd", "t1", "A", "Do it", ("t0",), e.WorkerOptions(budget=2))
OTHER = e.RunFinished(3, "efgh", "Done.")
TURNS = [
    RunTurn("abcd", "t1", 0, "orchestrator", Told("Do \ud83d it"), 1),
    RunTurn("abcd", "t1", 1, "agent", Called("c", "Bash", {"command": "ls"}), 2),
]


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    return tmp_path / "winnow.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, lambda *_: None)
    yield store
    store.close()


async def test_events_and_turns_are_kept(store: SqliteStore, path: Path) -> None:
    """In order, together with messages; also by the next host."""
    await store.save(STARTED, Message("2b", "run", "Hi"), TURNS[0])
    await store.save(CREATED, OTHER, TURNS[1], TURNS[1])
    store.close()
    again = SqliteStore(path, lambda *_: None)
    assert await again.runs.events("abcd") == [STARTED, CREATED]
    assert await again.runs.events() == [STARTED, CREATED, OTHER]
    assert await again.runs.turns("abcd", "t1") == TURNS
    assert await again.runs.turns("abcd", "t2") == []
    assert await again.runs.lengths("abcd") == {"t1": 2}
    assert [message.id for message in await again.messages("run")] == ["2b"]
    again.close()


async def test_only_what_is_needed_is_read(store: SqliteStore) -> None:
    """Of a task its own; of all runs those that live, then what is new."""
    await store.save(STARTED, CREATED, e.Told(2, "abcd", "t11", 'about "task":"t1"'), OTHER)
    assert await store.runs.of_task("abcd", "t1") == [CREATED]
    assert (await store.runs.news(0, 0.0))[0][0] == STARTED
    found, place = await store.runs.news(0, 2.5)
    assert found == [OTHER]
    assert await store.runs.news(place, 2.5) == ([], place)
    late = e.RunFinished(4, "abcd", "Late")
    await store.save(late)
    assert await store.runs.news(place, 2.5) == ([late], place + 1)


async def test_no_event_is_ever_changed(store: SqliteStore, path: Path) -> None:
    await store.save(STARTED)
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="never changed"), db:
        db.execute("UPDATE run_events SET run = 'x'")
    db.close()


async def test_what_is_damaged_costs_only_itself(store: SqliteStore, path: Path) -> None:
    await store.save(CREATED, TURNS[0])
    db = sqlite3.connect(path)
    with db:
        db.execute("INSERT INTO run_events (run, event) VALUES ('abcd', '{\"type\":\"x\"}')")
        db.execute("INSERT INTO run_turns VALUES ('abcd', 't1', 9, 'x')")
    db.close()
    await store.save(OTHER)
    assert await store.runs.events() == [CREATED, OTHER]
    assert await store.runs.turns("abcd", "t1") == TURNS[:1]


async def test_what_could_not_be_written_is_kept_beside(path: Path) -> None:
    """Another process has the file until Neovim ends."""
    store = SqliteStore(path, lambda *_: None)
    await store.runs.events()
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    store.save(STARTED, TURNS[0])
    store.close(0.4)
    lock.execute("ROLLBACK")
    lock.close()
    again = SqliteStore(path, lambda *_: None)
    assert await again.runs.events() == [STARTED]
    assert await again.runs.turns("abcd", "t1") == TURNS[:1]
    again.close()


async def test_it_is_fast(store: SqliteStore) -> None:
    """An event takes 1 ms, 10,000 turns 100 ms on an idle machine; here is room for a busy one."""
    await store.runs.events()
    before = time.perf_counter()
    for at in range(200):
        await store.save(msgspec.structs.replace(CREATED, at=at))
    assert (time.perf_counter() - before) / 200 < 0.02
    turns = [RunTurn("abcd", "t1", n, "agent", Said(f"Words {n} " * 10), n) for n in range(10_000)]
    await store.save(*turns)
    before = time.process_time()  # reading is all computing: others' work doesn't count
    assert await store.runs.turns("abcd", "t1") == turns
    assert time.process_time() - before < 1
