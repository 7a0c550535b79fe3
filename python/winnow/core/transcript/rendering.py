"""How entries read: tool lines, thinking, notices.

Lines that start with `FOLDED` fold beneath the line above them (``lua/winnow/chat/fold.lua``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from winnow.core.asking import ways
from winnow.core.folder import UNKNOWN, Folder
from winnow.core.never import assert_never
from winnow.core.text import grammar, terminal
from winnow.core.text.duration import duration
from winnow.core.text.fences import Fences
from winnow.core.text.text import clean, clean_block, prose, split_unfinished
from winnow.core.transcript import tools
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

FOLDED = f"{grammar.OUTPUT} "
RETRY = "retry"  # the id of the line that says so; no call has it
THINKING = f"{grammar.THOUGHT} Thinking"
SLOW = 3.0  # seconds from which on they are told

ToolState = Literal["running", "done", "failed"]
_STATES = {"running": grammar.RUNNING, "done": grammar.KEPT, "failed": grammar.REFUSED}


def tool_line(
    name: str,
    arguments: dict[str, Any],
    folder: Folder = UNKNOWN,
    *,
    state: ToolState | None = None,
    outcome: str = "",
) -> str:
    """A tool call on one line: its name and what it works on; with a state, as the chat has it.

    ``outcome`` is what came of it, in a few words.
    """
    call = ways.of(name, arguments).line(arguments)
    call = call or f"{tools.title(name)} {tools.about(name, arguments, folder)}".rstrip()
    return f"{grammar.TOOL} {call} {_STATES[state]} {outcome}".rstrip() if state else call


def tool_output(text: str, name: str = "") -> list[str]:
    """A tool's output as folded lines."""
    shown = ways.of(name, {}).output(text) or terminal.lines(text, literal=name in tools.FILES)
    return [FOLDED + line for line in shown]


def notice(sentence: str) -> str:
    """Something that went wrong or that the user should know."""
    return f"{grammar.NOTICE} {clean(sentence)}"


def taken(ended: Ended) -> str:
    """What a turn has taken, as its last line; empty where that is not worth one.

    ``lua/winnow/chat/fold.lua`` shows it beside a turn that is folded.
    """
    if not ended.tools or not ended.seconds or ended.stopped:
        return ""
    cost = [f"${ended.cost:.2f}"] if ended.cost >= 0.005 else []
    said = [tools.count(ended.tools, "tool"), duration(ended.seconds), *cost]
    return f"{grammar.ENDED} {tools.BETWEEN.join(said)}"


Speakers = tuple[str, str]

IN_CHAT: Speakers = (grammar.YOU, grammar.CLAUDE)
IN_AGENT: Speakers = (grammar.CLAUDE, grammar.AGENT)
IN_TASK: Speakers = (grammar.ORCHESTRATOR, grammar.WORKER)


class Words(msgspec.Struct, frozen=True):
    """Text to be appended; ``fresh`` starts a new paragraph."""

    text: str
    fresh: bool


class CallLine(msgspec.Struct, frozen=True):
    """A tool call's line, new or as it is now; ``output`` goes folded beneath. Empty: none.

    Where something is awaited, ``seconds`` are counted down behind the line.
    """

    id: str
    line: str
    output: list[str] = []
    seconds: float = 0.0


