"""To stop a turn ends what it has started, and nothing else."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.tasks import events as t

from tests import api
from tests.app.fakes import CHAT, Room, working
from tests.app.stage import Stage, connected

UUID = "00000000-0000-4000-8000-000000000001"


class Stops:
    """Notes what it is to stop."""

    def __init__(self) -> None:
        self.stopped: list[str] = []

    async def stop_task(self, id: str) -> int:
        self.stopped.append(id)
        return 0


async def test_what_the_turn_has_begun_ends_with_it(room: Room) -> None:
    """Also what begins only now; not what has ended, nor what runs since an earlier turn."""
    await working(room)
    room.agent.controls = stops = Stops()  # type: ignore[assignment]
    await room.hear(a.Text("One"), t.Began("old", "sleep"), a.TurnEnded())
    await room.send("Go on")
    await room.hear(a.Text("Two"), t.Began("new", "sleep"), t.Began("over", "sleep"))
    await room.hear(t.Ended("over", "completed"))
    await room.do(p.Stop(CHAT))
    await room.hear(t.Began("late", "sleep"), a.TurnEnded(stopped=True))
    await room.settle()
    assert stops.stopped == ["new", "late"]


async def test_processes_are_gone(real: Stage) -> None:
    """Those of a command in the foreground, and their children."""
    made = real.folder / "pid"
    command = f"touch {real.folder}/x; sh -c 'echo $$ > {made}; sleep 99 & sleep 99' ; true"
    bash = api.ToolUse("Bash", {"command": command, "description": "d"}, "toolu_a")
    real.server.add(api.say("One.", bash))
    user = real.user
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", UUID)
        request, reply = await user.asked.get()
        reply.set_result(a.Allow(request.input))
        await asyncio.to_thread(until, lambda: made.exists() and made.read_text().strip())
        pid = int(made.read_text())
        await agent.interrupt()
        assert (await user.turn()).stopped
        await asyncio.to_thread(until, lambda: not alive(pid))


def until(done: Callable[[], object]) -> None:
    """Wait for it."""
    end = time.monotonic() + 30
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(pid: int) -> bool:
    with suppress(OSError):
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
    return False
