"""All chats of one Neovim: routes each event to the chat that it names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app import pending_list, trust, work_list
from winnow.app.background import Background
from winnow.app.chat import Chat
from winnow.app.clarify.clarify_chat import ClarifyChat
from winnow.app.ledger import Replay, recall
from winnow.app.library import Library
from winnow.app.lists import List, Lists, Shown
from winnow.app.parts.part import P
from winnow.app.parts.work import Work
from winnow.app.runs.run_chat import RunChat
from winnow.app.runs.showing import Showing
from winnow.app.session import FAILED
from winnow.app.starts import Starts
from winnow.core.sessions import Live

log = logging.getLogger(__name__)

UNKNOWN = "The host does not know this chat; :Winnow restart tells it again."
SPARE = 4  # agents that may run before anything is sent to them; each takes 200 MB


class Chats:
    """The app's front door; lives on the agent loop's thread.

    Args:
        replay: answers to give instead of the user; None: the user is asked.
    """

    def __init__(self, world: ports.World, replay: Replay | None = None) -> None:
        self._world = world
        self._replay = replay
        self._starts = Starts(world.at_once)
        self._showing = Showing(world, self._spawn)
        self._lists = Lists(world.editor, self._list)
        self._closing: dict[str, asyncio.Task[None]] = {}  # by the chat's path
        self._library = Library(world, self._live, self._spawn, self._closing)
        self._chats: dict[int, Chat] = {}
        self._shared: dict[str, List] = {
            shown.name: shown
            for shown in (
                self._showing.board,
                self._library.list,
                work_list.WorkList(world.editor, lambda: self._parts(Work)),
                pending_list.PendingList(world.editor, world.clock, self._chats.values),
            )
        }
        self._background = Background()

    def handle(self, event: p.Event) -> None:
        """Do what an event asks for."""
        match event:
            case p.Watched(headless=headless):
                for every in self._chats.values():
                    every.watched(headless)
            case p.Recall():
                self._spawn(self._recall(event))
            case p.Trust():
                self._renew(event)  # nothing more goes out by what is being revoked
                self._spawn(self._show_trust(event))
            case p.Peek() | p.GoToRun() | p.Timeline():
                self._showing.handle(event)
            case p.GoOn() | p.HaltRun() | p.HandOver():
                self._showing.handle(event)
            case p.FindChats() | p.Fork() | p.Resume() | p.Restore() | p.LeaveTree():
                self._library.handle(event)
            case p.WatchList() | p.EditList() | p.PickLine():
                self._lists.handle(event)
            case p.Close(chat=number):
                self._showing.ended(number)
                if chat := self._chats.pop(number, None):  # else another Neovim has it
                    self._closing[chat.path] = self._spawn(chat.close())
            case _:
                self._tell(event)

    def _tell(self, event: p.ChatEvent) -> None:
        if self._showing.takes(event):
            return
        if chat := self._chats.get(event.chat):
            chat.handle(event)
        elif isinstance(event, p.Open):
            spare = sum(other.spare for other in self._chats.values())
            opened = msgspec.structs.replace(event, eager=event.eager and spare < SPARE)
            after = self._closing.get(event.path)
            led = event.run and self.run(event.run) is None  # else this is a copy of its chat
            kind = RunChat if led else ClarifyChat if event.clarify.id else Chat
            chat = kind(opened, self._world, self._starts, self._replay, after)
            self._chats[event.chat] = chat
            if isinstance(chat, RunChat):
                self._showing.began(event.chat, chat)
        else:
            log.warning("event for a closed chat: %s", type(event).__name__)
            self._world.editor.apply(p.Notify(UNKNOWN, "error"))

    def _parts(self, kind: type[P]) -> list[P]:
        found = (chat.parts.of(kind) for chat in self._chats.values())
        return [part for part in found if part is not None]

    def _list(self, name: str, of: int) -> Shown | None:
        if of:
            chat = self._chats.get(of)
            return chat.parts.list(name) if chat else None
        return self._shared.get(name)

    def _live(self) -> dict[str, Live]:
        """What the chats that are open here do, by their paths."""
        told = {chat.path: chat.told for chat in self._chats.values()}
        return {
            path: Live(now.state, [it.title for it in now.pending], now.cost)
            for path, now in told.items()
            if now is not None
        }

    def show(self, chat: int, section: str, on: int) -> bool:
        """Show what waits in one chat on the page of another, too; False where it can't be."""
        asks, shows = self._chats.get(chat), self._chats.get(on)
        return bool(asks and shows and asks.show(section, shows))

    def run(self, id: str) -> RunChat | None:
        """The chat in which this run is led here."""
        return self._showing.run(id)

    async def ready(self) -> None:
        """Return when every chat has what the store had of it, and has acted on it."""
        await asyncio.gather(*(chat.ready() for chat in self._chats.values()))

    async def close(self) -> None:
        """End every chat."""
        chats, self._chats = list(self._chats.values()), {}
        self._showing.close()
        for shown in self._shared.values():
            shown.close()
        await asyncio.gather(*(chat.close() for chat in chats), *self._background.tasks)

    async def _show_trust(self, event: p.Trust) -> None:
        self._world.editor.apply(await trust.show(event, self._world))
        self._renew(event)

    def _renew(self, event: p.Trust) -> None:
        if event.revoke:
            for chat in self._chats.values():
                chat.renew()

    async def _recall(self, event: p.Recall) -> None:
        try:
            self._world.editor.apply(await recall(self._world.store, event))
        except ports.StoreError as error:
            self._world.editor.apply(p.Notify(error.sentence, "error"))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        async def run() -> None:
            try:
                await work
            except Exception:  # a bug: say so, and keep the chats going
                log.exception("what an event asked for")
                self._world.editor.apply(p.Notify(FAILED, "error"))

        return self._background.spawn(run())
