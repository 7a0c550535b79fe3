"""What changed in the files since a baseline, to be taken back, talked about and accepted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.outbox import WITH_NEXT
from winnow.app.parts.part import Around, Part
from winnow.app.review_list import OLD, ReviewList
from winnow.app.session import FAILED
from winnow.core import agent as a
from winnow.core.proposal.merge import FileChange
from winnow.core.review.history import Accepted, Began, History, Mark, Over
from winnow.core.review.review import Review, Shown, Wanted
from winnow.core.tasks import events as t

T = TypeVar("T")

log = logging.getLogger(__name__)

PATIENCE = 20.0  # seconds that Claude's tools wait until it is known what files hold; git is quick

NOTHING = "Nothing is known of the files before: Claude has not worked here yet."
NO_PAST = "What files held before is not known here."
MARKS: Mapping[str, tuple[Mark, str]] = {
    "": ("accepted", "what you accepted last"),
    "turn": ("turn", "the last turn began"),
    "session": ("session", "this session began"),
}
ACCEPTED = "Accepted: what changes from now on is reviewed next."
NOT_SHOWN = "There is nothing to accept: :Winnow review shows what has changed."
WHOLE = "{} is no text: :Winnow review accept accepts it, with all."
GONE = "{} was deleted: deleting its line here brings it back."


class Since(NamedTuple):
    """What has changed since a message; ``whole``: by commands, too."""

    files: tuple[FileChange, ...] = ()
    whole: bool = False


class Reviewing(Part):
    """Knows the states in which turns began and ended, and has the list of what differs."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self.since = ""  # a mark's name, or a name that git knows
        self.shown_state = ""  # what the list shows leads to this state
        self._list = self.shown = ReviewList(around, self.find, self.put_back)
        self._past: ports.Past | None = None
        self._history = History(around.opened.session)
        self._lock = asyncio.Lock()  # one state after the other
        self._works = False  # something of the agent's may write files
        self._turn = False
        self._behind = False  # something goes on in the background
        around.session.prompted = self._begin

    # --- from the agent -------------------------------------------------------------------------

    def spec(self, spec: ports.AgentSpec) -> ports.AgentSpec:
        """See `Part.spec`: nothing is written before it is known what was there."""
        return msgspec.structs.replace(spec, before_writing=self._settled)

    async def _settled(self) -> None:
        async def known() -> None:
            async with self._lock:  # who waits for it gets it in turn
                pass

        try:
            await asyncio.wait_for(known(), PATIENCE)
        except asyncio.TimeoutError:
            log.warning("what files held before a tool is not known after %g s", PATIENCE)

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

    def _begin(self, prompt: str = "") -> None:
        self._turn = True
        if not self._works:
            self._works = True
            self._do(lambda past: self._began(past, prompt))

    def _end(self) -> None:
        if self._works and not (self._turn or self._behind):
            self._works = False
            self._do(self._over)
            self._list.look()

    async def _began(self, past: ports.Past, prompt: str) -> None:
        self._add(past, Began(await past.now(), prompt))

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
        if self.around.world.make_past is not None:
            self.around.session.spawn(self._with(what))

    async def _with(self, what: Callable[[ports.Past], Awaitable[T]]) -> T | None:
        """The same, and what came of it; None: it could not be done."""
        make = self.around.world.make_past
        if make is None:
            return None
        async with self._lock:
            try:
                return await what(await self._known(make))
            except ports.PastError as error:
                log.warning("%s\n%s", error.sentence, error.detail)
            except Exception:  # a bug: say so, and keep the chat going
                log.exception("what files held before")
                self.around.page.say(FAILED, "error")
        return None

    async def changed_since(self, prompt: str) -> Since | None:
        """What has changed since this message came, the user's own edits aside; None: not known."""

        async def find(past: ports.Past) -> Since | None:
            at = self._history.began(prompt)
            if at < 0:
                return None
            new = await past.now()
            old, yours = self._history.state(at), self._history.yours(at, new)
            return Since((await past.changes(old, new, yours)).files, whole=not past.partial)

        return await self._with(find)

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
            case p.Accept(before=before, lines=lines) if before:
                self.around.session.spawn(self._accept_some(before, lines))
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

    async def _accept_some(self, before: list[str], lines: list[str]) -> None:
        """It counts as the user's from now on: what they have made of a file without it."""
        review = self._list.shows(before)
        wanted = await asyncio.to_thread(review.read, lines) if review else None
        if review is None or not isinstance(wanted, Wanted):
            self.around.page.say(f"Not accepted: {OLD}", "warn")
            return
        files = [it for it in review.files if it.file.path in wanted.texts]
        if whole := [it.name for it in files if it.file.what]:
            self.around.page.say(WHOLE.format(whole[0]), "warn")
            return

        async def accept(past: ports.Past) -> None:
            for file in (it.file for it in files):
                without = wanted.texts[file.path]
                old = file.old if without is None else without
                if (step := await past.made(file.path, old, file.new)) is not None:
                    self._add(past, step)
            self._list.look()

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
