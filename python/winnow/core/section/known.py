"""The lines of a section as they were shown, found by what they say.

By dictionaries: to compare each line that the user wrote with each that was shown takes minutes
where there are a thousand of both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from winnow.core.section.likeness import Index, same
from winnow.core.text import grammar
from winnow.core.text.text import place

_RULE = re.compile(rf"[{grammar.RULE}\s_-]+")  # only decoration
_FIXED = (grammar.HEAD, grammar.ASKED, grammar.FOOT)

Address = tuple[int, "int | str"]
"""A question and a slot in it."""


class Line(msgspec.Struct, frozen=True):
    """One rendered line: what it says, and the address that its marker carries.

    ``label`` is how an option's line begins; of all others it is the whole text.
    """

    question: int
    slot: int | str
    text: str
    label: str

    @property
    def address(self) -> Address:
        """Where it belongs."""
        return self.question, self.slot


class Segment(msgspec.Struct, frozen=True):
    """The text up to a marker, and the text that follows it up to the next one's own."""

    question: int
    slot: int | str
    text: str
    note: str = ""


class Told(NamedTuple):
    """What a line says wherever it stands.

    Attributes:
        line: with each marker behind all of what it marks, see `straight`.
        present: what it has markers of.
        option: which option it is, if nothing of that was edited: its question and number.
        end: what it may be the end of, when it was broken in two.
    """

    line: str
    present: tuple[Address, ...]
    option: tuple[int, int] | None
    end: Segment | None


class Known:
    """All lines of a section that carry a marker, from head to foot.

    Attributes:
        at: the lines at each address; a question's text may have several.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self.at: dict[Address, list[Line]] = {}
        self._lines = lines
        self._starting: dict[str, list[Line]] = {}
        self._tails: dict[Address, dict[str, list[str]]] = {}  # behind what stands before a marker
        for line in lines:
            self.at.setdefault(line.address, []).append(line)
            tails = self._tails.setdefault(line.address, {})
            at = place(line.text)
            for head, tail in ((line.text[:at], line.text[at:]), (line.text, "")):
                if tail not in tails.setdefault(head, []):
                    tails[head].append(tail)
            self._starting.setdefault(line.label, []).append(line)
        self._lengths = sorted({len(label) for label in self._starting})
        options = [(at, line) for at, line in enumerate(lines) if isinstance(line.slot, int)]
        said = ((text, at) for at, line in options for text in (*_texts(line), line.label))
        self._said = Index(said)
        labels: dict[int, list[tuple[str, int]]] = {}
        for at, line in options:
            labels.setdefault(line.question, []).append((line.label, at))
        self._labels = {question: Index(found) for question, found in labels.items()}
        fixed = ((at, line) for at, line in enumerate(lines) if line.slot in _FIXED)
        self._fixed = Index((_RULE.sub(" ", t), at) for at, line in fixed for t in _texts(line))

    def tail(self, address: Address, text: str, after: str) -> str:
        """What stood behind the marker of one of the lines at this address.

        Args:
            address: what the marker says.
            text: what stands before it now; more than that was typed there.
            after: what stands behind it now, which tells two apart that begin alike.
        """
        tails = self._tails.get(address, {})
        head = text if text in tails else max(filter(text.endswith, tails), key=len, default=None)
        if head is None:
            head = next(iter(tails), None)
        found = tails[head] if head is not None else [""]
        return next((tail for tail in found if tail and after.startswith(tail)), found[0])

    def alike(self, seen: str, block: int) -> list[Line]:
        """Those that ``seen``, in the block of a question, may have been."""
        found = self._said.same(seen) | self._fixed.same(_RULE.sub(" ", seen))
        alike = [self._lines[at] for at in sorted(found)]
        if seen.lstrip(" >").startswith(grammar.OWN):
            alike += self.at.get((block, grammar.OTHER), [])
        return alike

    def same(self, question: int, seen: str) -> list[Line]:
        """The options of a question that ``seen`` names."""
        found = [self._lines[at] for at in self._said.same(seen)]
        return [line for line in found if line.question == question]

    def leading(self, question: int, seen: str) -> list[Line]:
        """The options of a question that ``seen`` names, with something behind the label."""
        return [self._lines[at] for at in self._labels[question].leading(seen)]

    def starting(self, seen: str) -> list[Line]:
        """Those whose label ``seen`` begins with, letter for letter."""
        fitting = (length for length in self._lengths if length <= len(seen))
        return [line for length in fitting for line in self._starting.get(seen[:length], [])]

    def is_fixed(self, address: Address, seen: str) -> bool:
        """Does it say what one of the lines at this address says?"""
        lines = self.at.get(address, [])
        return any(
            seen.strip() == line.text.strip()
            or same(_RULE.sub(" ", seen), _RULE.sub(" ", line.text))
            for line in lines
        )


def _texts(line: Line) -> tuple[str, ...]:
    """What it says, and what is left of that when all goes from the marker on, if anything is."""
    left = line.text[: place(line.text)]
    return (line.text, left) if left else (line.text,)


def slot_of(text: str) -> int | str:
    """A marker's slot: an option's number, or a letter in lower case."""
    return int(text) if text.isdigit() else text.lower()
