"""A new way to ask is one class and one entry in a list; everything else it finds here."""

from __future__ import annotations

import pytest
from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.asking import ways
from winnow.core.asking.way import Answered, ReadFile, Way, form_of
from winnow.core.question import Malformed, Question
from winnow.core.section.form import Form

from tests.app.fakes import CHAT, Asked, Room, denied, working


class Wish(Way):
    """The agent wants to hear something in the user's own words."""

    tool = "wish"

    def read(self, id: str, request: a.Request, file: ReadFile) -> Form | Malformed:
        if not request.input:
            return Malformed("There is nothing to wish for.")
        return form_of(id, request, (Question(request.input["for"], "Wish", ()),))

    def reply(self, answered: Answered) -> a.Reply:
        return a.Allow({"wish": answered.answers[0].answer})


class Whim(Wish):
    """As a wish, but not worth waiting for, and gone when it was not answered."""

    tool = "whim"
    waits_unattended = False
    has_line = False
    past = "It was only a whim."


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "WAYS", [Wish(), Whim(), *ways.WAYS])


async def ask(room: Room, tool: str = "wish") -> Asked:
    """The agent asks so."""
    task = room.agent.ask(a.Request(tool, {"for": "What for lunch?"}, "t1"))
    await room.settle()
    return task


async def write(room: Room, text: str) -> None:
    """Type this behind ✎, and confirm."""
    section = room.shown()
    lines = [f"{line} {text}" if line.startswith("✎") else line for line in section.lines]
    await room.do(p.Edit(CHAT, section.section, lines))
    await room.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))


def record(room: Room) -> list[str]:
    """What stands where the last section stood."""
    return room.editor.every(p.Freeze)[-1].lines


async def test_it_is_asked_and_answered(room: Room) -> None:
    await working(room)
    asked = await ask(room)
    head, text, own, foot = (line.partition("⟦")[0] for line in room.shown().lines if line)
    assert (head, text, own, foot) == (
        "━━ Question: Wish",
        "What for lunch?",
        "✎ Something else:",
        "━━",
    )
    assert room.editor.state == "waiting"
    await write(room, "soup")
    assert asked.result() == a.Allow({"wish": "soup"})
    assert record(room) == ["**Wish** What for lunch?", "✓ Own answer: “soup”"]
    assert [made.own for made in room.store.ledger] == [("soup",)]
    assert room.editor.every(p.Tool)[-1].line == "▸ wish soup …"  # its call runs


async def test_cancelled_it_is_asked_again_and_answered_late(room: Room) -> None:
    await working(room)
    asked = await ask(room)
    await room.cancel()
    assert denied(asked).stop
    assert "<CR> here asks again" in record(room)[0]
    await room.do(p.Reopen(CHAT, "s1"))
    await room.hear(a.TurnEnded(stopped=True))
    await write(room, "soup")
    (late,) = [text for text in room.agent.prompts if "soup" in text]
    assert late == "My answer to what you asked earlier:\n\n> What for lunch?\n\nAnswer: soup"
    assert room.store.kept["s1"].state == "answered"


async def test_the_earlier_answer_is_offered(room: Room) -> None:
    await working(room)
    await ask(room)
    await write(room, "soup")
    await ask(room)
    assert room.editor.every(p.Verdict)[-1].offer.endswith(": “soup”, <CR> here takes it")
    await room.cancel()


async def test_discussed_it_is_offered_as_it_was_left(room: Room) -> None:
    await working(room)
    asked = await ask(room)
    section = room.shown()
    lines = [f"{line} soup" if line.startswith("✎") else line for line in section.lines]
    await room.do(p.Discuss(CHAT, section.section, lines, "is it hot?"))
    assert "is it hot?\n\nSo far:\n- What for lunch? decided: “soup”" in denied(asked).message
    await ask(room)
    assert room.editor.every(p.Verdict)[-1].offer == "as you left it: “soup”, <CR> here takes it"
    await room.cancel()


async def test_what_can_not_be_asked_is_refused(room: Room) -> None:
    await working(room)
    task = room.agent.ask(a.Request("wish", {}))
    await room.settle()
    assert denied(task).message == "There is nothing to wish for."
    assert room.editor.section is None


async def test_a_way_says_what_is_different_about_it(room: Room) -> None:
    """It can't be reopened, its record says so, and its call has no line."""
    await working(room)
    asked = await ask(room, "whim")
    await room.cancel()
    assert denied(asked)
    assert record(room) == ["✗ Cancelled: Wish"]
    await room.do(p.Reopen(CHAT, "s1"))
    assert room.editor.section is None
    assert room.editor.every(p.Say)[-1].text == "It was only a whim."
    await ask(room, "whim")
    await write(room, "soup")
    assert not [tool for tool in room.editor.every(p.Tool) if tool.line]


async def test_nobody_waits_for_it_where_nobody_is(room: Room) -> None:
    """But for a wish they do."""
    await room.do(p.Open(CHAT, "/chat.md", "/", headless=True))
    await room.send("Hi")
    assert denied(await ask(room, "whim")) == a.Deny("Nobody is there to answer this.", stop=True)
    await room.do(p.Watched(headless=False))
    asked = await ask(room, "whim")
    assert room.shown()
    await room.cancel()
    assert asked.done()
    await room.do(p.Watched(headless=True))
    asked = await ask(room)
    assert room.shown()
    assert not asked.done()
    await room.cancel()
