"""A change to a file as a unified diff: the lines that a section shows, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from winnow.core.proposal.lines import Change, changes, split
from winnow.core.text.visible import is_plain, show

CONTEXT = 3  # unchanged lines before and after a change
NO_NEWLINE = "\\ No newline at end of file"


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a diff. ``@`` is the sign of a hunk's head, and of the lines that name the file.

    ``shown`` is the line as a buffer has it, ``text`` the file's own, with its line end. ``hunk``
    counts from 0; the names belong to none, which is -1.
    """

    sign: Literal["@", " ", "-", "+", "\\"]
    shown: str
    hunk: int
    text: str = ""


class Hunk(msgspec.Struct, frozen=True):
    """The old lines from ``start`` to ``end``, counted from 0, become ``new``."""

    start: int
    end: int
    new: tuple[str, ...]


class Diff(msgspec.Struct, frozen=True, dict=True):
    """``end`` is what ends most lines of the file; it goes without saying in ``shown``."""

    lines: tuple[Line, ...]
    hunks: tuple[Hunk, ...]
    old: tuple[str, ...]
    end: str

    @cached_property
    def shown(self) -> list[str]:
        """The lines as a buffer has them."""
        return [line.shown for line in self.lines]

    @cached_property
    def starts(self) -> list[int]:
        """The line with which each hunk begins, and the end of all."""
        heads = [at for at, line in enumerate(self.lines) if line.sign == "@" and line.hunk >= 0]
        return [*heads, len(self.lines)]

    @cached_property
    def heads(self) -> dict[str, int]:
        """The numbers of the hunks, by what their first lines say."""
        return {self.shown[at]: number for number, at in enumerate(self.starts[:-1])}

    @cached_property
    def olds(self) -> list[str]:
        """The old lines of each hunk, as one text."""
        return ["".join(self.old[hunk.start : hunk.end]) for hunk in self.hunks]

    @cached_property
    def pieces(self) -> list[str]:
        """Of each hunk what stands above it, and its new lines; then what stands below the last."""
        pieces, at = [], 0
        for hunk in self.hunks:
            pieces += ["".join(self.old[at : hunk.start]), "".join(hunk.new)]
            at = hunk.end
        return [*pieces, "".join(self.old[at:])]

    def compose(self, kept: Iterable[int]) -> str:
        """The text with these hunks applied and no others."""
        pieces = self.pieces.copy()
        for number in {*range(len(self.hunks))}.difference(kept):
            pieces[2 * number + 1] = self.olds[number]
        return "".join(pieces)


def diff(path: str, old: str | None, new: str) -> Diff:
    """How ``old`` becomes ``new``; None where there is no file yet.

    Two texts that are the same, as those of a new empty file, have no hunks.
    """
    before, after = split(old or ""), split(new)
    seen = str if is_plain(old or "") and is_plain(new) else show
    end = _line_end(before or after) if "\r" in (old or new) else "\n"
    name = show(path) + (" (CRLF)" if end == "\r\n" else "")
    lines = [
        Line("@", f"--- {'/dev/null' if old is None else name}", -1),
        Line("@", f"+++ {name}", -1),
    ]
    hunks = []
    for number, group in enumerate(grouped(changes(before, after))):
        first, last = group[0], group[-1]
        lead = min(CONTEXT, first.old_start)
        tail = min(CONTEXT, len(before) - last.old_end)
        old_at, old_end = first.old_start - lead, last.old_end + tail
        new_at, new_end = first.new_start - lead, last.new_end + tail
        hunks.append(Hunk(old_at, old_end, tuple(after[new_at:new_end])))
        head = f"@@ -{_span(old_at, old_end)} +{_span(new_at, new_end)} @@"
        lines.append(Line("@", head, number))
        for change in group:
            lines += _signed(" ", before[old_at : change.old_start], number, end, seen)
            lines += _signed("-", before[change.old_start : change.old_end], number, end, seen)
            lines += _signed("+", after[change.new_start : change.new_end], number, end, seen)
            old_at = change.old_end
        lines += _signed(" ", before[old_at:old_end], number, end, seen)
    return Diff(tuple(lines), tuple(hunks), tuple(before), end)


def body_of(text: str, end: str) -> str:
    """A line without the end that goes without saying. A bare newline among CRLF stays."""
    return text.removesuffix(end)


def _line_end(lines: Sequence[str]) -> str:
    crlf = sum(line.endswith("\r\n") for line in lines)
    return "\r\n" if crlf * 2 > len(lines) else "\n"


def grouped(found: Iterable[Change]) -> list[list[Change]]:
    """Changes so near to each other that their context would overlap go together."""
    groups: list[list[Change]] = []
    for change in found:
        if groups and change.old_start - groups[-1][-1].old_end <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _span(start: int, end: int) -> str:
    """Unified diffs count lines from 1, and name the line before an empty span."""
    size = end - start
    if size == 1:
        return str(start + 1)
    return f"{start + 1 if size else start},{size}"


def _signed(
    sign: Literal[" ", "-", "+"],
    texts: Iterable[str],
    hunk: int,
    end: str,
    seen: Callable[[str], str],
) -> list[Line]:
    lines = [Line(sign, sign + seen(body_of(text, end)), hunk, text) for text in texts]
    if lines and not lines[-1].text.endswith("\n"):  # only the last line of a file can be so
        lines.append(Line("\\", NO_NEWLINE, hunk))
    return lines
