"""What a section shows to be edited: a command, a diff, a plan. What stands there is what counts.

Each block is fenced as Markdown fences code. The fences carry markers (``b`` begins block *n*,
``c`` closes it) and tell exactly where it is; its lines carry none, so they are all the user's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from winnow.core.text import MARKER, brief, marker

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
        lines.append(f"{fence}{block.info}{marker(section, number, 'b')}")
        lines += block.lines
        lines.append(f"{fence}{marker(section, number, 'c')}")
    return lines


def split(
    section: str, blocks: Sequence[Block], lines: Sequence[str]
) -> tuple[list[str], list[Seen]]:
    """Tell the blocks from the rest, in which their lines are empty, so that rows stay."""
    if not blocks:
        return list(lines), []
    rest = list(lines)
    marked = [
        (row, int(mark[2]), mark[3].lower(), line)
        for row, line in enumerate(lines)
        if "<!--" in line
        for mark in MARKER.finditer(line)
        if mark[1].lower() == section.lower()
    ]
    seen = []
    for number, block in enumerate(blocks, 1):
        fences = [index for index, m in enumerate(marked) if m[1] == number and m[2] in "bc"]
        found = _find(block, [marked[index] for index in fences])
        if isinstance(found, Text):
            first, last = fences
            if last != first + 1:
                row, _, _, line = marked[first + 1]
                what = brief(MARKER.sub("", line))
                found = Malformed(row, f"“{what}” stands inside the {block.info}: move it below")
            else:
                end = marked[last][0]
                found = Text(found.row, tuple(lines[found.row : end]))
                rest[found.row - 1 : end + 1] = [""] * (end - found.row + 2)
        if isinstance(found, Malformed):  # what stands there is no reason for anything
            at = [-1, *(mark[0] for mark in marked), len(lines)]
            first, last = fences[0] + 1, fences[-1] + 1
            start = at[first] if marked[fences[0]][2] == "b" else at[first - 1] + 1
            end = at[last] + 1 if marked[fences[-1]][2] == "c" else at[last + 1]
            options = {mark[0] for index, mark in enumerate(marked) if index not in fences}
            for row in range(start, end):
                if row not in options:
                    rest[row] = ""
        seen.append(found)
    return rest, seen


def _find(block: Block, fences: Sequence[tuple[int, int, str, str]]) -> Seen:
    if not fences:
        return Gone()
    for row, _, slot, line in fences:
        said = MARKER.sub("", line).strip().strip("`")
        if said != (block.info if slot == "b" else ""):
            what = "opens" if slot == "b" else "closes"
            message = (
                f"“{brief(line)}” was the fence that {what} the {block.info}: u brings it back"
            )
            return Malformed(row, message)
    match [(row, slot) for row, _, slot, _ in fences]:
        case [(row, "b"), (_, "c")]:
            return Text(row + 1, ())
        case [(row, "b")]:
            lost = "closes"
        case [(row, "c")]:
            lost = "opens"
        case [(row, _), *_]:
            return Malformed(row, f"the {block.info} stands twice: delete one of the two")
    return Malformed(row, f"the fence that {lost} the {block.info} is gone: u brings it back")
