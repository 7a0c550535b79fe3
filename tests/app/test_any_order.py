"""Whatever comes from either side, in whatever order: nothing fails, nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from itertools import count

from hypothesis import given
from hypothesis import strategies as st
from winnow import ports
from winnow import protocol as p
from winnow.core import agent as a

from tests.app.fakes import CHAT, kept
from tests.app.two import OTHER, Two

LS = {"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Bash"}]}
Move = Callable[["Play"], Awaitable[None]]


class Play:
    """Two chats, and what was done in them; the second one only shows what the first asks."""

    def __init__(self) -> None:
        self.room = Two()
        self.said = ""
        self.numbers = count(1)

    async def hear(self, *events: a.AgentEvent | ports.AgentError | None) -> None:
        if not self.room.agent.closed:
            self.said += "".join(e.text for e in events if isinstance(e, a.Text))
            await self.room.hear(*events)

    async def text(self) -> None:
        await self.hear(a.Text(f"⟨{next(self.numbers)}⟩"))

    async def ended(self) -> None:
        agent = self.room.agent
        answered, agent.unheard = agent.unheard, []
        await self.hear(a.TurnEnded(answered or ["task"]))

    async def ask(self) -> None:
        if not self.room.agent.closed:
            await self.room.ask(f"Q{next(self.numbers)}?")

    async def ask_again(self) -> None:
        if not self.room.agent.closed:
            await self.room.ask("Same?")

    async def ask_permission(self) -> None:
        if not self.room.agent.closed:
            self.room.agent.ask(a.Request("Bash", {"command": "ls"}, "t1", suggestions=[LS]))
            await self.room.settle()

    async def allow(self) -> None:
        for choice in ("allow", "always"):
            if (section := self.room.editor.section) is not None:
                await self.room.do(p.Grant(CHAT, section.section, choice))

    async def withdraw(self) -> None:
        waiting = [task for task in self.room.agent.asked if not task.done()]
        if waiting:
            waiting[0].cancel()
            await self.room.settle()

    async def send(self) -> None:
        if self.room.editor.taking or self.room.editor.state == "idle":
            await self.room.send(f"prompt {next(self.numbers)}")

    async def edit(self) -> None:
        if (section := self.room.editor.section) is not None:
            await self.room.do(p.Edit(CHAT, section.section, section.lines[1:]))

    async def answer(self) -> None:
        if self.room.editor.section is not None:
            await self.room.answer("Yes")

    async def cancel(self) -> None:
        if self.room.editor.section is not None:
            await self.room.cancel()

    async def take_offer(self) -> None:
        if (section := self.room.editor.section) is not None:
            foot = len(section.lines) - 1
            await self.room.do(p.Confirm(CHAT, section.section, section.lines, foot))

    async def discuss(self) -> None:
        if (section := self.room.editor.section) is not None:
            await self.room.do(p.Discuss(CHAT, section.section, section.lines[1:], "why?"))

    async def reopen(self) -> None:
        for section in list(self.room.store.kept)[:2]:
            await self.room.do(p.Reopen(CHAT, section))

    async def show(self) -> None:
        for section in list(self.room.store.kept)[-2:]:
            await self.room.show(section)

    async def edit_there(self) -> None:
        if (section := self.room.other.section) is not None:
            await self.room.do(p.Edit(OTHER, section.section, section.lines[1:]))

    async def answer_there(self) -> None:
        if (section := self.room.other.section) is not None:
            lines = kept(section.lines, "Yes")
            await self.room.do(p.Confirm(OTHER, section.section, lines, len(lines) - 1))

    async def cancel_there(self) -> None:
        if (section := self.room.other.section) is not None:
            await self.room.do(p.Cancel(OTHER, section.section, section.lines))

    async def reopen_there(self) -> None:
        for section in list(self.room.store.kept)[:2]:
            await self.room.do(p.Reopen(OTHER, section))

    async def close_there(self) -> None:
        await self.room.do(p.Close(OTHER))
        other = self.room.other
        other.section, other.status = None, None
        await self.room.open_other()

    async def slow_disk(self) -> None:
        self.room.store.gate.clear()

    async def quick_disk(self) -> None:
        self.room.store.gate.set()
        await self.room.settle()

    async def reread(self) -> None:
        section = self.room.editor.section
        await self.room.open(sections=[section.section] if section else [])


def hears(*events: a.AgentEvent | ports.AgentError | None) -> Move:
    return lambda play: play.hear(*events)


def does(event: p.Event) -> Move:
    return lambda play: play.room.do(event)


MOVES: list[Move] = [
    Play.text,
    Play.text,
    Play.ask,
    Play.ask_again,
    Play.ask_permission,
    Play.allow,
    Play.ended,
    Play.withdraw,
    Play.send,
    Play.edit,
    Play.answer,
    Play.cancel,
    Play.take_offer,
    Play.discuss,
    Play.reopen,
    Play.reread,
    Play.show,
    Play.show,
    Play.edit_there,
    Play.answer_there,
    Play.cancel_there,
    Play.reopen_there,
    Play.close_there,
    Play.slow_disk,
    Play.quick_disk,
    does(p.Queue(CHAT)),
    does(p.Stop(CHAT)),
    hears(a.Pause()),
    hears(a.ToolStarted("t1", "Bash", {})),
    hears(a.ToolFinished("t1", "out")),
    hears(a.Notice("Mind.")),
    hears(ports.AgentError("It died.")),
    hears(None),
]


@given(st.lists(st.sampled_from(MOVES), max_size=40))
def test_any_order(moves: list[Move]) -> None:
    """Each request is settled, and each word stands in the chat once, in order."""

    async def run() -> None:
        play = Play()
        room = play.room
        await room.open()
        await room.open_other()
        for move in moves:
            await move(play)
        await play.quick_disk()
        await room.send("")  # the draft may be on its way
        for _ in range(100):
            if room.editor.state not in ("working", "waiting"):
                break
            await play.cancel()
            await room.send("")
            await play.ended()
        assert room.editor.state not in ("working", "waiting")
        written = "".join(write.text for write in room.editor.every(p.Write))
        assert "".join(re.findall("⟨.*?⟩", written)) == play.said
        assert room.editor.disturbing == room.other.disturbing == []
        assert room.other.section is None
        await play.ended()
        for refill in room.editor.every(p.Refill):
            await room.do(p.Refilled(CHAT, refill.messages))
        assert room.store.letters == {}  # all has arrived, or stands in the draft
        await room.chats.close()
        await room.settle()
        assert all(task.done() for agent in room.agents for task in agent.asked)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
