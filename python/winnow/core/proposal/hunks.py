"""A diff read back from the buffer: what the user left of it, as the text to be written.

Each hunk goes with its ``@@`` line. In a hunk that stays, what stands there is what is written:
``+`` lines say what to write, a ``-`` line that is gone, or begins with a space now, leaves its
old line in the file, and all else has to be as the file has it. Nothing is guessed: what can't
be understood is refused, and the line named.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Union

import msgspec

from winnow.core.proposal.blocks import Malformed
from winnow.core.proposal.diff import NO_NEWLINE, Diff, Line, body_of
from winnow.core.text.text import brief
from winnow.core.text.visible import restore


class Row(msgspec.Struct, frozen=True):
    """A line of the buffer. ``line`` is the index of the diff's line that it is, None if typed."""

    seen: str
    line: int | None = None


class Applied(msgspec.Struct, frozen=True):
    """The text to write. ``edited``: the user did more than drop whole hunks."""

    text: str
    dropped: tuple[int, ...] = ()
    edited: bool = False


def apply(diff: Diff, rows: Sequence[Row]) -> Applied | Malformed:
    """What the user left of ``diff``, applied to the old text; rows count from its first line."""
    try:
        return _Reader(diff, rows).read()
    except _Refused as refused:
        return Malformed(refused.row, f"line {refused.row + 1} {refused}")


class _Refused(Exception):
    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


class _Kept(msgspec.Struct, frozen=True):
    """A row that is an old line: its place among those of its hunk. ``sign`` may be new."""

    row: int
    place: int
    sign: str


class _Added(msgspec.Struct, frozen=True):
    row: int
    text: str


_Item = Union[_Kept, _Added]


def _is_kept(seen: str, shown: str) -> bool:
    """Editors strip blanks from the ends of lines; the file's own are on record."""
    return seen[:1] in {" ", "-", ""} and seen[1:].rstrip() == shown[1:].rstrip()


