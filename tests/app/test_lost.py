"""Agents that fail, questions that outlive them, and answers that come late."""

from __future__ import annotations

import msgspec
import pytest
from winnow import protocol as p
from winnow.core.agent import Pause, Text, TurnEnded
from winnow.ports import AgentError, SessionGone

from tests.app.fakes import BASH, CHAT, Room, answers, kept, working

DIED = AgentError("It died.")


def notices(room: Room) -> list[str]:
    """What the chat says went wrong."""
    return [write.text for write in room.editor.every(p.Write) if write.text.startswith("⚠")]


async def late(room: Room, text: str = "Old?") -> None:
    """An idle chat with the record of a question that was cancelled."""
    await working(room)
    await room.ask(text)
    await room.cancel()
    await room.hear(TurnEnded(stopped=True))


# --- agents that fail -------------------------------------------------------------------------


async def test_a_failed_connection_is_told_once_and_tried_again(room: Room) -> None:
    """Even if the user pressed <CR> meanwhile; the next <CR> makes a new agent."""
    room.problems.append("No such CLI.")
    room.chats.handle(p.Open(CHAT, "/chat.md", "/"))
    await room.do(p.Queue(CHAT))
    assert notices(room) == ["⚠ No such CLI."]
    await room.do(p.Queue(CHAT))
    await room.send("Hi")
    assert len(room.agents) == 2
    assert "Hi" in room.agent.prompts
    assert room.editor.states == ["connecting", "failed", "connecting", "working"]


@pytest.mark.parametrize("spoke", [True, False])
async def test_an_agent_that_dies_gives_back_what_it_did_not_take(room: Room, spoke: bool) -> None:
    """Output shows that it got the prompt; without, the prompt is a draft again."""
    await working(room)
    await room.do(p.Queue(CHAT))
    await room.send("")
    await room.hear(*[Text("Hel")] * spoke, DIED)
    assert [refill.text for refill in room.editor.every(p.Refill)] == ["Hi"] * (not spoke)
    assert notices(room) == ["⚠ It died."]
    assert room.editor.states[-1] == "failed"
    assert room.agent.closed
    await room.settle()
    assert len(room.agents) == 1  # until the user wants one


async def test_an_agent_that_cannot_be_told_is_lost_once(room: Room) -> None:
    """Its stream ends, too, and says the same again."""
    await room.open()
    room.agent.deaf = True
    await room.send("Hi")
    await room.hear(DIED)
    assert notices(room) == ["⚠ It does not listen."]
    assert [refill.text for refill in room.editor.every(p.Refill)] == ["Hi"]
    await room.do(p.Queue(CHAT))
    await room.send("Hi")
    assert "Hi" in room.agent.prompts


async def test_a_dead_agents_section_can_be_asked_again(room: Room) -> None:
    """The section says so; a tool that ran is marked; the queued draft stays a draft."""
    await working(room)
    await room.hear(BASH)
    await room.ask("Sure?")
    await room.do(p.Queue(CHAT))
    await room.hear(DIED)
    [freeze] = room.editor.every(p.Freeze)
    assert freeze.lines[0].startswith("✗ No longer open: Sure?")
    assert room.editor.text == "|▸ Bash ls …|x|▸ Bash ls ✗|⚠ It died."
    assert not room.editor.every(p.Take)
    await room.do(p.Reopen(CHAT, "s1"))
    assert room.shown().focus


async def test_a_message_sent_to_a_dead_agent_is_a_draft_again(room: Room) -> None:
    """It was under way from the editor when the agent died."""
    await working(room)
    await room.hear(Pause())
    await room.do(p.Queue(CHAT))
    await room.hear(Text("Hel"), DIED)
    await room.send("And")
    assert [refill.text for refill in room.editor.every(p.Refill)] == ["And"]
    assert room.editor.states[-1] == "failed"


async def test_a_quiet_end_is_no_failure(room: Room) -> None:
    """An idle agent that ends is made again when it is wanted, in the same session."""
    await room.open(session="abc")
    assert room.editor.states == ["asleep"]
    await room.do(p.Queue(CHAT))
    await room.send("")
    await room.hear(None)
    assert room.editor.states[-1] == "asleep"
    assert notices(room) == []
    await room.do(p.Queue(CHAT))
    assert [agent.spec.session for agent in room.agents] == ["abc", "abc"]


