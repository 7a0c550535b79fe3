"""An agent, and what it is made from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from winnow.core.agent import AgentEvent, Reply, Request
from winnow.core.asking import trust
from winnow.core.context.attachment import Attachment
from winnow.core.context.session import Carried, Command
from winnow.core.controls import Model, Rule, Server
from winnow.core.editor.tools import Call
from winnow.core.run import tools
from winnow.core.run.places import Place
from winnow.core.usage.context import Context
from winnow.core.usage.plan import Window
from winnow.ports.failure import Failure


class AgentError(Failure):
    """The agent can't go on."""


class NotWanted(AgentError):
    """It was to be started beforehand, and can't be without asking the user."""


class SessionGone(AgentError):
    """The session can't be resumed, and never will be: the next one starts afresh."""


Ask = Callable[[Request], Awaitable[Reply]]
"""Cancelled by the agent when the request is withdrawn."""


Heard = Mapping[str, str]
"""What a session has on record: uuids of prompts, and tool calls with the error of those failed."""


class Controls(Protocol):
    """What a session can be asked for beside talking, also in the middle of a turn.

    Raises:
        AgentError: from each; it can't be had, and the session goes on.
    """

    async def context(self) -> Context:
        """How full the context is, as the agent counts it."""

    async def plan(self) -> list[Window]:
        """What is used of the user's plan; empty where they have none."""

    async def models(self) -> list[Model]:
        """Those that the account has."""

    async def set_model(self, name: str) -> None:
        """Have this one answer from now on; ``default``: the one that Claude Code takes."""

    async def set_flag(self, name: str, value: str) -> None:
        """Change the ``effort``, or ``default``; or switch ``fast`` mode ``on`` or ``off``."""

    async def servers(self) -> list[Server]:
        """The MCP servers of the session."""

    async def switch(self, server: str, *, on: bool) -> None:
        """Switch a server on or off, for this session; one that has failed is tried again."""

    async def rules(self) -> list[Rule]:
        """The permission rules in force, and then the folders."""

    async def revoke(self, rules: Sequence[Rule]) -> None:
        """Take rules out of the files that they stand in; the next agent has them no more."""

    async def stop_task(self, id: str) -> int:
        """Stop work that runs in the background, with all that it has started.

        Returns:
            How many processes had gone their own way, and had to be ended beside.
        """

    async def background(self, call: str) -> bool:
        """Have a running call go on in the background; False: it is too young, or none."""

    async def commands(self) -> list[Command]:
        """The commands and skills that it has."""

    async def carried(self) -> Carried:
        """What its session carries now, with sizes."""

    async def task_output(self, id: str) -> str:
        """The end of what a command in the background has said so far."""


class EditorError(Exception):
    """The editor can't do it; the sentence says why, for the agent."""


class EditorTools(Protocol):
    """What an agent can ask the user's editor for.

    Raises:
        EditorError: from each.
    """

    @property
    def offered(self) -> Sequence[str]:
        """The names of those that it has."""

    async def call(self, call: Call) -> str:
        """Do it; gives what the agent reads."""

    async def would(self, call: Call) -> tuple[str, ...]:
        """What it would do, as the user reads it: see `Request.would`."""


class Agent(Protocol):
    """One session. Made, connected, drained and closed by one task."""

    @property
    def name(self) -> str:
        """Who answers, for the top of the chat; the first word is its `AgentSpec.kind`."""

    @property
    def controls(self) -> Controls | None:
        """None: this agent only talks."""

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

    async def prompt(
        self, text: str, uuid: str, *, command: bool = True, attached: Sequence[Attachment] = ()
    ) -> None:
        """Say something to the agent; ``uuid`` comes back in `TurnEnded.answered`.

        Unless it may be a command, all of it is only text, whatever it begins with. ``attached``
        goes before it, and is never a command.
        """

    async def interrupt(self) -> None:
        """End the running turn. A `TurnEnded` follows."""

    async def set_mode(self, mode: str) -> None:
        """Change the permission mode, also in the middle of a turn. A `Mode` follows.

        Raises:
            AgentError: it can't be set; the session goes on.
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
    place: Place = Place()  # elsewhere, `cwd` and `given` don't count
    role: tools.Role = ""  # in a run
    about: str = ""  # what it is for, in words
    effort: str = ""
    fast: bool = False  # in fast mode, where the model has one
    compact: str = ""  # a full context: "ask" the user, "off"; else Claude Code does as it likes
    budget: float = 0.0  # US dollars that it may cost from now on; 0: no limit
    total: float = 0.0  # that its session may cost with all before, as far as it is known; 0: ditto
    editor: EditorTools | None = None
    aside: bool = False  # goes on from the session without a trace in it, and only reads
    before_writing: Callable[[], Awaitable[object]] | None = None  # a tool that may write waits


MakeAgent = Callable[[AgentSpec, Ask], Awaitable[Agent]]
"""Awaited, since what an agent is made of may still have to be imported."""
