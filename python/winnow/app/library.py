"""What the user wants of all chats: to find them, to go on with one, to have one back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from winnow import ports
from winnow import protocol as p
from winnow.app.chats_list import NAME, ChatsList, Spawn
from winnow.core import sessions
from winnow.core.never import assert_never
from winnow.core.sessions import Item, Live, Trashed
from winnow.core.text.duration import age
from winnow.core.text.text import clean
from winnow.core.transcript import history

NOT_FOUND = "No session of this project is called “{}”, or has this id."
NO_SESSIONS = "There are no sessions of this project yet: :Winnow begins one."
UNKNOWN_MESSAGE = "Claude Code's session doesn't hold this message, so it can't be forked there."
_ID = 36  # characters of a session's id
KEPT_TREE = "Kept {} ({}): {}"  # what matters has to stand on a narrow screen
NOTHING_KEPT = "The trash is empty, and nothing is kept of worktrees here."


class Library:
    """All chats of this user.

    Args:
        world: where they are.
        live: those that are open here, by their paths.
        spawn: does something beside, and tells of a failure.
        closing: chats that end, by their paths.

    Attributes:
        list: of all of them.
    """

    def __init__(
        self,
        world: ports.World,
        live: Callable[[], Mapping[str, Live]],
        spawn: Spawn,
        closing: Mapping[str, asyncio.Task[None]],
    ) -> None:
        self.list = ChatsList(world, live, spawn)
        self._world = world
        self._live = live
        self._spawn = spawn
        self._closing = closing

    def handle(self, event: p.LibraryEvent) -> None:
        """Do what an event asks for."""
        match event:
            case p.FindChats():
                self.list.which = event  # it is opened next
            case p.Resume():
                self._spawn(self._resume(event))
            case p.Fork():
                self._spawn(self._fork(event))
            case p.Restore():
                self._spawn(self._restore(event))
            case p.LeaveTree():
                self._spawn(self._leave(event))
            case _:
                assert_never(event)

    # --- go on ----------------------------------------------------------------------------------

    async def _resume(self, event: p.Resume) -> None:
        """Open what is meant, or ask."""
        place = self._place(event.cwd)
        every = await self.list.find(event.cwd)
        found = [item for item in every if self._place(item.cwd) == place]
        about = event.about.strip()
        if about:
            found = sessions.matching(found, about) or await self._elsewhere(every, about)
        if len(found) == 1 and about:
            await self.list.open(found[0])
        elif found:
            now, live, home = self._world.clock.now(), self._live(), self._world.home
            rows = [sessions.row(item, now, live.get(item.path), home) for item in found]
            choices = [p.Choice(row.key, row.text) for row in rows]
            self._tell(p.Pick(NAME, prompt="Go on with", choices=choices))
        else:
            self._tell(p.Notify(NOT_FOUND.format(about) if about else NO_SESSIONS, "warn"))

    async def _elsewhere(self, every: Sequence[Item], id: str) -> list[Item]:
        """The one of this id, in whichever project it was."""
        if found := [item for item in every if item.session == id]:
            return found
        books = await self.list.books()
        session = await books.find(id) if books else None
        if session is None:
            return []
        item = Item(
            sessions.key(session.id),
            session.title or sessions.derived(session.first) or sessions.UNTITLED,
            session.cwd,
            session.changed,
            session=session.id,
        )
        return self.list.learn([item])

    def _place(self, cwd: str) -> str:
        """A folder by its one name."""
        home = self._world.home
        if home and (cwd == "~" or cwd.startswith("~/")):
            cwd = home + cwd[1:]
        return cwd.rstrip("/") or "/"

    async def _fork(self, event: p.Fork) -> None:
        """Copy the session up to there, and make a chat of the copy."""
        here = {"fork": event.path.rpartition("/")[2], "at": str(event.nth)}
        values = {**event.values, **here}
        try:
            if event.session and (event.nth or not event.text):
                books = await self.list.books()
                past = await books.messages(event.session) if books else ()
                cut = history.before(past, event.text, event.nth)
                if not event.text and past:
                    cut = history.Cut(past[-1].id, "")
                if books is None or cut is None:
                    self._tell(p.Notify(UNKNOWN_MESSAGE, "warn"))
                    return
                last = cut.last
                values["session"] = await books.fork(event.session, last, "") if last else ""
        except ports.LibraryError as error:
            self._tell(p.Notify(error.sentence, "warn"))
            return
        values = {name: value for name, value in values.items() if value}
        self._tell(p.Adopt(event.cwd, values, event.lines, event.text))

    # --- the trash ------------------------------------------------------------------------------

    async def _restore(self, event: p.Restore) -> None:
        """List what was deleted, and what is kept of worktrees; or bring one back."""
        try:
            if event.name.endswith(".md") and self._world.library is not None:
                path = await self._world.library.bring_back(event.name)
                self._tell(p.OpenChat(path))
            elif len(event.name) == _ID and (books := await self.list.books()):
                await books.bring_back(event.name)
                self._tell(p.Notify("The session is back: :Winnow resume lists it."))
            elif event.name:
                tree = await self._world.trees.restore(event.cwd, event.name)
                where = f"in {tree.cwd}, on the branch {tree.branch}"
                self._tell(p.Notify(f"{event.name} is back {where}."))
            else:
                await self._list_kept(event.cwd)
        except (ports.TreeError, ports.LibraryError) as error:
            self._tell(p.Notify(error.sentence, "warn"))

    async def _leave(self, event: p.LeaveTree) -> None:
        """A chat was deleted: its worktree goes, too, if it holds nothing and is no other's."""
        if (closing := self._closing.get(event.path)) is not None:
            await asyncio.wait({closing})
        library, trees = self._world.library, self._world.trees
        others = await library.chats() if library is not None else []
        if any(self._place(it.head.values.get("worktree", "")) == event.cwd for it in others):
            return
        try:
            made = await trees.ensure(event.project, event.cwd, event.branch)
            if held := await trees.holds(made.tree):
                where = self._world.folder("").name(made.tree.path)
                self._tell(p.Notify(KEPT_TREE.format(event.branch, held, where)))
            else:
                await trees.remove(made.tree)
        except ports.TreeError as error:
            self._tell(p.Notify(error.sentence, "warn"))

    async def _list_kept(self, cwd: str) -> None:
        now, problem = self._world.clock.now(), ""
        kept = [*await self._trashed_chats(), *await self._trashed_sessions()]
        lines = [f"{it.name} · {age(now - it.at)} · {it.title}" for it in kept]
        try:
            trees = await self._world.trees.kept(cwd)
            lines += [f"{it.name} · {age(now - it.at)} · {it.summary}" for it in trees]
        except ports.TreeError as error:
            problem = error.sentence
        if lines:
            self._tell(p.KeptTrees(cwd, [clean(line) for line in lines]))  # a name may hold any
        else:
            self._tell(p.Notify(problem or NOTHING_KEPT, "warn" if problem else "info"))

    async def _trashed_chats(self) -> list[Trashed]:
        library = self._world.library
        kept = await library.trashed() if library is not None else []
        found = sessions.items(kept)
        return [Trashed(it.path.rpartition("/")[2], it.changed, it.title) for it in found]

    async def _trashed_sessions(self) -> Sequence[Trashed]:
        books = await self.list.books()
        return await books.trashed() if books else []

    def _tell(self, effect: p.Effect) -> None:
        self._world.editor.apply(effect)
