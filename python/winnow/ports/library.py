"""What there is of chats, and what agents have kept of sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol

from winnow.core.sessions import Kept, Session, Trashed
from winnow.core.transcript.history import Past
from winnow.ports.failure import Failure


class LibraryError(Failure):
    """It can't be done; the sentence says why and what to do."""


class Library(Protocol):
    """The chats' files and the trash, read beside the loop."""

    async def chats(self) -> list[Kept]:
        """All chats."""

    async def holding(self, text: str, paths: Collection[str]) -> set[str]:
        """Those files that hold a text; as with 'smartcase', capitals in it count.

        Cancelled, it stops.
        """

    async def end_of(self, path: str) -> list[str]:
        """A file's last lines; none: it can't be read."""

    async def trashed(self) -> list[Kept]:
        """What was deleted."""

    async def bring_back(self, name: str) -> str:
        """Take a chat out of the trash; gives its path.

        Raises:
            LibraryError: there is none of this name, or it can't be put back.
        """


class Sessions(Protocol):
    """The agent's own books. Each is read beside the loop; what is damaged is left out."""

    async def of(self, cwd: str) -> Sequence[Session]:
        """Those of a folder."""

    async def find(self, id: str) -> Session | None:
        """The one of this id, wherever it was."""

    async def messages(self, id: str) -> Sequence[Past]:
        """All that stands in one, in order."""

    async def rename(self, id: str, title: str) -> None:
        """Give it a title.

        Raises:
            LibraryError: it is not there, or can't be written.
        """

    async def fork(self, id: str, last: str, title: str) -> str:
        """Copy one up to its message ``last``, with this title; gives the copy's id.

        Raises:
            LibraryError: it is not there, or can't be written.
        """

    async def cut(self, id: str, first: str, summary: str) -> str:
        """Copy one from its prompt ``first`` on, with this in place of all before; gives its id.

        Raises:
            LibraryError: it is not there, holds no such prompt, or can't be written.
        """

    async def checkpoint(self, id: str, prompt: str) -> Mapping[str, str | None] | None:
        """The files that were changed in one, with the path of a copy of each as that prompt has
        found it; empty: it was not there; None: there is no copy. None: nothing is known of all.
        """

    async def discard(self, id: str, title: str) -> None:
        """Move one into the trash, where it has this title.

        Raises:
            LibraryError: it is not there, or can't be moved.
        """

    async def trashed(self) -> Sequence[Trashed]:
        """Those that are there."""

    async def bring_back(self, id: str) -> None:
        """Take one out of the trash.

        Raises:
            LibraryError: it is not there, or can't be put back.
        """


MakeSessions = Callable[[], Awaitable[Sessions]]
"""Awaited, since what reads them may still have to be imported."""
