"""The chats' files, the trash, and which Neovim has a chat."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from winnow.adapters.files import private_folder
from winnow.core import sessions
from winnow.core.sessions import Kept
from winnow.ports import LibraryError

_ESCAPED = str.maketrans({"=": "==", "/": "=+", "\\": "=-", ":": "=."})  # as ``files.lua`` has it
_LONGEST = 200  # bytes of such a name; longer ones are hashed
_END = 16384  # bytes of a file of which the last lines are shown
_SHOWN = 40  # lines


class DiskLibrary:
    """Implements `ports.Library`.

    Args:
        chats: the folder of the chats.
        trash: the one of those that were deleted.
        locks: the one of the files that say which Neovim has a chat, see ``lock.lua``.
    """

    def __init__(self, chats: Path, trash: Path, locks: Path) -> None:
        self._chats, self._trash, self._locks = chats, trash, locks
        self._heads: dict[str, tuple[tuple[int, int], sessions.Head]] = {}

    async def chats(self) -> list[Kept]:
        """See `ports.Library.chats`."""
        return await asyncio.to_thread(lambda: self._read(self._chats))

    async def trashed(self) -> list[Kept]:
        """See `ports.Library.trashed`."""
        return await asyncio.to_thread(lambda: self._read(self._trash))

    def _read(self, folder: Path) -> list[Kept]:
        """The chats of a folder; a file is only read again when it has changed."""
        held = self._held()
        real = os.path.realpath(folder)
        found = []
        for entry in _files(folder):
            with suppress(OSError):
                stat = entry.stat()
                stamp = (stat.st_mtime_ns, stat.st_size)
                known = self._heads.get(entry.path)
                if known is None or known[0] != stamp:
                    known = self._heads[entry.path] = stamp, sessions.head(_start(entry.path))
                if known[1].values:  # else it is no chat
                    elsewhere = bool(held) and _lock(f"{real}/{entry.name}") in held
                    found.append(Kept(entry.path, known[1], stat.st_mtime, elsewhere))
        return found

    def _held(self) -> set[str]:
        """The names of the locks of Neovims that run."""
        found = set()
        for entry in _files(self._locks, ""):
            with suppress(OSError, ValueError, AttributeError):
                owner = json.loads(Path(entry.path).read_bytes())
                if owner.get("host") != os.uname().nodename or _runs(owner):
                    found.add(entry.name)
        return found

    async def holding(self, text: str, paths: Collection[str]) -> set[str]:
        """See `ports.Library.holding`."""
        stop = threading.Event()
        try:
            return await asyncio.to_thread(lambda: set(_holding(text, paths, stop)))
        finally:
            stop.set()

    async def end_of(self, path: str) -> list[str]:
        """See `ports.Library.end_of`."""
        return await asyncio.to_thread(lambda: _end_of(path))

    async def bring_back(self, name: str) -> str:
        """See `ports.Library.bring_back`."""
        return await asyncio.to_thread(lambda: self._bring_back(name))

    def _bring_back(self, name: str) -> str:
        source, target = self._trash / name, self._chats / name
        if Path(name).name != name or not source.is_file():
            raise LibraryError(f"There is no {name} in the trash; :Winnow restore lists what is.")
        try:
            private_folder(self._chats)
            os.link(source, target)  # never over another one
            source.unlink()
        except FileExistsError:
            raise LibraryError(f"There is a chat {name} already; it stays in the trash.") from None
        except OSError as error:
            raise LibraryError(f"{name} can't be brought back: {error.strerror}.") from error
        return str(target)


def _start(path: str) -> str:
    """The start of a file; `open` would take three times as long."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, sessions.HEAD).decode(errors="replace")
    finally:
        os.close(file)


def _files(folder: Path, ending: str = ".md") -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(ending) and not entry.name.startswith("."):
                yield entry


def _lock(path: str) -> str:
    name = path.translate(_ESCAPED)
    data = name.encode("utf-8", "surrogateescape")
    return name if len(data) <= _LONGEST else hashlib.sha256(data).hexdigest()


def _runs(owner: dict[str, object]) -> bool:
    """Whether the Neovim that a lock names still does; its number may be another's by now."""
    try:
        stat = Path(f"/proc/{owner.get('pid')}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        with suppress(OSError, TypeError, ValueError):
            os.kill(int(str(owner.get("pid"))), 0)
            return not Path("/proc/self/stat").exists()
        return False
    return stat[0] != "Z" and stat[19] == owner.get("began")


def _holding(text: str, paths: Collection[str], stop: threading.Event) -> Iterator[str]:
    """Files that hold it. As 'smartcase' has it: capitals count where there are some."""
    folds = text == text.lower()
    plain = text.isascii()
    wanted = text.encode("utf-8", "replace")
    for path in paths:
        if stop.is_set():
            return
        with suppress(OSError):
            data = Path(path).read_bytes()
            if folds and not plain:
                data = data.decode(errors="replace").lower().encode()
            elif folds:
                data = data.lower()
            if wanted in data:
                yield path


def _end_of(path: str) -> list[str]:
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
            return file.read().decode(errors="replace").rstrip().split("\n")[-_SHOWN:]
    except OSError:
        return []
