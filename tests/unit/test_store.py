"""Sections, the ledger and messages on disk, whatever happens to the disk."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import winnow
from winnow.adapters.store import SqliteStore
from winnow.core.ledger.ledger import Decision
from winnow.ports import Message, StoredSection, StoreError

CHAT = "/chat.md"
SECTION = StoredSection(
    "1a", CHAT, "ab", "Ask", {"é": ["x", 1]}, "open", ["a", ""], 12.5, "toolu_1"
)
DECISION = Decision("Which\n“one”?", ("A, B", "C"), ("A, B",), ("C",), chat=CHAT, when=12.5)
MESSAGE = Message("2b", CHAT, "/deploy\n", call="toolu_1")

WRITER = """
import asyncio, sys
from pathlib import Path
from winnow.adapters.store import SqliteStore
from winnow.core.ledger.ledger import Decision
from winnow.ports import StoredSection
async def main():
    store = SqliteStore(Path(sys.argv[1]), print)
    for number in range(50):
        id = sys.argv[2] + str(number)
        section = StoredSection(id, sys.argv[2], store.new_marker(), "Ask", {})
        await store.save(section, Decision("Q?", ("A",), ("A",), chat=sys.argv[2]))
    store.close()
asyncio.run(main())
"""

Open = Callable[..., SqliteStore]


class Shelf:
    """Stores over one file, and what they have told the user."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told: list[tuple[str, bool]] = []
        self._open: list[SqliteStore] = []

    def store(self, keep_hours: float = 0) -> SqliteStore:
        """Another Neovim's."""
        self._open.append(SqliteStore(self.path, lambda *told: self.told.append(told), keep_hours))
        return self._open[-1]

    def sql(self, statement: str, *row: object) -> list[Any]:
        """Do something behind their backs."""
        db = sqlite3.connect(self.path)
        with db:
            found = db.execute(statement, row).fetchall()
        db.close()
        return found

    def close(self) -> None:
        """Close those that are open."""
        while self._open:
            self._open.pop().close()


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    """Where the database is to be."""
    shelf = Shelf(tmp_path / "winnow" / "winnow.db")
    yield shelf
    shelf.close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for it."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def aside(shelf: Shelf) -> Path:
    """Where an unusable file was moved to."""
    return next(shelf.path.parent.glob("winnow.db.unusable-??????"))


def write_from(path: Path, *chats: str) -> None:
    """Write from several processes at once."""
    command = [sys.executable, "-c", WRITER, str(path)]
    env = {"PYTHONPATH": str(Path(winnow.__file__).parents[1])}
    writers = [subprocess.Popen([*command, chat], env=env) for chat in chats]
    assert {writer.wait() for writer in writers} == {0}


async def test_all_outlives_the_process(shelf: Shelf) -> None:
    """The last state saved is the one that is found again, with what was saved beside it."""
    store = shelf.store()
    await store.save(StoredSection("1a", CHAT, "ab", "Ask", {}, created=12.5))
    await store.save(SECTION, DECISION, MESSAGE)
    shelf.close()
    again = shelf.store()
    assert await again.sections(CHAT) == [SECTION]
    assert await again.messages(CHAT) == [MESSAGE]
    assert await again.decisions() == [DECISION]
    await again.forget([MESSAGE.id])
    assert await again.messages(CHAT) == []
    assert shelf.told == []


async def test_nothing_is_found_by_another_chat(shelf: Shelf) -> None:
    """Even with the same marker."""
    store = shelf.store()
    await store.save(SECTION, MESSAGE)
    other = StoredSection("3c", "/else.md", "ab", "Ask", {"theirs": 1})
    await store.save(other)
    assert await store.sections("/else.md") == [other]
    assert await store.sections(CHAT) == [SECTION]
    assert await store.messages("/else.md") == []


async def test_only_its_owner_can_read_it(shelf: Shelf) -> None:
    """The journal and the folder's other files, too."""
    await shelf.store().save(SECTION)
    modes = {stat.S_IMODE(found.stat().st_mode) for found in shelf.path.parent.iterdir()}
    assert modes == {0o600}


async def test_a_corrupt_file_is_set_aside(shelf: Shelf) -> None:
    """Nothing of it is lost, a new file is begun, and the user is told."""
    shelf.path.parent.mkdir()
    shelf.path.write_text("x" * 5000)
    store = shelf.store()
    await store.save(SECTION)
    assert await store.sections(CHAT) == [SECTION]
    [(said, well)] = shelf.told
    assert said.endswith(f" {aside(shelf)}.")
    assert aside(shelf).read_text() == "x" * 5000
    assert not well


