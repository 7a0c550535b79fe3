"""The rows that are left of a hunk, as the lines to be written in the place of its old ones.

``+`` lines say what to write, a ``-`` line that is gone, or begins with a blank now, leaves its old
line in the file, and all else has to be as the file has it. Nothing is guessed: what can't be
understood, or in two ways that make a difference, is refused, and the line named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from winnow.core.proposal.added import Added
from winnow.core.proposal.alignment import TooAlike, align, common
from winnow.core.proposal.diff import NO_NEWLINE, Diff, Line
from winnow.core.text.text import brief

_MOST = 50  # rows that may be a hunk's last one
_NOTHING = "\n"  # no line says this
_HEADLESS = "stands in a hunk whose @@ line is gone: u brings that back, or delete it"
_KEEP = "write a blank for the - of what is to stay"
_TOO_ALIKE = "stands above lines that are too much alike: u brings back what was there"


_Ways = list[tuple[int, int]]  # as `align` finds them


class Refused(Exception):
    """A row of the diff, from 0, can't be understood."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


class Lines:
    """A hunk as it was shown: the old lines, and what it adds ``above`` each, and at its end."""

    def __init__(self, diff: Diff, number: int, lines: Sequence[Line]) -> None:
        self.olds: list[Line] = []
        self.said: list[str] = []  # of old lines, what they say
        self.above: list[list[Line]] = [[]]
        for line in lines:
            if line.sign == "+":
                self.above[-1].append(line)
            elif line.sign in " -":
                self.olds.append(line)
                self.said.append(line.shown[1:].rstrip())
                self.above.append([])
        self.must = [line.sign == " " for line in self.olds]
        self.has_mark = any(line.sign == "\\" for line in lines)
        self.end = diff.end
        self.ends_file = diff.hunks[number].end == len(diff.old)