async def test_a_session_that_is_gone_is_given_up(room: Room) -> None:
    """The next agent starts a new one."""
    await room.open(session="abc")
    await room.do(p.Queue(CHAT))
    await room.send("")
    await room.hear(SessionGone("It is gone."))
    await room.do(p.Queue(CHAT))
    assert room.agent.spec.session == ""
    assert {"session": ""} in [meta.values for meta in room.editor.every(p.Meta)]


async def test_a_bug_costs_one_agent(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, and the next agent works."""
    await working(room)
    with monkeypatch.context() as broken:
        broken.setattr("winnow.core.transcript.rendering.tool_line", None)
        await room.hear(BASH)
    assert notices(room) == ["⚠ Winnow failed inside; :Winnow log has the details."]
    await room.do(p.Queue(CHAT))
    await room.send("Hi")
    await room.hear(Text("Hello"))
    assert room.editor.text.endswith("|Hello")


async def test_closing_denies_what_waits(room: Room) -> None:
    """The agent hears why, and is closed; the questions are open again with the chat."""
    await working(room)
    asked = [await room.ask("Q1?"), await room.ask("Q2?")]
    shown = len(room.editor.effects)
    await room.do(p.Close(CHAT))
    assert {task.exception() for task in asked} == {None}
    assert room.agent.closed
    assert {section.state for section in room.store.kept.values()} == {"open"}
    assert len(room.editor.effects) == shown


# --- late answers -----------------------------------------------------------------------------


async def test_a_reopened_section_has_the_users_lines(room: Room) -> None:
    """Asking twice opens it once; an answered one says so."""
    await working(room)
    asked = await room.ask("Sure?")
    lines = [*kept(room.shown().lines, "No"), "my own"]
    await room.do(p.Edit(CHAT, "s1", lines))
    asked.cancel()
    await room.settle()
    await room.do(p.Reopen(CHAT, "s1"), p.Reopen(CHAT, "s1"))
    assert room.shown().lines == lines
    assert len(room.editor.every(p.Section)) == 2
    await room.answer("No")
    await room.do(p.Reopen(CHAT, "s1"), p.Reopen(CHAT, "none"))
    assert [say.text for say in room.editor.every(p.Say)] == [
        "This question was answered.",
        "This question is not on record any more.",
    ]


async def test_edits_that_cross_the_end_of_a_section_are_kept(room: Room) -> None:
    """They are there again when it is reopened; those of an answered one are too late."""
    await working(room)
    await room.ask("Sure?")
    lines = [*kept(room.shown().lines, "No"), "my own"]
    await room.do(p.Stop(CHAT), p.Edit(CHAT, "s1", lines), p.Reopen(CHAT, "s1"))
    assert room.shown().lines == lines
    await room.answer("No")
    stored = room.store.kept["s1"]
    await room.do(p.Edit(CHAT, "s1", ["else"]), p.Edit(CHAT, "none", ["else"]))
    assert room.store.kept["s1"] == stored


async def test_a_crash_between_an_answer_and_its_record(room: Room) -> None:
    """The answer was given, and the chat says which."""
    await working(room)
    await room.ask("Sure?")
    await room.answer("No")
    await room.do(p.Close(CHAT))
    await room.open(session="abc", sections=["s1"])
    assert "✓ Selected: No" in room.editor.every(p.Freeze)[-1].lines


async def test_a_section_emptied_and_cancelled_is_asked_anew(room: Room) -> None:
    """With nothing left in it, there would be nothing to answer with."""
    await working(room)
    await room.ask("Sure?")
    rendered = room.shown().lines
    await room.do(p.Cancel(CHAT, "s1", [""]), p.Reopen(CHAT, "s1"))
    assert room.shown().lines == rendered


async def test_a_late_answer_is_the_next_message(room: Room) -> None:
    """An idle agent gets it at once, and it stands in the chat."""
    await late(room)
    await room.do(p.Reopen(CHAT, "s1"))
    await room.answer("Yes")
    [message] = [text for text in room.agent.prompts if text != "Hi"]
    assert "> Old?" in message
    assert "Answer: Yes" in message
    assert room.editor.text.endswith(f"|x|## You\n\n{message}\n\n## Claude")
    await room.hear(Text("Good"))
    assert room.editor.text.endswith("## Claude|Good")


async def test_a_late_answer_waits_for_a_boundary(room: Room) -> None:
    """As any message: not within a sentence, not before the section that came first."""
    await late(room)
    await room.send("Go on")
    await room.hear(Text("Hel"))
    await room.do(p.Reopen(CHAT, "s1"))
    asked = await room.ask("New?", agent_id="a1")
    await room.answer("Yes")
    await room.hear(Text("lo"))
    assert len(room.agent.prompts) == 2
    await room.hear(Pause())
    await room.answer("No")
    assert answers(asked) == {"New?": "No"}
    assert len(room.agent.prompts) == 3
    assert "|x|lo|## You" in room.editor.text


async def test_a_late_answer_brings_an_agent(room: Room) -> None:
    """If none can be had, the answer is a draft: <CR> sends it, now or another day."""
    await late(room)
    await room.hear(DIED)
    room.problems.append("Not yet.")
    await room.do(p.Reopen(CHAT, "s1"))
    await room.answer("Yes")
    assert room.editor.states[-1] == "failed"
    assert "Answer: Yes" in room.editor.every(p.Refill)[-1].text
    await room.do(p.Queue(CHAT))
    assert not room.agent.prompts


async def test_a_late_answer_waits_for_the_agent_to_connect(room: Room) -> None:
    """The first that connects gets it."""
    await late(room)
    await room.hear(DIED)
    await room.do(p.Reopen(CHAT, "s1"))
    await room.answer("Yes")
    [message] = room.agent.prompts
    assert "Answer: Yes" in message


async def test_an_answer_that_crosses_a_cancel_goes_out_as_a_message(room: Room) -> None:
    """The user answered in the moment in which the agent gave up."""
    await working(room)
    asked = await room.ask("Sure?")
    section = room.shown()
    lines = kept(section.lines, "Yes")
    room.chats.handle(p.Confirm(CHAT, section.section, lines, len(lines) - 1))
    asked.cancel()
    await room.settle()
    assert asked.cancelled()
    assert any("Answer: Yes" in text for text in room.agent.prompts)


async def test_a_dead_agent_closes_no_reopened_section(room: Room) -> None:
    """Nobody waited for it, so it goes on."""
    await late(room)
    await room.do(p.Reopen(CHAT, "s1"))
    await room.hear(DIED)
    assert room.shown().section == "s1"


# --- buffers that are read again --------------------------------------------------------------


async def test_a_buffer_read_again_keeps_its_section(room: Room) -> None:
    """After `:e!` the section is judged where it stands, or shown again where it doesn't."""
    await working(room)
    asked = await room.ask("Sure?")
    await room.open(sections=["s1"])
    assert len(room.editor.every(p.Section)) == 1
    await room.open()
    assert room.shown().section == "s1"
    await room.answer("Yes")
    assert answers(asked)


@pytest.mark.parametrize(
    ("state", "record"),
    [
        ("cancelled", "✗ No longer open: Sure?"),
        ("answered", "✓ This question was answered."),
        ("", "⚠ A question stood here that is not on record any more."),
    ],
)
async def test_a_section_left_by_a_crash(room: Room, state: str, record: str) -> None:
    """A new host closes what nobody waits for any more."""
    await working(room)
    await room.ask("Sure?")
    stored = room.store.kept.pop("s1")
    await room.do(p.Close(CHAT))
    room.store.kept.clear()
    if state:
        room.store.save(msgspec.structs.replace(stored, state=state, lines=[]))
    await room.open(session="abc", sections=["s1"])
    assert room.editor.every(p.Freeze)[-1].lines[0].startswith(record)


async def test_sections_left_by_a_crash_are_open_again(room: Room) -> None:
    """With their edits, and in their order, also one that had not been shown."""
    await working(room)
    await room.ask("Q1?")
    await room.ask("Q2?")
    lines = kept(room.shown().lines, "No")
    await room.do(p.Edit(CHAT, "s1", lines))
    await room.do(p.Close(CHAT))
    room.editor.section = None
    await room.open(session="abc", sections=["s1"])
    assert not room.editor.every(p.Freeze)
    await room.do(p.Confirm(CHAT, "s1", lines, len(lines) - 1))
    assert "Q2?" in room.shown().lines[1]
    assert "✓ Selected: No" in room.editor.every(p.Freeze)[-1].lines
