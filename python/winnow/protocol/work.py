"""What is said about subagents, and about what runs in the background, in both directions."""

from __future__ import annotations

from typing import Union

import msgspec

from winnow.protocol.base import ChatMessage


class LiveCall(msgspec.Struct, frozen=True):
    """A call that goes on: what is drawn behind its line, with the time ``since`` (epoch)."""

    id: str
    text: str
    since: float


class Live(ChatMessage, frozen=True):
    """All calls of the chat that are subagents, or go on in the background."""

    calls: list[LiveCall]


class AgentPage(ChatMessage, frozen=True):
    """What a subagent says, in a buffer of its own: ``lines`` after the first ``keep`` rows.

    ``parent`` is the subagent that started it, empty: the chat's own; by the call ``call``.
    ``state`` stands beside the title. ``show``: go there.
    """

    agent: str
    title: str
    state: str
    parent: str
    call: str
    lines: list[str]
    keep: int = 0
    show: bool = False


class Promoted(ChatMessage, frozen=True):
    """Open a new chat that goes on with this session, of which ``lines`` are what was said."""

    session: str
    cwd: str
    lines: list[str]


# --- events -------------------------------------------------------------------------------------


class AgentMessage(ChatMessage, frozen=True):
    """``agent`` is a subagent's id."""

    agent: str


class VisitAgent(ChatMessage, frozen=True):
    """Show what a subagent says: that of this id; or of this call; or the ``nth`` (from 0) of those
    whose call has this ``line``, in a chat that was opened again.
    """

    agent: str = ""
    call: str = ""
    line: str = ""
    nth: int = 0


class WatchAgent(AgentMessage, frozen=True):
    """The buffer of a subagent was closed, or is to be filled again."""

    open: bool


class PickInAgent(AgentMessage, frozen=True):
    """Go to the subagent whose call is on this row of another one's buffer."""

    row: int


class AgentBeside(AgentMessage, frozen=True):
    """Go to another subagent that the same one has started: so many ``step`` s on, or back."""

    step: int


class Promote(AgentMessage, frozen=True):
    """Make a chat of a subagent."""


class Background(ChatMessage, frozen=True):
    """Have a running call go on in the background; without ``call``: the only one that runs."""

    call: str = ""


class TellTodo(ChatMessage, frozen=True):
    """Tell the agent now what the user has changed in the todo list."""


class Worktree(msgspec.Struct, frozen=True):
    """The git worktree that a chat works in; an empty ``project``: in none.

    ``project`` is the folder of the user's that the chat's stands for. An empty ``branch``: it has
    yet to be made.
    """

    project: str = ""
    branch: str = ""


class Merge(ChatMessage, frozen=True):
    """Ask the user what of the change of this chat's worktree shall be merged."""


AgentViewEvent = Union[VisitAgent, WatchAgent, PickInAgent, AgentBeside, TellTodo]
