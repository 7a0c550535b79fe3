"""A folder's whole state as a commit, without its index, its branch or its files being touched."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from winnow.adapters.git.git import GitError, items, line, run

_LISTING = ("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")
_UPDATE = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")


async def listed(top: Path, env: Mapping[str, str]) -> list[str]:
    """All paths that are not as an index has them; a repository that it lacks ends with a slash."""
    return list(dict.fromkeys(await items(top, *_LISTING, env=env)))


async def add(top: Path, paths: Iterable[str], env: Mapping[str, str], *quick: str) -> None:
    """Put these paths into an index, or take them out of it, as they are on disk.

    Not by ``git add``, which has another git look into each submodule, where programs are run by
    the settings of that repository.
    """
    given = b"".join(os.fsencode(path.rstrip("/")) + b"\0" for path in paths)
    if given:
        await run(top, *quick, *_UPDATE, input=given, env=env)


@asynccontextmanager
async def index(folder: Path, tree: str = "") -> AsyncIterator[dict[str, str]]:
    """An index of our own, as environment of git: a copy of the folder's, or that of a tree."""
    with tempfile.TemporaryDirectory(prefix="winnow-") as place:
        file = Path(place, "index")
        env = {"GIT_INDEX_FILE": str(file)}
        if tree:
            await run(folder, "read-tree", tree, env=env)
        else:  # its times, and its own, spare git the reading of all files
            theirs = Path(folder, await line(folder, "rev-parse", "--git-path", "index"))
            with suppress(FileNotFoundError):
                shutil.copy2(theirs, file)
        yield env


async def take(folder: Path, *parents: str) -> str:
    """A commit of all that stands in a worktree, untracked files included, ignored ones not."""
    async with index(folder) as env:
        top = Path(await line(folder, "rev-parse", "--show-toplevel"))
        await add(top, await listed(top, env), env)
        tree = await line(top, "write-tree", env=env)
    return await commit(folder, tree, parents)


async def commit(folder: Path, tree: str, parents: Iterable[str]) -> str:
    """A commit of a tree, which no branch knows of."""
    named = [part for parent in dict.fromkeys(parents) for part in ("-p", parent)]
    return await line(folder, "commit-tree", tree, *named, "-m", "winnow")


async def head(folder: Path) -> str:
    """The commit that a folder stands at; empty: it has none yet."""
    with suppress(GitError):
        return await line(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return ""
