"""What an agent says, what it asks, and what it is told then."""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from winnow.core.folder import UNKNOWN, Folder

Update = dict[str, Any]
"""A permission update, in Claude Code's own form."""


class Started(msgspec.Struct, frozen=True, tag=True):
    """The session has an id: the one to resume next time."""

    session: str
    model: str = ""


class Text(msgspec.Struct, frozen=True, tag=True):
    """A piece of what the agent says; a message may come in thousands."""

    text: str


class Thinking(msgspec.Struct, frozen=True, tag=True):
    """A piece of the agent's reasoning."""

    text: str


class ToolStarted(msgspec.Struct, frozen=True, tag=True):
    """The agent calls a tool; its input is complete."""

    id: str
    name: str
    input: dict[str, Any]


class ToolFinished(msgspec.Struct, frozen=True, tag=True):
    """A tool call of this session has a result; a subagent's calls are told of, too.

    ``result`` is what the tool says of itself, in Claude Code's own form: a value of JSON's.
    """

    id: str
    output: str
    failed: bool = False
    result: Any = None


class Mode(msgspec.Struct, frozen=True, tag=True):
    """The permission mode is this from now on, whoever changed it."""

    mode: str


class SettingsChanged(msgspec.Struct, frozen=True, tag=True):
    """Settings changed on disk. They don't act before the agent is started anew."""


class Pause(msgspec.Struct, frozen=True, tag=True):
    """A message or tool result is complete: a place where the user's next message may stand."""


class Notice(msgspec.Struct, frozen=True, tag=True):
    """Something that the user should know, as one sentence."""

    sentence: str


class Retry(msgspec.Struct, frozen=True, tag=True):
    """The agent's model does not answer and is asked again, in so many ``seconds`` (0: unknown).

    Whatever comes next ends that.
    """

    sentence: str
    seconds: float = 0.0


Trouble = Literal["", "limit", "busy", "login", "network", "full", "budget", "other"]
"""Why a turn has failed: a limit of the user's plan, an overloaded API, credentials that are not
taken, no connection, a context that is full, a budget that is spent."""


class TurnEnded(msgspec.Struct, frozen=True, tag=True):
    """The turn is over.

    ``answered`` holds the uuids of the prompts that it took in; empty when the agent can't tell,
    which then means all of them. ``error`` is one sentence, empty when all went well; ``trouble``
    then says which kind of failure it is, and ``until`` when it is over, in seconds since the
    epoch, 0 where nobody knows.
    """

    answered: list[str] = []
    error: str = ""
    stopped: bool = False
    cost: float = 0.0  # US dollars, since the turn before
    trouble: Trouble = ""
    until: float = 0.0
    seconds: float = 0.0  # that it took; 0: unknown


class Side(msgspec.Struct, frozen=True):
    """What is no part of the conversation: the parts of a chat hear it (``app/parts``)."""


AgentEvent = Union[
    Started,
    Text,
    Thinking,
    ToolStarted,
    ToolFinished,
    Mode,
    SettingsChanged,
    Pause,
    Notice,
    Retry,
    TurnEnded,
    Side,
]


class Request(msgspec.Struct, frozen=True):
    """The agent waits for the user: may this tool run, with which input?"""

    tool: str
    input: dict[str, Any]
    tool_use_id: str = ""
    agent_id: str = ""  # the subagent that asks, empty for the main one
    agent: str = ""  # what that one is for, in words
    worker: str = ""  # the task whose worker asks, where it is not the chat's own agent
    reason: str = ""
    blocked: str = ""  # the path that may not be touched without asking
    suggestions: list[Update] = []
    mode: str = ""  # the permission mode in which it is asked, where that is known
    folder: Folder = UNKNOWN  # of the chat, which names files by it
    would: tuple[str, ...] = ()  # what it would do, where that is known: goes on after who asks

    @property
    def asker(self) -> str:
        """The subagent that asks, for the user; empty for the main one."""
        return self.agent or self.agent_id


class Allow(msgspec.Struct, frozen=True, tag=True):
    """Run the tool with ``input``; ``updates`` hold from then on.

    ``note`` reaches the agent beside the tool's result: what the user said or changed. ``passing``
    are updates that hold until the turn ends, which the agent is not told of.
    """

    input: dict[str, Any]
    updates: list[Update] = []
    note: str = ""
    passing: list[Update] = []


class Deny(msgspec.Struct, frozen=True, tag=True):
    """Don't run it. The agent reads ``message``, which is never empty; ``stop`` ends the turn."""

    message: str
    stop: bool = False


Reply = Union[Allow, Deny]
