"""The list of what has changed in the files, as one patch."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from winnow import protocol as p
from winnow.app.lists import List
from winnow.app.parts.part import Around
from winnow.core.listing import Problem
from winnow.core.review.review import Review, Wanted

Find = Callable[[Callable[[Review | str], None]], None]
PutBack = Callable[[Review, Wanted, Callable[[list[str]], None]], None]

NAME = "review"
PIECE = 2000  # lines that go to the editor at a time
PAUSE = 0.01  # seconds between two of these
READING = "Looking at what has changed …"
EDITED = "{} has unsaved edits in Neovim: write it first."
OLD = "this review is too old to be acted on: :e! shows what has changed until now."


class ReviewList(List):
    """The patch.

    Args:
        around: what is around its chat.
        find: tells what has changed, or why that can't be told.
        put_back: has files hold what the user wants, and gives what could not be done.
    """

    def __init__(self, around: Around, find: Find, put_back: PutBack) -> None:
        super().__init__(NAME, around.world.editor, around.page.chat)
        self._around = around
        self._find = find
        self._put_back = put_back
        self.review = Review("", ())
        self._problem = READING
        self._owed = False  # the editor was not told yet that what it asked for is done
        self._sending: asyncio.Task[None] | None = None
        self._recent: deque[Review] = deque(maxlen=5)  # one of which the buffer shows

    def lines(self) -> list[str]:
        """See `List.lines`."""
        return [self._problem] if self._problem else self.review.lines

    def opened(self) -> None:
        """See `List.opened`."""
        self.look()

    def anew(self) -> None:
        """It is about something else now."""
        self._problem = self._problem or READING
        self.look()

    def look(self) -> None:
        """The files may hold something else now: find out, if somebody looks."""
        if self._watched:
            self._find(self._know)

    def _know(self, found: Review | str) -> None:
        if isinstance(found, str):
            self._problem = found
        else:
            self.review, self._problem = found, ""
            self._recent.append(found)
        self._show()

    def _show(self, *, done: bool = False) -> None:
        super()._show(done=done or self._owed)

    def _put(self, lines: list[str], *, done: bool = False) -> None:
        """See `List`: in pieces, so that the user can type between two of them."""
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        if len(lines) <= PIECE:
            self._owed = False
            super()._put(lines, done=done)
        else:
            self._owed = done
            self._calm()
            self._sending = self._around.session.spawn(self._send(lines, done=done))

    async def _send(self, lines: list[str], *, done: bool) -> None:
        for at in range(0, len(lines), PIECE):
            piece, more = lines[at : at + PIECE], at + PIECE < len(lines)
            last = done and not more
            self._tell(p.Listed(self.name, self.of, lines=piece, done=last, at=at, more=more))
            self._owed = done and more
            await asyncio.sleep(PAUSE)

    def shows(self, lines: list[str]) -> Review | None:
        """The one that the buffer had with these lines."""
        return next((one for one in reversed(self._recent) if one.lines == lines), None)

    def edit(self, event: p.EditList) -> None:
        """See `List.edit`."""
        review = self.shows(event.before)
        if review is None:
            self.answer(Problem(0, OLD))
            return
        self._around.session.spawn(self._do(review, event))

    async def _do(self, review: Review, event: p.EditList) -> None:
        wanted = await asyncio.to_thread(review.read, event.lines)
        if isinstance(wanted, Wanted):
            wanted = self._written(review, wanted, event) or wanted
        if isinstance(wanted, Problem):
            self.answer(wanted)
        else:
            self._put_back(review, wanted, self._done)

    def _written(self, review: Review, wanted: Wanted, event: p.EditList) -> Problem | None:
        """What is to be undone must not have edits that were not written."""
        for shown in review.files:
            if shown.file.path in wanted.texts and shown.file.path in event.unsaved:
                row = event.lines.index(shown.head) if shown.head in event.lines else 0
                return Problem(row, EDITED.format(shown.name))
        return None

    def _done(self, left: list[str]) -> None:
        if left:
            more = f" And {len(left) - 1} more." if len(left) > 1 else ""
            self._around.page.say(f"Not put back: {left[0]}{more}", "warn")

        def know(found: Review | str) -> None:
            self._know(found)
            self.answer(None)

        self._find(know)
