"""Agents start a few at a time, and whoever waits is told how many are before."""

from __future__ import annotations

import asyncio

from winnow import protocol as p
from winnow.app.starts import Start, Starts
from winnow.core.project import Project, Source

from tests.app.fakes import FakeAgent, Room


def opened(chat: int, *, eager: bool = True) -> p.Open:
    """A new chat."""
    return p.Open(chat, f"/chat{chat}.md", f"/{chat}", eager=eager)


def chats(agents: list[FakeAgent]) -> list[int]:
    """Whose agents these are."""
    return [int(agent.spec.cwd[1:]) for agent in agents]


def ahead(room: Room, chat: int) -> int:
    """How many a chat was told last to be before it."""
    return [status.ahead for status in room.editor.every(p.Status) if status.chat == chat][-1]


async def test_a_few_start_at_a_time(room: Room) -> None:
    """The others follow as these are done, first those that the user waits for."""
    room.slow = True
    await room.do(*[opened(chat) for chat in (1, 2, 3, 4)])
    await room.do(opened(5, eager=False), p.Queue(5), p.Queue(4))
    assert chats(room.agents) == [1, 2]
    assert [ahead(room, chat) for chat in (1, 2, 5, 4, 3)] == [0, 0, 3, 2, 4]
    room.agents[1].ready.set()
    await room.settle()
    assert chats(room.agents) == [1, 2, 4]
    assert [ahead(room, chat) for chat in (4, 5, 3)] == [0, 2, 3]
    for agent in room.agents:
        agent.ready.set()
    await room.settle()
    assert chats(room.agents) == [1, 2, 4, 5, 3]
    assert ahead(room, 3) == 0
    for agent in room.agents:
        agent.ready.set()
    await room.settle()
    room.editor.disturbing.clear()  # it takes all chats for one


async def test_whoever_leaves_keeps_nobody_waiting(room: Room) -> None:
    """A chat that is closed, while it starts or before, and a start that fails."""
    room.slow = True
    room.problems += ["Broken."]
    await room.do(*[opened(chat) for chat in (1, 2, 3, 4)])
    await room.do(p.Close(2), p.Close(3))
    assert chats(room.agents) == [1, 2, 4]
    room.agents[0].ready.set()
    await room.settle()
    await room.do(opened(5))
    assert chats(room.agents) == [1, 2, 4, 5]
    for agent in room.agents:
        agent.ready.set()


async def test_what_changes_while_one_waits_is_asked_about(room: Room) -> None:
    """Others start first: by then the project has settings, which nobody has seen."""
    room.slow = True
    await room.do(*[opened(chat) for chat in (1, 2, 3)], p.Queue(3))
    sources = (Source(".claude/settings.json", '{"env": {"A": "1"}}'),)
    room.projects.project = Project("/shop", sources)
    room.agents[0].ready.set()
    await room.settle()
    assert chats(room.agents) == [1, 2]
    assert "env A=1" in "\n".join(room.shown().lines)
    for agent in room.agents:
        agent.ready.set()
    await room.settle()
    room.editor.disturbing.clear()  # it takes all chats for one


async def test_a_start_that_hangs_keeps_nobody_waiting() -> None:
    """After a while the next one goes, though there are more at a time then."""
    starts = Starts(1, slow=0.01)
    order: list[str] = []

    async def start(name: str, seconds: float) -> None:
        async with starts.turn(Start(lambda: None, urgent=False)):
            order.append(name)
            await asyncio.sleep(seconds)

    hanging = asyncio.create_task(start("hangs", 60))
    await asyncio.sleep(0)
    await start("next", 0)
    assert order == ["hangs", "next"]
    hanging.cancel()
    await asyncio.wait({hanging})


async def test_only_some_start_before_anything_is_sent(room: Room) -> None:
    """Each that does takes memory, maybe for nothing; one that is used makes room."""
    await room.do(*[opened(chat) for chat in range(1, 8)])
    assert chats(room.agents) == [1, 2, 3, 4]
    await room.do(p.Send(1, "Hi"), opened(8))
    assert chats(room.agents) == [1, 2, 3, 4, 8]
    await room.do(p.Queue(7))
    assert chats(room.agents) == [1, 2, 3, 4, 8, 7]
