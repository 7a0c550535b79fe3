"""States of a folder in git, each a tree. They are in a store of our own, beside that of the
repository: no index, ref or object of the user's is touched, and no `git gc` of theirs takes them.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from winnow import ports
from winnow.adapters.files import private, private_folder
from winnow.adapters.git import changes, snapshot
from winnow.adapters.git.changes import FILE, NONE, Entry
from winnow.adapters.git.git import GitError, line, run
from winnow.adapters.past.past import Blob, KnownPast, drop, real
from winnow.core.review.history import Saved

_LARGEST = 16 << 20  # bytes of a file that git does not know; more is not copied
_MOST = 20_000  # of them; more were meant to be ignored
_PACKED = 100  # so many files go faster into one than each into its own
_TRIES = 200  # to add what differs, if some of it can't be added
_AT = "@"  # between a tree and the second in which it was taken
_QUICK = ("-c", "core.looseCompression=1", "-c", "core.safecrlf=false")
_KNOWN = "history.json"
_REGULAR = (FILE, "100755")


class GitPast(KnownPast):
    """Implements `ports.Past`.

    Args:
        root: the top of the repository.
        objects: where it has its own.
        index: its index, of which ours is a copy at first, so that git need not read all files.
        place: a folder of ours.
    """

    def __init__(self, root: Path, objects: Path, index: Path, place: Path) -> None:
        super().__init__(root)
        self.partial = ""
        self._theirs = index
        self._place = place
        self._env = {
            "GIT_INDEX_FILE": str(place / "index"),
            "GIT_OBJECT_DIRECTORY": str(place / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        }
        self._lock = asyncio.Lock()
        self._skipped: set[str] = set()  # paths that were too large to be copied
        self._differing: dict[tuple[str, str], list[Entry]] = {}

    async def now(self) -> str:
        """See `ports.Past.now`."""
        try:
            async with self._lock:
                return await self._take()
        except (GitError, OSError) as error:
            raise _past_error(error) from error

    async def _take(self) -> str:
        at = int(time.time())
        if not (self._place / "index").exists():
            await asyncio.to_thread(self._begin)
        found = await snapshot.listed(self.root, self._env)
        await self._add(await asyncio.to_thread(self._chosen, found), _TRIES)
        tree = await line(self.root, "write-tree", "--missing-ok", env=self._env)
        return f"{tree}{_AT}{at}"

    async def _add(self, paths: Sequence[str], tries: int) -> int:
        """All of these but those that can't be read, or have just become something else.

        Gives how many tries are left: by then, it is not about single files.
        """
        pack = ("-c", "core.bigFileThreshold=1") if len(paths) > _PACKED else ()
        try:
            await snapshot.add(self.root, paths, self._env, *_QUICK, *pack)
        except GitError:
            if not tries:
                raise
            tries -= 1
            middle = len(paths) // 2
            for part in (paths[:middle], paths[middle:]) if middle else ():
                tries = await self._add(part, tries)
        return tries

    def _begin(self) -> None:
        private_folder(self._place / "objects")
        (self._place / "index.lock").unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            shutil.copy2(self._theirs, self._place / "index")
            (self._place / "index").chmod(0o600)

    def _chosen(self, paths: Sequence[str]) -> list[str]:
        """Those that can be copied, or are gone."""
        if len(paths) > _MOST:
            self.partial = f"of {len(paths)} files that git does not know, none is seen"
            return []
        chosen = []
        for path in paths:
            try:
                found = os.lstat(self.root / path)
            except OSError:
                chosen.append(path)
                continue
            regular = stat.S_ISREG(found.st_mode)
            if regular and found.st_size > _LARGEST:
                self._skipped.add(path)
            elif (regular and os.access(self.root / path, os.R_OK)) or (
                stat.S_ISLNK(found.st_mode)
                or (stat.S_ISDIR(found.st_mode) and not path.endswith("/"))
            ):
                chosen.append(path)  # a folder that git knows is a submodule
        return chosen

    async def named(self, ref: str) -> str:
        """See `ports.Past.named`."""
        try:
            named = f"{ref}^{{tree}}"
            found = await line(self.root, "rev-parse", "--verify", "--end-of-options", named)
        except GitError as error:
            raise ports.PastError(f"Git knows no {ref}.", str(error)) from error
        except OSError as error:
            raise _past_error(error) from error
        return f"{found}{_AT}0"

    async def differing(self, old: str, new: str) -> Sequence[Entry]:
        """See `KnownPast.differing`."""
        (before, _, began), (after, _, _) = old.partition(_AT), new.partition(_AT)
        if before == after:
            return []
        try:
            if (before, after) not in self._differing:
                found = await changes.differing(self.root, before, after, self._env)
                self._differing[before, after] = found
        except (GitError, OSError) as error:
            raise _past_error(error) from error
        entries = self._differing[before, after]
        return [
            entry
            for entry in entries
            if entry.path not in self._skipped
            and not (entry.old == NONE and self._was_there(entry.path, int(began)))
        ]

    def _was_there(self, path: str, at: int) -> bool:
        """A file that git did not see then, as it was ignored, but that is no newer."""
        try:
            found = os.lstat(self.root / path)
        except OSError:
            return False
        return max(found.st_mtime, found.st_ctime) < at

    async def blobs(self, entries: Iterable[Entry]) -> dict[str, Blob]:
        """See `KnownPast.blobs`."""
        every = list(entries)
        try:
            found = await changes.read_blobs(self.root, changes.names_of(every), self._env)
            paths = await asyncio.to_thread(self._otherwise, every, found)
            for entry in every if paths else ():
                for name in {entry.old, entry.new} if entry.path in paths else ():
                    if isinstance(found.get(name), bytes):
                        found[name] = await self._on_disk(name, entry.path)
        except (GitError, OSError) as error:
            raise _past_error(error) from error
        return found

    def _otherwise(self, entries: Sequence[Entry], blobs: dict[str, Blob]) -> set[str]:
        """The files that git may have otherwise than they are on disk, such as with CRLF."""
        paths: dict[str, bool] = {}
        for entry in entries:
            blob = blobs.get(entry.new)
            if entry.path in paths or entry.mode not in _REGULAR or not isinstance(blob, bytes):
                continue
            paths[entry.path] = False
            with suppress(OSError):
                paths[entry.path] = (self.root / entry.path).read_bytes() != blob
        return {path for path, differs in paths.items() if differs}

    async def _on_disk(self, name: str, path: str) -> bytes:
        filters = ("cat-file", "--filters", f"--path={path}", name)
        return (await run(self.root, *filters, env=self._env))[1]

    async def whole(self, name: str, path: str) -> bytes:
        """See `KnownPast.whole`."""
        try:
            return await self._on_disk(name, path)
        except (GitError, OSError) as error:
            raise _past_error(error) from error

    async def saved(self, path: str, before: str, after: str) -> Saved | None:
        """See `ports.Past.saved`."""
        try:
            inside = str(Path(real(path)).relative_to(self.root))
            names = [
                await line(self.root, "hash-object", "-w", f"--path={inside}", copy, env=self._env)
                if copy
                else ""
                for copy in (before, after)
            ]
        except (GitError, OSError, ValueError):
            return None
        finally:
            drop(before, after)
        return Saved(inside, *names)

    async def wrote(self, path: str, before: str | None) -> None:
        """See `ports.Past.wrote`: git sees it by itself."""

    def load(self) -> bytes:
        """See `ports.Past.load`."""
        with suppress(OSError):
            return (self._place / _KNOWN).read_bytes()
        return b""

    def keep(self, known: bytes) -> None:
        """See `ports.Past.keep`."""
        new = self._place / f"{_KNOWN}.new"
        with suppress(OSError):
            with open(new, "wb", opener=private) as file:
                file.write(known)
            new.replace(self._place / _KNOWN)


def _past_error(error: Exception) -> ports.PastError:
    if isinstance(error, GitError):
        return ports.PastError(f"Git can't tell what has changed: {error.said}.", str(error))
    if isinstance(error, FileNotFoundError):
        return ports.PastError("The folder of this chat is gone.", repr(error))
    return ports.PastError(f"What has changed can't be told: {error}.", repr(error))


async def find(cwd: Path, place: Path) -> GitPast | None:
    """That of the repository that a folder is in; None: it is in none."""
    if not any((folder / ".git").exists() for folder in (cwd, *cwd.parents)):
        return None
    asked = ("--show-toplevel", "--git-path", "objects", "--git-path", "index")
    try:
        _, out = await run(cwd, "rev-parse", "--path-format=absolute", *asked)
    except (GitError, OSError):
        return None
    top, objects, index = map(Path, os.fsdecode(out).splitlines())
    if not Path(real(str(cwd))).is_relative_to(top):
        return None  # its own settings point elsewhere
    await asyncio.to_thread(private_folder, place)
    return GitPast(top, objects, index, place)
