"""Folders of their own for agents, and how what they change comes home."""

from __future__ import annotations

from typing import Protocol

import msgspec

from winnow.core.proposal.merge import FileChange, Wanted
from winnow.core.run.events import Tree
from winnow.ports.failure import Failure


class TreeError(Failure):
    """A worktree can't be made, read, merged or removed."""


class Ensured(msgspec.Struct, frozen=True):
    """A worktree that is there; ``said`` is what the user should know of how it came."""

    tree: Tree
    said: str = ""


class TreeChange(msgspec.Struct, frozen=True):
    """All that a worktree changes at one time, which ``commit`` holds."""

    commit: str
    files: tuple[FileChange, ...] = ()


class Merged(msgspec.Struct, frozen=True):
    """What came of a merge: the paths that were written, or why none was.

    ``conflicts`` are the texts of files that were changed on both sides, marked as git does it;
    ``failed`` is what the gate wrote, or another reason to do it again.
    """

    done: tuple[str, ...] = ()
    conflicts: dict[str, str] = {}
    failed: str = ""


class KeptTree(msgspec.Struct, frozen=True):
    """What a worktree held that was removed."""

    name: str
    at: float  # seconds since the epoch
    summary: str  # how much it changed


class Worktrees(Protocol):
    """Git worktrees. Every call raises `TreeError`.

    The user's index, branch and stash are never touched, and their files only by `merge`.
    """

    async def create(self, cwd: str, name: str, *, uncommitted: bool = False) -> Tree:
        """Make one from the commit that ``cwd`` stands at, or from all that stands there.

        Ignored files that `.worktreeinclude` names are copied.
        """

    async def ensure(
        self, project: str, cwd: str, branch: str, *, uncommitted: bool = False
    ) -> Ensured:
        """The worktree in which ``cwd`` stands for the folder ``project`` of the user's.

        An empty ``branch``: it was never made, and is now, unless its name is taken. Else it is
        found again; what of it is gone is made anew.
        """

    async def holds(self, tree: Tree) -> str:
        """What it holds that is nowhere else, in short; empty: nothing."""

    async def change(self, tree: Tree) -> TreeChange:
        """What it changes: what was committed there and what was not, ignored files aside."""

    async def diffstat(self, tree: Tree) -> str:
        """How much that is, in short and cheaply; empty: nothing, or nobody knows."""

    async def update(self, tree: Tree) -> Tree:
        """Bring what stands in the user's files into it; conflicts are marked in its files.

        Its change counts from there on.
        """

    async def merge(self, tree: Tree, commit: str, wanted: Wanted, gate: str = "") -> Merged:
        """Write what is wanted of a `TreeChange` into the user's files.

        Nothing is written if there are conflicts, or if the command ``gate`` fails on a copy of
        the merged files. The change of a worktree that stays counts from there on.
        """

    async def remove(self, tree: Tree) -> str:
        """Remove it. The name under which all that it held is kept; empty: it held nothing."""

    async def kept(self, cwd: str) -> list[KeptTree]:
        """What was removed in this repository, newest first."""

    async def restore(self, cwd: str, name: str) -> Tree:
        """Make a worktree anew from what is kept under this name."""
