"""What each line of an edited block was. Its lines carry no markers, so comparison tells.

Where as many lines stand in others' place, each is taken for the one that stood there: that is
how a line which hides characters stays what it is when the user edits it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from winnow.core.proposal.alignment import TooAlike, align
from winnow.core.proposal.blocks import Text
from winnow.core.proposal.lines import Change, changes
from winnow.core.text.text import brief
from winnow.core.text.visible import FORMS, restore, show


class Line(msgspec.Struct, frozen=True):
    """A line of the buffer, restored. ``was`` is the index of the original that it equals."""

    row: int
    text: str
    was: int | None = None


class Refused(Exception):
    """What stands in a row of the section, from 0, can't be understood."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(f"line {row + 1}: {message}")
        self.row = row


def origins(shown: Sequence[str], lines: Sequence[str]) -> list[int | None]:
    """For each line, the index of the shown one that it is or was; None: it was typed."""
    found: list[int | None] = [None] * len(lines)
    old = new = 0
    end = Change(len(shown), len(shown), len(lines), len(lines))
    for change in (*changes(shown, lines), end):
        found[new : change.new_start] = range(old, change.old_start)
        if change.old_end - change.old_start == change.new_end - change.new_start:
            found[change.new_start : change.new_end] = range(change.old_start, change.old_end)
        old, new = change.old_end, change.new_end
    return found


def sure(shown: list[str], lines: list[str]) -> list[int | None]:
    """For each line, the index of the shown one that it is, where it can be no other.

    That is so where lines only went, or only came. One alone may have become another one.
    """
    were: list[int | None] = [None] * len(lines)
    pairs = enumerate(zip(shown, lines, strict=False))
    other = [at for at, (one, another) in pairs if one != another]
    edited = other if len(shown) == len(lines) and len(other) == 1 else []
    same = [at for at in range(len(lines)) if at not in edited]
    fewer, more = sorted((shown, [lines[at] for at in same]), key=len)
    try:
        ways = align(fewer, more, [False] * len(more)) or []
    except TooAlike:
        return were
    for at, (first, last) in enumerate(ways):
        if first == last:
            line, origin = (first, at) if fewer is shown else (same[at], first)
            were[line] = origin
    if edited and were.count(None) == 1:
        were[edited[0]] = edited[0]
    return were


def restored(originals: Sequence[str], text: Text) -> list[Line]:
    """The lines of ``text``, each taken back to what it stands for.

    Raises:
        Refused: that can't be told of one.
    """
    shown = list(map(show, originals))
    lines = "\n".join(text.lines).split("\n")
    were = origins(shown, lines)
    one_of = dict(zip(shown, originals, strict=True))
    alike = {line for line, this in zip(shown, originals, strict=True) if one_of[line] != this}
    certain = sure(shown, lines) if alike else were
    result: list[Line] = []
    loose: list[int] = []
    for at, (seen, origin) in enumerate(zip(lines, were, strict=True)):
        row = text.row + at
        if seen in alike and (origin := certain[at]) is None:
            raise _refused(row, seen)
        if origin is not None and seen == shown[origin]:
            result.append(Line(row, originals[origin], origin))
        elif origin is not None:
            result.append(Line(row, _taken(row, seen, seen, originals[origin])))
        else:
            result.append(Line(row, seen))
            if FORMS.search(seen):
                loose.append(at)
    if loose:  # moved or copied, maybe: a form means what it does elsewhere in the block
        odd = (line for line, seen in zip(originals, shown, strict=True) if FORMS.search(seen))
        first, together = result[loose[0]], "\n".join(lines[at] for at in loose)
        taken = _taken(first.row, first.text, together, " ".join(odd))
        for at, line in zip(loose, taken.split("\n"), strict=True):
            result[at] = Line(text.row + at, line)
    return result


def _taken(row: int, line: str, seen: str, original: str) -> str:
    taken = restore(seen, original)
    if taken is None:
        raise _refused(row, line)
    return taken


def _refused(row: int, line: str) -> Refused:
    return Refused(row, f"what “{brief(line)}” hides can't be told any more: u brings it back")
