"""What subagents say and do, each as a transcript of its own, at any depth."""

from __future__ import annotations

from collections.abc import Iterator

from winnow.core import agent as a
from winnow.core.tasks import lines
from winnow.core.tasks.events import Began, Ended, FromSubagent, Launched, Prompted
from winnow.core.tasks.tasks import Task, Tasks
from winnow.core.transcript.entries import (
    Called,
    Entry,
    Noted,
    Paused,
    Returned,
    Said,
    Thought,
    Told,
)

OUTPUT = 200  # lines of one tool's output that are kept; the session's file has them all
_LINE = 2_000  # characters of one of them


def entries(event: a.AgentEvent) -> Iterator[Entry]:
    """How an event of a subagent stands in its transcript."""
    match event:
        case Prompted(text=text):
            yield Told(text)
        case a.Text(text=text):
            yield Said(text)
        case a.Thinking(text=text):
            yield Thought(text)
        case a.Pause():
            yield Paused()
        case a.ToolStarted(id=id, name=name, input=input):
            yield Called(id, name, input)
        case a.ToolFinished(id=id, output=output, failed=failed):
            yield Returned(id, _cut(output), failed)
        case _:
            pass  # no part of what it says


def _cut(output: str) -> str:
    found = output.split("\n", OUTPUT)
    more = found[OUTPUT].count("\n") + 1 if len(found) > OUTPUT else 0
    kept = [line if len(line) <= _LINE else line[:_LINE] + "…" for line in found[:OUTPUT]]
    return "\n".join([*kept, f"… {more} more lines"] if more else kept)


class Subagents:
    """The transcripts of one session's subagents, by the calls that started them.

    Args:
        tasks: says which those are; hears each event before.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._entries: dict[str, list[Entry]] = {}
        self._last: set[str] = set()  # calls in these that have returned, and go on

    def of(self, call: str) -> list[Entry]:
        """What one has said and done so far."""
        return self._entries.get(call, [])

    def hear(self, event: a.Side, now: float) -> str:
        """Learn from an event; gives the call of the subagent that it adds something to."""
        match event:
            case Began(kind="agent", call=call, prompt=prompt) if call and not self.of(call):
                return self._add(call, Told(prompt)) if prompt else ""
            case Launched(call=call):
                self._last.add(call)
            case FromSubagent(call=call, event=said):
                return self._hear(call, said, now)
            case Ended(id=id):
                return self._end(self._tasks.get(id))
            case _:
                pass
        return ""

    def _hear(self, call: str, event: a.AgentEvent, now: float) -> str:
        match event:
            case Prompted(text=text) if Told(text) in self.of(call):
                return ""  # what it was started with
            case a.ToolFinished(id=id, failed=failed):
                self._tasks.returned(id, now, failed=failed)
                task = self._tasks.by_call(id)
                if id in self._last:
                    return ""
                if task is not None and task.is_agent and not failed:
                    return self._add(call, _returned(task))
            case _:
                pass
        return self._add(call, *entries(event))

    def _end(self, task: Task | None) -> str:
        """One that a subagent has started in the background: its line there says it."""
        if task is None or not task.end:
            return ""
        parent = self._tasks.get(task.parent)
        if parent is not None and task.call in self._last:
            self._last.discard(task.call)
            return self._add(parent.call, _returned(task))
        return task.call

    def _add(self, call: str, *new: Entry) -> str:
        self._entries.setdefault(call, []).extend(new)
        return call


def _returned(task: Task) -> Returned:
    return Returned(task.call, _cut(task.summary), task.end != "done", lines.spent(task))


def missing(task: Task) -> list[Entry]:
    """What stands for a transcript that nobody has."""
    words = f"What {lines.name(task)} said is not known: Claude Code's file of it is gone."
    return [Noted(words)]
