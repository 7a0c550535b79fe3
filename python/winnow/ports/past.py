"""What the files of a folder held before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from winnow.core.proposal.merge import FileChange
from winnow.core.review.history import Saved, Yours
from winnow.ports.failure import Failure


class PastError(Failure):
    """It can't be told."""


class Changes(msgspec.Struct, frozen=True):
    """What differs between two states; ``name`` is that of this answer."""

    name: str
    files: tuple[FileChange, ...]


class Past(Protocol):
    """States of a folder, each by a name of its own. Every call may raise `PastError`.

    Nothing of the user's is touched but by `put_back`: no file, no index, no branch, no stash.
    """

    partial: str  # what can't be seen here, in a sentence; empty: nothing worth to be told

    async def now(self) -> str:
        """The state of now, which is kept."""

    async def named(self, ref: str) -> str:
        """The state that the user calls by this name, such as a commit."""

    async def changes(self, old: str, new: str, yours: Sequence[Yours]) -> Changes:
        """What differs between two states, the user's own edits aside; by absolute paths."""

    async def put_back(
        self, name: str, files: Sequence[FileChange], wanted: Mapping[str, str | None]
    ) -> list[str]:
        """Write what is wanted of these files of `changes`, None: undo all of it.

        Only where a file still reads as it was shown; returns a sentence for each that does not.
        """

    async def saved(self, path: str, before: str, after: str) -> Saved | None:
        """Keep what the user has made of a file, by copies of it; an empty path: there was none.

        None: the file is none of this folder's.
        """

    async def made(self, path: str, before: str | None, after: str | None) -> Saved | None:
        """The same, by texts; None: no file."""

    async def wrote(self, path: str, before: str | None) -> None:
        """A tool has written a file, which held this before; None: there was none."""

    def load(self) -> bytes:
        """What was kept by `keep`; empty: nothing."""

    def keep(self, known: bytes) -> None:
        """Keep this over restarts, if states are, too."""


class MakePast(Protocol):
    """Makes it for a chat."""

    async def __call__(self, cwd: str, chat: str) -> Past:
        """``cwd`` is its directory, ``chat`` its path."""
