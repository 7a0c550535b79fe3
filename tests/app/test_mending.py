"""What one `<CR>` does after a turn that failed: it helps, and repeats nothing."""

from __future__ import annotations

import asyncio

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.agent import Text, Trouble, TurnEnded
from winnow.core.asking import compaction
from winnow.core.usage.context import Context
from winnow.core.usage.meter import Spent
from winnow.core.usage.plan import Window
from winnow.core.usage.trouble import COMPACT, GO_ON

from tests.app.fakes import CHAT, FakeAgent, Room, working


async def fails(room: Room, trouble: Trouble, *, worked: bool = False, until: float = 0.0) -> None:
    """The turn of this prompt fails."""
    prompt = await working(room)
    words = [Text("Some.")] if worked else []
    await room.hear(*words, TurnEnded([prompt], "No.", trouble=trouble, until=until))


async def again(room: Room, *, draft: bool = False) -> None:
    await room.do(p.Again(CHAT, draft))


def status(room: Room) -> p.Status:
    assert room.editor.status
    return room.editor.status


async def test_a_draft_is_sent_again(room: Room) -> None:
    """It came back, since nothing was done."""
    await fails(room, "busy")
    assert room.editor.text.endswith(
        "⚠ No; what you wrote is in the draft again, <CR> sends it again."
    )
    assert status(room).again == "sends it again"
    await again(room, draft=True)
    assert room.editor.taking
    await room.send("Hi")
    await room.hear(Text("Yes."), TurnEnded(list(room.agent.prompts.values())))
    assert status(room).again == ""


async def test_work_is_gone_on_with(room: Room) -> None:
    """The prompt is not said again."""
    await fails(room, "network", worked=True)
    assert status(room).again == "goes on"
    await again(room)
    assert list(room.agent.prompts) == ["Hi", GO_ON]
    assert len(room.agents) == 1


async def test_a_full_context_is_made_room_in_first(room: Room) -> None:
    """The rest follows when that is done, and not when it fails."""
    await fails(room, "full", worked=True)
    await again(room)
    assert list(room.agent.prompts) == ["Hi", COMPACT]
    assert COMPACT in room.agent.commands
    await room.hear(TurnEnded([room.agent.prompts[COMPACT]]))
    assert list(room.agent.prompts) == ["Hi", COMPACT, GO_ON]


async def test_a_draft_waits_until_there_is_room(room: Room) -> None:
    await fails(room, "full")
    await again(room, draft=True)
    assert not room.editor.taking
    await room.hear(TurnEnded([room.agent.prompts[COMPACT]]))
    assert room.editor.taking
    await room.send("Hi")


async def test_a_login_is_read_anew(room: Room) -> None:
    """By an agent that is started for it, in the same session."""
    await fails(room, "login", worked=True)
    await again(room)
    assert len(room.agents) == 2
    assert list(room.agent.prompts) == [GO_ON]


