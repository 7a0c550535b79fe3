"""One section, shown in two chats: whatever the user does with it in one, holds for both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
from winnow import ports
from winnow import protocol as p
from winnow.core import agent as a

from tests.app.fakes import CHAT, Asked, answers, denied, kept
from tests.app.two import OTHER, Two


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    """Both chats are open, and the first one's agent works."""
    two = Two()
    await two.open()
    await two.open_other()
    await two.send("Hi")
    yield two
    assert two.editor.disturbing == two.other.disturbing == []
    await two.chats.close()
    await two.settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def both(two: Two, question: str = "Fine?") -> Asked:
    """The first chat's agent asks; both show it."""
    asked = await two.ask(question)
    assert await two.show()
    assert two.other.section == msgspec.structs.replace(two.shown(), chat=OTHER)
    return asked


def records(two: Two) -> list[list[str]]:
    """What stands now where the section stood, here and there; once each."""
    (here,), (there,) = two.editor.every(p.Freeze), two.other.every(p.Freeze)
    assert (here.chat, there.chat) == (CHAT, OTHER)
    assert here.section == there.section == "s1"
    return [here.lines, there.lines]


async def test_edited_in_one_it_is_answered_in_the_other(two: Two) -> None:
    """What is confirmed counts, and the last edit is on record."""
    asked = await both(two)
    lines = two.shown().lines
    await two.do(p.Edit(CHAT, "s1", kept(lines, "No")))
    assert two.store.kept["s1"].lines == kept(lines, "No")
    assert [v.parts[0].decided for v in two.other.every(p.Verdict)] == [False]  # not its text
    await two.confirm(OTHER, kept(lines, "Yes"))
    assert answers(asked) == {"Fine?": "Yes"}
    here, there = records(two)
    assert here == there
    assert "✓ Selected: Yes" in here
    assert [made.kept for made in two.store.ledger] == [("Yes",)]
    assert [(one.state, one.lines) for one in two.store.kept.values()] == [
        ("answered", kept(lines, "Yes"))
    ]
    assert (two.editor.state, two.other.state) == ("working", "asleep")
    assert len([h for h in two.editor.every(p.Happened) if h.name == "Answered"]) == 1


async def test_who_confirms_later_is_told_that_it_is_closed(two: Two) -> None:
    """In either chat; where it was answered, a second press is the same as the first."""
    asked = await both(two)
    lines = kept(two.shown().lines, "Yes")
    await two.confirm(OTHER, lines)
    await two.confirm(OTHER, lines)
    assert two.other.every(p.Say) == []
    await two.confirm(CHAT, lines)
    assert [said.text for said in two.editor.every(p.Say)] == ["This section is no longer open."]
    assert answers(asked) == {"Fine?": "Yes"}
    assert len(two.store.ledger) == 1
    records(two)


@pytest.mark.parametrize("chat", [CHAT, OTHER])
async def test_cancelled_in_one_it_is_closed_in_both(two: Two, chat: int) -> None:
    asked = await both(two)
    await two.do(p.Cancel(chat, "s1", two.shown().lines))
    assert denied(asked).stop
    here, there = records(two)
    assert here == there
    assert here[0].startswith("✗ Cancelled: Fine?")
    await two.confirm(CHAT + OTHER - chat, two.editor.every(p.Section)[0].lines)
    said = (two.other if chat == CHAT else two.editor).every(p.Say)
    assert [one.text for one in said] == ["This section is no longer open."]
    assert two.store.kept["s1"].state == "cancelled"
    assert not two.store.ledger


async def test_asked_again_there_it_is_open_in_both(two: Two) -> None:
    """Late, the answer goes to the agent that asked, as a message."""
    await both(two)
    await two.cancel()
    await two.hear(a.TurnEnded(stopped=True))
    await two.do(p.Reopen(OTHER, "s1"))
    here, there = two.shown(), two.other.section
    assert there is not None
    assert (here.section, here.focus, there.section, there.focus) == ("s1", False, "s1", True)
    await two.confirm(OTHER, kept(there.lines, "Yes"))
    (late,) = [text for text in two.agent.prompts if "Fine?" in text]
    assert "Answer: Yes" in late
    assert len(two.agents) == 1
    assert two.editor.section is two.other.section is None


async def test_discussed_there_the_message_is_kept_for_that_chat(two: Two) -> None:
    asked = await both(two)
    await two.do(p.Discuss(OTHER, "s1", two.shown().lines, "why?", "m1"))
    reply = asked.result()
    assert isinstance(reply, a.Allow)
    assert "why?" in reply.input["response"]
    assert two.other.every(p.Stored) == [p.Stored(OTHER, ["m1"])]
    assert "… Discussed: Fine? — why?" in records(two)[1][0]


