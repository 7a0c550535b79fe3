"""What a terminal would show in the end of what a program has written to it.

Bounded: of an output of any size only the lines that are shown are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from winnow.core.text.text import clean_block, is_plain

HEAD, TAIL = 1500, 500  # lines of an output that are shown; the session has them all
WIDE = 2000  # characters of a line
_LARGE = 1_000_000  # characters of an output whose lines are cut to
_NARROW = 200  # so many

# ECMA-48: control sequences, strings up to their terminator, and other escapes; a cut one too.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*(?:[@-~]|\Z)|[\x1b][\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|\Z)"
    r"|\x9b[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]?"
)
_OVERSTRUCK = re.compile(r"[^\x08]\x08")


def lines(text: str, *, literal: bool = False) -> list[str]:
    """An output as lines of a buffer, its middle left out where there are too many.

    ``literal``: it went to no terminal, so nothing in it is left out or acts.
    """
    text = text.strip("\n")
    if not text.strip():
        return []
    wide = WIDE if len(text) < _LARGE else _NARROW

    def shown(parts: list[str]) -> list[str]:
        return [
            line
            for part in parts
            for line in (
                (part,)
                if len(part) <= wide and is_plain(part)
                else _shown(part, wide, literal=literal)
            )
        ]

    total = text.count("\n") + 1
    if total <= HEAD + TAIL:
        return shown(text.split("\n"))
    head = text.split("\n", HEAD)[:HEAD]
    tail = text.rsplit("\n", TAIL)[-TAIL:]
    return [*shown(head), f"… {total - HEAD - TAIL:,} more lines", *shown(tail)]


def _shown(line: str, wide: int, *, literal: bool) -> Iterator[str]:
    """A line, or its last state: what follows the last carriage return that anything follows."""
    line = line.rstrip("\r")
    if not literal:
        line = line[line.rfind("\r") + 1 :]
    size = len(line)
    if size > wide:
        line = line[: 2 * wide]
    if not literal:
        line = _ESCAPES.sub("", line)
        while "\x08" in line and (shorter := _OVERSTRUCK.sub("", line)) != line:
            line = shorter
    if size > wide and len(line) > wide:
        line = f"{line[:wide]}… ({size:,} characters)"
    yield from clean_block(line)
