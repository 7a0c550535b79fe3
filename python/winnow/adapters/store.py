"""Sections and the ledger on disk: one SQLite file, shared by every Neovim of this user."""

from __future__ import annotations

import itertools
import logging
import secrets
import sqlite3
import string
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from winnow.adapters import decided
from winnow.core.encoding import from_json, to_json
from winnow.core.ledger import Decision
from winnow.ports import StoredSection, StoreError

log = logging.getLogger(__name__)

# One entry for each version: what makes it from the one before. A released one never changes.
_MIGRATIONS = (
    """
    CREATE TABLE IF NOT EXISTS sections (
        id TEXT PRIMARY KEY, chat TEXT NOT NULL, tool TEXT NOT NULL, input TEXT NOT NULL,
        state TEXT NOT NULL, lines TEXT NOT NULL, created REAL NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS decisions (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL, decision TEXT NOT NULL
    )
    """,
    *decided.MIGRATIONS,
)
_VERSION = len(_MIGRATIONS)
_RESERVED = "reserved"  # the state of a section of which there is only the id
_RESERVATION = 60.0  # seconds after which nobody will make a section of one any more
PATIENCE = 5.0  # seconds to wait for another process
_LETTERS = string.ascii_lowercase  # no digits: <C-a> on an option must not make it another's


class SqliteStore:
    """The store port over SQLite in WAL mode, readable by its owner only."""

    def __init__(self, path: Path | None, keep_hours: float = 0) -> None:
        """Open or create the file.

        A file that can't be read, or that a newer Winnow wrote, is renamed rather than touched.

        Args:
            path: the database file; its folder is made when missing. None: only in memory.
            keep_hours: unanswered sections that are older are dropped now; 0: none.

        Raises:
            StoreError: it is locked, or the folder can't be written.
        """
        self.set_aside = ""  # where an unusable file was moved to
        with _failing("read"):
            if path:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._db = _open(path)
            except sqlite3.OperationalError:
                raise  # locked or unreadable now: not the file's fault
            except sqlite3.DatabaseError:
                assert path
                self.set_aside = str(_set_aside(path))
                self._db = _open(path)
            self._drop_old(keep_hours)

    def new_id(self) -> str:
        """An id that no other section of this user has, as short as there still is one.

        It stands, concealed, on every line of the section, and lines wrap as if it were visible.
        """
        with suppress(StoreError):
            for length in itertools.count(2):
                for _ in range(10):
                    if self._reserve(section_id := _letters(length)):
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
                    to_json(section.input),
                    section.state,
                    to_json(section.lines),
                    section.created,
                ),
            )

    def load(self, section_id: str) -> StoredSection | None:
        """The section of this id, or None."""
        with _failing("read"):
            query = "SELECT * FROM sections WHERE id = ? AND state != ?"
            row = self._db.execute(query, (section_id, _RESERVED)).fetchone()
            return None if row is None else _section(row)

    def discussed(self, chat: str) -> list[StoredSection]:
        """A chat's sections in state "discussed", newest first."""
        with _failing("read"):
            query = (
                "SELECT * FROM sections WHERE chat = ? AND state = 'discussed' "
                "ORDER BY created DESC"
            )
            return [_section(row) for row in self._db.execute(query, (chat,))]

    def record(self, decisions: Sequence[Decision]) -> None:
        """Add to the ledger; on disk when it returns."""
        rows = [(decision.key, to_json(decision)) for decision in decisions]
        with _failing("recorded as answered"), self._db:
            self._db.executemany("INSERT INTO decisions (key, decision) VALUES (?, ?)", rows)

    def decisions(self, key: str = "") -> list[Decision]:
        """The ledger, or what was decided about the question of this key; newest first.

        A row that can't be understood is left out, so that it does not hide the others.
        """
        with _failing("looked up"):
            query = "SELECT decision FROM decisions WHERE ? IN ('', key) ORDER BY id DESC"
            rows = self._db.execute(query, (key,)).fetchall()
        return [decision for (text,) in rows if (decision := _decision(text)) is not None]

    def close(self) -> None:
        """Give the file back."""
        self._db.close()

    def _reserve(self, section_id: str) -> bool:
        """Take an id before any other Neovim can; False if somebody has it."""
        row = (section_id, "", "", "{}", _RESERVED, "[]", time.time())
        with _failing("kept"), self._db:
            query = "INSERT OR IGNORE INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)"
            return self._db.execute(query, row).rowcount == 1

    def _drop_old(self, keep_hours: float) -> None:
        now = time.time()
        with self._db:
            drop = "DELETE FROM sections WHERE created < ? AND state = ?"
            self._db.execute(drop, (now - _RESERVATION, _RESERVED))
            if keep_hours > 0:
                drop = "DELETE FROM sections WHERE created < ? AND state != 'answered'"
                self._db.execute(drop, (now - keep_hours * 3600,))


@contextmanager
def _failing(how: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"Questions can't be {how}: {error}.") from error


def _set_aside(path: Path) -> Path:
    """Rename a database with its journal, which SQLite would else apply to the next file."""
    suffix = f".unusable-{secrets.token_hex(3)}"
    for part in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            path.with_name(path.name + part).rename(path.with_name(path.name + suffix + part))
    return path.with_name(path.name + suffix)


def _letters(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _decision(text: str) -> Decision | None:
    try:
        return from_json(text, Decision)
    except msgspec.MsgspecError as error:
        log.warning("no decision: %s in %d characters", error, len(text))
        return None


def _section(row: tuple[Any, ...]) -> StoredSection:
    section_id, chat, tool, arguments, state, lines, created = row
    return StoredSection(
        id=section_id,
        chat=chat,
        tool=tool,
        input=from_json(arguments, dict[str, Any]),
        state=state,
        lines=from_json(lines, list[str]),
        created=created,
    )


def _open(path: Path | None) -> sqlite3.Connection:
    if path:
        path.touch(mode=0o600)
    db = sqlite3.connect(path or ":memory:", timeout=PATIENCE)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise sqlite3.DatabaseError(f"made by a newer Winnow: version {version}")
        db.execute("PRAGMA journal_mode = WAL")
        # NORMAL survives a killed process; only a power cut can take the last commit.
        db.execute("PRAGMA synchronous = NORMAL")
        if version < _VERSION:
            _migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _migrate(db: sqlite3.Connection) -> None:
    with db:
        db.execute("BEGIN IMMEDIATE")  # of several that start at once, one migrates
        version = db.execute("PRAGMA user_version").fetchone()[0]
        for migration in _MIGRATIONS[version:]:
            db.execute(migration)
        db.execute(f"PRAGMA user_version = {_VERSION}")
