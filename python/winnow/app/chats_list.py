"""The list of all chats, and of the sessions that are none yet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List
from winnow.core import listing, sessions
from winnow.core.folder import Folder
from winnow.core.listing import Edits, Problem, Row
from winnow.core.sessions import Item, Live
from winnow.core.transcript import history
from winnow.core.transcript.transcript import Transcript

log = logging.getLogger(__name__)

NAME = "chats"
NONE = "There are no chats yet: :Winnow begins one."
NO_BRANCH = "This chat has no branches; :Winnow chats shows all."
ONLY_TITLE = "only the title in front can be changed; u brings the line back."
UNTITLED = "a title can't be empty; u brings it back, dd deletes the chat."
RENAMED = "this chat was renamed meanwhile; :e! shows how."
_PEEKED = 20  # messages

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class _Files(NamedTuple):
    """The chats that there are, and the sessions of those that were deleted."""

    chats: list[sessions.Kept]
    hidden: list[str]


class ChatsList(List):
    """The list `chats`.

    Args:
        world: where chats and sessions are.
        live: those that are open here, by their paths.
        spawn: does something beside, and tells of a failure.
    """

    tick = 5.0

    def __init__(
        self, world: ports.World, live: Callable[[], Mapping[str, Live]], spawn: Spawn
    ) -> None:
        super().__init__(NAME, world.editor)
        self.which = p.FindChats("")
        self._world = world
        self._live = live
        self._spawn = spawn
        self._items: list[Item] | None = None  # None: nobody has looked yet
        self._known: dict[str, Item] = {}  # all that were ever shown or offered, by their keys
        self._looking: asyncio.Task[None] | None = None
        self._sessions: ports.Sessions | None = None

    # --- what there is --------------------------------------------------------------------------

    def opened(self) -> None:
        """See `List.opened`."""
        if self._looking is not None:
            self._looking.cancel()
        self._looking = self._spawn(self._look(self.which))

    async def _look(self, which: p.FindChats) -> None:
        """The files at once, and what takes longer when it is there."""
        files = await self._files()
        found = self.learn(sessions.items(files.chats))
        if not which.about:
            self._take(which, found)
        if of := await self._past(which.cwd):
            found = self.learn(sessions.items(files.chats, of, files.hidden))
        if of or which.about:
            self._take(which, await self._chosen(found, which))

    def _take(self, which: p.FindChats, found: Sequence[Item]) -> None:
        items = sessions.family(found, which.family) if which.family else list(found)
        self._items = items
        self._show()

    async def _chosen(self, found: Sequence[Item], which: p.FindChats) -> Sequence[Item]:
        """Those that hold the text, in their file or in their title."""
        if not which.about or self._world.library is None:
            return found
        paths = [item.path for item in found if item.path]
        holding = await self._world.library.holding(which.about, paths)
        about = which.about
        return [it for it in found if it.path in holding or sessions.says(it.title, about)]

    async def find(self, cwd: str) -> list[Item]:
        """All chats, and the sessions of a folder."""
        files = await self._files()
        return self.learn(sessions.items(files.chats, await self._past(cwd), files.hidden))

    async def _files(self) -> _Files:
        library = self._world.library
        if library is None:
            return _Files([], [])
        chats, trashed = await library.chats(), await library.trashed()
        return _Files(chats, [kept.head.values.get("session", "") for kept in trashed])

    async def _past(self, cwd: str) -> Sequence[sessions.Session]:
        """The sessions of a folder."""
        if cwd and self._world.library is not None and (books := await self.books()):
            return await books.of(cwd)
        return ()

    def learn(self, items: list[Item]) -> list[Item]:
        """Know these by their keys from now on."""
        self._known |= {item.key: item for item in items}
        return items

    async def books(self) -> ports.Sessions | None:
        """What the agent has kept; None: nobody can read it here."""
        if self._sessions is None and self._world.make_sessions is not None:
            try:
                self._sessions = await self._world.make_sessions()
            except ports.AgentError as error:
                log.warning("%s", error.sentence)
        return self._sessions

    def rows(self) -> Sequence[Row]:
        """See `List.rows`."""
        about = self.which.about
        if self._items is None:
            return [Row("Looking…")]
        head = [Row(f"With “{about}”; :Winnow chats shows all.")] if about else []
        if self.which.family:
            head = [Row("Branches of one chat; :Winnow chats shows all.")]
        if not self._items and self.which.family:  # it has no file yet
            return [Row(NO_BRANCH)]
        if not self._items:
            return [Row(f"No chat holds “{about}”; :Winnow chats shows all." if about else NONE)]
        now, live = self._world.clock.now(), self._live()
        home = self._world.home
        return [*head, *(sessions.row(it, now, live.get(it.path), home) for it in self._items)]

    # --- what is done to them -------------------------------------------------------------------

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        at, before = listing.rows_of(event.lines), listing.texts_of(event.before)
        titles: dict[str, str] = {}
        for key, text in edits.changed.items():
            item = self._known[key]
            if not before[key].startswith(item.title):
                return Problem(at[key], RENAMED)
            title = sessions.retitled(item, before[key], text)
            if not title:
                return Problem(at[key], ONLY_TITLE if title is None else UNTITLED)
            titles[key] = title
        gone = [self._known[key] for key in edits.gone if key in self._known]
        if not event.force and (question := self._question(gone)):
            return question
        self._do(gone, titles)
        return None

    def _question(self, gone: Sequence[Item]) -> str:
        live = self._live()
        busy = [it for it in gone if (of := live.get(it.path)) and of.busy]
        away = [it for it in gone if it.elsewhere and it.path not in live]
        foreign = [it for it in gone if not it.path]
        asked = (
            ("Stop and delete", busy, ""),
            ("Delete", away, ", which another Neovim has open"),
            ("Delete", foreign, ", which Claude Code has made"),
        )
        found = [f"{what} {_named(items)}{why}" for what, items, why in asked if items]
        return f"{'; '.join(found)}?" if found else ""

    def _do(self, gone: Sequence[Item], titles: Mapping[str, str]) -> None:
        if paths := [item.path for item in gone if item.path]:
            self._tell(p.Discard(paths))
        for item in gone:
            if not item.path:
                self._spawn(self._discard(item))
        for key, title in titles.items():
            item = self._known[key]
            if item.path:
                self._tell(p.Retitle(item.path, title))
            if item.session:
                self._spawn(self._rename(item, title))
        left = {item.key for item in gone}
        self._items = [
            sessions.titled(item, titles.get(item.key, ""))
            for item in self._items or ()
            if item.key not in left
        ]
        self.learn(self._items)

    async def _rename(self, item: Item, title: str) -> None:
        """Claude Code is to call it so, too; a session that it has forgotten costs nothing."""
        if books := await self.books():
            try:
                await books.rename(item.session, title)
            except ports.LibraryError as error:
                if not item.path:
                    self._tell(p.Notify(error.sentence, "warn"))

    async def _discard(self, item: Item) -> None:
        if books := await self.books():
            try:
                await books.discard(item.session, item.title)
            except ports.LibraryError as error:
                self._tell(p.Notify(error.sentence, "warn"))
                self.opened()

    def pick(self, key: str, *, peek: bool) -> None:
        """See `Shown.pick`."""
        if (item := self._known.get(key)) is None:
            return
        self._spawn(self._peek(item) if peek else self.open(item))

    async def _peek(self, item: Item) -> None:
        lines: list[str] = []
        if item.path and self._world.library is not None:
            lines = await self._world.library.end_of(item.path)
        elif books := await self.books():
            messages = (await books.messages(item.session))[-_PEEKED:]
            lines = Transcript(history.entries(messages)).text.split("\n")
        self._tell(p.Peeked(lines if any(lines) else ["Nothing was said yet."]))

    async def open(self, item: Item) -> None:
        """Go to a chat; a session becomes one."""
        if item.path:
            self._tell(p.OpenChat(item.path))
            return
        books = await self.books()
        messages = await books.messages(item.session) if books else ()
        if not messages:
            self._tell(p.Notify(f"Nothing can be read of “{item.title}”.", "warn"))
            return
        cwd = item.cwd or self.which.cwd

        def text() -> str:
            return Transcript(history.entries(messages), Folder(cwd, self._world.home)).text

        lines = (await asyncio.to_thread(text)).split("\n")
        self._tell(p.Adopt(cwd, {"agent": "claude", "session": item.session}, lines))


def _named(items: Sequence[Item]) -> str:
    return ", ".join(f"“{item.title}”" for item in items)
