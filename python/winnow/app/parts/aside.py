"""Questions about a chat that leave no trace in it: each has an agent of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import uuid4

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.part import Around, Part
from winnow.app.session import FAILED
from winnow.core import agent as a
from winnow.core.asking.trust import Given

log = logging.getLogger(__name__)

NOTHING = "Nothing was said in this chat yet that could be asked about."
CANT = "The scripted agent has no session, so it can't be asked aside."
REFUSED = "Only files of the project may be read for this; answer from what is known."


class Aside(Part):
    """Goes on from the session as it is on record, also while a turn runs, and only reads."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._asked: dict[int, asyncio.Task[None]] = {}

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        match event:
            case p.AskAside(id=id, text=text):
                self._asked[id] = self.around.session.spawn(self._ask(id, text))
            case p.EndAside(id=id):
                if task := self._asked.pop(id, None):
                    task.cancel()
            case _:
                return False
        return True

    def close(self) -> None:
        """See `Part.close`."""
        for task in self._asked.values():
            task.cancel()

    async def _ask(self, id: int, text: str) -> None:
        problem = ""
        try:
            await self._answer(id, text)
        except ports.AgentError as error:
            log.warning("%s\n%s", error.sentence, error.detail)
            problem = error.sentence
        except Exception:
            log.exception("a question aside")
            problem = FAILED
        self._say(id, done=True, problem=problem)

    async def _answer(self, id: int, text: str) -> None:
        """Stream it.

        Raises:
            AgentError: there is none.
        """
        async with aclosing(answer(self, self.around.session.id, text)) as pieces:
            async for piece in pieces:
                self._say(id, piece)

    def _say(self, id: int, text: str = "", *, done: bool = False, problem: str = "") -> None:
        page = self.around.page
        page.apply(p.AsideSaid(page.chat, id, text, done, problem))


async def answer(part: Part, session: str, text: str) -> AsyncGenerator[str, None]:
    """What an agent says that goes on from a session without a trace in it, piece by piece.

    Raises:
        AgentError: it can't.
    """
    around, o = part.around, part.around.opened
    if o.agent == "scripted":
        raise ports.AgentError(CANT)
    if not session:
        raise ports.AgentError(NOTHING)
    spec = ports.AgentSpec(o.cwd, o.agent, session, given=Given(False), aside=True)
    now = part.beside.spec(spec)  # of whoever answers in the chat
    spec = msgspec.structs.replace(spec, model=now.model, effort=now.effort, fast=now.fast)
    agent = await around.world.make_agent(spec, _refuse)
    try:
        await agent.connect()
        await agent.prompt(text, str(uuid4()), command=False)
        async for event in agent.events():
            match event:
                case a.Text(text=piece):
                    yield piece
                case a.Pause():
                    yield "\n\n"
                case a.TurnEnded(error=error):
                    if error:
                        raise ports.AgentError(error)
                    return
                case _:
                    pass
    finally:
        await agent.close()


async def _refuse(request: a.Request) -> a.Reply:  # noqa: ARG001
    return a.Deny(REFUSED)
