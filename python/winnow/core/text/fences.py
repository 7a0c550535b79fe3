"""Which lines of a text are code, and whether one that streams in leaves a block open."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FENCE = re.compile(r"([\s>]*)(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}|~{3,})(.*)")
_LONGEST = 400  # characters of a line that are looked at
_DEEPER = 3  # columns that a fence may stand further in than the one that it closes


class Fences:
    """Reads a message piece by piece."""

    def __init__(self) -> None:
        self._line = ""  # the last one, so far
        self._open = ""  # the fence that opened a block
        self._column = 0  # where it stands
        self._quoted = False  # it stands in a quote, which ends the block

    @classmethod
    def code(cls, lines: Iterable[str]) -> list[bool]:
        """Whether each line is one of a block of code, its fences included."""
        fences = cls()
        return [fences._read(line) for line in lines]

    def feed(self, text: str) -> None:
        """More of it."""
        *lines, last = text.split("\n")
        for line in lines:
            self._read(self._line + line)
            self._line = ""
        if len(self._line) < _LONGEST:
            self._line += last

    def end(self) -> str:
        """What closes the block that is open, if one is; a new message follows."""
        self._read(self._line)
        fence = "" if self._quoted else self._open
        self._line, self._open, self._quoted = "", "", False
        return fence

    def _read(self, line: str) -> bool:
        if self._quoted and not line.lstrip().startswith(">"):
            self._open, self._quoted = "", False
        was_open = bool(self._open)
        if found := _FENCE.match(line):
            self._mark(len(line[: found.start(2)].expandtabs(4)), *found.groups())
        return was_open or bool(self._open)

    def _mark(self, column: int, quote: str, mark: str, rest: str) -> None:
        if not self._open:
            if mark[0] == "~" or "`" not in rest:
                self._open, self._column, self._quoted = mark, column, ">" in quote
        elif (
            mark.startswith(self._open)
            and not rest.strip()
            and column <= self._column + _DEEPER  # else it is a part of the code
        ):
            self._open, self._quoted = "", False
