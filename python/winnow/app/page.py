"""The buffer of a chat: the order in which it sees things, and the section open in it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Union

from winnow import ports
from winnow import protocol as p
from winnow.app.waiting import Waiting
from winnow.core.transcript.entries import Ended, Entry, Recorded
from winnow.core.transcript.rendering import Renderer, Words

Coming = Union[Entry, p.Effect, Waiting, "asyncio.Future[Any]"]
"""What comes after a future waits until that is done."""


class Page:
    """What the buffer shows, in order.

    While a section is open, or the draft is being taken, everything else waits: so nothing moves
    under the user's fingers, and a message stands where the agent gets it.
    """

    def __init__(self, chat: int, editor: ports.Editor) -> None:
        self.chat = chat
        self.open: Waiting | None = None
        self.taking = False  # the draft was asked for
        self._editor: ports.Editor | None = editor
        self._renderer = Renderer()
        self._backlog: deque[Coming] = deque()
        self._told = 0  # sections that the open one's foot counts

    @property
    def free(self) -> bool:
        """Everything is shown, and nothing is in the way of a message."""
        return not (self._backlog or self.open or self.taking)

    @property
    def sections(self) -> list[Waiting]:
        """The open section and those that follow it."""
        queued = [item for item in self._backlog if isinstance(item, Waiting)]
        return [self.open, *queued] if self.open else queued

    def append(self, *items: Coming) -> None:
        """Show something, after everything that came before it."""
        self._backlog.extend(items)
        self._advance()

    def take(self) -> None:
        """Ask for the draft; everything waits for `taken`."""
        self.taking = True
        self.apply(p.Take(self.chat))

    def taken(self) -> None:
        """The draft was committed, or there was none."""
        self.taking = False
        self._advance()

    def remove(self, w: Waiting, lines: list[str], *after: Entry) -> bool:
        """Put its record where a section stands or would have stood; False if it is closed.

        ``after`` follows the record at once.
        """
        if w is self.open:
            self.open = None
            self.apply(p.Freeze(self.chat, w.form.id, lines))
            self._show(*after)
            self.apply(p.Save(self.chat))
        elif w in self._backlog:
            at = self._backlog.index(w)
            self._backlog[at] = Recorded(lines)
            for entry in reversed(after):
                self._backlog.insert(at + 1, entry)
        else:
            return False
        self._advance()
        return True

    def show_open(self) -> None:
        """Show the open section as if it had just come."""
        if (w := self.open) is not None:
            self.apply(w.shown(self.chat))
            self.judge()

    def unshown(self, lines: list[str]) -> None:
        """The open section could not be shown: these lines stand for it."""
        self.open = None
        self._show(Recorded(lines))
        self.apply(p.Save(self.chat))
        self._advance()

    def judge(self) -> None:
        """Show the open section's verdict."""
        if self.open is not None:
            self._told = len(self.sections) - 1
            self.apply(self.open.verdict(self.chat, self._told))

    def say(self, text: str, level: p.Level = "info") -> None:
        """Tell the user one sentence, at once."""
        self.apply(p.Say(self.chat, text, level))

    def apply(self, *effects: p.Effect) -> None:
        """Pass on effects that have no place in the order."""
        if self._editor is not None:
            self._editor.apply(*effects)

    def detach(self) -> None:
        """The buffer is gone: show nothing any more."""
        self._editor = None

    def _show(self, *entries: Entry) -> None:
        for entry in entries:
            for drawn in self._renderer.render(entry):
                if isinstance(drawn, Words):
                    self.apply(p.Write(self.chat, drawn.text, drawn.fresh))
                else:
                    self.apply(p.Tool(self.chat, drawn.id, drawn.line, drawn.output))
            if isinstance(entry, Ended):
                self.apply(p.Save(self.chat))

    def _advance(self) -> None:
        while self._backlog and not self.open and not self.taking:
            match self._backlog[0]:
                case asyncio.Future() as gate if not gate.done():
                    gate.add_done_callback(lambda _: self._advance())
                    return
            match self._backlog.popleft():
                case asyncio.Future():
                    pass
                case Waiting() as w:
                    self.open = w
                    self.show_open()
                case p.Message() as effect:
                    self.apply(effect)
                case entry:
                    self._show(entry)
        if self.open is not None and self._told != len(self.sections) - 1:
            self.judge()
