"""A worktree in which a chat is: made when it is needed, found again, and made anew if it is gone.

Where its change begins is a ref, so that nothing is lost to git's own tidying, and what has come
home in a merge is not asked about again.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count
from pathlib import Path

from winnow import ports
from winnow.adapters.files import private_folder
from winnow.adapters.git import changes
from winnow.adapters.git.git import GitError, line, run
from winnow.adapters.git.repository import (
    add,
    beginning,
    check_out,
    commit_of,
    copy,
    has_branch,
    included,
    is_there,
    kept_at,
    root_of,
    tree_of,
)

_BASES = "refs/winnow/base/"
_BRANCHES = "winnow/"
_FROM_BRANCH = "The worktree {} was gone: it is made anew, with what was committed on its branch."
_FROM_KEPT = "The worktree {} was gone: it is made anew, with all that was kept of it."
_FROM_HEAD = "The worktree {} was gone, and its branch, too: both begin anew with the last commit."
_ASIDE = " Git knew no more of what stood there: that is in {} now."
_TAKEN = "There is {} already: :Winnow new ++worktree={{name}} takes another name."


async def ensure(project: str, cwd: str, branch: str, *, uncommitted: bool) -> ports.Ensured:
    """See `ports.Worktrees.ensure`."""
    root = await root_of(project)
    place = _place(root, project, cwd)
    name = branch.removeprefix(_BRANCHES) or place.name.removeprefix(f"{root.name}-")
    said, branched = "", await has_branch(root, branch or _BRANCHES + name)
    if not branch:
        branch = _BRANCHES + name
        if branched or is_there(place):
            what = f"a branch {branch}" if branched else f"a folder {place}"
            raise ports.TreeError(_TAKEN.format(what))
        await _begin(root, place, branch, uncommitted=uncommitted)
    elif not await _works(place):
        await run(root, "worktree", "prune")
        aside = await asyncio.to_thread(_put_aside, place)
        kept = await kept_at(root, name)
        if branched:
            await check_out(root, place, str(place), branch)
            await asyncio.to_thread(copy, root, place, await included(root))
            said = _FROM_BRANCH.format(name)
        elif kept:
            await add(root, place, branch, kept)
            said = _FROM_KEPT.format(name)
        else:
            await _begin(root, place, branch, uncommitted=uncommitted)
            said = _FROM_HEAD.format(name)
        said += _ASIDE.format(aside) if aside else ""
    await asyncio.to_thread(Path(cwd).mkdir, parents=True, exist_ok=True)
    return ports.Ensured(
        ports.Tree(str(root), str(place), cwd, branch, await _base(root, branch)), said
    )


def _place(root: Path, project: str, cwd: str) -> Path:
    """The top of the worktree in which ``cwd`` stands for the project's folder."""
    place = Path(cwd)
    for part in reversed(Path(project).resolve().relative_to(root).parts):
        if place.name != part:
            raise ports.TreeError(f"{cwd} stands for no folder of {root}.")
        place = place.parent
    return place


async def _works(place: Path) -> bool:
    """Whether it is there, and git knows of it: else it was pruned while its disk was away."""
    with suppress(GitError, OSError):
        await run(place, "rev-parse", "--git-dir")
        return is_there(place / ".git")
    return False


def _put_aside(place: Path) -> str:
    """Give way to a worktree that is made anew; where it is then, empty: nothing was there."""
    if not is_there(place) or not any(place.iterdir()):
        return ""
    tried = (Path(f"{place}-old{number or ''}") for number in count())
    aside = next(path for path in tried if not is_there(path))
    return str(place.rename(aside))


async def _begin(root: Path, place: Path, branch: str, *, uncommitted: bool) -> None:
    base = await beginning(root, uncommitted=uncommitted)
    await asyncio.to_thread(private_folder, place.parent)
    await add(root, place, branch, base)
    await _begins(root, branch, base)


async def _begins(root: Path, branch: str, base: str) -> None:
    await run(root, "update-ref", _ref(branch), base)


def _ref(branch: str) -> str:
    return _BASES + branch.removeprefix(_BRANCHES)


async def _base(root: Path, branch: str) -> str:
    """Where its change begins; if nobody knows that any more, where the branch does."""
    if known := await commit_of(root, _ref(branch)):
        return known
    with suppress(GitError):
        return await line(root, "merge-base", "HEAD", f"refs/heads/{branch}")
    return await beginning(root, uncommitted=False)


async def came_home(root: Path, branch: str, commit: str) -> None:
    """This much of it is merged: its change begins there from now on."""
    if await commit_of(root, _ref(branch)):  # else it is a task's, which is removed now
        await _begins(root, branch, commit)


async def forget(root: Path, branch: str) -> None:
    """It is removed."""
    await run(root, "update-ref", "-d", _ref(branch))


async def holds(tree: ports.Tree, state: str) -> str:
    """See `ports.Worktrees.holds`; ``state`` is a commit of all that stands there."""
    root = Path(tree.root)
    if await tree_of(root, state) != await tree_of(root, tree.base):
        return await changes.stat(Path(tree.path), tree.base) or "changes"
    branch, others = f"refs/heads/{tree.branch}", f"--exclude={tree.branch}"
    known = ("--not", tree.base, "HEAD", others, "--branches", "--remotes", "--tags")
    if not await commit_of(root, branch):
        return ""
    number = int(await line(root, "rev-list", "--count", branch, *known))
    return f"{number} commit{'s' * (number > 1)}" if number else ""
