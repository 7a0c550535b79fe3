"""A diff read back from the buffer: what the user left of it, as the text to be written.

Rows carry no markers, and lines may be alike; but no two ``@@`` lines are. So each row belongs to
the hunk whose ``@@`` line stands above it, or to one below that whose ``@@`` line is gone.

A hunk is gone with its ``@@`` line, or with all its ``+`` and ``-`` lines. In one that stays, what
stands there is what is written: see `winnow.core.proposal.hunk`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import compress, count, repeat, takewhile

import msgspec

from winnow.core.proposal.added import Added
from winnow.core.proposal.alignment import common
from winnow.core.proposal.blocks import Malformed
from winnow.core.proposal.diff import Diff
from winnow.core.proposal.hunk import Lines, Refused, Rows
from winnow.core.text.text import brief


class Applied(msgspec.Struct, frozen=True):
    """The text to write. ``edited``: the user did more than drop whole hunks."""

    text: str
    dropped: tuple[int, ...] = ()
    edited: bool = False


def apply(diff: Diff, rows: Sequence[str]) -> Applied | Malformed:
    """What the user left of ``diff``, applied to the old text; rows count from its first line."""
    try:
        return _Reader(diff, rows).read()
    except Refused as refused:
        return Malformed(refused.row, f"line {refused.row + 1} {refused}")


class _Reader:
    """Reads anew only the hunks between the first and the last one that are not as shown.

    Attributes:
        top: so many are at the top.
        bottom: all from this one on are at the bottom.
        parts: the rows below the heads of those between that stay.
    """

    def __init__(self, diff: Diff, rows: Sequence[str]) -> None:
        self.diff = diff
        self.rows = list(rows)
        self.shown, self.starts = diff.shown, diff.starts
        self.meaning = Added(diff)
        self.top = max(0, bisect_right(self.starts, common(self.rows, self.shown) - 1) - 1)
        same = common(self.rows[::-1], self.shown[::-1])
        above = self.starts[self.top] if self.top else 0
        least = max(len(self.shown) - same, above - min(0, self._moved))
        self.bottom = bisect_left(self.starts, least)
        self.parts = self._divide()

    @property
    def _moved(self) -> int:
        """How much further down the last row stands."""
        return len(self.rows) - len(self.shown)

    def read(self) -> Applied:
        self._check_names(self.parts.get(-1, range(self.starts[0])))
        pieces = self.diff.pieces.copy()
        dropped, edited = [], False
        for number in range(self.top, self.bottom):
            rows = self.parts.get(number)
            old, new = self.diff.olds[number], pieces[2 * number + 1]
            written = None if rows is None else self._written(number, rows)
            if written is None or written == old:
                dropped.append(number)
                written = old
            else:
                edited = edited or written != new
            pieces[2 * number + 1] = written
        text = "".join(pieces)
        if edited:
            kept = {*range(len(self.diff.hunks))}.difference(dropped)
            edited = text != self.diff.compose(kept)
        return Applied(text, tuple(dropped), edited)

    def _divide(self) -> dict[int, range]:
        """The rows below the head of each hunk that stays; those above them all are -1's."""
        first = self.starts[self.top] if self.top else 0
        last = self.starts[self.bottom] + self._moved
        starts = {} if self.top else {-1: 0}
        for row in compress(count(first), map(str.startswith, self.rows[first:last], repeat("@@"))):
            seen = self.rows[row]
            number = self.diff.heads.get(seen.rstrip())
            if number is None:
                raise Refused(row, f"“{brief(seen)}” is not the head of a hunk: u brings it back")
            if number >= self.bottom:  # and again there, where it is refused
                self.bottom = len(self.diff.hunks)
                return self._divide()
            if number < self.top or number in starts:
                raise Refused(row, "stands twice: delete one of the two, with what is below it")
            starts[number] = row + 1
        ends = [*(start - 1 for start in starts.values()), last][1:]
        return {
            number: range(start, end)
            for (number, start), end in zip(starts.items(), ends, strict=True)
        }

    def _stays(self, number: int) -> bool:
        return number < self.top or number >= self.bottom or number in self.parts

    def _gone_after(self, number: int) -> list[str]:
        """The lines of the hunks that come next, as long as their heads are gone."""
        end = number + 1
        while end < len(self.starts) - 1 and not self._stays(end):
            end += 1
        return self.shown[self.starts[number + 1] : self.starts[end]]

    def _check_names(self, rows: range) -> None:
        names, gone = self.shown[:2], self._gone_after(-1)
        start = len(list(takewhile(lambda row: self.rows[row].rstrip() in names, rows[:2])))
        added = sum(line.startswith("+") for line in gone)  # those at the top may be edited, too
        for row in range(start, self._left_over(rows[start:], gone)):
            seen = self.rows[row]
            for name in names[start:]:
                if seen.startswith(name[:4]):
                    raise Refused(row, f"was “{brief(name)}”: u brings it back")
            added -= 1
            if not seen.startswith("+") or added < 0:
                what = "stands in no hunk: bring its @@ line back with u, or delete it"
                raise Refused(row, what)

    def _written(self, number: int, rows: range) -> str | None:
        """What a hunk writes in the place of its old lines; None: nothing is left of it."""
        shown = self.shown[self.starts[number] + 1 : self.starts[number + 1]]
        seen = self.rows[rows.start : rows.stop]
        if seen == shown:
            return self.diff.pieces[2 * number + 1]
        gone = self._gone_after(number)
        if not any(row.startswith(("+", "-")) for row in seen):
            stay = [" " + line[1:] for line in shown if line.startswith((" ", "-"))]
            if self._left_over(rows, stay + gone) == rows.start:
                return None
        of = slice(self.starts[number], self.starts[number + 1])
        lines = Lines(self.diff, number, self.diff.lines[of])
        left_over = self._left_over(rows, gone)
        return "".join(Rows(lines, self.rows, rows, gone, left_over, self.meaning).written())

    def _left_over(self, rows: range, gone: Sequence[str]) -> int:
        """The row from which on all are lines of hunks that are gone, or blank."""
        lines = reversed(gone)
        for row in reversed(rows):
            seen = self.rows[row].rstrip()
            if seen and not any(_stands_for(seen, line.rstrip()) for line in lines):
                return min(row + 1, self._edited_left_over(rows, gone))
        return rows.start

    def _edited_left_over(self, rows: range, gone: Sequence[str]) -> int:
        """As `_left_over`, where any added lines are lines that the diff adds there, edited.

        So many as it has there: what is more was typed, and would be lost.
        """
        olds = [at for at, line in enumerate(gone) if not line.startswith("+")]
        first, at, added = rows.stop, len(gone), 0
        for row in reversed(rows):
            seen = self.rows[row].rstrip()
            if seen.startswith("+"):
                added += 1
                continue
            above = len(olds) - 1
            while above >= 0 and seen and not _stands_for(seen, gone[olds[above]].rstrip()):
                above -= 1
            if above >= 0 and _stands_for(seen, gone[olds[above]].rstrip()):
                added -= at - olds[above] - len(olds) + above
                at = olds[above]
                del olds[above:]
            elif seen:
                break
            if added > 0:
                break
            first, added = row, 0
        return first


def _stands_for(seen: str, line: str) -> bool:
    return seen == line or (line.startswith("-") and seen == " " + line[1:])
