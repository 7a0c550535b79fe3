"""All tasks of a session: which run, which have ended, and which end is yet to be told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from winnow.core import agent as a
from winnow.core.tasks.events import (
    AGENT,
    Began,
    Changed,
    Ended,
    FromSubagent,
    InBackground,
    Launched,
    Progress,
)

End = Literal["", "done", "failed", "stopped", "gone", "lost"]
"""Empty: it runs; ``gone``: it runs no more, and nobody said how it ended; ``lost``: its session
has ended before it."""

# How Claude Code says that a task has ended: `TERMINAL_TASK_STATUSES` of the SDK.
_ENDS: dict[str, End] = {
    "completed": "done",
    "failed": "failed",
    "stopped": "stopped",
    "killed": "stopped",
}
KEPT = 200  # of those that have ended


class Task(msgspec.Struct):
    """One of them. ``began`` and ``ended`` are seconds since the epoch.

    ``missed``: it runs in the background no more, and what is said of its end is awaited.
    """

    id: str
    what: str
    kind: str
    call: str = ""
    type: str = ""
    parent: str = ""
    background: bool = False
    prompt: str = ""
    model: str = ""
    doing: str = ""
    tokens: int = 0
    calls: int = 0
    summary: str = ""
    status: str = ""  # as it was said
    end: End = ""
    began: float = 0.0
    ended: float = 0.0
    rounds: int = 0  # how often it has begun again
    missed: bool = False
    told: bool = False

    @property
    def runs(self) -> bool:
        """It has not ended."""
        return not self.end

    @property
    def is_agent(self) -> bool:
        """It is a subagent."""
        return self.kind == AGENT


class Tasks:
    """Of one session; each is known by its id.

    What runs in the background is replaced by each full set of it, so that no lost notice leaves
    one running for ever, and none that is heard twice ends one twice.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks.values())

    def get(self, id: str) -> Task | None:
        """The task of this id."""
        return self._tasks.get(id)

    def by_call(self, call: str) -> Task | None:
        """The newest that this tool call has started."""
        found = (task for task in reversed(self._tasks.values()) if call and task.call == call)
        return next(found, None)

    @property
    def background(self) -> list[Task]:
        """Those that run, and for which nobody waits."""
        return [task for task in self if task.runs and task.background]

    @property
    def untold(self) -> list[Task]:
        """Those that ran in the background, have ended, and were not told of.

        What belongs to a subagent that still runs is that one's business.
        """
        return [
            task
            for task in self
            if task.end
            and task.background
            and not (task.told or task.missed)
            and not self._owned(task)
        ]

    @property
    def missed(self) -> bool:
        """The end of one is awaited."""
        return any(task.missed for task in self)

    def _owned(self, task: Task) -> bool:
        parent = self._tasks.get(task.parent)
        return parent is not None and parent.runs

    def below(self, id: str) -> list[Task]:
        """All that it has started, and what these have: the deepest first."""
        found: list[Task] = []
        level = [id]
        while level:
            children = [t for t in self if t.parent in level and t.id != id and t not in found]
            found = [*children, *found]
            level = [task.id for task in children]
        return found

    def forget(self, id: str) -> None:
        """One that has ended is no longer listed."""
        task = self._tasks.get(id)
        if task is not None and task.end and (task.told or not task.background):
            del self._tasks[id]

    # --- what happens ---------------------------------------------------------------------------

    def hear(self, event: a.Side, now: float) -> bool:
        """Learn from an event; False: it is about no task that is known."""
        match event:
            case Began():
                self._begin(event, now)
            case InBackground(tasks=tasks):
                self._replace(tasks, now)
            case Ended(id=id, call=call):
                self._finish(self._known(id, call, now), event, now)
            case Launched(call=call, id=id):
                self._known(id, call, now).background = True
            case Progress() | Changed():
                return self._learn(event, now)
            case FromSubagent(call=call, model=model):
                task = self.by_call(call)
                if task is not None and model:
                    task.model = model
                return task is not None
            case _:
                return False
        return True

    def _known(self, id: str, call: str, now: float) -> Task:
        """One that is told of, though nobody has said that it began."""
        task = self._tasks.get(id) or self._begin(Began(id, ""), now)
        task.call = task.call or call
        return task

    def _learn(self, event: Progress | Changed, now: float) -> bool:
        task = self._tasks.get(event.id)
        if task is not None and isinstance(event, Progress):
            task.doing = event.doing or task.doing
            task.tokens = max(task.tokens, event.tokens)
            task.calls = max(task.calls, event.calls)
        elif task is not None and isinstance(event, Changed):
            self._change(task, event, now)
        return task is not None

    def returned(self, call: str, now: float, *, failed: bool) -> None:
        """A call has a result: what it waited for has ended."""
        task = self.by_call(call)
        if task is not None and task.runs and not task.background:
            self._end(task, "failed" if failed else "done", now)

    def settle(self, now: float) -> None:
        """Nothing more is said of the end of those that are missed."""
        for task in self:
            if task.missed and task.runs:
                self._end(task, "gone", now)
            task.missed = False

    def lose(self, now: float) -> None:
        """The session has ended, and what it has started with it."""
        for task in self:
            if task.runs:
                self._end(task, "lost", now)

    def _begin(self, event: Began, now: float) -> Task:
        task = self._tasks.get(event.id)
        if task is None:
            task = Task(event.id, event.what, event.kind, began=now)
            self._tasks[event.id] = task
        elif task.end:  # a subagent goes on
            task.end, task.told, task.began = "", False, now
            task.rounds += 1
        task.missed = False
        for name in ("what", "kind", "call", "type", "parent", "prompt"):
            if value := getattr(event, name):
                setattr(task, name, value)
        task.background = event.background
        return task

    def _replace(self, tasks: tuple[Began, ...], now: float) -> None:
        ids = {event.id for event in tasks}
        for event in tasks:
            self._begin(event, now)
        for task in self:
            if task.runs and task.background and task.id not in ids:
                task.missed = True

    def _change(self, task: Task, event: Changed, now: float) -> None:
        task.status = event.status or task.status
        if event.background is not None:
            task.background = event.background
        if (end := _ENDS.get(event.status)) and task.runs:
            self._end(task, end, now)
            task.missed = task.background  # its report is told next

    def _finish(self, task: Task, event: Ended, now: float) -> None:
        if task.end in ("", "gone", _ENDS.get(event.status)):
            task.summary = event.summary or task.summary
            task.status = event.status
            task.tokens = max(task.tokens, event.tokens)
            task.calls = max(task.calls, event.calls)
            self._end(task, _ENDS.get(event.status, "gone"), now)

    def _end(self, task: Task, end: End, now: float) -> None:
        task.ended = task.ended if task.end else now
        task.end, task.missed = end, False
        over = [task.id for task in self if task.end and (task.told or not task.background)]
        for id in over[: max(0, len(over) - KEPT)]:
            del self._tasks[id]
