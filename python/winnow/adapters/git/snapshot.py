"""A folder's whole state as a commit, without its index, its branch or its files being touched."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from winnow.adapters.git.git import GitError, line, run


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
        await run(top, "add", "--all", env=env)
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
