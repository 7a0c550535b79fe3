"""What is kept on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol, Union

import msgspec

from winnow.core.asking import trust
from winnow.core.clarify.clarification import Clarification
from winnow.core.ledger.ledger import Decision
from winnow.core.run.events import Event, RunEvent
from winnow.core.run.transcript import RunTurn
from winnow.ports.failure import Failure


class StoredSection(msgspec.Struct, frozen=True):
    """A section as it is kept: enough to show it again and to deliver its answer late.

    It belongs to its chat: only there its marker leads to it.
    """

    id: str  # nobody can guess it
    chat: str  # the chat's path
    marker: str  # what stands on its lines
    tool: str
    input: dict[str, Any]
    state: str = "open"  # "open", "answered", "cancelled", "expired", "discussed"
    lines: list[str] = []  # as the user left them; empty: as rendered
    created: float = 0.0  # seconds since the epoch
    call: str = ""  # the tool call that asks it


class Message(msgspec.Struct, frozen=True):
    """Words of the user that the agent may not have yet: an answer, or what they wrote."""

    id: str  # also of the prompt that it becomes
    chat: str  # the chat's path
    text: str
    own: bool = False  # written as a draft, so it may be a command of the agent's
    call: str = ""  # the tool call that has it as its result
    denial: str = ""  # what that result says if it is a refusal
    about: str = ""  # of a run, for its orchestrator: the task or the question that it is about


Kept = Union[StoredSection, Decision, Message, RunEvent, RunTurn]


class StoreError(Failure):
    """The store can't be read now; the sentence says what that means."""


class Overtaken(StoreError):
    """Somebody else goes on with the same thing."""


class Store(Protocol):
    """Durable sections, the ledger, and messages that have not arrived.

    No call waits: each is carried out in its turn, and gives something to wait for. What can't be
    written now is tried until it can, and the user is told.
    """

    def new_marker(self) -> str:
        """A marker that no section of this user has; never fails."""

    def save(self, *kept: Kept) -> asyncio.Future[None]:
        """Insert or replace sections and messages, add all else: all of them or none.

        Done when that is on disk, or the user has been told that it isn't yet.
        """

    def forget(self, messages: Sequence[str]) -> Awaitable[None]:
        """The messages of these ids have arrived. Done as `save` is."""

    def sections(self, chat: str) -> Awaitable[list[StoredSection]]:
        """A chat's sections, the oldest first; waits until they can be read."""

    def messages(self, chat: str) -> Awaitable[list[Message]]:
        """What the agent of a chat may not have yet, the oldest first; waits as `sections`."""

    def decisions(self, key: str = "") -> Awaitable[list[Decision]]:
        """The ledger, or what was decided about the question of this key; newest first.

        Raises:
            StoreError: it can't be read.
        """


class Runs(Protocol):
    """What happened in runs, and what was said in their tasks; waits until it can be read."""

    async def events(self, run: str = "") -> list[Event]:
        """The events of a run, or of all, in the order in which they happened."""

    async def of_task(self, run: str, task: str) -> list[Event]:
        """Those of a task."""

    async def news(self, after: int, since: float) -> tuple[list[Event], int]:
        """The events that came after this place, of all runs, and the place of the newest one.

        From the beginning (0), only those of runs in which something has happened ``since``, in
        seconds since the epoch.
        """

    async def turns(self, run: str, task: str, last: int = 0) -> list[RunTurn]:
        """The transcript of a task, or only so many turns from its end."""

    async def lengths(self, run: str) -> dict[str, int]:
        """How many turns each of its tasks has."""


class Clarified(Protocol):
    """What became of requests that were clarified.

    Every call raises `StoreError` where that can't be read, or is not on disk.
    """

    async def load(self, id: str) -> Clarification | None:
        """The one of this name."""

    async def save(self, known: Clarification) -> Clarification:
        """Keep it in place of what was known; as it is kept.

        Raises:
            Overtaken: somebody else has kept something since this was loaded.
        """


class Decided(Protocol):
    """What the user decided about projects, and about the modes of chats.

    Every call raises `StoreError` where that can't be read, or is not on disk.
    """

    async def verdicts(self, root: str) -> dict[str, trust.Verdict]:
        """What was decided about the project of this root, by entry."""

    async def decide(self, root: str, verdicts: trust.Verdicts) -> None:
        """Add to that."""

    async def forget(self, root: str) -> None:
        """Take all of it back."""

    async def mode(self, chat: str) -> str:
        """The mode that the user set last in the chat of this path; empty: none."""

    async def set_mode(self, chat: str, mode: str) -> None:
        """Remember it."""
