"""Whether a text that streams in has a block of code that is not closed."""

from __future__ import annotations

import re

_FENCE = re.compile(r"([\s>]*)(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}|~{3,})(.*)")
_LONGEST = 400  # characters of a line that are looked at


class Fences:
    """Reads a message piece by piece."""

    def __init__(self) -> None:
        self._line = ""  # the last one, so far
        self._open = ""  # the fence that opened a block
        self._quoted = False  # it stands in a quote, which ends the block

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

    def _read(self, line: str) -> None:
        if self._quoted and not line.lstrip().startswith(">"):
            self._open, self._quoted = "", False
        found = _FENCE.match(line)
        if not found:
            return
        quote, mark, rest = found.groups()
        if not self._open:
            if mark[0] not in rest:
                self._open, self._quoted = mark, ">" in quote
        elif mark.startswith(self._open) and not rest.strip():
            self._open, self._quoted = "", False
