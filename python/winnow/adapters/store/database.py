"""One SQLite file and the one thread that uses it, so that nothing else ever waits for a disk."""

from __future__ import annotations

import asyncio
import logging
import queue
import secrets
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from winnow.adapters.files import private_folder
from winnow.adapters.store.migrations import MIGRATIONS
from winnow.ports import StoreError

log = logging.getLogger(__name__)

T = TypeVar("T")
Connection = sqlite3.Connection

PATIENCE = 2.0  # seconds for which another process may use the file until the user is told
RETRY = 0.2  # seconds until what could not be done is tried again
_VERSION = len(MIGRATIONS)
_NOT_NOW = "Winnow can't keep questions and decisions now"
_AGAIN = "Winnow's questions and decisions are kept again."


class _Job(Generic[T]):
    """Something to be done with the file, and who waits for it.

    ``stays``: it is done some time, however long that takes; those that wait for what reads, and
    does not stay, are told that it failed. ``alone``: a later job of this name replaces it.
    """

    def __init__(
        self, run: Callable[[Connection], T], *, writes: bool, stays: bool, alone: str = ""
    ) -> None:
        self.run = run
        self.writes = writes
        self.stays = stays
        self.alone = alone
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self._loop.create_future()

    def done(self, result: T) -> None:
        """It is done, or, of what is written, will be."""
        self._tell(lambda: self.future.set_result(result))

    def failed(self, error: StoreError) -> None:
        """It can't be done."""
        self._tell(lambda: self.future.set_exception(error))

    def _tell(self, tell: Callable[[], None]) -> None:
        def unless_told() -> None:
            if not self.future.done():
                tell()

        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(unless_told)


