"""States of a folder outside git: of files that tools have written, which say what was there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from winnow import ports
from winnow.adapters.git.changes import FILE, NONE, Entry
from winnow.adapters.past.past import GONE, Blob, KnownPast, drop, real
from winnow.core.asking.way import FileError
from winnow.core.review.history import Saved

_LIMIT = 4 << 20  # bytes of a file


class CopiedPast(KnownPast):
    """Implements `ports.Past`, in memory."""

    partial = "outside git, only what Claude's own tools wrote is seen, not what commands did"

    def __init__(self, root: Path) -> None:
        super().__init__(root.resolve())
        self._states: dict[str, dict[str, str]] = {}  # of each, objects by paths
        self._kept: dict[str, bytes] = {}  # objects
        self._known: set[str] = set()  # paths
        self._numbers = map(str, count(1))

    async def now(self) -> str:
        """See `ports.Past.now`."""
        name = next(self._numbers)
        self._states[name] = {path: self._read(path) for path in self._known}
        return name

    async def named(self, ref: str) -> str:
        """See `ports.Past.named`."""
        raise ports.PastError(f"{self.root} is in no git repository, so it has no {ref}.")

    async def differing(self, old: str, new: str) -> Sequence[Entry]:
        """See `KnownPast.differing`."""
        before, after = self._states[old], self._states[new]
        paths = [path for path in sorted(self._known) if before.get(path) != after.get(path)]
        return [
            Entry(path, _mode(old_name), _mode(new_name), old_name, new_name)
            for path in paths
            for old_name, new_name in [(before.get(path, NONE), after.get(path, NONE))]
        ]

    async def blobs(self, entries: Iterable[Entry]) -> dict[str, Blob]:
        """See `KnownPast.blobs`."""
        names = {name for it in entries for name in (it.old, it.new)} - {NONE}
        held = {name: self._kept[name] for name in names}
        return {name: len(blob) if len(blob) > _LIMIT else blob for name, blob in held.items()}

    async def whole(self, name: str, path: str) -> bytes:
        """See `KnownPast.whole`."""
        if len(self._kept[name]) > _LIMIT:
            raise FileError(f"{path} is larger than {_LIMIT >> 20} MB: it was not kept.")
        return self._kept[name]

    async def saved(self, path: str, before: str, after: str) -> Saved | None:
        """See `ports.Past.saved`."""
        path = real(path)
        if path not in self._known:
            drop(before, after)
            return None  # no tool has written it, so all of it is the user's
        held = [self._read(copy) if copy else NONE for copy in (before, after)]
        drop(before, after)
        return Saved(path, *("" if name == NONE else name for name in held))

    async def wrote(self, path: str, before: str | None) -> None:
        """See `ports.Past.wrote`."""
        path = real(path)
        if path in self._known:
            return
        self._known.add(path)
        if before is not None and "\r" not in before:  # the tool says it without
            now = self._kept.get(self._read(path), b"")
            before = before.replace("\n", "\r\n") if b"\r\n" in now else before
        name = NONE if before is None else self._keep(before.encode(errors="surrogateescape"))
        for state in self._states.values():
            state[path] = name

    def load(self) -> bytes:
        """See `ports.Past.load`."""
        return b""

    def keep(self, known: bytes) -> None:
        """See `ports.Past.keep`."""

    def _read(self, path: str) -> str:
        try:
            with Path(path).open("rb") as file:
                held = file.read(_LIMIT + 1)
        except OSError:
            return NONE
        return self._keep(held)

    def _keep(self, held: bytes) -> str:
        name = hashlib.blake2b(held, digest_size=20).hexdigest()
        self._kept[name] = held
        return name


def _mode(name: str) -> str:
    return GONE if name == NONE else FILE
