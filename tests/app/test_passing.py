"""What is allowed until the answer ends: in that turn only, however it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.core import agent as a

from tests.app.fakes import CHAT, Room, working

Asked = Any


def wants(content: str, **more: Any) -> a.Request:
    rule = {"toolName": "Bash", "ruleContent": content}
    update = {"type": "addRules", "rules": [rule], "behavior": "allow"}
    update["destination"] = "localSettings"
    return a.Request("Bash", {"command": f"{content} it"}, suggestions=[update], **more)


async def granted(room: Room) -> Asked:
    """A chat in a turn of which `ls` is allowed until it ends."""
    await working(room)
    await room.hear(a.Text("Well."))
    asked = room.agent.ask(wants("ls"))
    await room.settle()
    await room.do(p.Grant(CHAT, room.shown().section, "turn"))
    return asked


async def asks(room: Room, request: a.Request) -> bool:
    """Whether the user is asked; else it is allowed as it is."""
    asked = room.agent.ask(request)
    await room.settle()
    if not asked.done():
        return True
    assert asked.result() == a.Allow(request.input)
    return False


async def test_it_holds_for_the_same_in_this_turn(room: Room) -> None:
    asked = await granted(room)
    update = wants("ls").suggestions
    assert asked.result() == a.Allow({"command": "ls it"}, [], passing=update)
    assert not await asks(room, wants("ls"))
    assert not await asks(room, wants("ls", agent_id="sub"))
    assert await asks(room, wants("rm"))


async def stopped(room: Room) -> None:
    await room.do(p.Stop(CHAT))


async def over(room: Room) -> None:
    await room.hear(a.TurnEnded())
    await room.send("Go on")
    await room.hear(a.Text("Yes."))


async def crashed(room: Room) -> None:
    await room.hear(ports.AgentError("It crashed."))
    await room.send("Go on")
    await room.do(p.Queue(CHAT))
    await room.send("Go on")
    await room.hear(a.Text("Yes."))


@pytest.mark.parametrize("end", [stopped, over, crashed])
async def test_it_does_not_outlive_the_turn(room: Room, end: Callable[[Room], Any]) -> None:
    await granted(room)
    await end(room)
    assert await asks(room, wants("ls"))


async def test_a_subagent_gets_none_when_no_turn_runs(room: Room) -> None:
    """Nothing would end it; what it asked for is allowed once."""
    await working(room)
    await room.hear(a.Text("Well."), a.TurnEnded())
    asked = room.agent.ask(wants("ls", agent_id="sub"))
    await room.settle()
    await room.do(p.Grant(CHAT, room.shown().section, "turn"))
    assert asked.done()
    assert await asks(room, wants("ls", agent_id="sub"))


async def test_what_waits_with_it_runs(room: Room) -> None:
    await working(room)
    await room.hear(a.Text("Well."))
    first, second = room.agent.ask(wants("ls")), room.agent.ask(wants("ls", agent_id="sub"))
    await room.settle()
    await room.do(p.Grant(CHAT, room.shown().section, "turn"))
    assert (first.done(), second.done()) == (True, True)


async def test_it_is_not_offered_where_no_rule_is_enough(room: Room) -> None:
    await working(room)
    for request in (a.Request("Bash", {"command": "$(x)"}), wants("ls", reason="sensitive file")):
        asked = room.agent.ask(request)
        await room.settle()
        await room.do(p.Grant(CHAT, room.shown().section, "turn"))
        assert not asked.done()
        await room.do(p.Grant(CHAT, room.shown().section, "allow"))
        assert asked.done()
