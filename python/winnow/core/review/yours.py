"""The user's own edits: they become part of what is compared with, so that none is ever shown as a
change of the agent's, or taken back with one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from winnow.core.proposal.diff import grouped
from winnow.core.proposal.lines import Change, changes, split


def rebase(base: str, before: str, after: str) -> str:
    """``base`` with what the user has made of ``before``, which the agent had made of ``base``.

    Every line that the user wrote is in it. Where they have written into lines of the agent's,
    both what was there before those, and what the user wrote; where nothing is left of the
    agent's, it is as the user has it.
    """
    if before in (base, after):
        return after if base == before else base
    old, middle, new = split(base), split(before), split(after)
    agents, users = changes(old, middle), changes(middle, new)
    pieces: list[str] = []
    at = _Place()
    for mine, yours in _regions(agents, users, partial(_is_back, old, new)):
        start, end = _span(mine, yours)
        pieces += middle[at.middle : start]
        first = at.moved(start - at.middle)
        size = end - start
        last = _Place(
            first.old + size + sum(_growth(change) for change in mine),
            end,
            first.new + size - sum(_growth(change) for change in yours),
        )
        theirs = new[first.new : last.new]
        if not yours:
            pieces += old[first.old : last.old]
        elif not mine:
            pieces += theirs
        else:
            pieces += _both(old[first.old : last.old], theirs, first, mine, yours)
        at = last
    return "".join(_whole([*pieces, *middle[at.middle :]]))


class _Place(msgspec.Struct, frozen=True):
    """The same place in all three texts."""

    old: int = 0
    middle: int = 0
    new: int = 0

    def moved(self, by: int) -> _Place:
        return _Place(self.old + by, self.middle + by, self.new + by)


def _growth(change: Change) -> int:
    """By how many lines the earlier of the two texts is longer."""
    return (change.old_end - change.old_start) - (change.new_end - change.new_start)


def _is_back(old: Sequence[str], new: Sequence[str], agents: Change, users: Change) -> bool:
    """The user has put lines back where the agent had taken them away."""
    here = users.old_start in (agents.new_start, agents.new_end)
    gone = iter(old[agents.old_start : agents.old_end])
    back = new[users.new_start : users.new_end]
    return here and users.old_start == users.old_end and all(line in gone for line in back)


def _regions(
    agents: Sequence[Change], users: Sequence[Change], back: Callable[[Change, Change], bool]
) -> Iterator[tuple[list[Change], list[Change]]]:
    """Changes of both in the order of the text between; those that overlap go together, as do
    those of which one takes the other ``back``.
    """
    mine, yours = list(agents), list(users)
    while mine or yours:
        region: tuple[list[Change], list[Change]] = ([], [])
        if not yours or (mine and (mine[0].new_start, mine[0].new_end) <= _old(yours[0])):
            region[0].append(mine.pop(0))
        else:
            region[1].append(yours.pop(0))
        while True:
            start, end = _span(*region)
            if mine and (
                _overlap((start, end), (mine[0].new_start, mine[0].new_end))
                or any(back(mine[0], one) for one in region[1])
            ):
                region[0].append(mine.pop(0))
            elif yours and (
                _overlap((start, end), _old(yours[0]))
                or any(back(one, yours[0]) for one in region[0])
            ):
                region[1].append(yours.pop(0))
            else:
                break
        yield region


def _old(change: Change) -> tuple[int, int]:
    return change.old_start, change.old_end


def _span(mine: Sequence[Change], yours: Sequence[Change]) -> tuple[int, int]:
    """What they are about in the text between."""
    spans = [*((one.new_start, one.new_end) for one in mine), *map(_old, yours)]
    return min(start for start, _ in spans), max(end for _, end in spans)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """They share a line, one stands inside the other, or both are the same place without lines."""
    return one == other or max(one[0], other[0]) < min(one[1], other[1]) or _inside(one, other)


def _inside(one: tuple[int, int], other: tuple[int, int]) -> bool:
    empty, full = (one, other) if one[0] == one[1] else (other, one)
    return empty[0] == empty[1] and full[0] < empty[0] < full[1]


def _both(
    old: Sequence[str],
    new: Sequence[str],
    first: _Place,
    mine: Sequence[Change],
    yours: Sequence[Change],
) -> list[str]:
    """Both have changed the same lines."""
    added = {row for one in mine for row in range(one.new_start, one.new_end)}
    gone = {row for one in yours for row in range(one.old_start, one.old_end)}
    if added and added <= gone:
        return list(new)
    removed_here = _rows_of(gone - added, first, mine)
    stays = [line for row, line in enumerate(old, first.old) if row not in removed_here]
    agents_here = _rows_from(added - gone, first, yours)
    written = [line for row, line in enumerate(new, first.new) if row not in agents_here]
    return _united(stays, written)


def _rows_of(rows: set[int], first: _Place, mine: Sequence[Change]) -> set[int]:
    """Rows of the text between, which the agent left alone, as rows of the old one."""
    shift = first.old - first.middle
    return {row + shift + sum(_growth(one) for one in mine if one.new_end <= row) for row in rows}


def _rows_from(rows: set[int], first: _Place, yours: Sequence[Change]) -> set[int]:
    """Rows of the text between, which the user left alone, as rows of the new one."""
    shift = first.new - first.middle
    return {row + shift - sum(_growth(one) for one in yours if one.old_end <= row) for row in rows}


def _united(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The lines of both in order, those that both have once."""
    pieces: list[str] = []
    at = 0
    for change in changes(one, other):
        pieces += one[at : change.old_end]
        pieces += other[change.new_start : change.new_end]
        at = change.old_end
    return [*pieces, *one[at:]]


def _whole(lines: list[str]) -> list[str]:
    """Only the last line of a text may lack its end."""
    return [*(line if line.endswith("\n") else line + "\n" for line in lines[:-1]), *lines[-1:]]


class PutBack(msgspec.Struct, frozen=True):
    """A text in which changes were taken back; ``refused`` are lines (from 1) where they weren't,
    since it no longer reads there as it was shown.
    """

    text: str
    refused: tuple[int, ...] = ()


def put_back(shown: str, wanted: str, now: str) -> PutBack:
    """What was to be made of a text that was ``shown``, made of what it is ``now``."""
    if shown == now:
        return PutBack(wanted)
    lines, result, new = split(shown), split(now), split(wanted)
    since = changes(lines, split(now))
    refused = []
    for group in reversed(grouped(changes(lines, new))):
        start, end = group[0].old_start, group[-1].old_end
        shift = -sum(_growth(one) for one in since if one.old_end <= start)
        if any(one.old_start <= end and start <= one.old_end for one in since):
            refused.append(start + shift + 1)
            continue
        for change in reversed(group):
            lines_now = slice(change.old_start + shift, change.old_end + shift)
            result[lines_now] = new[change.new_start : change.new_end]
    return PutBack("".join(_whole(result)), tuple(sorted(refused)))
