"""What clarify keeps and writes: its record, its file, its templates, its key."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest
from winnow.adapters.claude import credentials
from winnow.adapters.files import OURS, DiskFiles, DiskTemplates
from winnow.adapters.store import SqliteStore
from winnow.core.asking.way import FileError
from winnow.core.clarify.clarification import Clarification
from winnow.ports import Overtaken, StoreError

from tests.unit.test_clarify import KNOWN


async def test_what_is_known_is_on_disk(tmp_path: Path) -> None:
    """The last of it, for every Neovim; a damaged one is told."""
    path = tmp_path / "winnow.db"
    store = SqliteStore(path, lambda sentence, well: None)
    assert await store.clarified.load("abc") is None
    first = await store.clarified.save(Clarification("abc", "half a \udc00 surrogate"))
    kept = await store.clarified.save(msgspec.structs.replace(KNOWN, saved=first.saved))
    other = SqliteStore(path, lambda sentence, well: None)
    assert await other.clarified.load("abc") == kept
    assert kept == msgspec.structs.replace(KNOWN, saved=2)
    with pytest.raises(Overtaken, match="elsewhere"):
        await other.clarified.save(first)
    assert await other.clarified.load("abc") == kept
    store.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE clarified SET known = '{'")
    with pytest.raises(StoreError, match="can't be read"):
        await other.clarified.load("abc")
    other.close()
    db.close()


def test_a_file_is_written_as_long_as_nobody_else_has(tmp_path: Path) -> None:
    path, files = str(tmp_path / "specs" / "a.md"), DiskFiles()
    files.write(path, "one\r\n", None)
    assert Path(path).read_bytes() == b"one\r\n"
    with pytest.raises(FileError, match="changed meanwhile"):
        files.write(path, "two\n", None)
    with pytest.raises(FileError, match="changed meanwhile"):
        files.write(path, "two\n", "zero\n")
    files.write(path, "two \udc00\n", "one\r\n")
    assert files.read(path) == "two ?\n"
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError):
        files.write(str(tmp_path / "file" / "a.md"), "", None)


def test_a_user_replaces_templates(tmp_path: Path) -> None:
    """Those that stand in their folder; what they must say is seen to."""
    ours, templates = DiskTemplates().clarify(""), DiskTemplates()
    (tmp_path / "system.md").write_text("Mine.")
    own = templates.clarify(str(tmp_path))
    assert (own.system, own.questions, own.spec) == ("Mine.", ours.questions, ours.spec)
    (tmp_path / "spec.md").write_text("Mine.")
    with pytest.raises(FileError, match=r"spec\.md has no {{REQUEST}}"):
        templates.clarify(str(tmp_path))
    with pytest.raises(FileError, match="no folder"):
        templates.clarify(str(tmp_path / "gone"))
    assert {path.stem for path in OURS.iterdir()} == {"system", "questions", "spec"}


@pytest.mark.skipif("sys.platform == 'darwin'", reason="a Mac has a real keychain")
def test_which_key_wins(tmp_path: Path) -> None:
    """Claude Code's own variable; empty, it counts as missing."""
    both = {"CLAUDE_CODE_API_KEY": "key", "ANTHROPIC_API_KEY": "other"}
    assert credentials.api_key(both, tmp_path) == "key"
    assert credentials.api_key({**both, "CLAUDE_CODE_API_KEY": ""}, tmp_path) == ""
    for environ in ({}, {"CLAUDE_CODE_API_KEY": ""}, {"CLAUDE_CODE_API_KEY": " "}):
        with pytest.raises(credentials.Missing, match="set CLAUDE_CODE_API_KEY"):
            credentials.api_key(environ, tmp_path)
