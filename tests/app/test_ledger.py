"""What was decided is kept, offered again, exported, and replayed."""

from __future__ import annotations

import msgspec
import pytest
from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.agent import TurnEnded
from winnow.core.ledger.ledger import Decision

from tests.app.fakes import CHAT, FakeClock, Room, answers, denied, kept, response, working

SURE = Decision(
    "Sure?", ("Yes", "No"), ("Yes",), ("No",), header="Sure?", chat="/chat.md", when=1000.0
)
BASH = a.Request("Bash", {"command": "ls"})


def offered(room: Room) -> str:
    """What the open section's foot offers."""
    return room.editor.every(p.Verdict)[-1].offer


async def press_foot(room: Room, lines: list[str]) -> None:
    """`<CR>` on the foot of the open section."""
    await room.do(p.Confirm(CHAT, room.shown().section, lines, len(lines) - 1))


async def discuss(room: Room, text: str, lines: list[str]) -> None:
    """`:Winnow discuss`."""
    await room.do(p.Discuss(CHAT, room.shown().section, lines, text))


async def test_an_answer_is_kept_before_its_record_is_shown(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user has seen decided is never lost."""
    await working(room)
    await room.ask("Sure?")
    apply = room.editor.apply
    seen: list[list[Decision]] = []

    def spy(*effects: p.Effect) -> None:
        seen.extend(list(room.store.ledger) for effect in effects if isinstance(effect, p.Freeze))
        apply(*effects)

    monkeypatch.setattr(room.editor, "apply", spy)
    await room.answer("Yes")
    assert seen == [[SURE]]


async def test_a_permission_is_kept(room: Room) -> None:
    """With its call; but it is never offered."""
    await working(room)
    for _ in range(2):
        room.agent.ask(BASH)
        await room.settle()
        assert offered(room) == ""
        lines = [line for line in room.shown().lines if not line.startswith("Deny")]
        await press_foot(room, lines)
    assert {made.question for made in room.store.ledger} == {"Claude wants to use Bash.\nls"}
    assert [made.kept for made in room.store.ledger] == [("Allow once",)] * 2


async def test_what_is_not_answered_is_not_kept(room: Room) -> None:
    """A cancelled question is no decision."""
    await working(room)
    await room.ask("Sure?")
    await room.cancel()
    assert room.store.ledger == []


async def test_the_same_question_offers_the_earlier_answer(room: Room) -> None:
    """<CR> on the foot edits the lines, and only the next one sends them."""
    await working(room)
    room.store.save(SURE)
    asked = await room.ask("Sure?")
    assert offered(room) == "as on 1 Jan: Yes, <CR> here takes it"
    await press_foot(room, room.shown().lines)
    (fill,) = room.editor.every(p.Fill)
    assert fill.lines == kept(room.shown().lines, "Yes")
    assert not asked.done()
    await room.do(p.Edit(CHAT, fill.section, fill.lines))
    assert offered(room) == ""
    await press_foot(room, fill.lines)
    assert answers(asked) == {"Sure?": "Yes"}


async def test_elsewhere_in_the_section_nothing_is_taken(room: Room) -> None:
    """There, <CR> does what it always does."""
    await working(room)
    room.store.save(SURE)
    asked = await room.ask("Sure?")
    section = room.shown()
    await room.do(p.Confirm(CHAT, section.section, section.lines, 0))
    assert not room.editor.every(p.Fill)
    assert not asked.done()


async def test_another_question_offers_nothing(room: Room) -> None:
    """One byte makes it another one."""
    await working(room)
    room.store.save(SURE)
    await room.ask("Sure? ")
    assert offered(room) == ""


async def test_a_question_can_be_discussed(room: Room) -> None:
    """The agent reads the text and goes on; asked again, the lines are as they were left."""
    await working(room)
    room.store.save(SURE)
    asked = await room.ask("Sure?")
    lines = kept(room.shown().lines, "No")
    await discuss(room, "what of it?", lines)
    said = response(asked)
    assert "\n\nwhat of it?\n\nSo far:\n- Sure? decided: No\n" in said
    assert "ask again" in said
    (freeze,) = room.editor.every(p.Freeze)
    assert freeze.lines[0].startswith("… Discussed: Sure? — what of it? · <CR> here asks again⟦")
    assert room.store.kept["s1"].state == "discussed"
    assert len(room.store.ledger) == 1

    asked = await room.ask("Sure?")
    assert offered(room) == "as you left it: No, <CR> here takes it"
    await press_foot(room, room.shown().lines)
    fill = room.editor.every(p.Fill)[-1]
    assert fill.lines == [line.replace("⟦s1=", "⟦s2=") for line in lines]
    await press_foot(room, fill.lines)
    assert answers(asked) == {"Sure?": "No"}


async def test_the_newer_of_discussion_and_answer_is_offered(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A discussion that led to an answer is over."""
    await working(room)
    await room.ask("Sure?")
    await discuss(room, "why?", kept(room.shown().lines, "No"))
    monkeypatch.setattr(FakeClock, "now", lambda self: 2000.0)
    await room.ask("Sure?")
    await room.answer("Yes")
    await room.ask("Sure?")
    assert offered(room).startswith("as on 1 Jan: Yes")


async def test_an_undecided_section_is_discussed_as_it_stands(room: Room) -> None:
    """The agent reads what was dropped and noted so far."""
    await working(room)
    asked = await room.ask("Sure?")
    lines = [line + " maybe" * line.startswith("Yes") for line in room.shown().lines]
    await discuss(room, "hm", lines)
    assert "- Sure? not decided; nothing dropped; Yes: maybe\n" in response(asked)


async def test_a_permission_can_be_discussed(room: Room) -> None:
    """It is denied for now, and not on record to be asked again by the user."""
    await working(room)
    asked = room.agent.ask(BASH)
    await room.settle()
    await discuss(room, "why?", room.shown().lines)
    assert not denied(asked).stop
    assert "then try again" in denied(asked).message
    assert room.editor.every(p.Freeze)[-1].lines == ["… Discussed: Bash — why?"]


async def test_a_reopened_question_is_discussed_by_message(room: Room) -> None:
    """Nobody waits for its answer, so the text goes out as the next message."""
    uuid = await working(room)
    await room.ask("Sure?")
    await room.cancel()
    await room.hear(TurnEnded([uuid], stopped=True))
    await room.do(p.Reopen(CHAT, "s1"))
    await discuss(room, "what of it?", room.shown().lines)
    (message,) = [text for text in room.agent.prompts if text != "Hi"]
    assert message.startswith("I want to discuss this before deciding:\n\nwhat of it?\n")
    assert "Sure?" in message


async def test_a_closed_section_is_not_discussed(room: Room) -> None:
    """It was closed while the user typed the text."""
    await working(room)
    await room.do(p.Discuss(CHAT, "s9", [], "why?"))
    assert room.editor.every(p.Say)[-1].text.startswith("This section is no longer open")
    assert room.editor.every(p.Refill)[-1].text == "why?"


async def test_decisions_are_shown_without_a_chat(room: Room) -> None:
    """All, or those that are asked for."""
    room.store.save(SURE, msgspec.structs.replace(SURE, question="Else?", chat="/else.md"))
    await room.do(p.Recall(), p.Recall(about="sure?"), p.Recall(path="/else.md"))
    pages = ["\n".join(effect.lines) for effect in room.editor.every(p.Decisions)]
    assert [(page.count("> Sure?"), page.count("> Else?")) for page in pages] == [
        (1, 1),
        (1, 1),  # "Else?" has that header
        (0, 1),
    ]


async def test_decisions_are_exported(room: Room) -> None:
    """As records, oldest first and without permissions, or as JSON with everything."""
    other = msgspec.structs.replace(SURE, header="Else")
    room.store.save(SURE, msgspec.structs.replace(SURE, kind="permission"), other)
    await room.do(p.Recall(export="/adr/"), p.Recall(export="/all.json"))
    records, whole = room.editor.every(p.Export)
    assert [file.name for file in records.files] == ["sure", "else"]
    assert len(msgspec.json.decode("\n".join(whole.files[0].lines))) == 3


async def test_a_replay_answers_at_once(room: Room) -> None:
    """The record is the usual one, and says that it was replayed; the ledger has it already."""
    room.replay(SURE)
    await working(room)
    asked = await room.ask("Sure?")
    assert answers(asked) == {"Sure?": "Yes"}
    assert room.editor.text == "|**Sure?**\n✓ Selected: Yes\n~~No~~\n↻ Replayed."
    assert room.store.kept["s1"].state == "answered"
    assert room.store.ledger == []


async def test_a_replay_does_not_guess(room: Room) -> None:
    """An unknown question ends the turn, and is named where it can be seen."""
    room.replay(SURE)
    await working(room)
    asked = await room.ask("Really?")
    assert denied(asked).stop
    assert "“Really?”" in denied(asked).message
    assert room.editor.text.startswith("|⚠ The replay has no answer to “Really?”")
    assert [(say.level, "Really?" in say.text) for say in room.editor.every(p.Say)] == [
        ("error", True)
    ]


@pytest.mark.parametrize(("command", "allowed"), [("ls", True), ("ls -a", False)])
async def test_a_replay_permits_only_the_same_call(room: Room, command: str, allowed: bool) -> None:
    """To the last letter."""
    permitted = Decision(
        "Claude wants to use Bash.\nls", ("Allow once", "Deny"), ("Allow once",), ("Deny",)
    )
    room.replay(permitted)
    await working(room)
    asked = room.agent.ask(a.Request("Bash", {"command": command}))
    await room.settle()
    assert isinstance(asked.result(), a.Allow) is allowed
