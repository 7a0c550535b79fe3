"""Sections on disk: one SQLite file, shared by every Neovim of this user."""

from __future__ import annotations

import itertools
import secrets
import sqlite3
import string
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from winnow.ports import StoredSection, StoreError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sections (
    id TEXT PRIMARY KEY, chat TEXT NOT NULL, tool TEXT NOT NULL, input TEXT NOT NULL,
    state TEXT NOT NULL, lines TEXT NOT NULL, created REAL NOT NULL
)
"""
_VERSION = 1
PATIENCE = 5.0  # seconds to wait for another process
_LETTERS = string.ascii_lowercase + string.digits


class SqliteStore:
    """The store port over SQLite in WAL mode, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        A file that can't be read, or that a newer Winnow wrote, is renamed rather than touched.

        Args:
            path: the database file; its folder is made when missing.

        Raises:
            StoreError: it is locked, or the folder can't be written.
        """
        self.set_aside = ""  # where an unusable file was moved to
        with _failing("read"):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._db = _open(path)
            except sqlite3.OperationalError:
                raise  # locked or unreadable now: not the file's fault
            except sqlite3.DatabaseError:
                self.set_aside = str(_set_aside(path))
                self._db = _open(path)

    def new_id(self) -> str:
        """An id that no other section of this user has, as short as there still is one.

        It stands, concealed, on every line of the section, and lines wrap as if it were visible.
        """
        with suppress(StoreError):
            for length in itertools.count(2):
                for _ in range(10):
                    section_id = _letters(length)
                    if self.load(section_id) is None:
                        return section_id
        return _letters(12)  # nobody else has it, even if that can't be looked up

    def save(self, section: StoredSection) -> None:
        """Insert or replace; on disk when it returns."""
        with _failing("kept, so they are lost when Neovim ends"), self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    section.id,
                    section.chat,
                    section.tool,
                    _json(section.input),
                    section.state,
                    _json(section.lines),
                    section.created,
                ),
            )

    def load(self, section_id: str) -> StoredSection | None:
        """The section of this id, or None."""
        with _failing("read"):
            row = self._db.execute("SELECT * FROM sections WHERE id = ?", (section_id,)).fetchone()
        if row is None:
            return None
        id_, chat, tool, arguments, state, lines, created = row
        return StoredSection(
            id=id_,
            chat=chat,
            tool=tool,
            input=msgspec.json.decode(arguments),
            state=state,
            lines=msgspec.json.decode(lines),
            created=created,
        )

    def close(self) -> None:
        """Give the file back."""
        self._db.close()


@contextmanager
def _failing(how: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"Open questions can't be {how}: {error}.") from error


def _set_aside(path: Path) -> Path:
    """Rename a database with its journal, which SQLite would else apply to the next file."""
    suffix = f".unusable-{secrets.token_hex(3)}"
    for part in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            path.with_name(path.name + part).rename(path.with_name(path.name + suffix + part))
    return path.with_name(path.name + suffix)


def _letters(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _open(path: Path) -> sqlite3.Connection:
    path.touch(mode=0o600)
    db = sqlite3.connect(path, timeout=PATIENCE)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise sqlite3.DatabaseError(f"made by a newer Winnow: version {version}")
        db.execute("PRAGMA journal_mode = WAL")
        # NORMAL survives a killed process; only a power cut can take the last commit.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(_SCHEMA)
        db.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        db.close()
        raise
    return db
