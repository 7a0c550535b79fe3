"""Which lines the rows are that are left of them: not one way to see it, but every way there is.

Lines that are alike make several. A choice among them would be a guess at what the user deleted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence

_MOST = 20_000  # steps; what takes more is too much alike to be told apart
_CHUNK = 256  # compared at once


class TooAlike(Exception):
    """Nobody could tell these lines from each other."""


def align(rows: list[str], lines: list[str], must: Sequence[bool]) -> list[tuple[int, int]] | None:
    """The first and the last line that each row can be, where all rows are lines, in order.

    Args:
        rows: what they say.
        lines: what they said.
        must: of each line, that a row has to be it.

    Returns:
        None where there is no way. The first lines of all rows are one of the ways.

    Raises:
        TooAlike: there are so many ways that it would take long.
    """
    spare = len(lines) - len(rows)
    if spare <= 0:
        return [(at, at) for at in range(len(rows))] if rows == lines else None
    start = len(rows) - _reach(rows[::-1], lines[::-1])
    end = _reach(rows, lines)
    if start > end or rows[:start] != lines[:start] or rows[end:] != lines[end + spare :]:
        return None
    ways = _ways(rows[start:end], lines[start : end + spare], must[start : end + spare])
    if ways is None:
        return None
    return [
        *((at, at) for at in range(start)),
        *((start + first, start + last) for first, last in ways),
        *((at, at) for at in range(end + spare, len(lines))),
    ]


def common(some: Sequence[str], others: Sequence[str]) -> int:
    """How many they begin with that are the same."""
    at, most = 0, min(len(some), len(others))
    while at < most and some[at : at + _CHUNK] == others[at : at + _CHUNK]:
        at += _CHUNK
    while at < most and some[at] == others[at]:
        at += 1
    return min(at, most)


def _reach(rows: Sequence[str], lines: Sequence[str]) -> int:
    """How many rows are lines before the last ones that they could be, each as early as it can."""
    spare = len(lines) - len(rows)
    end = at = common(rows, lines)
    while end < len(rows):
        while at < end + spare and lines[at] != rows[end]:
            at += 1
        if at >= end + spare:
            break
        end, at = end + 1, at + 1
    return end


def _ways(
    rows: Sequence[str], lines: Sequence[str], must: Sequence[bool]
) -> list[tuple[int, int]] | None:
    """As `align`: of each row the lines that it can be after those above it, then before others."""
    if len(set(lines)) <= 1 and not any(must):
        return [(at, at + len(lines) - len(rows)) for at in range(len(rows))]
    needs = [-1]  # for each line, and the end: the last one before it that must be there
    for at, needed in enumerate(must):
        needs.append(at if needed else needs[-1])
    where = defaultdict(list)
    for at, line in enumerate(lines):
        where[line].append(at)
    reached = [[-1]]
    steps = 0
    for row in rows:
        above, spots, found = reached[-1], where[row], []
        last = len(lines) - len(rows) + len(reached) - 1  # leaves room for the rows below
        for number in range(bisect_right(spots, above[0]), len(spots)):
            at = spots[number]
            if at > last or needs[at] > above[-1]:
                break
            if bisect_left(above, needs[at]) < bisect_left(above, at):
                found.append(at)
            steps += 1
        if not found:
            return None
        if steps > _MOST:
            raise TooAlike
        reached.append(found)
    below = [len(lines)]
    ways = []
    for found in reversed(reached):
        below = [at for at in found if _leads(at, below, needs)]
        if not below:
            return None
        ways.append((below[0], below[-1]))
    return ways[-2::-1]


def _leads(at: int, below: Sequence[int], needs: Sequence[int]) -> bool:
    """Whether one of the lines below can come next after this one."""
    number = bisect_right(below, at)
    return number < len(below) and needs[below[number]] <= at
