"""Does a line still say what it said?

Users run ``:s``, ``>>`` and ``gU`` over options. Such a line keeps its meaning; a line that
now names another thing does not, and its old label must not be sent. So only what never changes
a meaning is overlooked: case, quotes, spaces (or ``-`` and ``_`` in their place), bullets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

WORDS = 60  # a longer label, or a longer note before one, is not looked for

_BULLETS = re.compile(r"\s*(?:[>*+•#-]+\s+)*")
_QUOTES = str.maketrans("", "", "'\"`´‘’‚‛“”„‟«»‹›")
# "C" doesn't lead "C++", nor "Node" "Node.js"; "Yes" leads "Yes, but later".
_EDGE = re.compile(r"(?=\s|[—–]|[,;:.!?]{1,9}(?:\s|$)|$)")


def same(seen: str, shown: str) -> bool:
    """``seen`` stands where ``shown`` was: does it mean the same?"""
    if seen.strip() == shown.strip():
        return True
    return any(form in _forms(shown) for form in _readings(seen))


def rest(seen: str, shown: str) -> str | None:
    """What follows ``shown``, if that leads ``seen`` up to the edge of a word."""
    # The edges are only worth trying, each at the price of a comparison, if one can succeed.
    if any(form.startswith(_forms(shown)) for form in _readings(seen)):
        for edge in islice(_EDGE.finditer(seen), WORDS):
            if same(seen[: edge.start()], shown):
                return seen[edge.start() :]
    return None


def lead(seen: str, shown: str) -> str | None:
    """What goes before ``shown``, if that ends ``seen``."""
    if any(form.endswith(_forms(shown)) for form in _readings(seen)):
        for gap in islice(re.finditer(r"^|\s+", seen), WORDS):
            if same(seen[gap.start() :], shown):
                return seen[: gap.start()]
    return None


class Index:
    """Which of many texts mean the same: found at once, where `same` would be asked for each."""

    def __init__(self, texts: Iterable[tuple[str, int]]) -> None:
        self._numbers: dict[str, set[int]] = {}
        for text, number in texts:
            for form in _forms(text):
                self._numbers.setdefault(form, set()).add(number)
        self._starts = tuple(self._numbers)

    def same(self, seen: str) -> set[int]:
        """The numbers of the texts that are the `same`."""
        first, second = _readings(seen)
        return self._numbers.get(first, set()) | self._numbers.get(second, set())

    def leading(self, seen: str) -> set[int]:
        """The numbers of the texts of which `seen` has a `rest`."""
        if not any(form.startswith(self._starts) for form in _readings(seen)):
            return set()
        edges = islice(_EDGE.finditer(seen), WORDS)
        return set().union(*(self.same(seen[: edge.start()]) for edge in edges))


def is_blank(line: str) -> bool:
    """A separator: nothing, or the ``> `` that ``:%s/^/> /`` puts on an empty line."""
    return _BULLETS.fullmatch(line) is not None


def is_left_of(piece: str, whole: str) -> bool:
    """Can ``piece`` be made from ``whole`` by deleting characters?"""
    characters = iter(whole.casefold())
    return all(character in characters for character in piece.casefold())


def _readings(seen: str) -> tuple[str, str]:
    return _fold(seen), _fold(_BULLETS.sub("", seen, count=1))


@lru_cache(maxsize=512)
def _forms(shown: str) -> tuple[str, ...]:
    return tuple(_fold(shown, gap) for gap in ("", "-", "_"))


@lru_cache(maxsize=512)
def _fold(text: str, gap: str = "") -> str:
    folded = gap.join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.translate(_QUOTES) or folded  # a label may be nothing but a quote
