"""What a section shows to be edited: a command, a diff, a plan. What stands there is what counts.

Each block is fenced as Markdown fences code. Markers tell exactly where it is: ``b`` on the fence
that begins block *n*, and ``c`` below the one that closes it, which to Markdown must be nothing
but a fence. Its lines carry none, so they are all the user's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress, count, repeat
from operator import contains
from typing import NamedTuple

import msgspec

from winnow.core.text import grammar
from winnow.core.text.text import MARKER, brief, marker

_FENCE = re.compile(r"`+")


class Block(msgspec.Struct, frozen=True):
    """A block as it is shown; ``info`` is what its fence says: the language."""

    info: str
    lines: tuple[str, ...]


class Text(msgspec.Struct, frozen=True):
    """What stands in a block now; ``row`` is that of its first line, in the section."""

    row: int
    lines: tuple[str, ...]


class Malformed(msgspec.Struct, frozen=True):
    """It can't be understood. ``row`` is in the section, from 0; ``message`` names the line."""

    row: int
    message: str


class Gone(msgspec.Struct, frozen=True):
    """The block was deleted, fences and all."""


Seen = Text | Malformed | Gone


def render(section: str, blocks: Sequence[Block]) -> list[str]:
    """The lines of these blocks."""
    lines = []
    for number, block in enumerate(blocks, 1):
        runs = (len(run) for line in block.lines if "`" in line for run in _FENCE.findall(line))
        fence = "`" * max(3, 1 + max(runs, default=0))
        # The blank lets Markdown tell the language.
        lines.append(f"{fence}{block.info} {marker(section, number, grammar.BEGIN)}")
        lines += [*block.lines, fence, marker(section, number, grammar.END)]
    return lines


class _Mark(NamedTuple):
    row: int
    block: int
    slot: str
    line: str


def split(
    section: str, blocks: Sequence[Block], lines: Sequence[str]
) -> tuple[list[tuple[int, str]], list[Seen]]:
    """Tell the blocks from the rest: its lines, and the row of each; a block is a blank one."""
    if not blocks:
        return list(enumerate(lines)), []
    marks = [
        _Mark(row, int(mark[2]), mark[3].lower(), lines[row])
        for row in compress(count(), map(contains, lines, repeat(grammar.MARKER)))
        for mark in MARKER.finditer(lines[row])
        if mark[1].lower() == section.lower()
    ]
    looks = [_look(block, number, marks, lines) for number, block in enumerate(blocks, 1)]
    rest: list[tuple[int, str]] = []
    at = 0
    for rows in sorted((rows for _, found in looks for rows in found), key=lambda rows: rows.start):
        rest += enumerate(lines[at : rows.start], at)
        rest.append((rows.start, ""))
        at = max(at, rows.stop)
    rest += enumerate(lines[at:], at)
    return rest, [seen for seen, _ in looks]


def _look(
    block: Block, number: int, marks: Sequence[_Mark], lines: Sequence[str]
) -> tuple[Seen, list[range]]:
    """What stands in the block of this number, and in which rows."""
    fences = [
        index
        for index, mark in enumerate(marks)
        if mark.block == number and mark.slot in (grammar.BEGIN, grammar.END)
    ]
    found = _find(block, [marks[index] for index in fences])
    if isinstance(found, Gone):
        return found, []
    if isinstance(found, Text):
        first, last = fences
        if last == first + 1:
            end = marks[last].row - 1
            rows = range(found.row - 1, end + 2)
            if _is_fence(lines[end]):
                return Text(found.row, tuple(lines[found.row : end])), [rows]
            return Malformed(end, _lost(block, "closes")), [rows]
        what = brief(MARKER.sub("", marks[first + 1].line))
        message = f"“{what}” stands inside the {block.info}: move it below"
        found = Malformed(marks[first + 1].row, message)
    return found, _between(marks, fences, len(lines))


def _between(marks: Sequence[_Mark], fences: Sequence[int], count: int) -> list[range]:
    """The rows that may be of a block that is malformed: what stands there is no reason."""
    at = [-1, *(mark.row for mark in marks), count]
    first, last = fences[0] + 1, fences[-1] + 1
    start = at[first] if marks[fences[0]].slot == grammar.BEGIN else at[first - 1] + 1
    end = at[last] + 1 if marks[fences[-1]].slot == grammar.END else at[last + 1]
    others = {mark.row for index, mark in enumerate(marks) if index not in fences}
    return [range(row, row + 1) for row in range(start, end) if row not in others]


def _find(block: Block, fences: Sequence[_Mark]) -> Seen:
    if not fences:
        return Gone()
    for row, _, slot, line in fences:
        if slot == grammar.BEGIN and MARKER.sub("", line).strip().strip("`") != block.info:
            return Malformed(row, _lost(block, "opens"))
    match [(row, slot) for row, _, slot, _ in fences]:
        case [(row, grammar.BEGIN), (_, grammar.END)]:
            return Text(row + 1, ())
        case [(row, grammar.BEGIN)]:
            return Malformed(row, _lost(block, "closes"))
        case [(row, grammar.END)]:
            return Malformed(row, _lost(block, "opens"))
    return Malformed(fences[0][0], f"the {block.info} stands twice: delete one of the two")


def _is_fence(line: str) -> bool:
    return "```" in line and not line.strip().strip("`")


def _lost(block: Block, what: str) -> str:
    return f"the fence that {what} the {block.info} is gone: u brings it back"
