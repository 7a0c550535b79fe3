"""The log says what happened and where, not what was said."""

from __future__ import annotations

import logging
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from winnow.adapters import log

SECRET = "what the user wrote"


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """A log that is written to during the test."""
    root, level = logging.getLogger(), logging.getLogger().level
    before = list(root.handlers)
    log.start(tmp_path / "winnow.log")
    yield tmp_path / "winnow.log"
    logging.raiseExceptions = True
    root.setLevel(level)
    for handler in set(root.handlers) - set(before):
        root.removeHandler(handler)
        handler.close()


def fail(error: Exception) -> None:
    raise error


def test_an_error_is_told_without_its_words(path: Path) -> None:
    """They may quote what it failed at; so may those of its cause."""
    try:
        try:
            fail(KeyError(SECRET))
        except KeyError as error:
            raise ValueError(f"no {SECRET}") from error
    except ValueError:
        logging.getLogger("winnow.app").exception("an event of chat 3")
    text = path.read_text()
    assert SECRET not in text
    assert "an event of chat 3" in text
    assert text.index("KeyError") < text.index("ValueError")
    assert "in fail" in text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file", "/a/file"), "No such file: '/a/file'"),
        (ModuleNotFoundError("No module named 'x'"), "No module named 'x'"),
        (sqlite3.OperationalError("database is locked"), "database is locked"),
    ],
)
def test_words_about_the_machine_are_kept(path: Path, error: Exception, words: str) -> None:
    """Nobody could help without."""
    try:
        fail(error)
    except Exception:
        logging.getLogger("winnow.host").exception("failed")
    assert words in path.read_text()


def test_a_library_is_not_quoted(path: Path) -> None:
    """It knows not what is private; where it complained is told."""
    logging.getLogger("claude_agent_sdk.query").error(f"Fatal error: {SECRET}")
    logging.getLogger("asyncio").warning("Task failed: %s", SECRET)
    text = path.read_text()
    assert SECRET not in text
    assert "claude_agent_sdk.query: ERROR in test_a_library_is_not_quoted" in text
    assert "asyncio: WARNING in" in text


def test_only_its_owner_can_read_it(path: Path) -> None:
    """Also when it was rotated."""
    for _ in range(30):
        logging.getLogger("winnow").info("x" * 50_000)
    assert path.with_name("winnow.log.1").exists()
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_a_log_that_fails_later_says_nothing(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log._File, "emit", lambda self, record: self.handleError(record))
    monkeypatch.setattr(log._File, "shouldRollover", full)
    logging.getLogger("winnow").error("something")
    assert capsys.readouterr() == ("", "")
