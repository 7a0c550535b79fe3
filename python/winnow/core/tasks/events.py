"""What an agent tells of the work that it has started.

What the fields mean was seen with Claude Code 2.1.332, whose messages they come from: see
``adapters/claude/tasks.py``.
"""

from __future__ import annotations

from typing import Union

from winnow.core import agent as a

AGENT = "agent"
COMMAND = "command"


class Began(a.Side, frozen=True):
    """A task runs. A command in the foreground becomes one only after some seconds.

    Args:
        kind: `AGENT`, `COMMAND`, or as Claude Code calls it.
        call: the tool call that started it.
        type: of subagent.
        parent: the subagent that started it; empty: the main one.
        prompt: what a subagent was told.
    """

    id: str
    what: str
    kind: str = COMMAND
    call: str = ""
    type: str = ""
    parent: str = ""
    background: bool = True
    prompt: str = ""


class Progress(a.Side, frozen=True):
    """What a task does now, and what it has done so far."""

    id: str
    doing: str = ""
    tokens: int = 0
    calls: int = 0


class Changed(a.Side, frozen=True):
    """A task is in another state; an empty ``status``, or None, says nothing."""

    id: str
    status: str = ""
    background: bool | None = None


class Ended(a.Side, frozen=True):
    """A task has ended. ``summary`` is a subagent's report, or how a command ended, in words."""

    id: str
    status: str
    summary: str = ""
    call: str = ""
    tokens: int = 0
    calls: int = 0


class InBackground(a.Side, frozen=True):
    """All that runs in the background: what is not among these does not."""

    tasks: tuple[Began, ...]


class Launched(a.Side, frozen=True):
    """A call has returned, and what it started goes on as this task."""

    call: str
    id: str


class Prompted(a.Side, frozen=True):
    """A subagent was told something."""

    text: str


class FromSubagent(a.Side, frozen=True):
    """A subagent said or did something; ``call`` is the one that started it."""

    call: str
    event: Union[a.Text, a.Thinking, a.ToolStarted, a.ToolFinished, a.Pause, Prompted]
    model: str = ""
