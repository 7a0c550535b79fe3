"""What differs between two states of a folder, the user's edits aside; and taking that back."""

from __future__ import annotations

import asyncio
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count, takewhile
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple, Union

import msgspec

from winnow import ports
from winnow.adapters.files import DiskFiles
from winnow.adapters.git.changes import FILE, NONE, Entry, change_of, is_module
from winnow.core.asking.way import FileError
from winnow.core.proposal.merge import FileChange
from winnow.core.review import yours as merging
from winnow.core.review.history import Pair, Saved, Yours
from winnow.core.text.visible import show

Blob = Union[bytes, int]
"""What an object holds, or how large it is, where it is too large to be read."""

GONE = "000000"  # the mode of what is not there
_LINK = "120000"
_KEPT = 5  # answers that may still be acted on
_JOIN = "+"  # in the name of what is no object: it was made of several


class _Told(NamedTuple):
    """An answer of `KnownPast.changes`."""

    entries: dict[str, Entry]  # by absolute paths
    blobs: dict[str, Blob]
    new: str  # the newer of its states
    moved: dict[str, str]  # of files that have another name now, the name before


class KnownPast:
    """What git and our own copies have in common. Implements a part of `ports.Past`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._told: dict[str, _Told] = {}  # by names
        self._names = map(str, count(1))

    async def now(self) -> str:
        """See `ports.Past.now`."""
        raise NotImplementedError

    async def differing(self, old: str, new: str) -> Sequence[Entry]:
        """The files that are not the same in two states."""
        raise NotImplementedError

    async def blobs(self, entries: Iterable[Entry]) -> dict[str, Blob]:
        """What these files hold on both sides, as they are on disk."""
        raise NotImplementedError

    async def changes(self, old: str, new: str, yours: Sequence[Yours]) -> ports.Changes:
        """See `ports.Past.changes`."""
        entries = {entry.path: entry for entry in await self.differing(old, new)}
        edits: defaultdict[str, list[Entry]] = defaultdict(list)
        for one in yours if entries else ():
            for edit in await self._edits(one):
                if edit.path in entries:
                    edits[edit.path].append(edit)
        every = [*entries.values(), *(edit for found in edits.values() for edit in found)]
        blobs = await self.blobs(every)
        left = {}
        for path, entry in entries.items():
            rebased = entry
            for edit in edits[path]:
                rebased = _rebased(rebased, edit, blobs)
            if (blobs.get(rebased.old, b""), rebased.old_mode) != (
                blobs.get(rebased.new, b""),
                rebased.mode,
            ) or is_module(rebased):
                left[str(self.root / path)] = rebased
        name, moved = next(self._names), _moved(left)
        self._told[name] = _Told(left, blobs, new, moved)
        if len(self._told) > _KEPT:
            del self._told[next(iter(self._told))]
        gone = set(moved.values())
        files = [
            _change(path, entry, blobs, left[moved[path]].path if path in moved else "")
            for path, entry in left.items()
            if path not in gone
        ]
        return ports.Changes(name, tuple(files))

    async def _edits(self, one: Yours) -> Sequence[Entry]:
        match one:
            case Pair(before=before, after=after):
                return await self.differing(before, after)
            case Saved(path=path, before=before, after=after):
                old_mode, mode = (FILE if name else GONE for name in (before, after))
                return [Entry(path, old_mode, mode, before or NONE, after or NONE)]

    async def saved(self, path: str, before: str, after: str) -> Saved | None:
        """See `ports.Past.saved`."""
        raise NotImplementedError

    async def made(self, path: str, before: str | None, after: str | None) -> Saved | None:
        """See `ports.Past.made`."""
        try:
            copies = [await asyncio.to_thread(_copy, text) for text in (before, after)]
        except OSError as error:
            raise ports.PastError(f"It can't be kept: {error.strerror}.", repr(error)) from error
        return await self.saved(path, *copies)

    # --- taken back -----------------------------------------------------------------------------

    async def put_back(
        self, name: str, files: Sequence[FileChange], wanted: Mapping[str, str | None]
    ) -> list[str]:
        """See `ports.Past.put_back`."""
        left = []
        told = self._told.get(name)
        if told is None:
            raise ports.PastError("That was shown too long ago.")
        since: set[str] = set()
        if not all(file.is_text for file in files):
            found = await self.differing(told.new, await self.now())
            since = {str(self.root / entry.path) for entry in found}
        for file in sorted(files, key=lambda file: not file.is_text or file.old is not None):
            path = _name(self.root, file.path)
            try:
                if not _is_inside(file.path):
                    raise FileError(f"{path} is in another folder by now.")
                if file.is_text:
                    text = wanted[file.path]
                    left += await asyncio.to_thread(_put_back, self.root, file, text, path)
                    mode = told.entries[file.path].old_mode
                    if text is None and file.beside:
                        await asyncio.to_thread(_set_mode, Path(file.path), mode)
                elif {file.path, told.moved.get(file.path)} & since:
                    raise FileError(f"{path} has changed since the review showed it.")
                else:
                    before = told.moved.get(file.path)
                    if before and _is_inside(before):
                        await self._restore(told, before, _name(self.root, before))
                    await self._restore(told, file.path, path)
            except FileError as error:
                left.append(str(error))
            except ports.PastError as error:
                left.append(f"{path} can't be put back: {error.sentence}")
            except OSError as error:
                left.append(f"{path} can't be put back: {error.strerror}.")
        return left

    async def _restore(self, told: _Told, file: str, path: str) -> None:
        """Put back all that a file was."""
        entry = told.entries[file]
        if is_module(entry):
            raise FileError(f"{path} is a repository of its own: put it back there.")
        if entry.old == NONE or _JOIN in entry.old:
            blob = told.blobs.get(entry.old, b"")
        else:
            blob = await self.whole(entry.old, path)
        assert isinstance(blob, bytes)
        await asyncio.to_thread(_write, self.root, Path(file), entry.old_mode, blob)

    async def whole(self, name: str, path: str) -> bytes:
        """What an object holds, however large it is, as it is on disk."""
        raise NotImplementedError


def real(path: str) -> str:
    """A file by its one name."""
    return os.path.realpath(path)


def _copy(text: str | None) -> str:
    """A file to be read once; empty: none."""
    if text is None:
        return ""
    with NamedTemporaryFile(prefix="winnow-", delete=False) as file:
        file.write(text.encode())
    return file.name


def drop(*copies: str) -> None:
    """Delete files that were made to be read once."""
    for copy in filter(None, copies):
        with suppress(OSError):
            Path(copy).unlink()


def _name(root: Path, path: str) -> str:
    return os.path.relpath(path, root)


def _is_inside(path: str) -> bool:
    """No folder on the way to a file is a link that leads elsewhere."""
    folder = os.path.dirname(path)  # noqa: PTH120  of a string
    return os.path.realpath(folder) == folder


def _rebased(entry: Entry, edit: Entry, blobs: dict[str, Blob]) -> Entry:
    """A change that begins with what the user has made of its file."""
    replace = msgspec.structs.replace
    mode = edit.mode if edit.mode != edit.old_mode else entry.old_mode
    texts = [_text(blobs.get(name, b"")) for name in (entry.old, edit.old, edit.new)]
    base, before, after = texts
    if entry.old == edit.old or edit.new == NONE or base is None or before is None or after is None:
        return replace(entry, old=edit.new, old_mode=edit.mode)
    mode = edit.mode if mode == GONE else mode
    made = merging.rebase(base, before, after)
    if entry.old == NONE and not made:
        return entry  # the user has not written into it
    name = _JOIN.join((entry.old, edit.old, edit.new))
    blobs[name] = made.encode()
    return replace(entry, old=name, old_mode=mode)


def _moved(entries: Mapping[str, Entry]) -> dict[str, str]:
    """Files that have another name now, and hold what they held."""
    gone = {(it.old, it.old_mode): path for path, it in entries.items() if it.new == NONE}
    found: dict[str, str] = {}
    for path, entry in entries.items():
        if entry.old == NONE and (before := gone.pop((entry.new, entry.mode), None)):
            found[path] = before
    return found


def _change(path: str, entry: Entry, blobs: Mapping[str, Blob], before: str) -> FileChange:
    """What a change is, for somebody to read; ``before``: the name that the file had."""
    if before:
        return FileChange(path, what=f"renamed, was {show(before)}")
    change = msgspec.structs.replace(change_of(entry, blobs), path=path)
    texts = change.old is not None and change.new is not None and change.old != change.new
    if change.what and texts and _LINK not in (entry.old_mode, entry.mode):
        now = "now executable" if entry.old_mode == FILE else "no longer executable"
        return msgspec.structs.replace(change, what="", beside=now)
    return change


def _text(blob: Blob) -> str | None:
    if isinstance(blob, int) or b"\0" in blob:
        return None
    with suppress(UnicodeDecodeError):
        return blob.decode()
    return None


def _put_back(root: Path, file: FileChange, wanted: str | None, name: str) -> list[str]:
    """Make of a text what is wanted, where it still reads as it was shown."""
    disk, shown = DiskFiles(), file.new or ""
    now = disk.read(file.path)
    if now is None:
        return [f"{name} is gone by now."]
    if wanted is None and file.old is None:
        if now != shown:
            return [f"{name} is new, and has changed since the review showed it: it stays."]
        Path(file.path).unlink()
        _prune(root, Path(file.path))
        return []
    made = merging.put_back(shown, file.old or "" if wanted is None else wanted, now)
    if made.text != now:
        disk.write(file.path, made.text, now)
    return [f"{name}:{line} no longer reads as the review shows it." for line in made.refused]


def _write(root: Path, path: Path, mode: str, blob: bytes) -> None:
    """Make a file what it was."""
    if os.path.lexists(path):
        path.unlink()
    if mode == GONE:
        _prune(root, path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == _LINK:
        path.symlink_to(os.fsdecode(blob))
        return
    with path.open("xb") as file:
        file.write(blob)
    _set_mode(path, mode)


def _set_mode(path: Path, mode: str) -> None:
    """Let a file be executed, or not."""
    may = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
    now = path.stat().st_mode
    path.chmod(now & ~may if mode == FILE else now | may)


def _prune(root: Path, path: Path) -> None:
    """Delete the folders that hold nothing now, as git does."""
    with suppress(OSError):
        for folder in takewhile(root.__ne__, path.parents):
            folder.rmdir()
