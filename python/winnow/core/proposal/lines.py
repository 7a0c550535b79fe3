"""Which lines changed between two texts."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

import msgspec

_SMALL = 40_000  # pairs of lines, which `difflib` compares in milliseconds
_DEEPEST = 50  # gaps within gaps; a text that has more was made for that


class Change(msgspec.Struct, frozen=True, gc=False):
    """Lines ``old_start`` to ``old_end`` become ``new_start`` to ``new_end``; counted from 0."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def split(text: str) -> list[str]:
    """Lines with their ends. Only a newline ends one, unlike in ``splitlines``."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """What must be replaced in ``old`` to get ``new``, in order.

    A patience diff: lines that occur once in both texts are matched first. It reads better than
    the longest matches, and unlike those it stays fast when every second line changed.
    """
    found: list[Change] = []
    old_at = new_at = 0
    for old_start, new_start, size in (*_matches(old, new), (len(old), len(new), 0)):
        if old_start > old_at or new_start > new_at:
            found.append(Change(old_at, old_start, new_at, new_start))
        if size:
            old_at, new_at = old_start + size, new_start + size
    return found


def _matches(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Runs of equal lines: where they start in both texts, and how many they are; joined up."""
    first = second = size = 0
    for old_at, new_at, more in _Patience(old, new).runs(0, len(old), 0, len(new), 0):
        if (old_at, new_at) == (first + size, second + size):
            size += more
            continue
        if size:
            yield first, second, size
        first, second, size = old_at, new_at, more
    if size:
        yield first, second, size


class _Patience:
    """Compares ``low`` to ``high`` of the old text with ``start`` to ``end`` of the new one.

    ``depth`` says how many anchors that is between.
    """

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self.old = old
        self.new = new

    def runs(
        self, low: int, high: int, start: int, end: int, depth: int
    ) -> Iterator[tuple[int, int, int]]:
        old, new = self.old, self.new
        head = tail = 0
        while low + head < high and start + head < end and old[low + head] == new[start + head]:
            head += 1
        if head:
            yield low, start, head
        low, start = low + head, start + head
        while low < high and start < end and old[high - 1] == new[end - 1]:
            high, end, tail = high - 1, end - 1, tail + 1
        if min(high - low, end - start) > 0 and max(high - low, end - start) > 1:
            yield from self._between(low, high, start, end, depth)
        if tail:
            yield high, end, tail

    def _between(
        self, low: int, high: int, start: int, end: int, depth: int
    ) -> Iterator[tuple[int, int, int]]:
        anchors = self._anchors(low, high, start, end) if depth < _DEEPEST else []
        if anchors:
            for old_at, new_at in anchors:
                if old_at < low:  # in the run of the one before
                    continue
                if low < old_at and start < new_at:
                    yield from self.runs(low, old_at, start, new_at, depth + 1)
                low, start = old_at + 1, new_at + 1
                while low < high and start < end and self.old[low] == self.new[start]:
                    low, start = low + 1, start + 1
                yield old_at, new_at, low - old_at
            yield from self.runs(low, high, start, end, depth + 1)
        elif (high - low) * (end - start) <= _SMALL:
            matcher = SequenceMatcher(None, self.old[low:high], self.new[start:end], autojunk=False)
            for block in matcher.get_matching_blocks()[:-1]:
                yield low + block.a, start + block.b, block.size
        elif high - low == end - start:  # too much alike to look for more than each line's own
            for old_at, new_at in zip(range(low, high), range(start, end), strict=True):
                if self.old[old_at] == self.new[new_at]:
                    yield old_at, new_at, 1

    def _anchors(self, low: int, high: int, start: int, end: int) -> list[tuple[int, int]]:
        """The longest series, rising in both texts, of lines that occur once in each."""
        old, new = self.old, self.new
        in_old, in_new = Counter(old[low:high]), Counter(new[start:end])
        place = {new[at]: at for at in range(start, end) if in_new[new[at]] == 1}
        once = (at for at in range(low, high) if in_old[old[at]] == 1)
        pairs = [(at, place[old[at]]) for at in once if old[at] in place]
        if all(one[1] < other[1] for one, other in pairwise(pairs)):  # nothing moved
            return pairs
        ends: list[int] = []  # where the series of each length ends in the new text, at the least
        tops: list[int] = []  # the last pair of that series
        before: list[int] = []  # for each pair, the one before it
        for number, (_, at) in enumerate(pairs):
            length = bisect_left(ends, at)
            before.append(tops[length - 1] if length else -1)
            ends[length : length + 1] = [at]
            tops[length : length + 1] = [number]
        series = []
        number = tops[-1] if tops else -1
        while number >= 0:
            series.append(pairs[number])
            number = before[number]
        return series[::-1]
