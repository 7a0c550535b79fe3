"""Sections and the ledger on disk."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from winnow.adapters.store import SqliteStore
from winnow.core.ledger import Decision
from winnow.ports import StoredSection, StoreError

SECTION = StoredSection("s1", "/chat.md", "Ask", {"é": ["x", 1]}, "open", ["a", ""], 12.5)
DECISION = Decision("Which\n“one”?", ("A, B", "C"), ("A, B",), ("C",), chat="/chat.md", when=12.5)

WRITER = """
import sys
from pathlib import Path
from winnow.adapters.store import SqliteStore
from winnow.core.ledger import Decision
from winnow.ports import StoredSection
store = SqliteStore(Path(sys.argv[1]))
for _ in range(50):
    section = StoredSection(store.new_id(), sys.argv[2], "Ask", {})
    store.save(section)
    store.record([Decision("Q?", ("A",), ("A",), chat=sys.argv[2])])
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is to be."""
    return tmp_path / "winnow" / "winnow.db"


def test_a_section_outlives_the_process(path: Path) -> None:
    """The last state saved is the one loaded."""
    store = SqliteStore(path)
    store.save(StoredSection("s1", "/chat.md", "Ask", {}))
    store.save(SECTION)
    store.close()
    again = SqliteStore(path)
    assert again.load("s1") == SECTION
    assert again.load("s2") is None
    assert again.set_aside == ""
    again.close()


def test_only_its_owner_can_read_it(path: Path) -> None:
    """The journal and the folder's other files, too."""
    store = SqliteStore(path)
    store.save(SECTION)
    modes = {stat.S_IMODE(found.stat().st_mode) for found in path.parent.iterdir()}
    store.close()
    assert modes == {0o600}


def test_a_corrupt_file_is_set_aside(path: Path) -> None:
    """Nothing of it is lost, and a new file is begun."""
    path.parent.mkdir()
    path.write_text("x" * 5000)
    store = SqliteStore(path)
    store.save(SECTION)
    assert Path(store.set_aside).read_text() == "x" * 5000
    assert store.load("s1") == SECTION
    store.close()


def test_a_newer_file_is_set_aside(path: Path) -> None:
    """It is not changed: the newer Winnow may want it back."""
    store = SqliteStore(path)
    store.save(SECTION)
    store.close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    store = SqliteStore(path)
    aside = sqlite3.connect(store.set_aside)
    assert store.load("s1") is None
    assert aside.execute("SELECT id FROM sections").fetchall() == [("s1",)]
    aside.close()
    store.close()


def test_a_locked_file_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can't be read or written now, but nothing is wrong with it."""
    store = SqliteStore(path)
    store.save(SECTION)
    store.close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr("winnow.adapters.store.PATIENCE", 0)
    with pytest.raises(StoreError, match="locked"):
        SqliteStore(path)
    other.rollback()
    other.close()
    assert list(path.parent.glob("*unusable*")) == []


def test_a_failing_store_still_has_ids(path: Path) -> None:
    """So that a question can be asked although it can't be kept."""
    store = SqliteStore(path)
    store.close()
    assert store.new_id() != store.new_id()
    with pytest.raises(StoreError, match="lost when Neovim ends"):
        store.save(SECTION)
    with pytest.raises(StoreError, match="can't be read"):
        store.load("s1")


def test_several_processes_write_at_once(path: Path) -> None:
    """They even make the file at once, and none waits or loses anything."""
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name]) for name in ("/a.md", "/b.md", "/c.md")]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    db = sqlite3.connect(path)
    counts = db.execute("SELECT chat, count(*) FROM sections GROUP BY chat ORDER BY chat")
    assert counts.fetchall() == [("/a.md", 50), ("/b.md", 50), ("/c.md", 50)]
    assert db.execute("SELECT count(*) FROM decisions").fetchone() == (150,)
    db.close()