class Renderer:
    """Draws entries, one after the other, for one view.

    Args:
        folder: where the chat is.
        speakers: the headings of who tells and of who says.
    """

    def __init__(self, folder: Folder = UNKNOWN, speakers: Speakers = IN_CHAT) -> None:
        self._folder = folder
        self._speakers = speakers
        self._speech: type[Said | Thought] | None = None  # what may go on
        self._fresh = True  # its next piece starts a paragraph
        self._unfinished = ""  # the end of its text so far, which may yet become a marker
        self._line_ended = False  # by its text so far
        self._fences = Fences()  # of the message
        self._calls: dict[str, Called] = {}  # those without a result
        self._held: set[str] = set()  # those of them that have no line
        self._retrying = False

    def render(self, entry: Entry) -> Iterator[Words | CallLine]:
        """What an entry adds or changes; iterate it to the end."""
        yield from self._calm(entry)
        match entry:
            case Said() | Thought():
                yield from self._say(entry)
            case Paused():
                yield from self._close()
            case Told(text=text):
                tells, says = self._speakers
                yield from self._block(f"{tells}\n\n{prose(text)}\n\n{says}")
            case Recorded(lines=lines):
                yield from self._block("\n".join(lines))
            case Noted(sentence=sentence):
                yield from self._block(notice(sentence))
            case Retried(sentence=sentence, seconds=seconds):
                yield from self._finish()
                self._retrying = True
                yield CallLine(RETRY, notice(sentence), seconds=seconds)
            case Called(id=call):
                yield from self._finish()
                yield self._line(entry, "running")
                self._calls[call] = entry
                self._held.discard(call)
            case Held(call=call):
                yield from self._hold(call)
            case Returned():
                yield from self._return(entry)
            case Ended(stopped=True):
                yield from self._close()
                yield from self._block(f"{grammar.STOPPED} Stopped.")
            case Ended(error=error):
                yield from self._close()
                said = notice(error) if error else taken(entry)
                yield from self._block(said) if said else self._finish()
            case _:
                assert_never(entry)

    def _calm(self, entry: Entry) -> Iterator[CallLine]:
        """What was tried again is solved, or told by how the turn ends."""
        if self._retrying and not isinstance(entry, Retried):
            self._retrying = False
            yield CallLine(RETRY, "")

    def _hold(self, call: str) -> Iterator[Words | CallLine]:
        yield from self._finish()
        if call in self._calls:
            yield CallLine(call, "")
            self._held.add(call)

    def _say(self, entry: Said | Thought) -> Iterator[Words]:
        if type(entry) is not self._speech:
            yield from self._finish()
            self._speech = type(entry)
        text, self._unfinished = split_unfinished(self._unfinished + entry.text)
        if text:
            yield self._words(text)

    def _words(self, text: str) -> Words:
        fresh, self._fresh = self._fresh, False
        if self._speech is Thought:
            return Words(_thought(text, first=fresh), fresh)
        self._fences.feed(text)
        shown = prose(text, starts=fresh or self._line_ended)
        self._line_ended = text.endswith("\n")
        return Words(shown, fresh)

    def _close(self) -> Iterator[Words]:
        """A message is complete: none of its code goes on in what follows, as if it was stopped."""
        unfinished, self._unfinished = self._unfinished, ""
        if unfinished:
            yield self._words(unfinished)
        if fence := self._fences.end():
            yield Words(fence if self._line_ended else f"\n{fence}", self._fresh)
        yield from self._finish()

    def _finish(self) -> Iterator[Words]:
        """Whatever is drawn next stands by itself."""
        unfinished, self._unfinished = self._unfinished, ""
        if unfinished:
            yield self._words(unfinished)
        self._speech, self._fresh = None, True

    def _block(self, text: str) -> Iterator[Words]:
        yield from self._finish()
        yield Words(text, fresh=True)

    def _return(self, entry: Returned) -> Iterator[Words | CallLine]:
        if called := self._calls.pop(entry.id, None):
            if entry.id in self._held:
                self._held.remove(entry.id)
                yield from self._finish()
            output = tool_output(entry.output, called.tool)
            took = [duration(entry.seconds)] if entry.seconds >= SLOW else []
            said = tools.BETWEEN.join([*filter(None, [entry.outcome]), *took])
            yield self._line(called, "failed" if entry.failed else "done", output, said)

    def _line(
        self, called: Called, state: ToolState, output: Sequence[str] = (), outcome: str = ""
    ) -> CallLine:
        line = tool_line(called.tool, called.input, self._folder, state=state, outcome=outcome)
        return CallLine(called.id, line, list(output))


def _thought(text: str, *, first: bool) -> str:
    """A piece of reasoning; the first one carries its title line."""
    body = "\n".join(clean_block(text)).replace("\n", "\n" + FOLDED)
    return f"{THINKING}\n{FOLDED}{body}" if first else body