class Database:
    """Carries out jobs in order, each in a transaction.

    What the file can't take now, because another process uses it or the disk is full, is tried
    until it can. A file that can't be read, or that a newer Winnow wrote, is renamed rather than
    touched.

    Args:
        path: the file; its folder is made when missing.
        tell: takes a sentence for the user, and whether all is well; called on the thread.
        opened: what to do first.
    """

    def __init__(
        self, path: Path, tell: Callable[[str, bool], None], opened: Callable[[Connection], None]
    ) -> None:
        self._path = path
        self._tell = tell
        self._opened = opened
        self._db: Connection | None = None
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._pending: deque[_Job[Any]] = deque()
        self._since: float | None = None  # when it began not to work
        self._told = False  # the user knows that it doesn't
        # A daemon: `close` waits for it, but not for ever.
        self._thread = threading.Thread(target=self._work, name="winnow-store", daemon=True)
        self._thread.start()

    def write(self, run: Callable[[Connection], object], alone: str = "") -> asyncio.Future[Any]:
        """Done when it is on disk, or the user has been told that it isn't yet."""
        return self._queue(_Job(run, writes=True, stays=True, alone=alone))

    def read(self, run: Callable[[Connection], T], *, patient: bool = False) -> asyncio.Future[T]:
        """Raises `StoreError` where it can't be done; with patience it waits until it can."""
        return self._queue(_Job(run, writes=False, stays=patient))

    def close(self, patience: float) -> None:
        """Do what is still to be done, for so many seconds."""
        self._jobs.put(None)
        self.join(patience)

    def join(self, patience: float) -> None:
        """Wait for that, after `close`."""
        self._thread.join(patience)

    def _queue(self, job: _Job[T]) -> asyncio.Future[T]:
        self._jobs.put(job)
        return job.future

    # --- on the thread --------------------------------------------------------------------------

    def _work(self) -> None:
        closing = False
        while not closing or self._pending:
            if not closing:
                closing = self._take()
            elif self._pending:
                time.sleep(RETRY)
            self._try()
        if self._db is not None:
            self._db.close()

    def _take(self) -> bool:
        """Wait for jobs, or for the time to try again; True: there will be no more."""
        wait: float | None = RETRY if self._pending else None
        with suppress(queue.Empty):
            while (job := self._jobs.get(timeout=wait)) is not None:
                self._add(job)
                wait = 0
            return True
        return False

    def _add(self, job: _Job[Any]) -> None:
        last = self._pending[-1] if self._pending else None
        if job.alone and last is not None and last.alone == job.alone:
            last.done(None)  # of many edits, the last one tells all
            self._pending[-1] = job
        else:
            self._pending.append(job)

    def _try(self) -> None:
        """Do what is to be done, in order; only who would rather know nothing reads ahead of it."""
        left: deque[_Job[Any]] = deque()
        trouble: Exception | None = None
        for job in self._pending:
            if trouble is not None and job.stays:
                left.append(job)
                continue
            try:
                db = self._connection()
                with db:
                    result = job.run(db)
            except (sqlite3.OperationalError, OSError) as error:
                trouble = error
                left.append(job)
                self._forget_connection(error)
            except Exception as error:  # the job's own fault, or the file's: it won't get better
                log.exception("the store")
                job.failed(StoreError(f"Winnow's store can't be used: {error}."))
                self._forget_connection(error)
            else:
                job.done(result)
        self._pending = left
        self._account(trouble)

    def _account(self, trouble: Exception | None) -> None:
        """Tell the user once that it does not work, and once that it does again."""
        if trouble is None:
            if self._told:
                self._tell(_AGAIN, True)
            self._since, self._told = None, False
            return
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if not self._told and (not _locked(trouble) or now - self._since >= PATIENCE):
            log.error("the store: %s", trouble)
            self._told = True
            why = (isinstance(trouble, OSError) and trouble.strerror) or trouble
            self._tell(f"{_NOT_NOW} ({why}): they last until Neovim ends.", False)
        if self._told:
            for job in self._pending:
                if job.writes:
                    job.done(None)
                elif not job.stays:
                    job.failed(StoreError(f"Winnow's store can't be read now: {trouble}."))
            self._pending = deque(job for job in self._pending if job.stays)

    def _connection(self) -> Connection:
        if self._db is None:
            private_folder(self._path.parent)
            try:
                db = _open(self._path, self._opened)
            except sqlite3.OperationalError:
                raise  # locked or unreadable now: not the file's fault
            except sqlite3.DatabaseError:
                aside = _set_aside(self._path)
                self._tell(f"Open questions could not be read; their file is now {aside}.", False)
                db = _open(self._path, self._opened)
            self._db = db
        return self._db

    def _forget_connection(self, error: Exception) -> None:
        """After anything but a lock the file may be another one."""
        if self._db is not None and not _locked(error):
            with suppress(sqlite3.Error):
                self._db.close()
            self._db = None


def _locked(error: Exception) -> bool:
    return "locked" in str(error)


def _open(path: Path, opened: Callable[[Connection], None]) -> Connection:
    path.touch(mode=0o600)
    db = sqlite3.connect(path, timeout=RETRY)
    db.text_factory = lambda raw: raw.decode(errors="replace")  # a damaged row is no lock
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise sqlite3.DatabaseError(f"made by a newer Winnow: version {version}")
        db.execute("PRAGMA journal_mode = WAL")
        # NORMAL survives a killed process; only a power cut can take the last commit.
        db.execute("PRAGMA synchronous = NORMAL")
        if version < _VERSION:
            _migrate(db)
        with db:
            opened(db)
    except BaseException:
        db.close()
        raise
    return db


def _migrate(db: Connection) -> None:
    with db:
        db.execute("BEGIN IMMEDIATE")  # of several that start at once, one migrates
        version = db.execute("PRAGMA user_version").fetchone()[0]
        for migration in MIGRATIONS[version:]:
            for statement in migration:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {_VERSION}")


def _set_aside(path: Path) -> Path:
    """Rename a database with its journal, which SQLite would else apply to the next file."""
    suffix = f".unusable-{secrets.token_hex(3)}"
    for part in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            path.with_name(path.name + part).rename(path.with_name(path.name + suffix + part))
    return path.with_name(path.name + suffix)
