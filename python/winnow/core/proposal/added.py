"""What added lines of a diff say: the file's characters, where a buffer shows forms of them.

Two lines that look alike may differ in what they hide, and only one of them may be left, or moved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

from winnow.core.proposal.diff import Diff, Line, body_of
from winnow.core.proposal.origins import sure
from winnow.core.text.visible import FORMS, restore, way_back


class Added:
    """The ``+`` lines of one diff."""

    def __init__(self, diff: Diff) -> None:
        self.diff = diff

    def bodies(self, rows: Sequence[str], known: Sequence[Line]) -> list[str | None]:
        """What each row says, without its sign and its line end; None: that can't be told.

        ``known`` are the lines that the diff adds where these rows stand.
        """
        if not any(map(FORMS.search, rows)):
            return [row[1:] for row in rows]
        were = sure([line.shown for line in known], list(rows))
        return [
            self._body(row[1:], None if was is None else known[was])
            if FORMS.search(row)
            else row[1:]
            for row, was in zip(rows, were, strict=True)
        ]

    def _body(self, seen: str, was: Line | None) -> str | None:
        alike = self._bodies.get(seen, set())
        if len(alike) == 1:
            return next(iter(alike))
        if not alike and self._way_back:  # a form means what it does elsewhere in the diff
            return self._way_back(seen)
        return None if was is None else restore(seen, self._body_of(was))

    def _body_of(self, line: Line) -> str:
        return body_of(line.text, self.diff.end)

    @cached_property
    def _bodies(self) -> dict[str, set[str]]:
        """Of all lines that are shown with forms, by what is shown, what they are."""
        bodies = defaultdict(set)
        for line in self.diff.lines:
            if line.text and FORMS.search(line.shown):
                bodies[line.shown[1:]].add(self._body_of(line))
        return bodies

    @cached_property
    def _way_back(self) -> Callable[[str], str] | None:
        bodies = {body for alike in self._bodies.values() for body in alike}
        return way_back("|".join(sorted(bodies)))
