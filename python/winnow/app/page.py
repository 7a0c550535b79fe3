"""A buffer: the order in which it sees things, and the section open in it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Union

from winnow import ports
from winnow import protocol as p
from winnow.app.section import Section
from winnow.app.view import View
from winnow.core.folder import UNKNOWN, Folder
from winnow.core.text.text import clean_block
from winnow.core.transcript.entries import Ended, Entry, Recorded
from winnow.core.transcript.rendering import IN_CHAT, Renderer, Speakers, Words

Coming = Union[Entry, p.Effect, View, "asyncio.Future[Any]"]
"""What comes after a future waits until that is done."""

Take = Callable[[p.SectionEvent], None]


class Page:
    """What the buffer shows, in order.

    While a section is open, or the draft is being taken, everything else waits: so nothing moves
    under the user's fingers, and a message stands where the agent gets it.

    Args:
        moved: is called when a section that another chat asks was opened or closed here.
        folder: where the chat is, by which files are named.
        speakers: the headings of who tells and of who says.

    Attributes:
        guests: who takes the user's events about sections that other chats ask, by marker.
        taking: the draft was asked for.
        closed: the view that was open last; an edit of it may still be on its way.
    """

    def __init__(
        self,
        chat: int,
        editor: ports.Editor,
        moved: Callable[[], None] = lambda: None,
        folder: Folder = UNKNOWN,
        speakers: Speakers = IN_CHAT,
    ) -> None:
        self.chat = chat
        self.folder = folder
        self.open: View | None = None
        self.closed: View | None = None
        self.guests: dict[str, Take] = {}
        self.taking = False
        self.moved = moved
        self._editor: ports.Editor | None = editor
        self._renderer = Renderer(folder, speakers)
        self._backlog: deque[Coming] = deque()
        self._told = 0  # sections that the open one's foot counts

    @property
    def free(self) -> bool:
        """Everything is shown, and nothing is in the way of a message."""
        return not (self._backlog or self.open or self.taking)

    @property
    def views(self) -> list[View]:
        """The open section and those that follow it."""
        queued = [item for item in self._backlog if isinstance(item, View)]
        return [self.open, *queued] if self.open else queued

    def find(self, marker: str) -> View | None:
        """The section of this marker, open or queued."""
        return next((view for view in self.views if view.section.marker == marker), None)

    def current(self, marker: str) -> View | None:
        """The section of this marker, if it is the one that is open."""
        return self.open if self.open and self.open.section.marker == marker else None

    def append(self, *items: Coming) -> None:
        """Show something, after everything that came before it."""
        self._backlog.extend(items)
        self._advance()

    def take(self) -> None:
        """Ask for the draft; everything waits for `taken`."""
        self.taking = True
        self.apply(p.Take(self.chat))

    def taken(self, *after: Entry) -> None:
        """The draft was committed, or there was none; ``after`` follows it at once."""
        self.taking = False
        self._show(*after)
        self._advance()

    def close(self, section: Section, record: list[str], *after: Entry) -> bool:
        """Put its record where a section stands or would have stood; False if it does nowhere.

        ``after`` follows the record at once.
        """
        view = next((view for view in self.views if view.section is section), None)
        if view is None:
            return False
        if view is self.open:
            self.open, self.closed = None, view
            self.apply(p.Freeze(self.chat, section.marker, record))
            self._show(*after)
            self.apply(p.Save(self.chat))
        else:
            at = self._backlog.index(view)
            self._backlog[at] = Recorded(record)
            for entry in reversed(after):
                self._backlog.insert(at + 1, entry)
        self._advance()
        return True

    def refill(self, messages: list[ports.Message]) -> None:
        """Give back as drafts what the agent was told but did not take: each stays a message."""
        for message in reversed(messages):  # each goes above the one before
            text = "\n".join(clean_block(_as_draft(message)))
            self.append(p.Refill(self.chat, text, [message.id]))

    def stored(self, message: ports.Message) -> None:
        """The store has this message."""
        self.apply(p.Stored(self.chat, [message.id]))

    def show_open(self) -> None:
        """Show the open section as if it had just come."""
        if self.open is not None:
            self.apply(self.open.shown(self.chat))
            self.judge()

    def unshown(self, lines: list[str]) -> None:
        """The open section could not be shown: these lines stand for it."""
        self.open = None
        self._show(Recorded(lines))
        self.apply(p.Save(self.chat))
        self._advance()

    def judge(self, *, acted: bool = False) -> None:
        """Show the open section's verdict; ``acted``: after a ``<CR>``."""
        if self.open is not None:
            self._told = len(self.views) - 1
            self.apply(self.open.verdict(self.chat, self._told, acted=acted))

    def say(self, text: str, level: p.Level = "info") -> None:
        """Tell the user one sentence, at once."""
        self.apply(p.Say(self.chat, text, level))

    def apply(self, *effects: p.Effect) -> None:
        """Pass on effects that have no place in the order."""
        if self._editor is not None:
            self._editor.apply(*effects)

    def detach(self) -> None:
        """The buffer is gone: show nothing any more. What other chats ask goes on without it."""
        self._editor = None
        self.moved = lambda: None

    def _show(self, *entries: Entry) -> None:
        for entry in entries:
            for drawn in self._renderer.render(entry):
                if isinstance(drawn, Words):
                    self.apply(p.Write(self.chat, drawn.text, drawn.fresh))
                else:
                    tool = p.Tool(self.chat, drawn.id, drawn.line, drawn.output, drawn.seconds)
                    self.apply(tool)
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
                case View() as view:
                    self.open = view
                    self.show_open()
                case p.Message() as effect:
                    self.apply(effect)
                case entry:
                    self._show(entry)
        if self.open is not None and self._told != len(self.views) - 1:
            self.judge()


def _as_draft(message: ports.Message) -> str:
    """A message that is given back. What the user did not write must not become a command."""
    picked = not message.own and message.text.lstrip().startswith("/")
    return f"My answer: {message.text}" if picked else message.text
