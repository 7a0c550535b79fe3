"""What was said and done in a task: by the orchestrator, and by the worker, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from winnow.core.transcript.entries import (
    Called,
    Ended,
    Entry,
    Held,
    Noted,
    Paused,
    Recorded,
    Retried,
    Returned,
    Said,
    Thought,
    Told,
)
from winnow.core.transcript.rendering import taken, tool_line

Role = Literal["orchestrator", "agent"]


class RunTurn(msgspec.Struct, frozen=True):
    """One message, one call, or what came of it; ``index`` counts from 0 in each task.

    The task is empty where the orchestrator talks with the user: that stands in its chat.
    """

    run: str
    task: str
    index: int
    role: Role
    entry: Entry
    at: float

    @property
    def content(self) -> str:
        """It as plain text."""
        match self.entry:
            case Told(text=text) | Said(text=text) | Thought(text=text) | Returned(output=text):
                return text
            case Noted(sentence=sentence) | Retried(sentence=sentence):
                return sentence
            case Called(tool=tool, input=input):
                return tool_line(tool, input)
            case Ended(stopped=stopped, error=error):
                return error or "Stopped." * stopped or taken(self.entry)
            case Recorded(lines=lines):
                return "\n".join(lines)
            case Held() | Paused():
                return ""


class Recorder:
    """Makes turns of the entries of one task: what is streamed in pieces is one turn.

    Args:
        index: of the next turn.
    """

    def __init__(self, run: str, task: str, index: int = 0) -> None:
        self._run = run
        self._task = task
        self.index = index
        self._speech: Said | Thought | None = None
        self._began = 0.0

    @property
    def partial(self) -> list[Entry]:
        """What is said, and is no turn yet."""
        return [] if self._speech is None else [self._speech]

    def told(self, text: str, at: float) -> Iterator[RunTurn]:
        """What the worker is told; iterate it to the end, as with `hear`."""
        yield from self._finish()
        yield self._turn("orchestrator", Told(text), at)

    def hear(self, entry: Entry, at: float) -> Iterator[RunTurn]:
        """What the worker says or does: the turns that are whole now."""
        if isinstance(entry, (Said, Thought)):
            if type(entry) is not type(self._speech):
                yield from self._finish()
                self._speech, self._began = entry, at
            elif self._speech is not None:
                text = self._speech.text + entry.text
                self._speech = msgspec.structs.replace(self._speech, text=text)
        else:
            yield from self._finish()
            if not isinstance(entry, (Paused, Held, Retried)) and not _quiet(entry):
                yield self._turn("agent", entry, at)

    def _finish(self) -> Iterator[RunTurn]:
        speech, self._speech = self._speech, None
        if speech is not None and speech.text.strip():
            yield self._turn("agent", speech, self._began)

    def _turn(self, role: Role, entry: Entry, at: float) -> RunTurn:
        turn = RunTurn(self._run, self._task, self.index, role, entry, at)
        self.index += 1
        return turn


def _quiet(entry: Entry) -> bool:
    """Whether it is an end of which nothing is to be seen."""
    return isinstance(entry, Ended) and not (entry.stopped or entry.error or taken(entry))
