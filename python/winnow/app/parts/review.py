"""What changed in the files since a baseline, to be taken back, talked about and accepted."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List
from winnow.app.outbox import WITH_NEXT
from winnow.app.parts.part import Around, Part
from winnow.app.session import FAILED
from winnow.core import agent as a
from winnow.core.listing import Problem
from winnow.core.review.history import Accepted, Began, History, Mark, Over
from winnow.core.review.review import Review, Shown, Wanted
from winnow.core.tasks import events as t

log = logging.getLogger(__name__)

NAME = "review"
PIECE = 2000  # lines that go to the editor at a time
PAUSE = 0.04  # seconds between two of these
READING = "Looking at what has changed …"
NOTHING = "Nothing is known of the files before: Claude has not worked here yet."
NO_PAST = "What files held before is not known here."
MARKS: Mapping[str, tuple[Mark, str]] = {
    "": ("accepted", "what you accepted last"),
    "turn": ("turn", "the last turn began"),
    "session": ("session", "this session began"),
}
ACCEPTED = "Accepted: what changes from now on is reviewed next."
NOT_SHOWN = "There is nothing to accept: :Winnow review shows what has changed."
OLD = "this review is too old to be acted on: :e! shows what has changed until now."
EDITED = "{} has unsaved edits in Neovim: write it first."
GONE = "{} was deleted: deleting its line here brings it back."


class Reviewing(Part):
    """Knows the states in which turns began and ended, and has the list of what differs."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self.since = ""  # a mark's name, or a name that git knows
        self.shown_state = ""  # what the list shows leads to this state
        self._list = self.shown = ReviewList(self)
        self._past: ports.Past | None = None
        self._history = History(around.opened.session)
        self._lock = asyncio.Lock()  # one state after the other
        self._works = False  # something of the agent's may write files
        self._turn = False
        self._behind = False  # something goes on in the background
        around.session.prompted = self._begin

    # --- from the agent -------------------------------------------------------------------------

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        match event:
            case a.Started(session=session):
                self._do(lambda _: self._is_of(session))
            case a.ToolStarted():
                self._begin()
            case a.ToolFinished(result={"filePath": str(path), "originalFile": old}):
                held = old if isinstance(old, str) else None
                self._do(lambda past: past.wrote(path, held))
            case t.InBackground(tasks=tasks):
                self._behind = bool(tasks)
                self._end()
            case a.TurnEnded():
                self._turn = False
                self._end()
            case _:
                pass

    def ended(self) -> None:
        """See `Part.ended`."""
        self._turn = self._behind = False
        self._end()

    def _begin(self) -> None:
        self._turn = True
        if not self._works:
            self._works = True
            self._do(self._began)

    def _end(self) -> None:
        if self._works and not (self._turn or self._behind):
            self._works = False
            self._do(self._over)
            self._list.look()

    async def _began(self, past: ports.Past) -> None:
        self._add(past, Began(await past.now()))

    async def _over(self, past: ports.Past) -> None:
        self._add(past, Over(await past.now()))

    async def _is_of(self, session: str) -> None:
        """Another session has a history of its own, from the turn on that begins it."""
        history = self._history
        if history.session and history.session != session:
            history.steps = [step for step in history.steps[-1:] if isinstance(step, Began)]
        history.session = session

    def _add(self, past: ports.Past, step: Any) -> None:
        self._history.steps.append(step)
        past.keep(msgspec.json.encode(self._history))

    def _do(self, what: Callable[[ports.Past], Awaitable[None]]) -> None:
        """Do something with the past, after all that was to be done before, off anybody's path."""
        make = self.around.world.make_past
        if make is None:
            return

        async def run() -> None:
            async with self._lock:
                try:
                    await what(await self._known(make))
                except ports.PastError as error:
                    log.warning("%s\n%s", error.sentence, error.detail)
                except Exception:  # a bug: say so, and keep the chat going
                    log.exception("what files held before")
                    self.around.page.say(FAILED, "error")

        self.around.session.spawn(run())

    async def _known(self, make: ports.MakePast) -> ports.Past:
        if self._past is None:
            opened = self.around.opened
            self._past = await make(opened.cwd, opened.path)
            with suppress(msgspec.MsgspecError):
                kept = self._past.load()
                known = msgspec.json.decode(kept, type=History) if kept else self._history
                if known.session in ("", self.around.opened.session):
                    self._history = known
        return self._past

    # --- from the user --------------------------------------------------------------------------

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        match event:
            case p.Review(since=since):
                self.since = since  # the list is opened next
            case p.Accept():
                self._accept()
            case p.Saved(path=path, before=before, after=after):
                self._do(lambda past: self._saved(past, path, before, after))
            case p.VisitChange(head=head, line=line):
                self._visit(head, line)
            case _:
                return False
        return True

    async def _saved(self, past: ports.Past, path: str, before: str, after: str) -> None:
        """While the agent is at work, the user has written a file, too."""
        if (step := await past.saved(path, before, after)) is not None:
            self._add(past, step)

    def _accept(self) -> None:
        state = self.shown_state
        if not state:
            self.around.page.say(NOT_SHOWN, "warn")
            return

        async def accept(past: ports.Past) -> None:
            self._add(past, Accepted(state))
            self.since = ""
            self.around.page.say(ACCEPTED)
            self._list.anew()

        self._do(accept)

    def _visit(self, head: str, line: int) -> None:
        file = self._list.review.file(head)
        if file is None:
            return
        if file.file.new is None:
            self.around.page.say(GONE.format(file.name))
        else:
            chat = self.around.page.chat
            self.around.page.apply(p.Visit(chat, file.file.path, max(1, line)))

    def find(self, done: Callable[[Review | str], None]) -> None:
        """What has changed, or why that can't be told."""

        async def run(past: ports.Past) -> None:
            try:
                done(await self._find(past))
            except ports.PastError as error:
                done(error.sentence)

        if self.around.world.make_past is None:
            done(NO_PAST)
        else:
            self._do(run)

    async def _find(self, past: ports.Past) -> Review | str:
        mark, words = MARKS.get(self.since, (None, self.since))
        at = self._history.find(mark) if mark else -1
        if mark and at < 0:
            return NOTHING
        if mark == "accepted" and not isinstance(self._history.steps[at], Accepted):
            words = MARKS["session"][1]
        old = self._history.state(at) if mark else await past.named(self.since)
        new = await past.now()
        found = await past.changes(old, new, self._history.yours(at, new))
        name = self.around.page.folder.name
        self.shown_state = new
        words += f" ({past.partial})" if past.partial else ""
        files = tuple(Shown(file, name(file.path)) for file in found.files)
        review = Review(words, files, found.name)
        await asyncio.to_thread(lambda: review.lines)
        return review

    def put_back(self, review: Review, wanted: Wanted, done: Callable[[list[str]], None]) -> None:
        """Have files hold what the user wants, as far as they are as the review shows them."""
        files = [shown.file for shown in review.files if shown.file.path in wanted.texts]

        async def run(past: ports.Past) -> None:
            try:
                left = await past.put_back(review.name, files, wanted.texts)
            except ports.PastError as error:
                left = [error.sentence]
            for file in files:
                self.around.page.apply(p.Reload(file.path))
            self._tell(review, wanted)
            done(left)

        self._do(run)

    def _tell(self, review: Review, wanted: Wanted) -> None:
        """Have the agent told what the user says, and has done: now, or with what they say next."""
        done = review.told(wanted)
        if wanted.comments:
            self.around.page.apply(p.Remark(self.around.page.chat, review.said(wanted)))
        elif done:
            self.around.outbox.hold(self.around.outbox.message(done, about=WITH_NEXT))


