"""A repository, its files, and where its worktrees are."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

from winnow import ports
from winnow.adapters.git import snapshot
from winnow.adapters.git.git import GitError, items, line, run

KEPT = "refs/winnow/kept/"
_INCLUDE = ".worktreeinclude"


class explained:  # noqa: N801  used as a statement
    """Errors of git and of the disk as a `ports.TreeError` that begins with these words."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, GitError):
            raise ports.TreeError(f"{self._what}: {error.said}.", str(error)) from error
        if isinstance(error, OSError):
            raise ports.TreeError(f"{self._what}: {error.strerror}.", repr(error)) from error


async def root_of(cwd: str) -> Path:
    """The top of the repository that a folder is in."""
    if not is_there(Path(cwd)):
        raise ports.TreeError(f"{cwd} is no folder.")
    try:
        top = await line(Path(cwd), "rev-parse", "--show-toplevel")
    except FileNotFoundError as error:
        raise ports.TreeError("Worktrees need git, which is not installed.") from error
    except GitError as error:
        raise ports.TreeError(f"{cwd} is in no git repository with files.", str(error)) from error
    return Path(top)  # git has resolved it


def is_there(path: Path) -> bool:
    """Whether there is something at this path."""
    return path.exists()


async def has_branch(root: Path, branch: str) -> bool:
    """Whether there is a branch of this name."""
    ref = f"refs/heads/{branch}"
    code, _ = await run(root, "rev-parse", "--verify", "--quiet", ref, may_fail=(1,))
    return not code


async def beginning(root: Path, *, uncommitted: bool) -> str:
    """The commit with which a worktree begins."""
    head = await snapshot.head(root)
    base = await snapshot.take(root, *filter(None, [head])) if uncommitted else head
    if not base:
        raise ports.TreeError(f"{root} has no commit yet: make one, or base on what is.")
    return base


async def add(root: Path, place: Path, branch: str, base: str) -> None:
    """Make a worktree, and its branch; of one that can't be made whole, nothing stays."""
    done = False
    try:
        await check_out(root, place, "-b", branch, str(place), base)
        await asyncio.to_thread(copy, root, place, await included(root))
        done = True
    finally:
        if not done:
            with suppress(GitError, OSError):
                await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
                await run(root, "worktree", "prune")
                await run(root, "branch", "--quiet", "-D", branch, may_fail=(1,))


async def check_out(root: Path, place: Path, *arguments: str) -> None:
    """Make a worktree into which only its owner can look: git makes it as the umask is."""
    await run(root, "worktree", "add", "--quiet", *arguments)
    await asyncio.to_thread(place.chmod, 0o700)


def same(cwd: str, root: Path, place: Path) -> str:
    """The folder in one tree that stands for another's."""
    return str(place / Path(cwd).resolve().relative_to(root))


async def included(root: Path) -> list[str]:
    """Ignored files that a worktree needs all the same, as `.worktreeinclude` says."""
    if not is_there(root / _INCLUDE):
        return []
    listing = ("ls-files", "-z", "--others", "--ignored")
    named = await items(root, *listing, f"--exclude-from={_INCLUDE}")
    ignored = set(await items(root, *listing, "--exclude-standard"))
    return [path for path in named if path in ignored]


def copy(root: Path, place: Path, paths: list[str]) -> None:
    """Copy files from one tree to another that has not got them."""
    for path in paths:
        target = place / path
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / path, target, follow_symlinks=False)


async def tree_of(root: Path, commit: str) -> str:
    """The name of what a commit holds."""
    return await line(root, "rev-parse", f"{commit}^{{tree}}")


async def kept_at(root: Path, name: str) -> str:
    """The commit that is kept under a name; empty: there is none."""
    return await commit_of(root, f"{KEPT}{name}")


async def commit_of(root: Path, ref: str) -> str:
    """The commit that a ref names; empty: there is no such ref."""
    with suppress(GitError):
        return await line(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return ""