def test_the_ledger_outlives_the_process(path: Path) -> None:
    """Newest first, all of it or what was decided about one question."""
    store = SqliteStore(path)
    other = Decision("Else?", ("A",), ("A",))
    store.record([DECISION, other])
    store.record([DECISION])
    store.close()
    again = SqliteStore(path)
    assert again.decisions() == [DECISION, other, DECISION]
    assert again.decisions(other.key) == [other]
    assert again.decisions("unknown") == []
    again.close()


def test_a_file_of_the_first_version_is_migrated(path: Path) -> None:
    """Its sections are kept, and it gets a ledger."""
    path.parent.mkdir()
    db = sqlite3.connect(path)
    db.execute(
        "CREATE TABLE sections (id TEXT PRIMARY KEY, chat TEXT NOT NULL, tool TEXT NOT NULL, "
        "input TEXT NOT NULL, state TEXT NOT NULL, lines TEXT NOT NULL, created REAL NOT NULL)"
    )
    row = ("s1", "/chat.md", "Ask", '{"é":["x",1]}', "open", '["a",""]', 12.5)
    db.execute("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    db.execute("PRAGMA user_version = 1")
    db.commit()
    db.close()
    store = SqliteStore(path)
    assert store.set_aside == ""
    assert store.load("s1") == SECTION
    store.record([DECISION])
    assert store.decisions() == [DECISION]
    store.close()


def test_an_id_is_given_once(path: Path) -> None:
    """Even if nothing has been saved under it yet, and by two Neovims."""
    stores = [SqliteStore(path), SqliteStore(path)]
    ids = [store.new_id() for _ in range(300) for store in stores]
    assert len(set(ids)) == 600
    assert stores[0].load(ids[0]) is None
    for store in stores:
        store.close()


def test_discussed_sections_are_found_by_chat(path: Path) -> None:
    """The newest first."""
    store = SqliteStore(path)
    old, new = [
        StoredSection(name, "/chat.md", "Ask", {}, "discussed", created=when)
        for name, when in (("d1", 1.0), ("d2", 2.0))
    ]
    for section in (old, new, SECTION, StoredSection("d3", "/else.md", "Ask", {}, "discussed")):
        store.save(section)
    assert store.discussed("/chat.md") == [new, old]
    store.close()


@pytest.mark.parametrize(("keep_hours", "left"), [(0, {"s1", "s2", "s3"}), (2, {"s2", "s3"})])
def test_old_unanswered_sections_can_be_dropped(
    path: Path, keep_hours: float, left: set[str]
) -> None:
    """Answered ones and young ones stay, and without a limit all of them do."""
    store = SqliteStore(path)
    long_ago, lately = time.time() - 3 * 3600, time.time() - 3600
    for name, state, created in (
        ("s1", "cancelled", long_ago),
        ("s2", "answered", long_ago),
        ("s3", "open", lately),
    ):
        store.save(StoredSection(name, "/chat.md", "Ask", {}, state, created=created))
    store.close()
    again = SqliteStore(path, keep_hours)
    assert {name for name in ("s1", "s2", "s3") if again.load(name)} == left
    again.close()


def test_half_a_surrogate_pair_is_kept(path: Path) -> None:
    """A model can send one, and UTF-8 can't hold it."""
    store = SqliteStore(path)
    section = StoredSection(
        "s1", "/chat.md", "Ask", {"\ud83d": ["😀", "\udc00"]}, "open", ["é"], 1.0
    )
    decision = Decision("Which \ud83d?", ("A\udc00", "B"), ("A\udc00",))
    store.save(section)
    store.record([decision])
    assert store.load("s1") == section
    assert store.decisions() == [decision]
    store.close()


def test_a_row_that_is_no_decision_hides_no_other(path: Path) -> None:
    """What another version may have written is left out."""
    store = SqliteStore(path)
    store.record([DECISION])
    other = sqlite3.connect(path)
    with other:
        insert = "INSERT INTO decisions (key, decision) VALUES (?, ?)"
        other.executemany(insert, [(DECISION.key, '{"bad": 1}'), (DECISION.key, "[")])
    other.close()
    assert store.decisions(DECISION.key) == [DECISION]
    store.close()
