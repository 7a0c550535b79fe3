"""What is said of work that goes on beside a conversation."""

from __future__ import annotations

from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.tasks import events as t

from tests.app.fakes import Room, working

LOOK = {"description": "look", "prompt": "Look."}


async def test_a_subagent_that_ends_before_its_call_returns_has_its_report(room: Room) -> None:
    """As one in the background does, when another one is waited for."""
    await working(room)
    await room.hear(a.ToolStarted("c1", "Agent", LOOK), t.Began("a1", "look", t.AGENT, "c1"))
    await room.hear(a.Pause(), t.Ended("a1", "completed", "Found."), t.Launched("c1", "a1"))
    await room.settle()
    shown = [one for one in room.editor.effects if isinstance(one, p.Tool) and one.id == "c1"]
    assert shown[-1].line.endswith("✓ 0 s")
    assert shown[-1].output == ["│ Found."]
