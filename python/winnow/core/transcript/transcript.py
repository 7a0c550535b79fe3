"""A transcript that needs no buffer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from winnow.core.folder import UNKNOWN, Folder
from winnow.core.text import grammar
from winnow.core.transcript.entries import Entry
from winnow.core.transcript.rendering import (
    IN_CHAT,
    THINKING,
    CallLine,
    Renderer,
    Speakers,
    Words,
)

_BLANK = " \t\n\v\f\r"  # what Lua takes for white space


class Transcript:
    """What happened, for views that come and go: each shows the entries, and then what follows.

    Args:
        entries: what has happened already.
        folder: where the chat is, for the names of files.
        speakers: see `Renderer`.
    """

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        folder: Folder = UNKNOWN,
        speakers: Speakers = IN_CHAT,
    ) -> None:
        self._entries = list(entries)
        self._folder = folder
        self._speakers = speakers

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def append(self, *entries: Entry) -> None:
        """Something else happened."""
        self._entries.extend(entries)

    @property
    def text(self) -> str:
        """The Markdown that a chat shows, as ``lua/winnow/chat/transcript.lua`` writes it there."""
        renderer, sheet = Renderer(self._folder, self._speakers), Sheet()
        for entry in self._entries:
            sheet.draw(renderer.render(entry))
        return sheet.text


class Sheet:
    """Paragraphs by their number, and calls by their id, as they stand below each other."""

    def __init__(self) -> None:
        self._blocks: dict[int | str, str] = {}
        self._last = 0  # the paragraph that goes on
        self._carry = ""  # white space that only counts if something follows
        self._starts = False  # a paragraph that is only white space so far

    def draw(self, drawn: Iterable[Words | CallLine]) -> None:
        """Add what an entry adds, and change what it changes."""
        for one in drawn:
            if isinstance(one, Words):
                self.write(one.text, fresh=one.fresh)
            else:
                self.call(one.id, [one.line, *one.output])

    def write(self, text: str, *, fresh: bool) -> None:
        """Add to the last paragraph, or begin another one."""
        text = text if fresh else self._carry + text
        fresh = fresh or self._starts
        if fresh:
            text = re.sub(rf"\A[{_BLANK}]*\n", "", text)
        body = text.rstrip(_BLANK)
        self._carry = text[len(body) :]
        self._starts = fresh and not body
        if body:
            if fresh and body.startswith(f"{grammar.YOU}\n") and self._blocks:
                last = next(reversed(self._blocks))  # nothing was said yet
                self._blocks[last] = self._blocks[last].removesuffix(f"\n\n{grammar.CLAUDE}")
            self._last += fresh
            self._blocks[self._last] = self._blocks.get(self._last, "") + body

    def call(self, id: str, lines: list[str]) -> None:
        """Show a call's lines where it stands, or at the end; an empty first one takes it away."""
        if lines[0]:
            self._blocks[id] = "\n".join(lines)
        else:
            self._blocks.pop(id, None)

    def call_at(self, row: int) -> str:
        """The call that a row of the text shows; empty: none."""
        last = -1
        parts: list[str] = []
        for key, block in self._blocks.items():
            gap = self._gap(key, parts[-1]) if parts else ""
            first = last + len(gap) if parts else 0
            last = first + block.count("\n")
            parts = [block]
            if first <= row <= last:
                return key if isinstance(key, str) else ""
        return ""

    @staticmethod
    def _gap(key: int | str, above: str) -> str:
        return "\n" if isinstance(key, str) and _folds(above) else "\n\n"

    @property
    def text(self) -> str:
        """All of it."""
        parts: list[str] = []
        for key, block in self._blocks.items():
            if parts:
                parts.append(self._gap(key, parts[-1]))
            parts.append(block)
        return "".join(parts)


def _folds(block: str) -> bool:
    """Whether it is a call, or all thought, which a call's line follows without a blank one."""
    last = block.rpartition("\n")[2]
    return block.startswith(grammar.TOOL) or (
        block.startswith(THINKING) and last.startswith(grammar.OUTPUT)
    )
