"""Sections on disk."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from winnow.adapters.store import SqliteStore
from winnow.ports import StoredSection, StoreError

SECTION = StoredSection("s1", "/chat.md", "Ask", {"é": ["x", 1]}, "open", ["a", ""], 12.5)

WRITER = """
import sys
from pathlib import Path
from winnow.adapters.store import SqliteStore
from winnow.ports import StoredSection
store = SqliteStore(Path(sys.argv[1]))
for _ in range(50):
    store.save(StoredSection(store.new_id(), sys.argv[2], "Ask", {}))
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
    db.close()
