"""A question about a chat leaves no trace in it, and disturbs nothing."""

from __future__ import annotations

import json

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.adapters.claude.agent import ClaudeAgent
from winnow.core import agent as a
from winnow.core.asking.trust import Given

from tests import api
from tests.app.fakes import CHAT, Room, working
from tests.app.stage import Stage, User, connected

UUID = "00000000-0000-4000-8000-000000000001"


def said(room: Room) -> list[tuple[str, bool, str]]:
    return [(one.text, one.done, one.problem) for one in room.editor.every(p.AsideSaid)]


async def test_an_answer_comes_beside_a_turn(room: Room) -> None:
    """From a session that goes on from this one; then that is over."""
    await working(room)
    await room.hear(a.Started("abc"), a.Text("Hello"))
    main = room.agent
    await room.do(p.AskAside(CHAT, 1, "Why?"))
    aside = room.agents[-1]
    assert (aside.spec.session, aside.spec.aside) == ("abc", True)
    assert not aside.spec.given.whole
    aside.ready.set()
    await room.settle()
    assert list(aside.prompts) == ["Why?"]
    assert not aside.commands
    for event in (a.Text("Be"), a.Text("cause."), a.TurnEnded()):
        aside.say(event)
    await room.settle()
    assert said(room) == [("Be", False, ""), ("cause.", False, ""), ("", True, "")]
    assert aside.closed
    assert list(main.prompts) == ["Hi"]
    assert room.editor.text == "|Hello"


async def test_it_is_the_model_of_now_that_answers(room: Room) -> None:
    """As it was chosen last, not the one with which the chat was opened."""
    await room.do(p.Open(CHAT, "/chat.md", "/", model="opus", session="abc"))
    await room.do(p.Choose(CHAT, "model", "haiku"), p.Choose(CHAT, "effort", "low"))
    await room.do(p.Choose(CHAT, "fast", "on"))
    await room.do(p.AskAside(CHAT, 1, "Why?"))
    (aside,) = [agent for agent in room.agents if agent.spec.aside]
    assert (aside.spec.model, aside.spec.effort, aside.spec.budget) == ("haiku", "low", 0.0)
    assert aside.spec.fast
    await room.do(p.EndAside(CHAT, 1))


@pytest.mark.parametrize("end", [p.EndAside(CHAT, 1), p.Close(CHAT)])
async def test_nobody_reads_it_any_more(room: Room, end: p.Event) -> None:
    await working(room)
    await room.hear(a.Started("abc"))
    await room.do(p.AskAside(CHAT, 1, "Why?"), end)
    await room.settle()
    assert all(agent.closed for agent in room.agents if agent.spec.aside)
    assert said(room) == []


async def test_there_must_be_something_to_ask_about(room: Room) -> None:
    await room.open()
    await room.do(p.AskAside(CHAT, 1, "Why?"))
    [(_, done, problem)] = said(room)
    assert done
    assert problem.startswith("Nothing was said")
    assert len(room.agents) == 1


async def test_it_leaves_no_trace(real: Stage) -> None:
    """No file of its own, nothing in that of the session; and it can only read, as fast as that."""
    server, user = real.server, User()
    server.add(api.say("Hello there."))
    server.on("aside please", api.say(api.ToolUse("Bash", {"command": "ls"}, "t1")))
    server.on("aside please", api.say("An answer."))
    async with connected(real.claude(), real.user) as agent:
        await agent.prompt("hi", UUID)
        await real.user.turn()
        [started] = real.user.every(a.Started)
        env = server.env(real.folder / "config")
        spec = ports.AgentSpec(
            str(real.folder), session=started.session, given=Given(False), aside=True, fast=True
        )
        other = ClaudeAgent(spec, user.ask, env=env, start_patience=40)
        async with connected(other, user):
            await other.prompt("aside please", UUID[:-1] + "2", command=False)
            await user.turn()
    assert user.text == "An answer."
    assert "Hello there." in json.dumps(server.requests[-1]["messages"])
    assert server.requests[-1]["speed"] == "fast"
    assert "No such tool available: Bash" in server.tool_result("t1")
    [file] = (real.folder / "config").rglob("*.jsonl")
    assert file.stem == started.session
    assert "aside" not in file.read_text()
