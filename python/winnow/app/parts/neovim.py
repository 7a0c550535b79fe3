"""Neovim as a tool: what the agent asks of it goes there, and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import uuid4

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core.editor import told as wording
from winnow.core.editor import tools as t
from winnow.core.editor.told import Told

PATIENCE = 15.0  # seconds for an answer; Neovim itself gives a language server less
TEST = 600.0  # for a test that is run
GRACE = 3.0  # for what it says in the last moment
SILENT = "Neovim does not answer: it is suspended, or waits for a key. Go on without it."
STOPPED = "The user stopped this."
CLOSED = "The chat was closed."


class Neovim(Part):
    """Implements `ports.EditorTools`."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self.offered: Sequence[str] = [name for name in t.NAMES if name in around.opened.tools]
        self._waiting: dict[str, asyncio.Future[Told]] = {}
        self._files: dict[t.Rename, list[str]] = {}  # that the user has seen, by what was renamed

    def spec(self, spec: ports.AgentSpec) -> ports.AgentSpec:
        """See `Part.spec`."""
        return msgspec.structs.replace(spec, editor=self) if self.offered else spec

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        if not isinstance(event, p.EditorAnswer):
            return False
        waiting = self._waiting.get(event.id)
        if waiting is not None and not waiting.done():
            waiting.set_result(event.told)
        return True

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        if isinstance(event, a.TurnEnded):
            self._files.clear()
            if event.stopped:
                self._give_up(STOPPED)

    def ended(self) -> None:
        """See `Part.ended`."""
        self._give_up(STOPPED)

    def close(self) -> None:
        """See `Part.close`."""
        self._give_up(CLOSED)

    async def call(self, call: t.Call) -> str:
        """See `ports.EditorTools.call`."""
        files = self._files.pop(_subject(call), []) if isinstance(call, t.Rename) else []
        told = await self._ask(call, files)
        return wording.worded(call, told, self.around.page.folder)

    async def would(self, call: t.Call) -> tuple[str, ...]:
        """See `ports.EditorTools.would`."""
        told = Told()
        if isinstance(call, (t.Rename, t.RunTest)):
            told = await self._ask(call, dry=True)
        if isinstance(call, t.Rename):
            self._files[_subject(call)] = [spot.path for spot in told.spots]
        return wording.would(call, told, self.around.page.folder)

    async def _ask(self, call: t.Call, files: Sequence[str] = (), *, dry: bool = False) -> Told:
        id, world, o = uuid4().hex, self.around.world, self.around.opened
        patience = TEST if isinstance(call, t.RunTest) and not dry else PATIENCE
        answer: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self._waiting[id] = answer
        deadline = world.clock.now() + patience
        world.editor.apply(p.EditorCall(id, o.chat, o.cwd, deadline, call, dry, list(files)))
        try:
            told = await asyncio.wait_for(answer, patience + GRACE)
        except asyncio.TimeoutError:
            raise ports.EditorError(SILENT) from None
        finally:
            del self._waiting[id]
            if answer.cancelled() or answer.exception() is not None:
                world.editor.apply(p.EditorDrop(id))
        if told.problem:
            raise ports.EditorError(told.problem)
        return told

    def _give_up(self, why: str) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ports.EditorError(why))


def _subject(call: t.Rename) -> t.Rename:
    """What is renamed: the user may have edited into what."""
    return msgspec.structs.replace(call, new_name="")