async def test_its_turn_comes_in_each_chat(two: Two) -> None:
    """Queued behind another section, a view is replaced where it would have stood."""
    first = await two.ask("First?")
    second = await two.ask("Second?")
    assert await two.show("s2")
    assert two.shown().section == "s1"
    assert two.other.section is not None
    lines = kept(two.other.section.lines, "Yes")
    await two.do(p.Confirm(OTHER, "s2", lines, len(lines) - 1))
    assert answers(second) == {"Second?": "Yes"}
    assert not first.done()
    assert [freeze.section for freeze in two.other.every(p.Freeze)] == ["s2"]
    assert two.editor.every(p.Freeze) == []
    await two.answer("No")
    written = "".join(write.text for write in two.editor.every(p.Write))
    assert written.count("✓ Selected: Yes") == 1


async def test_a_grant_there_counts_as_it_stands_there(two: Two) -> None:
    """From outside a section, too; the line of the call is of the chat that asks."""
    asked = two.agent.ask(a.Request("Bash", {"command": "ls"}, "t1"))
    await two.settle()
    assert await two.show()
    lines = [line.replace("ls", "rm") for line in two.shown().lines]
    await two.do(p.Edit(CHAT, "s1", lines), p.Grant(OTHER, "s1", "allow"))
    assert asked.result() == a.Allow({"command": "ls"})
    assert [tool.line for tool in two.editor.every(p.Tool)][-1] == "▸ Bash ls …"
    assert two.other.every(p.Tool) == []
    assert len(records(two)) == 2


async def test_the_text_so_far_is_where_a_later_view_begins(two: Two) -> None:
    await two.ask("Fine?")
    lines = kept(two.shown().lines, "No")
    await two.do(p.Edit(CHAT, "s1", lines))
    assert await two.show()
    assert not await two.show()  # it is there
    assert two.other.section is not None
    assert two.other.section.lines == lines
    assert two.other.every(p.Verdict)[-1].parts[0].decided
    await two.cancel()


async def test_a_buffer_that_closes_leaves_it_open_in_the_other(two: Two) -> None:
    asked = await both(two)
    await two.do(p.Close(OTHER))
    assert not asked.done()
    assert two.editor.section is not None
    assert two.store.kept["s1"].state == "open"
    effects = len(two.other.effects)
    await two.answer("Yes")
    assert answers(asked) == {"Fine?": "Yes"}
    assert len(two.other.effects) == effects


async def test_with_the_chat_that_asks_it_is_closed_everywhere(two: Two) -> None:
    asked = await both(two)
    await two.do(p.Close(CHAT))
    assert denied(asked).message == "The user closed the chat before answering."
    assert two.other.section is None
    assert two.other.state == "asleep"
    await two.do(p.Reopen(OTHER, "s1"))
    assert two.other.every(p.Say)[-1].text == "This question is not on record any more."


async def test_what_can_not_be_drawn_there_waits_here(two: Two) -> None:
    asked = await both(two)
    two.other.section = None
    await two.do(p.Unshown(OTHER, "s1"))
    assert not asked.done()
    assert (two.editor.state, two.other.state) == ("waiting", "asleep")
    await two.do(p.Reopen(OTHER, "s1"))  # another try
    assert two.other.section is not None
    await two.answer("Yes")
    assert answers(asked) == {"Fine?": "Yes"}
    assert two.other.section is None


async def test_the_other_chats_agent_has_nothing_to_do_with_it(two: Two) -> None:
    """It is neither stopped nor denied with what that one does, and keeps nothing busy there."""
    asked = await both(two)
    await two.do(p.Queue(OTHER, now=True))
    await two.do(p.Stop(OTHER))
    assert two.other.every(p.Say)[-1].text == "Nothing is running in this chat."
    agent = two.agent
    agent.say(a.Text("Hm."))
    await two.settle()
    await two.do(p.Stop(OTHER))
    assert agent.interrupts == 1
    assert two.other.state == "waiting"
    await two.hear(a.TurnEnded(stopped=True))
    assert not asked.done()
    await two.answer("Yes")
    assert answers(asked) == {"Fine?": "Yes"}
    assert two.other.text.startswith("|x|Hm.")
    assert two.other.every(p.Hold)  # what was queued stays where it is
    assert not two.other.taking


async def test_it_outlives_the_other_chats_agent(two: Two) -> None:
    asked = await both(two)
    await two.do(p.Queue(OTHER, now=True))
    await two.hear(ports.AgentError("It died."))
    assert not asked.done()
    assert two.other.section is not None
    await two.answer("Yes")
    assert answers(asked) == {"Fine?": "Yes"}
