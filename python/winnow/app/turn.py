"""What the agent says, as the effects that show it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from winnow import protocol as p
from winnow.core import agent as a
from winnow.core import transcript
from winnow.core.asking import ways
from winnow.core.asking.choices import Choice
from winnow.core.asking.pieces import Broken, Found, Piece, Shown
from winnow.core.asking.splitter import Splitter
from winnow.core.text import grammar
from winnow.core.text.text import prose, split_unfinished

Choices = Callable[[], Collection[Choice]]


class Turn:
    """Where the agent is in what it says.

    Args:
        asked: the choices in its text that need not be asked again; None: its text has none.

    Attributes:
        busy: it speaks, asked or not.
        boundary: the user's next message may stand here; new text then starts a paragraph.
        choices: those that its text held, to be asked when the turn is over.
    """

    def __init__(self, chat: int, asked: Choices | None = None) -> None:
        self.busy = False
        self.boundary = True
        self.choices: list[Choice] = []
        self._chat = chat
        self._asked = asked
        self._splitter: Splitter | None = None  # of the message that is coming in
        self._fresh = True  # the next text starts a paragraph
        self._line_ended = False  # by the text so far
        self._thinking = False
        self._broken: list[str] = []  # what is wrong with choices of this message
        self._unfinished = ""  # the end of the text so far, which may yet become a marker
        self._tools: dict[str, a.ToolStarted] = {}
        self._subagents: set[str] = set()  # calls of subagents, which may outlive the turn

    def hear(self, event: a.AgentEvent) -> Iterator[p.Effect]:
        """What an event shows; iterate it to the end."""
        match event:
            case a.Text(text=text):
                yield from self._speak(text, thinking=False)
            case a.Thinking(text=text):
                yield from self._speak(text, thinking=True)
            case a.ToolStarted(name=name, input=input):
                yield from self._finished()
                self.busy, self.boundary = True, False
                if ways.of(name, input).has_line:
                    yield self._tool(event, "running")
                    self._tools[event.id] = event
            case a.ToolFinished(id=tool_id, output=output, failed=failed):
                if (started := self._tools.pop(tool_id, None)) is not None:
                    state: transcript.ToolState = "failed" if failed else "done"
                    yield self._tool(started, state, transcript.tool_output(output, started.name))
            case a.Pause():
                yield from self._finished()
                self.boundary = True
            case a.Notice(sentence=sentence):
                yield from self.paragraph()
                yield p.Write(self._chat, transcript.notice(sentence), fresh=True)
            case a.TurnEnded(stopped=True):
                yield from self.end(f"{grammar.STOPPED} Stopped.")
            case a.TurnEnded(error=error):
                yield from self.end(transcript.notice(error) if error else "")

    def running(self, call: str) -> a.ToolStarted | None:
        """A tool call that has no result yet."""
        return self._tools.get(call)

    def asked(self, call: str) -> Iterator[p.Effect]:
        """Permission is asked for this call: its line comes again below the section."""
        yield from self.paragraph()
        if call in self._tools:
            yield p.Tool(self._chat, call, "")

    def allowed(self, request: a.Request, input: dict[str, Any]) -> p.Effect:
        """A call runs with this input."""
        started = a.ToolStarted(request.tool_use_id, request.tool, input)
        self._tools[started.id] = started
        if request.agent_id:
            self._subagents.add(started.id)
        return self._tool(started, "running")

    def paragraph(self) -> Iterator[p.Effect]:
        """Whatever is said next stands by itself."""
        unfinished, self._unfinished = self._unfinished, ""
        if unfinished:
            yield self._text(unfinished)
        self._fresh, self._thinking = True, False

    def end(self, line: str) -> Iterator[p.Effect]:
        """The turn is over; ``line`` says how, if it has to be said."""
        yield from self._finished()
        cut = [tool for call, tool in self._tools.items() if call not in self._subagents]
        for tool in cut:  # cut short: they get no result any more
            yield self._tool(tool, "failed")
            del self._tools[tool.id]
        self.busy, self.boundary = False, True
        if line:
            yield p.Write(self._chat, line, fresh=True)
        yield p.Save(self._chat)

    def _speak(self, text: str, *, thinking: bool) -> Iterator[p.Effect]:
        if thinking != self._thinking:
            yield from self._finished()
        self.busy, self.boundary, self._thinking = True, False, thinking
        if not thinking and self._asked is not None:
            if self._splitter is None:
                self._splitter = Splitter([*self._asked(), *self.choices])
            text = "".join(self._sifted(self._splitter.feed(text)))
        text, self._unfinished = split_unfinished(self._unfinished + text)
        if text:
            yield self._text(text)

    def _finished(self) -> Iterator[p.Effect]:
        """The message is complete: what may have become a choice is one now, or text."""
        splitter, self._splitter = self._splitter, None
        if splitter is not None and (text := "".join(self._sifted(splitter.finish()))):
            self._unfinished += text
        yield from self.paragraph()
        broken, self._broken = self._broken, []
        for why in broken:
            yield p.Write(self._chat, transcript.notice(why), fresh=True)

    def _sifted(self, pieces: list[Piece]) -> Iterator[str]:
        """The text to show; choices are kept for later, and what is wrong with others, too."""
        for piece in pieces:
            match piece:
                case Found(choice=choice, repeated=False):
                    self.choices.append(choice)
                case Found():
                    pass
                case Broken(text=text, why=why):
                    self._broken.append(why)
                    yield text
                case Shown(text=text):
                    yield text

    def _text(self, text: str) -> p.Write:
        fresh, self._fresh = self._fresh, False
        if self._thinking:
            return p.Write(self._chat, transcript.thinking(text, first=fresh), fresh)
        shown = prose(text, starts=fresh or self._line_ended)
        self._line_ended = text.endswith("\n")
        return p.Write(self._chat, shown, fresh)

    def _tool(
        self,
        tool: a.ToolStarted,
        state: transcript.ToolState,
        output: list[str] | None = None,
    ) -> p.Tool:
        line = transcript.tool_line(tool.name, tool.input, state=state)
        return p.Tool(self._chat, tool.id, line, output or [])
