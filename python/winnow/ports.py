"""What the app needs from the world. Adapters implement these; tests may, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Union

import msgspec

from winnow.core.agent import AgentEvent, Reply, Request
from winnow.core.asking import trust
from winnow.core.ledger.ledger import Decision
from winnow.core.place import Place
from winnow.core.project import Project
from winnow.protocol import Effect

# --- the agent --------------------------------------------------------------------------------


class AgentError(Exception):
    """The agent can't go on.

    Args:
        sentence: what happened and what to do, for the chat.
        detail: everything else, for the log.
    """

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail


class NotWanted(AgentError):
    """It was to be started beforehand, and can't be without asking the user."""


class SessionGone(AgentError):
    """The session can't be resumed, and never will be: the next one starts afresh."""


Ask = Callable[[Request], Awaitable[Reply]]
"""Cancelled by the agent when the request is withdrawn."""


Heard = Mapping[str, str]
"""What a session has on record: uuids of prompts, and tool calls with the error of those failed."""


class Agent(Protocol):
    """One session. Made, connected, drained and closed by one task."""

    @property
    def name(self) -> str:
        """Who answers, for the top of the chat; the first word is its `AgentSpec.kind`."""

    async def connect(self) -> None:
        """Start and be ready for a prompt.

        Raises:
            AgentError: it did not start.
        """

    def events(self) -> AsyncIterator[AgentEvent]:
        """Everything the agent says until it is closed.

        Raises:
            AgentError: it died.
        """

    async def heard(self) -> Heard | None:
        """What the session that is to be resumed has heard; needs no connection.

        None: there is no such session.
        """

    async def prompt(self, text: str, uuid: str, *, command: bool = True) -> None:
        """Say something to the agent; ``uuid`` comes back in `TurnEnded.answered`.

        Unless it may be a command, all of it is only text, whatever it begins with.
        """

    async def interrupt(self) -> None:
        """End the running turn. A `TurnEnded` follows."""

    async def set_mode(self, mode: str) -> None:
        """Change the permission mode, also in the middle of a turn. A `Mode` follows.

        Raises:
            AgentError: it can't be set; the session goes on.
        """

    async def rules(self) -> list[str]:
        """The permission rules in force, one line each, with where they come from.

        Raises:
            AgentError: the agent can't tell.
        """

    async def close(self) -> None:
        """End the session; what waits in `Ask` is cancelled."""


class AgentSpec(msgspec.Struct, frozen=True):
    """What a session is made from."""

    cwd: str
    kind: str = "claude"  # or "scripted"
    session: str = ""  # resume this one
    model: str = ""
    mode: str = ""
    questions: str = "tool"  # how it asks: by "tool", by choices in its "text", or "both"
    given: trust.Given = trust.Given()  # what it gets of the project's settings


MakeAgent = Callable[[AgentSpec, Ask], Awaitable[Agent]]
"""Awaited, since what an agent is made of may still have to be imported."""


# --- the editor and the store -------------------------------------------------------------------


class Editor(Protocol):
    """Where effects go. Never blocks, never answers."""

    def apply(self, *effects: Effect) -> None:
        """Queue effects; they reach the editor in order."""


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


Kept = Union[StoredSection, Decision, Message]


class StoreError(Exception):
    """The store can't be read now.

    Args:
        sentence: what happened and what it means, for the user.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Store(Protocol):
    """Durable sections, the ledger, and messages that have not arrived.

    No call waits: each is carried out in its turn, and gives something to wait for. What can't be
    written now is tried until it can, and the user is told.
    """

    def new_marker(self) -> str:
        """A marker that no section of this user has; never fails."""

    def save(self, *kept: Kept) -> asyncio.Future[None]:
        """Insert or replace sections and messages, add decisions: all of them or none.

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


class Projects(Protocol):
    """The folders in which agents work."""

    async def read(self, cwd: str) -> Project:
        """The project of this folder, with all that Claude Code would read there."""


class Files(Protocol):
    """The files that an agent wants to change."""

    def read(self, path: str) -> str | None:
        """A file's text, its byte order mark and line ends as they are; None: there is none.

        Raises:
            FileError: it is no text, too large, or can't be read.
        """


class Clock(Protocol):
    """Seconds since the epoch."""

    def now(self) -> float:
        """The time."""


class World(NamedTuple):
    """All that the app needs of it."""

    make_agent: MakeAgent
    editor: Editor
    store: Store
    clock: Clock
    files: Files
    projects: Projects
    decided: Decided
    form_hours: float = 24  # for which choices in an agent's text stay open over restarts
    at_once: int = 2  # agents that start at a time
    home: str = ""  # the user's directory

    def place(self, cwd: str) -> Place:
        """Of a chat in this directory."""
        return Place(cwd, self.home)
