"""A project's settings as lines to delete; each says all that it is, on as many as that takes."""

from __future__ import annotations

from collections.abc import Sequence

from winnow.core.proposal.blocks import Gone, Malformed, Seen, Text
from winnow.core.proposal.origins import origins
from winnow.core.text.text import brief
from winnow.core.text.visible import show

_WIDTH = 160  # characters; what is longer goes on below


def lines_of(entry: str) -> list[str]:
    """An entry as it is shown."""
    text = show(entry)
    rows = [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]
    return [rows[0], *(f"    {row}" for row in rows[1:])]


def left(entries: Sequence[str], seen: Seen) -> list[str] | Malformed:
    """The entries of which every line still stands there."""
    match seen:
        case Gone():
            return []
        case Malformed() as malformed:
            return malformed
        case Text(row=start, lines=lines):
            pass
    shown = [line for entry in entries for line in lines_of(entry)]
    stand = set()
    for row, (line, origin) in enumerate(zip(lines, origins(shown, lines), strict=True), start):
        if origin is not None and shown[origin] == line:
            stand.add(origin)
        elif shown.count(line) == 1:  # moved
            stand.add(shown.index(line))
        elif line.strip():
            return Malformed(row, f"line {row + 1} is none of these settings: u brings them back")
    kept, first = [], 0
    for entry in entries:
        after = first + len(lines_of(entry))
        if stand.issuperset(range(first, after)):
            kept.append(entry)
        first = after
    gone = {show(entry) for entry in set(entries).difference(kept)}
    for entry in kept:
        if show(entry) in gone:  # which of the two stands there can't be seen
            what = "stands twice, and differs in what it hides: keep both or none"
            return Malformed(start, f"“{brief(entry)}” {what}")
    return kept