async def test_a_limit_is_waited_for(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that may jump; once more `<CR>` tries at once, `:Winnow stop` waits no more."""
    monkeypatch.setattr("winnow.app.parts.mending.TICK", 0.001)
    await fails(room, "limit", worked=True, until=1600.0)
    assert (status(room).until, status(room).again) == (1600.0, "goes on then")
    await again(room)
    assert status(room).again == "tries at once"
    assert list(room.agent.prompts) == ["Hi"]
    await room.do(p.Stop(CHAT))
    assert status(room).again == "goes on then"
    await again(room)
    room.clock.time = 500.0  # set back
    await asyncio.sleep(0.005)
    assert list(room.agent.prompts) == ["Hi"]
    room.clock.time = 1601.0
    await asyncio.sleep(0.01)
    await room.settle()
    assert list(room.agent.prompts) == ["Hi", GO_ON]


async def test_a_limit_need_not_be_waited_for(room: Room) -> None:
    await fails(room, "limit", until=1600.0)
    await again(room, draft=True)
    assert not room.editor.taking
    await again(room, draft=True)
    assert room.editor.taking
    await room.send("Hi")


@pytest.mark.parametrize("until", [0.0, 900.0, 1e12, -1.0, float("nan")])
async def test_a_limit_that_can_not_be_is_not_waited_for(room: Room, until: float) -> None:
    await fails(room, "limit", worked=True, until=until)
    assert status(room).until == 0
    await again(room)
    assert list(room.agent.prompts) == ["Hi", GO_ON]


async def test_an_agent_that_died_goes_on(room: Room) -> None:
    """In another process, from where it was."""
    await working(room)
    await room.hear(Text("Some."), ports.AgentError("It ended."))
    assert status(room).again == "goes on"
    await again(room)
    assert list(room.agent.prompts) == [GO_ON]
    assert len(room.agents) == 2


async def test_a_budget_is_lifted(room: Room) -> None:
    """By as much again, for an agent that is started anew; or by what the user says."""
    await room.do(p.Open(CHAT, "/chat.md", "/", budget=2.0))
    await room.send("Hi")
    assert room.agent.spec.budget == 2.0
    await room.hear(Text("Some."), TurnEnded([], "Spent.", cost=2.25, trouble="budget"))
    assert room.editor.text.endswith("⚠ Spent; <CR> lifts it and goes on.")
    await again(room)
    assert (len(room.agents), room.agent.spec.budget) == (2, 2.0)
    assert list(room.agent.prompts) == [GO_ON]
    await room.hear(TurnEnded([], cost=0.5))
    await room.do(p.Budget(CHAT, 0.001))
    assert room.editor.every(p.Say)[-1].text.startswith("This chat may cost $0.0010; ")
    await room.do(p.Budget(CHAT, 10.0))
    assert room.editor.every(p.Say)[-1].text == ("This chat may cost $10.00; it has cost $2.75.")
    await room.do(p.Queue(CHAT))
    assert room.agent.spec.budget == 7.25
    await room.send("More")


async def test_a_budget_is_that_of_all_that_the_chat_has_cost(room: Room) -> None:
    """Also before it was opened, which the agent tells when it has connected."""
    await room.do(p.Open(CHAT, "/chat.md", "/", budget=2.0))
    await room.send("Hi")
    assert (room.agent.spec.budget, room.agent.spec.total) == (2.0, 2.0)
    prompt = room.agent.prompts["Hi"]
    await room.hear(Spent({}, 1.5), Text("Some."), TurnEnded([prompt], cost=0.25))
    assert room.editor.status
    assert room.editor.status.cost == 1.75
    await room.do(p.Budget(CHAT, 4.0), p.Queue(CHAT))
    await room.send("More")
    assert (room.agent.spec.budget, room.agent.spec.total) == (2.25, 4.0)


async def test_room_is_made_when_it_is_wanted(room: Room) -> None:
    """By a command of Claude Code's, between two turns."""
    await working(room)
    await room.do(p.Compact(CHAT, "Keep it."))
    assert list(room.agent.prompts) == ["Hi"]
    await room.hear(Text("Done."), TurnEnded([room.agent.prompts["Hi"]]))
    assert list(room.agent.prompts) == ["Hi", "/compact Keep it."]
    assert "/compact Keep it." in room.agent.commands


async def test_a_compaction_is_asked_about(room: Room) -> None:
    """Its instructions are text to be edited; there may be none."""
    await working(room)
    task = room.agent.ask(compaction.asked())
    await room.settle()
    section = room.shown()
    lines = [line for line in section.lines if not line.startswith(("Go on", "Stop"))]
    edited = [line.replace("Keep the goal", "Keep all") for line in lines]
    await room.do(p.Confirm(CHAT, section.section, edited, len(edited) - 1))
    reply = task.result()
    assert isinstance(reply, a.Allow)
    assert reply.input["instructions"].startswith("Keep all, what was decided and why")
    task = room.agent.ask(compaction.asked())
    await room.settle()
    section = room.shown()
    lines = [line for line in section.lines if not line.startswith(("Compact", "Go on"))]
    await room.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))
    assert task.result() == a.Deny("The user stopped.", stop=True)


class Silent:
    """Tells nothing of itself."""

    async def context(self) -> Context:
        raise ports.AgentError("It does not say.")

    async def plan(self) -> list[Window]:
        raise ports.AgentError("It does not say.")


async def test_an_agent_that_tells_nothing_costs_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is asked for in vain is not told, and it is asked again."""
    monkeypatch.setattr(FakeAgent, "controls", Silent())
    await working(room)
    await room.hear(Text("Yes."), TurnEnded([room.agent.prompts["Hi"]], cost=0.5))
    await room.do(p.WatchList("usage", CHAT, open=True))
    shown = room.editor.every(p.Listed)[-1].lines
    assert "Claude has not told yet how full its context is." in shown
    assert "This chat has cost $0.50." in shown
    assert not [said for said in room.editor.effects if isinstance(said, (p.Say, p.Notify))]
    await room.do(p.WatchList("usage", CHAT, open=False))


async def test_a_resumed_chat_has_not_cost_nothing(room: Room) -> None:
    """What it has cost is only told when the agent is there."""
    await room.open("s")
    await room.do(p.WatchList("usage", CHAT, open=True))
    shown = room.editor.every(p.Listed)[-1].lines
    assert "What this chat has cost is known once Claude is connected." in shown
