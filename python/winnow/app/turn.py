"""What the agent says, as entries of the transcript."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

from winnow.core import agent as a
from winnow.core.asking import ways
from winnow.core.asking.choices import Choice
from winnow.core.asking.pieces import Broken, Found, Piece, Shown
from winnow.core.asking.splitter import Splitter
from winnow.core.never import assert_never
from winnow.core.todo import TOOLS as TODO
from winnow.core.transcript import tools
from winnow.core.transcript.entries import (
    Called,
    Ended,
    Entry,
    Noted,
    Paused,
    Retried,
    Returned,
    Said,
    Thought,
)

Choices = Callable[[], Collection[Choice]]
Tell = Callable[[a.TurnEnded, bool], str]
"""Gets the end of a turn, and whether anything was done in it."""


class Turn:
    """Where the agent is in what it says.

    Args:
        asked: the choices in its text that need not be asked again; None: its text has none.
        told: makes what the user reads of a turn that failed; None: what the agent says of it.
        now: seconds, since whenever.

    Attributes:
        busy: it speaks, asked or not.
        number: of the turn, from 1; the next one begins where one ends.
        boundary: the user's next message may stand here; new text then starts a paragraph.
        choices: those that its text held, to be asked when the turn is over.
    """

    def __init__(
        self,
        asked: Choices | None = None,
        told: Tell | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.busy = False
        self.number = 1
        self.boundary = True
        self.choices: list[Choice] = []
        self._asked = asked
        self._told = told
        self._splitter: Splitter | None = None  # of the message that is coming in
        self._speech: type[Said | Thought] | None = None  # what that message is, so far
        self._broken: list[str] = []  # what is wrong with choices of this message
        self._gap = False  # a choice was taken out at the end of what the message has shown
        self._end = ""  # its last two characters
        self._calls: dict[str, Called] = {}  # those without a result
        self._since: dict[str, float] = {}  # when they began
        self._held: set[str] = set()  # those that may not run
        self._tools = 0  # that ran in this turn
        self._now = now
        self._subagents: set[str] = set()  # calls of subagents, which may outlive the turn

    def hear(self, event: a.AgentEvent) -> Iterator[Entry]:
        """What has happened; iterate it to the end."""
        match event:
            case a.Text(text=text):
                yield from self._speak(text, Said)
            case a.Thinking(text=text):
                yield from self._speak(text, Thought)
            case a.ToolStarted(id=call, name=name, input=input):
                yield from self._finish()
                self.busy, self.boundary = True, False
                if ways.of(name, input).has_line and name not in TODO:
                    yield self._call(Called(call, name, input))
            case a.ToolFinished(id=call):
                if (called := self._calls.pop(call, None)) is not None:
                    yield self._returned(called, event)
            case a.Pause():
                yield from self._finish()
                self.boundary = True
            case a.Notice(sentence=sentence):
                yield Noted(sentence)
            case a.Retry(sentence=sentence, seconds=seconds):
                yield Retried(sentence, seconds)
            case a.TurnEnded(stopped=stopped, cost=cost, seconds=seconds):
                yield from self.end(Ended(stopped, self._why(event), self._tools, seconds, cost))
            case a.Started() | a.Mode() | a.SettingsChanged() | a.Side():
                pass  # no part of what it says
            case _:
                assert_never(event)

    def _why(self, event: a.TurnEnded) -> str:
        """Why it failed, empty where it did not."""
        return self._told(event, self.busy) if event.error and self._told else event.error

    @property
    def speaks(self) -> bool:
        """It is in the middle of a message."""
        return self._speech is not None

    def works(self) -> None:
        """It is at work, without words."""
        self.busy, self.boundary = True, False

    def running(self, call: str) -> Called | None:
        """A tool call that has no result yet."""
        return self._calls.get(call)

    @property
    def calls(self) -> list[str]:
        """Those that have no result yet."""
        return list(self._calls)

    def lasts(self, call: str) -> bool:
        """A call goes on whatever it returns now; who says so tells its end. False: it is none."""
        return self._calls.pop(call, None) is not None

    def held(self, request: a.Request) -> None:
        """A call waits for the user: until it is allowed it does not run, and takes no time."""
        self._held.add(request.tool_use_id)

    def allowed(self, request: a.Request, input: dict[str, Any]) -> Entry:
        """A call runs with this input."""
        self._held.discard(request.tool_use_id)
        if request.agent_id:
            self._subagents.add(request.tool_use_id)
        return self._call(Called(request.tool_use_id, request.tool, input))

    def end(self, how: Ended) -> Iterator[Entry]:
        """The turn is over."""
        yield from self._finish()
        for call in [call for call in self._calls if call not in self._subagents]:
            del self._calls[call]
            yield Returned(call, failed=True)  # cut short: it gets no result any more
        self.busy, self.boundary = False, True
        self.number += 1
        self._tools = 0
        yield how

    def _call(self, called: Called) -> Called:
        self._tools += called.id not in self._calls and called.id not in self._subagents
        self._calls[called.id] = called
        self._since[called.id] = self._now()
        return called

    def _returned(self, called: Called, done: a.ToolFinished) -> Returned:
        now = self._now()
        seconds = now - self._since.pop(called.id, now)
        if called.id in self._held:
            self._held.discard(called.id)
            seconds = 0.0
        came = tools.came(called.tool, done.output, done.result, failed=done.failed)
        return Returned(called.id, came.output, done.failed, came.outcome, round(seconds, 1))

    def _speak(self, text: str, speech: type[Said | Thought]) -> Iterator[Entry]:
        if speech is not self._speech:
            yield from self._finish()
        self.busy, self.boundary, self._speech = True, False, speech
        if speech is Said and self._asked is not None:
            if self._splitter is None:
                self._splitter = Splitter([*self._asked(), *self.choices])
            text = "".join(self._sifted(self._splitter.feed(text)))
        if text:
            yield speech(text)

    def _finish(self) -> Iterator[Entry]:
        """The message is complete: what may have become a choice is one now, or text."""
        splitter, self._splitter = self._splitter, None
        if splitter is not None and (text := "".join(self._sifted(splitter.finish()))):
            yield Said(text)
        self._gap, self._end = False, ""
        speech, self._speech = self._speech, None
        if speech is not None:
            yield Paused()
        broken, self._broken = self._broken, []
        for why in broken:
            yield Noted(why)

    def _sifted(self, pieces: list[Piece]) -> Iterator[str]:
        """The text to show; choices are kept for later, and what is wrong with others, too."""
        for piece in pieces:
            match piece:
                case Found(choice=choice, repeated=repeated):
                    self._gap = True
                    if not repeated:
                        self.choices.append(choice)
                case Broken(text=text, why=why):
                    self._broken.append(why)
                    yield self._closed_up(text)
                case Shown(text=text):
                    yield self._closed_up(text)
                case _:
                    assert_never(piece)

    def _closed_up(self, text: str) -> str:
        """A text to show: where a choice was taken out, one blank line is left."""
        if self._gap:
            text = text.lstrip("\n")
            if not text:
                return ""
            self._gap = False
            text = "\n" * (2 - len(self._end) + len(self._end.rstrip("\n"))) + text
        self._end = (self._end + text)[-2:]
        return text
