"""Choices in the agent's text, and its question tool, whatever comes in between."""

from __future__ import annotations

import json
from typing import Any

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.asking import question_tool

from tests.app.fakes import CHAT, Room, denied


def choice(text: str = "Which?") -> str:
    options = [{"id": "y", "label": "Yes"}, {"id": "n", "label": "No"}]
    asked = {"type": "user_choice", "question": text, "options": options}
    return f"```json\n{json.dumps(asked)}\n```"


async def working(room: Room, *, headless: bool = False) -> None:
    """A chat that asks in its text, whose agent works."""
    await room.do(p.Open(CHAT, "/chat.md", "/", questions="both", headless=headless))
    await room.send("Hi")


async def asked(room: Room, *texts: str) -> None:
    """The agent says this and ends its turn."""
    for text in texts:
        await room.hear(a.Text(text), a.Pause())
    await ended(room)


async def ended(room: Room, *, stopped: bool = False) -> None:
    answered, room.agent.unheard = room.agent.unheard, []
    await room.hear(a.TurnEnded(answered, stopped=stopped))


async def test_it_waits_from_the_end_of_the_turn(room: Room) -> None:
    """And works again once it is answered."""
    await working(room)
    await room.hear(a.Text("See.\n\n" + choice()), a.Pause())
    assert room.editor.section is None
    assert room.editor.state == "working"
    await ended(room)
    assert room.editor.state == "waiting"
    await room.answer("Yes")
    assert "y" in room.agent.prompts
    assert room.editor.state == "working"
    assert "user_choice" not in room.editor.text
    await ended(room)


@pytest.mark.parametrize("around", ["\n", "\n\n", "\n\n   "])
async def test_one_blank_line_is_left_where_it_stood(room: Room, around: str) -> None:
    """Also of one that is indented, as in a list."""
    await working(room)
    said = f"One.{around}{choice()}{around.strip(' ')}Two."
    for piece in (said[at : at + 3] for at in range(0, len(said), 3)):
        await room.hear(a.Text(piece))
    await room.hear(a.Pause())
    await ended(room)
    assert "One.\n\nTwo." in room.editor.text
    await room.cancel()


async def test_a_subagents_question_does_not_break_what_streams(room: Room) -> None:
    """Half a block is there when it comes."""
    await working(room)
    await room.hear(a.Text(choice()[:30]))
    task = await room.ask("Sub?", agent_id="a1")
    await room.answer("Yes")
    assert task.done()
    await room.hear(a.Text(choice()[30:]), a.Pause())
    await ended(room)
    assert "Which?" in room.shown().lines[1]
    await room.cancel()


async def test_what_is_open_is_not_asked_twice(room: Room) -> None:
    """Such as when a background task lets the agent speak again."""
    await working(room)
    await asked(room, choice())
    await asked(room, choice(), choice("Another?"))
    assert [w.title for w in room.editor.status.pending] == ["Which?", "Another?"]  # type: ignore[union-attr]
    await room.answer("Yes")
    assert "Another?" in room.shown().lines[1]
    await room.answer("No")
    await ended(room)
    assert room.editor.section is None
    assert list(room.agent.prompts)[1:] == ["y", "n"]


async def test_a_stopped_turn_still_asks_what_was_said(room: Room) -> None:
    await working(room)
    await room.hear(a.Text(choice()), a.Pause())
    await ended(room, stopped=True)
    await room.answer("No")
    assert "n" in room.agent.prompts
    await ended(room)


async def test_half_a_block_is_text_when_the_agent_dies(room: Room) -> None:
    await working(room)
    await room.hear(a.Text("See\n\n" + choice()[:40]), ports.AgentError("It died."))
    assert choice()[:40] in room.editor.text
    assert room.editor.section is None


async def test_a_form_outlives_its_agent(room: Room) -> None:
    """Its answer starts the next one."""
    await working(room)
    await asked(room, choice())
    await room.hear(ports.AgentError("It died."))
    await room.answer("Yes")
    assert len(room.agents) == 2
    assert "y" in room.agent.prompts
    await ended(room)


async def test_cancel_tells_nobody(room: Room) -> None:
    """No agent waits; it can be asked again, and then the question is repeated."""
    await working(room)
    await asked(room, choice())
    section = room.shown().section
    await room.cancel()
    assert room.agent.interrupts == 0
    assert room.store.kept[section].state == "cancelled"
    await room.do(p.Reopen(CHAT, section))
    await room.answer("Yes")
    assert "> Which?" in list(room.agent.prompts)[-1]
    await ended(room)


async def test_closing_the_chat_leaves_it_open(room: Room) -> None:
    """For the next time."""
    await working(room)
    await asked(room, choice())
    section = room.shown().section
    await room.do(p.Close(CHAT))
    assert room.store.kept[section].state == "open"
    room.editor.section = room.editor.status = None
    event = p.Open(CHAT, "/chat.md", "/", questions="text", sections=[section], session="s")
    await room.do(event)
    assert "Which?" in room.shown().lines[1]
    await room.answer("Yes")
    assert "y" in room.agent.prompts
    await ended(room)


async def test_a_question_that_can_not_be_shown_is_refused(room: Room) -> None:
    await working(room)
    task = await room.ask("Sure?")
    section = room.shown().section
    room.editor.section = None
    await room.do(p.Unshown(CHAT, section))
    assert "could not be shown" in denied(task).message
    await ended(room)


def call() -> a.Request:
    options = [{"value": 1, "label": "Yes"}, {"value": 2, "label": "No"}]
    asked: dict[str, Any] = {"questions": [{"id": "q", "prompt": "Sure?", "options": options}]}
    return a.Request(question_tool.TOOL, asked, "t1")


@pytest.mark.parametrize("replay", [False, True])
async def test_where_nobody_answers_the_tool_says_so(room: Room, replay: bool) -> None:
    """Without a screen, or in a replay that does not know the question."""
    if replay:
        room.replay()
    await working(room, headless=not replay)
    task = room.agent.ask(call())
    await room.settle()
    reply = task.result()
    assert isinstance(reply, a.Allow)
    assert reply.input[question_tool.RESULT] == question_tool.NO_INTERFACE
    await ended(room)


async def test_a_replay_answers_choices_in_text(room: Room) -> None:
    """As it was answered before."""
    await working(room)
    await asked(room, choice())
    await room.answer("Yes")
    await ended(room)
    await room.do(p.Close(CHAT))
    room.replay(*room.store.ledger)
    await working(room)
    await asked(room, choice())
    assert room.editor.section is None
    assert "y" in room.agent.prompts
    await ended(room)


async def test_two_lists_take_no_bare_number(room: Room) -> None:
    """Nobody can tell which one is meant."""
    await working(room)
    await asked(room, choice("A?"), choice("B?"))
    for _ in range(2):
        section = room.shown().section
        room.editor.section = None
        await room.do(p.Unshown(CHAT, section))
    assert "1. Yes" in room.editor.text
    status = room.editor.every(p.Status)[-1]
    assert status.state == "waiting"
    assert [pending.title for pending in status.pending] == ["A?", "B?"]
    await room.send("2")
    status = room.editor.every(p.Status)[-1]
    assert (status.state, status.pending) == ("working", [])
    happened = [e.data["outcome"] for e in room.editor.every(p.Happened) if e.name == "Answered"]
    assert happened == ["cancelled", "cancelled"]
    assert "2" in room.agent.prompts
    await ended(room)