async def test_a_newer_file_is_set_aside(shelf: Shelf) -> None:
    """It is not changed: the newer Winnow may want it back."""
    await shelf.store().save(SECTION)
    shelf.close()
    shelf.sql("PRAGMA user_version = 99")
    assert await shelf.store().sections(CHAT) == []
    db = sqlite3.connect(aside(shelf))
    assert db.execute("SELECT id FROM sections").fetchall() == [("1a",)]
    db.close()


# --- a file that can't be used now --------------------------------------------------------------


async def test_what_is_shown_can_wait_for_what_is_saved(shelf: Shelf) -> None:
    """But not for long."""
    store = shelf.store()
    await store.settled()
    saved = store.save(SECTION)
    await store.settled()
    assert saved.done()
    lock = sqlite3.connect(shelf.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    saved = store.save(MESSAGE)
    await asyncio.wait_for(store.settled(), 5)
    assert not saved.done()
    lock.execute("ROLLBACK")
    lock.close()
    await saved


@pytest.mark.parametrize("opened", [True, False])
async def test_a_locked_file_is_waited_for(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, opened: bool
) -> None:
    """Nothing else waits meanwhile; the user is told once, and once when it is over."""
    monkeypatch.setattr("winnow.adapters.store.database.PATIENCE", 0.5)
    other = shelf.store()
    await other.save(StoredSection("0", CHAT, "aa", "Ask", {}))
    store = shelf.store() if opened else other
    if opened:
        await store.sections(CHAT)
    lock = sqlite3.connect(shelf.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    store = store if opened else shelf.store()
    before = time.monotonic()
    saved = [
        store.save(SECTION),
        store.save(SECTION, DECISION),
        store.save(MESSAGE),
    ]
    found = store.messages(CHAT) if opened else store.sections(CHAT)
    assert time.monotonic() - before < 0.1
    await asyncio.gather(*saved)  # all has been told
    assert [well for _, well in shelf.told] == [False]
    assert "locked" in shelf.told[0][0]
    await asyncio.wait_for(store.save(DECISION), 5)  # the next ones do not wait for it
    assert [well for _, well in shelf.told] == [False]
    lock.execute("ROLLBACK")
    lock.close()
    await until(lambda: len(shelf.told) == 2)
    assert shelf.told[1][1]
    await found
    assert [one.id for one in await store.sections(CHAT)] == ["0", "1a"]
    assert await store.decisions() == [DECISION, DECISION]
    assert await store.messages(CHAT) == [MESSAGE]
    assert list(shelf.path.parent.glob("*unusable*")) == []


async def test_a_short_lock_is_no_news(shelf: Shelf) -> None:
    """It is waited for, in order."""
    store = shelf.store()
    await store.save(SECTION)
    lock = sqlite3.connect(shelf.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    saved = store.save(MESSAGE)
    await asyncio.sleep(0.3)
    assert not saved.done()
    lock.execute("ROLLBACK")
    lock.close()
    await asyncio.wait_for(saved, 5)
    assert await store.messages(CHAT) == [MESSAGE]
    assert shelf.told == []


async def test_a_full_disk_is_told_until_it_is_not(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was to be written is written then; what can be read is read meanwhile."""
    store = shelf.store()
    await store.save(DECISION)

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as small:
        small.setattr("winnow.adapters.store.sections.save", full)
        for _ in range(3):
            await asyncio.wait_for(store.save(SECTION, DECISION), 5)
        assert [(well, "full" in said) for said, well in shelf.told] == [(False, True)]
        assert await store.decisions() == [DECISION]
    await until(lambda: len(shelf.told) == 2)
    assert await store.sections(CHAT) == [SECTION]
    assert await store.decisions() == [DECISION] * 4


async def test_a_folder_that_is_none_costs_no_question(shelf: Shelf) -> None:
    """Markers are there, nothing waits, and it is told once."""
    shelf.path.parent.write_text("a file")
    store = shelf.store()
    assert store.new_marker() != store.new_marker()
    await asyncio.wait_for(store.save(SECTION), 5)
    with pytest.raises(StoreError, match="can't be read"):
        await asyncio.wait_for(store.decisions(), 5)
    assert [well for _, well in shelf.told] == [False]
    found = store.sections(CHAT)
    shelf.path.parent.unlink()
    assert await asyncio.wait_for(found, 5) == [SECTION]
    store.close()  # after all that it has to tell
    assert [well for _, well in shelf.told] == [False, True]


async def test_what_a_lock_outlasts_is_there_next_time(shelf: Shelf) -> None:
    """Neovim ends while another program has the file: the next host finds all of it, once."""
    store = shelf.store()
    await store.save(SECTION)
    other = sqlite3.connect(shelf.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for line in "ab":
        store.save(msgspec.structs.replace(SECTION, lines=[line]))
    answered = msgspec.structs.replace(SECTION, lines=["b"], state="answered")
    store.save(answered, DECISION, MESSAGE)
    store.close(0.4)
    [left] = shelf.path.parent.glob("*.unsaved-*")
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    other.execute("ROLLBACK")
    other.close()
    await asyncio.sleep(0.5)  # the one that gave up may still come through
    for _ in range(2):
        after = shelf.store()
        assert await after.sections(CHAT) == [answered]
        assert await after.messages(CHAT) == [MESSAGE]
        assert DECISION in await after.decisions()
        assert not left.exists()
        after.close()


async def test_closing_writes_what_waits(shelf: Shelf) -> None:
    """Without anybody having waited for it; but not for ever."""
    store = shelf.store()
    for number in range(200):
        store.save(StoredSection(str(number), CHAT, str(number), "Ask", {}))
    store.close()
    assert shelf.sql("SELECT count(*) FROM sections") == [(200,)]
    lock = sqlite3.connect(shelf.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    store = shelf.store()
    store.save(SECTION)
    before = time.monotonic()
    store.close(0.3)
    assert time.monotonic() - before < 1
    lock.execute("ROLLBACK")
    lock.close()


async def test_of_edits_the_last_one_counts(shelf: Shelf) -> None:
    """Those that could not be written one by one are not kept one by one."""
    store = shelf.store()
    await store.save(SECTION)
    lock = sqlite3.connect(shelf.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    edits = [
        store.save(StoredSection("1a", CHAT, "ab", "Ask", {}, lines=[str(n)])) for n in range(50)
    ]
    await until(lambda: all(edit.done() for edit in edits[:-1]))
    assert len(store._database._pending) == 1
    lock.execute("ROLLBACK")
    lock.close()
    await edits[-1]
    assert [one.lines for one in await store.sections(CHAT)] == [["49"]]


async def test_several_processes_write_at_once(shelf: Shelf) -> None:
    """They even make the file at once, and none waits or loses anything."""
    write_from(shelf.path, "/a.md", "/b.md", "/c.md")
    counts = shelf.sql("SELECT chat, count(*) FROM sections GROUP BY chat ORDER BY chat")
    assert counts == [("/a.md", 50), ("/b.md", 50), ("/c.md", 50)]
    assert shelf.sql("SELECT count(*) FROM decisions") == [(150,)]


# --- what is in it --------------------------------------------------------------------------------


async def test_the_ledger_is_told_newest_first(shelf: Shelf) -> None:
    """All of it or what was decided about one question, whatever the clock said."""
    store = shelf.store()
    other = Decision("Else?", ("A",), ("A",), when=99.0)
    await store.save(DECISION, other)
    await store.save(DECISION)
    assert await store.decisions() == [DECISION, other, DECISION]
    assert await store.decisions(other.key) == [other]
    assert await store.decisions("unknown") == []


def make_old(path: Path, version: int) -> None:
    """A file as an earlier version of Winnow left it."""
    path.parent.mkdir()
    db = sqlite3.connect(path)
    db.execute(
        "CREATE TABLE sections (id TEXT PRIMARY KEY, chat TEXT NOT NULL, tool TEXT NOT NULL, "
        "input TEXT NOT NULL, state TEXT NOT NULL, lines TEXT NOT NULL, created REAL NOT NULL)"
    )
    rows = [
        ("ab", CHAT, "Ask", '{"é":["x",1]}', "open", '["a",""]', 12.5),
        ("cd", "/else.md", "Ask", "{}", "answered", "[]", 13.5),
        ("ef", "", "", "{}", "reserved", "[]", 14.5),
        (None, CHAT, "Ask", "{}", "open", "[]", 15.5),
    ]
    db.executemany("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    if version > 1:
        db.execute(
            "CREATE TABLE decisions (id INTEGER PRIMARY KEY, key TEXT NOT NULL, "
            "decision TEXT NOT NULL)"
        )
        db.execute("INSERT INTO decisions (key, decision) VALUES ('k', '[]')")
    db.execute(f"PRAGMA user_version = {version}")
    db.commit()
    db.close()


@pytest.mark.parametrize("version", [1, 2])
async def test_a_file_of_an_earlier_version_is_migrated(shelf: Shelf, version: int) -> None:
    """Its sections are found by their chat, and have ids that nobody can guess."""
    make_old(shelf.path, version)
    store = shelf.store()
    [section] = await store.sections(CHAT)
    assert (section.marker, section.input, section.lines) == ("ab", SECTION.input, SECTION.lines)
    assert [(one.marker, one.state) for one in await store.sections("/else.md")] == [
        ("cd", "answered")
    ]
    ids = [id for (id,) in shelf.sql("SELECT id FROM sections")]
    assert [len(id) for id in ids] == [32, 32]
    await store.save(DECISION)
    assert await store.decisions() == [DECISION]
    assert shelf.told == []


async def test_a_marker_is_short_and_nobody_elses(shelf: Shelf) -> None:
    """Two letters while there are any that no section has, of whatever chat."""
    store = shelf.store()
    letters = [chr(97 + n) for n in range(26)]
    taken = {a + b for a in letters for b in letters} - {"zz"}
    await store.save(*(StoredSection(one, "/else.md", one, "Ask", {}) for one in taken))
    shelf.close()
    again = shelf.store()
    await again.sections(CHAT)
    given = [again.new_marker() for _ in range(300)]
    assert len(set(given)) == 300
    assert not taken & set(given)
    assert {len(marker) for marker in given} <= {2, 3}


@pytest.mark.parametrize(("keep_hours", "left"), [(0, 4), (2, 3)])
async def test_old_unanswered_sections_can_be_dropped(
    shelf: Shelf, keep_hours: float, left: int
) -> None:
    """Answered ones and young ones stay, also those from a clock that was ahead."""
    now = time.time()
    sections = [
        StoredSection("1", CHAT, "a", "Ask", {}, "cancelled", created=now - 3 * 3600),
        StoredSection("2", CHAT, "b", "Ask", {}, "answered", created=now - 3 * 3600),
        StoredSection("3", CHAT, "c", "Ask", {}, "open", created=now - 3600),
        StoredSection("4", CHAT, "d", "Ask", {}, "open", created=now + 9e8),
    ]
    await shelf.store().save(*sections)
    shelf.close()
    assert await shelf.store(keep_hours).sections(CHAT) == sections[-left:]


async def test_sections_come_in_the_order_in_which_they_were_made(shelf: Shelf) -> None:
    """Whatever the clock said, and whichever was changed last."""
    store = shelf.store()
    sections = [
        StoredSection(str(n), CHAT, f"m{n}", "Ask", {}, created=100.0 - n) for n in range(3)
    ]
    for section in (*sections, sections[0]):
        await store.save(section)
    assert await store.sections(CHAT) == sections


async def test_half_a_surrogate_pair_is_kept(shelf: Shelf) -> None:
    """A model can send one, and UTF-8 can't hold it."""
    store = shelf.store()
    section = StoredSection("1", CHAT, "ab", "Ask", {"\ud83d": ["😀", "\udc00"]}, "open", ["é"])
    decision = Decision("Which \ud83d?", ("A\udc00", "B"), ("A\udc00",))
    message = Message("2", CHAT, "say \ud83d")
    await store.save(section, decision, message)
    assert await store.sections(CHAT) == [section]
    assert await store.decisions() == [decision]
    assert await store.messages(CHAT) == [message]


BAD = [None, 7, 1.5, b"\xff\xfe", "[", "null", '{"bad": 1}', "[" * 100_000]


async def test_damage_costs_only_the_row_that_has_it(shelf: Shelf) -> None:
    """NULL, a number, bytes, half a JSON: in any column of any table."""
    await shelf.store().save(SECTION, DECISION, MESSAGE)
    shelf.close()
    columns = {
        "sections": ["id", "marker", "tool", "input", "state", "lines", "created"],
        "decisions": ["decision"],
        "messages": ["id", "message"],
    }
    shelf.sql("PRAGMA writable_schema = 1")
    for table, names in columns.items():
        all_names = [row[1] for row in shelf.sql(f"PRAGMA table_info({table})")]
        plain = ", ".join(name for name in all_names if (table, name) != ("decisions", "id"))
        shelf.sql(f"CREATE TABLE loose AS SELECT {plain} FROM {table}")  # without its constraints
        for name in names:
            for bad in BAD:
                values = ", ".join("?" if one == name else one for one in plain.split(", "))
                shelf.sql(f"INSERT INTO loose SELECT {values} FROM {table} LIMIT 1", bad)
        if table != "decisions":
            shelf.sql(f"DROP TABLE {table}")
            shelf.sql(f"ALTER TABLE loose RENAME TO {table}")
        else:
            shelf.sql(f"INSERT OR IGNORE INTO {table} ({plain}) SELECT {plain} FROM loose")
            shelf.sql("DROP TABLE loose")
    store = shelf.store()
    assert SECTION in await store.sections(CHAT)
    assert MESSAGE in await store.messages(CHAT)
    assert DECISION in await store.decisions()
    assert shelf.told == []