class _Reader:
    def __init__(self, diff: Diff, rows: Sequence[Row]) -> None:
        self.diff = diff
        self.rows = rows
        self.heads = {line.shown: line for line in diff.lines if line.sign == "@"}
        self.parts: dict[int, list[int]] = {-1: []}  # of each hunk that stays, its rows
        self.head_rows: dict[int, int] = {}
        self.olds: list[list[int]] = [[] for _ in diff.hunks]  # old lines, as indices into the diff
        for at, line in enumerate(diff.lines):
            if line.sign in " -":
                self.olds[line.hunk].append(at)

    def read(self) -> Applied:
        self._divide()
        kept = sorted(set(self.parts) - {-1})
        dropped = tuple(n for n in range(len(self.diff.hunks)) if n not in self.parts)
        self._check_left_over(self.parts[-1])
        pieces: list[_Added] = []
        at = 0
        for number in kept:
            hunk = self.diff.hunks[number]
            pieces += [_Added(-1, text) for text in self.diff.old[at : hunk.start]]
            pieces += self._write(number, self._items(number))
            at = hunk.end
        pieces += [_Added(-1, text) for text in self.diff.old[at:]]
        for piece, following in pairwise(pieces):
            if not piece.text.endswith("\n"):
                row = max(piece.row, following.row)
                raise _Refused(row, "follows a line that ends the file without a newline")
        text = "".join(piece.text for piece in pieces)
        return Applied(text, dropped, text != self.diff.compose(kept))

    # --- hunks ---

    def _divide(self) -> None:
        """Give each row to the hunk whose head stands above it."""
        current = -1
        for row, (seen, line) in enumerate(self._lines()):
            head = line if line and line.sign == "@" else None
            if line is None and (seen.startswith("@@") or current < 0):
                head = self.heads.get(seen)
                if head is None and seen.startswith("@@"):
                    raise _Refused(row, f"“{brief(seen)}” is not the head of a hunk")
            if head is None:
                self.parts[current].append(row)
                continue
            if seen.rstrip() != head.shown:
                raise self._changed(row, head)
            if head.hunk < 0:
                continue
            if head.hunk <= current:
                raise _Refused(row, "stands twice, or out of order")
            current = head.hunk
            self.parts[current] = []
            self.head_rows[current] = row

    def _lines(self) -> list[tuple[str, Line | None]]:
        lines = self.diff.lines
        return [(row.seen, None if row.line is None else lines[row.line]) for row in self.rows]

    def _is_left_over(self, row: int) -> bool:
        """A line of a hunk whose head is gone."""
        at = self.rows[row].line
        if at is None:
            return not self.rows[row].seen.strip()
        return self.diff.lines[at].hunk not in self.parts

    def _check_left_over(self, rows: Sequence[int]) -> None:
        for row in rows:
            if not self._is_left_over(row):
                raise _Refused(
                    row, "stands in a hunk whose @@ line is gone: u brings that back, or delete it"
                )

    # --- the rows of a hunk ---

    def _items(self, hunk: int) -> list[_Item]:
        """What the rows of a hunk are."""
        olds = self.olds[hunk]
        place_of = {line: place for place, line in enumerate(olds)}
        rows = self.parts[hunk]
        items: list[_Item] = []
        at = 0  # the place that is next
        for index, row in enumerate(rows):
            seen, line = self.rows[row].seen, self.rows[row].line
            if at == len(olds) and self._is_left_over(row):
                self._check_left_over(rows[index:])
                break
            if line is None:
                if seen.startswith("+"):
                    items.append(_Added(row, seen[1:] + self.diff.end))
                    continue
                if seen == NO_NEWLINE:
                    self._end_without_newline(row, items, olds)
                    continue
                following = (place_of.get(self.rows[r].line or -1) for r in rows[index:])
                bound = next((p for p in following if p is not None), len(olds))
                place = self._recognise(row, olds, at, bound)
            else:
                shown = self.diff.lines[line]
                if shown.sign == "+":
                    items.append(_Added(row, self._edited(row, shown)))
                    continue
                if shown.sign == "\\":
                    if seen.rstrip() != NO_NEWLINE:
                        raise self._changed(row, shown)
                    self._end_without_newline(row, items, olds)
                    continue
                if seen != shown.shown and not _is_kept(seen, shown.shown):
                    raise self._changed(row, shown)
                place = place_of.get(line, -1)
                if place < at:
                    raise _Refused(row, f"“{brief(seen)}” stands twice, or out of order")
            self._check_gap(row, olds, at, place)
            items.append(_Kept(row, place, seen[:1]))
            at = place + 1
        last = rows[-1] if rows else self.head_rows[hunk]
        self._check_gap(last, olds, at, len(olds))
        return items

    def _recognise(self, row: int, olds: Sequence[int], at: int, bound: int) -> int:
        """The place of a typed line that says what an old one says, which is gone."""
        seen = self.rows[row].seen
        if seen[:1] not in (" ", "-"):
            raise _Refused(row, f"“{brief(seen)}” begins with neither +, - nor a space")
        places = []
        for place in range(at, bound):
            line = self.diff.lines[olds[place]]
            if line.shown[1:] == seen[1:]:
                places.append(place)
            if line.sign == " ":
                break
        if len(places) != 1:
            raise _Refused(row, f"“{brief(seen[1:])}” is not what the file has here")
        return places[0]

    def _check_gap(self, row: int, olds: Sequence[int], start: int, end: int) -> None:
        """Between two rows, only ``-`` lines may be gone."""
        for line in olds[start:end]:
            if self.diff.lines[line].sign == " ":
                shown = brief(self.diff.lines[line].shown[1:])
                raise _Refused(row, f"is next to “{shown}”, which must stay: u brings it back")

    def _edited(self, row: int, line: Line) -> str:
        """A ``+`` line as it is now."""
        seen = self.rows[row].seen
        if not seen.startswith("+"):
            raise self._changed(row, line)
        if seen == line.shown:
            return self._ended(line.text)
        text = restore(seen[1:], body_of(line.text, self.diff.end))
        if text is None:
            what = "holds characters that can't be edited here"
            raise _Refused(row, f"{what}: u brings it back, or write another line for it")
        return self._ended(text)

    def _ended(self, text: str) -> str:
        return text if text.endswith("\n") else text + self.diff.end

    def _end_without_newline(self, row: int, items: list[_Item], olds: Sequence[int]) -> None:
        match items[-1] if items else None:
            case _Added(row=above, text=text):
                bare = text.removesuffix(self.diff.end).removesuffix("\n")
                items[-1] = _Added(above, bare)
            case _Kept(place=place) if not self._old(olds[place]).endswith("\n"):
                pass
            case _:
                raise _Refused(row, "is about a line that is gone: delete it, too")

    def _old(self, line: int) -> str:
        return self.diff.lines[line].text

    def _changed(self, row: int, line: Line) -> _Refused:
        return _Refused(row, f"was “{brief(line.shown)}”: u brings it back")

    def _write(self, hunk: int, items: Sequence[_Item]) -> list[_Added]:
        """The lines that a hunk writes. Old lines that stay come before what is added there."""
        olds = self.olds[hunk]
        pieces: list[_Added] = []
        places = [item.place if isinstance(item, _Kept) else None for item in items]
        at = 0
        following = len(olds)
        stops: list[int] = []  # for each item, the place of the next old line
        for place in reversed(places):
            following = following if place is None else place
            stops.append(following)
        for item, stop in zip(items, reversed(stops), strict=True):
            pieces += [_Added(-1, self._old(line)) for line in olds[at:stop]]
            at = max(at, stop)
            match item:
                case _Added():
                    pieces.append(item)
                case _Kept(row=row, sign=sign):
                    if sign != "-":
                        pieces.append(_Added(row, self._old(olds[at])))
                    at += 1
        return pieces + [_Added(-1, self._old(line)) for line in olds[at:]]