class ReviewList(List):
    """The patch."""

    def __init__(self, part: Reviewing) -> None:
        super().__init__(NAME, part.around.world.editor, part.around.page.chat)
        self._part = part
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
            self._part.find(self._know)

    def _know(self, found: Review | str) -> None:
        if isinstance(found, str):
            self._problem = found
        else:
            self.review, self._problem = found, ""
            self._recent.append(found)
        self._show()

    def _show(self, *, done: bool = False) -> None:
        """See `List`: in pieces, so that the user can type between two of them."""
        lines = self.lines()
        done = self._owed = done or self._owed
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        if len(lines) <= PIECE or not (self._watched or done):
            self._owed = False
            super()._show(done=done)
        else:
            self._calm()
            self._sending = self._part.around.session.spawn(self._send(lines, done=done))

    async def _send(self, lines: list[str], *, done: bool) -> None:
        for at in range(0, len(lines), PIECE):
            piece, more = lines[at : at + PIECE], at + PIECE < len(lines)
            last = done and not more
            self._tell(p.Listed(self.name, self.of, lines=piece, done=last, at=at, more=more))
            self._owed = done and more
            await asyncio.sleep(PAUSE)

    def edit(self, event: p.EditList) -> None:
        """See `List.edit`."""
        shown = (one for one in reversed(self._recent) if one.lines == event.before)
        review = next(shown, None)
        if review is None:
            self.answer(Problem(0, OLD))
            return
        self._part.around.session.spawn(self._do(review, event))

    async def _do(self, review: Review, event: p.EditList) -> None:
        wanted = await asyncio.to_thread(review.read, event.lines)
        if isinstance(wanted, Wanted):
            wanted = self._written(review, wanted, event) or wanted
        if isinstance(wanted, Problem):
            self.answer(wanted)
        else:
            self._part.put_back(review, wanted, self._done)

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
            self._part.around.page.say(f"Not put back: {left[0]}{more}", "warn")

        def know(found: Review | str) -> None:
            self._know(found)
            self.answer(None)

        self._part.find(know)
