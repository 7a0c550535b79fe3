"""Lists that buffers show: kept up to date while somebody looks, and edited by their lines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from winnow import ports
from winnow import protocol as p
from winnow.core import listing
from winnow.core.listing import Edits, Problem, Row
from winnow.core.never import assert_never
from winnow.core.text.text import clean

FRAME = 0.05  # seconds in which what happens is shown together


class Shown(Protocol):
    """A list, to whoever passes on what the user does there."""

    def watch(self, *, open: bool) -> None:
        """It was opened or closed."""

    def edit(self, event: p.EditList) -> None:
        """Do what its lines ask for: all of it or, with a reason, nothing."""

    def pick(self, key: str, *, peek: bool) -> None:
        """Go to what a line is about; ``peek``: look at it."""


class List:
    """One list; what is special to it overrides the methods below.

    Args:
        name: of the list.
        editor: where it is shown.
        of: the number of the chat whose list it is; 0: of all.

    Attributes:
        tick: seconds after which it is shown anew though nothing happened; 0: never.
        new: the user may add lines.
    """

    tick = 0.0
    new = False

    def __init__(self, name: str, editor: ports.Editor, of: int = 0) -> None:
        self.name = name
        self.of = of
        self._editor = editor
        self._watched = False
        self._soon: asyncio.TimerHandle | None = None
        self._moved = False  # since it was shown last
        self._lines: list[str] = []  # then

    def rows(self) -> Sequence[Row]:
        """What there is now."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """The same as lines."""
        return listing.render(self.rows())

    def past(self) -> Collection[str]:
        """The keys of what was deleted, and comes back with its line."""
        return ()

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:  # noqa: ARG002
        """Do what the user wants.

        Returns:
            What is wrong with a line, or a question that must be answered first (ask it unless
            ``event.force``): nothing is done then.
        """
        return Problem(0, "this list can't be changed.")

    def pick(self, key: str, *, peek: bool) -> None:
        """See `Shown.pick`."""

    def opened(self) -> None:
        """Somebody looks: a place to learn what is shown."""

    def watch(self, *, open: bool) -> None:
        """See `Shown.watch`."""
        self._watched = open
        if open:
            self.opened()
            self._show()
        else:
            self.close()

    def moved(self) -> None:
        """Something happened: show it soon, if somebody looks."""
        if self._watched and not self._moved:
            self._moved = True
            self._show_in(FRAME)

    def edit(self, event: p.EditList) -> None:
        """See `Shown.edit`."""
        read = listing.read(self.rows(), event.before, event.lines, self.past(), new=self.new)
        self.answer(read if isinstance(read, Problem) else self.change(read, event))

    def answer(self, what: Problem | str | None) -> None:
        """Tell the user what came of an edit; see `change`."""
        if isinstance(what, Problem):
            said = clean(what.sentence)
            self._tell(p.ListProblem(self.name, self.of, row=what.row, sentence=said))
        elif isinstance(what, str):
            self._tell(p.ListAsks(self.name, self.of, sentence=clean(what)))
        else:
            self._show(done=True)

    def close(self) -> None:
        """Show nothing any more."""
        self._watched = False
        self._calm()

    def _calm(self) -> None:
        self._moved = False
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None

    def _show_in(self, seconds: float) -> None:
        if self._soon is not None:
            self._soon.cancel()
        self._soon = asyncio.get_running_loop().call_later(seconds, self._again)

    def _again(self) -> None:
        lines = self.lines()
        if lines != self._lines:
            self._put(lines)
        else:
            self._calm()
            self._wait()

    def _show(self, *, done: bool = False) -> None:
        if self._watched or done:
            self._put(self.lines(), done=done)
        else:
            self._calm()

    def _put(self, lines: list[str], *, done: bool = False) -> None:
        self._calm()
        self._lines = lines
        self._tell(p.Listed(self.name, self.of, lines=lines, done=done))
        self._wait()

    def _wait(self) -> None:
        if self._watched and self.tick:
            self._show_in(self.tick)

    def _tell(self, effect: p.Effect) -> None:
        self._editor.apply(effect)


Find = Callable[[str, int], "Shown | None"]


class Lists:
    """All lists: passes on what the user does.

    Args:
        editor: where a problem is told.
        find: the list of this name, and of this chat.
    """

    def __init__(self, editor: ports.Editor, find: Find) -> None:
        self._editor = editor
        self._find = find

    def handle(self, event: p.ListEvent) -> None:
        """Do what an event asks for."""
        found = self._find(event.name, event.of)
        if found is None:
            if not isinstance(event, p.WatchList) or event.open:
                self._editor.apply(p.Notify("What this list is about is no longer open.", "warn"))
            return
        match event:
            case p.WatchList(open=open):
                found.watch(open=open)
            case p.EditList():
                found.edit(event)
            case p.PickLine(key=key, peek=peek):
                found.pick(key, peek=peek)
            case _:
                assert_never(event)