class Rows:
    """The rows of a hunk as they are now. Behind them may be others, of hunks that are gone.

    Args:
        lines: what was shown of the hunk.
        rows: those of the whole diff.
        span: those below the hunk's head.
        gone: the lines of the hunks behind it whose heads are gone.
        left_over: the row from which on all rows can be these.
        meaning: what added lines say.
    """

    def __init__(  # noqa: PLR0917
        self,
        lines: Lines,
        rows: Sequence[str],
        span: range,
        gone: Sequence[str],
        left_over: int,
        meaning: Added,
    ) -> None:
        self.lines = lines
        self.rows = rows
        self.span = span
        self.gone = gone
        self.left_over = left_over
        self.meaning = meaning
        self.olds: list[int] = []  # rows that are old lines
        self.says: list[str] = []  # what they say
        self.above: list[list[int]] = [[]]  # the rows added above each of them, and at the end
        self.marks: dict[int, int] = {}  # “No newline” rows, by the row above
        for row in span:
            seen = rows[row]
            if seen.startswith("+"):
                self.above[-1].append(row)
            elif seen.startswith("\\") and seen.rstrip() == NO_NEWLINE:
                self.marks[row - 1] = row
            else:
                self.olds.append(row)
                # Editors strip blanks from the ends of lines; the file's own are on record.
                self.says.append(seen[1:].rstrip() if seen[:1] in " -" else _NOTHING)
                self.above.append([])

    def written(self) -> tuple[str, ...]:
        """The lines that are to be written.

        Raises:
            Refused: that can't be told.
        """
        readings: list[_Ways] = []
        try:
            for end in self._ends():
                if (ways := align(self.says[:end], self.lines.said, self.lines.must)) is not None:
                    readings.append(ways)
                    if not self.gone:
                        break
        except TooAlike:
            raise Refused(self.span.start - 1, _TOO_ALIKE) from None
        if not readings:
            raise self._misfit()
        if len(readings) > 1:
            fewest = min(map(self._new_removals, readings))
            readings = [ways for ways in readings if self._new_removals(ways) == fewest]
        found = {tuple(self._compose(ways)) for ways in readings}
        if len(found) > 1:
            raise Refused(self.span.start - 1, _TOO_ALIKE)
        return found.pop()

    def _ends(self) -> Iterator[int]:
        """How many of the old rows may be this hunk's: those that follow are left over."""
        most = min(len(self.olds), len(self.lines.said))
        for tries, end in enumerate(range(most, -1, -1)):
            if self._stop(end) < self.left_over:
                break
            if tries > _MOST:
                raise TooAlike
            yield end

    def _stop(self, end: int) -> int:
        """The row that follows so many old rows, and what is added below them."""
        return self.olds[end] if end < len(self.olds) else self.span.stop

    def _new_removals(self, ways: _Ways) -> int:
        """How many ``-`` rows are lines that the diff doesn't remove: the fewer, the likelier."""
        return sum(
            self.lines.must[first] and self.rows[row].startswith("-")
            for row, (first, _) in zip(self.olds, ways, strict=False)
        )

    # --- in two ways ---

    def _last_added(self, end: int) -> list[int]:
        """The rows added below so many old ones, if they are not those of a hunk that is gone."""
        added = self.above[end]
        if not added or not self.gone:
            return added
        follows = self._stop(end) < self.span.stop
        gone = set(self.gone)
        known = [self.rows[row] in gone for row in added]
        if follows and all(known):
            return []
        last = self.rows[added[-1]]
        if follows or any(known) or any(_is_like(last, line) for line in gone if line[:1] == "+"):
            raise Refused(added[0], _HEADLESS)
        return added

    def _check_alike(self, ways: _Ways) -> None:
        """Rows that may be several lines, which differ, or that others are added between."""
        if all(first == last for first, last in ways):
            return
        alike = [0]  # of each line, how many below it are the same
        for old, below in pairwise(reversed(self.lines.olds)):
            alike.append(alike[-1] + 1 if old.text == below.text else 0)
        alike.reverse()
        for row, above, (first, last) in zip(self.olds, self.above, ways, strict=False):
            if last - first > alike[first] or (above and first < last):
                what = f"“{brief(self.rows[row])}” may be any of several lines that are alike"
                raise Refused(row, f"{what}: u, then {_KEEP}")

    def _check_order(
        self, added: Sequence[int], stay: Sequence[Line], known: Sequence[Line]
    ) -> None:
        """What is added where lines stay that are gone from the diff: is it above or below them?

        Below, if it begins with what the diff adds there, edited maybe.
        """
        seen = [self.rows[row] for row in added]
        shown = [line.shown for line in known]
        first = seen[0]
        if first in shown and seen.count(first) <= shown.count(first):
            return
        for line in stay:
            if line.shown[1:] == first[1:]:
                raise self._was(added[0], line)
        spare = len(shown) - len(seen)
        if not any(_is_like(first, line) for line in shown[: max(spare + 1, 0)]):
            what = f"may go above or below “{brief(stay[0].shown[1:])}”, which stays"
            raise Refused(added[0], f"{what}: bring that back with u, and {_KEEP}")

    # --- what is written ---

    def _compose(self, ways: _Ways) -> list[str]:
        self._check_alike(ways)
        self._check_marks(ways)
        olds = self.lines.olds
        above = [*self.above[: len(ways)], self._last_added(len(ways))]
        pieces: list[str] = []
        marks: dict[int, int] = {}  # of pieces that end without a newline, as a row says
        at = 0
        places = [*(first for first, _ in ways), len(olds)]
        for number, place in enumerate(places):
            stay = olds[at:place]
            pieces += [line.text for line in stay]
            if added := above[number]:
                known = [line for lines in self.lines.above[at : place + 1] for line in lines]
                if stay:
                    self._check_order(added, stay, known)
                for row in self.marks.keys() & set(added) if self.marks else ():
                    marks[len(pieces) + added.index(row)] = self.marks[row]
                pieces += self._texts(added, known)
            at = place + 1
            if at <= len(olds) and not self.rows[self.olds[number]].startswith("-"):
                pieces.append(olds[place].text)
        for at in range(len(pieces) - self.lines.ends_file):
            if at in marks:
                raise Refused(marks[at], "stands above another line of the file: delete it")
            if not pieces[at].endswith("\n"):  # what ended the file goes on
                pieces[at] += self.lines.end
        return pieces

    def _texts(self, added: Sequence[int], known: Sequence[Line]) -> Iterator[str]:
        bodies = self.meaning.bodies([self.rows[row] for row in added], known)
        for row, body in zip(added, bodies, strict=True):
            if body is None:
                what = "holds characters that can't be edited here"
                raise Refused(row, f"{what}: u brings it back, or write another line for it")
            if row in self.marks:
                yield body.removesuffix("\n")
            else:
                yield body if body.endswith("\n") else body + self.lines.end

    def _check_marks(self, ways: _Ways) -> None:
        """A mark goes with its line. One that the user typed has to be about another."""
        if not self.lines.has_mark:
            ended = {row for above in self.above for row in above}
            for row, mark in self.marks.items():
                if mark < self._stop(len(ways)) and row not in ended:
                    raise Refused(mark, "is about a line that is gone: delete it, too")

    # --- what can't be understood ---

    def _misfit(self) -> Refused:
        """The first row that is none of the hunk's, or that stands where one is missing."""
        said, at = self.lines.said, 0
        for number, says in enumerate(self.says):
            place = at
            while place < len(said) and said[place] != says and not self.lines.must[place]:
                place += 1
            if place == len(said) and self.gone:
                break
            removes = self.rows[self.olds[number]].startswith("-")
            if place == len(said) or said[place] != says or (removes and self.lines.must[place]):
                return self._stranger(number, at, place)
            at = place + 1
        for line in self.lines.olds[at:]:
            if line.sign == " ":
                return self._missing(self.span.stop - 1, line)
        return Refused(self.left_over - 1, _HEADLESS)

    def _stranger(self, number: int, at: int, place: int) -> Refused:
        """A row where a line of these places should be."""
        row, says, said = self.olds[number], self.says[number], self.lines.said
        seen, olds = self.rows[row], self.lines.olds[at : place + 1]
        added = [line for above in self.lines.above[at : place + 1] for line in above]
        for line in added:
            if line.shown[1:] in (seen, seen[1:]):
                return self._was(row, line)
        if not seen or says == _NOTHING:
            return Refused(row, f"“{brief(seen)}” begins with neither +, - nor a blank")
        if says in said[place + 1 :]:
            return self._missing(row, olds[-1])
        if place == len(said) or self.says[number + 1 : number + 2] == [said[at]]:
            return Refused(row, f"“{brief(seen[1:])}” is not what the file has here")
        return self._was(row, next((old for old in olds if old.sign == seen[:1]), olds[-1]))

    def _was(self, row: int, line: Line) -> Refused:
        return Refused(row, f"was “{brief(line.shown)}”: u brings it back")

    def _missing(self, row: int, line: Line) -> Refused:
        what = brief(line.shown[1:])
        return Refused(row, f"is next to “{what}”, which must stay: u brings it back")


def _is_like(one: str, other: str) -> bool:
    """Whether an added line may be another one that was edited: half of it is the same."""
    head = common(one, other)
    tail = common(one[head:][::-1], other[head:][::-1])
    return 2 * (head + tail) > max(len(one), len(other))
