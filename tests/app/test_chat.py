"""The order in which a chat's buffer sees things, and where the user's messages stand in it."""

from __future__ import annotations

import pytest
from winnow import protocol as p
from winnow.core.agent import Notice, Pause, Text, Thinking, ToolFinished, TurnEnded
from winnow.core.steering import Taken, Withdrawn

from tests.app.fakes import BASH, CHAT, Room, answers, denied, response, working

# --- sections ---------------------------------------------------------------------------------


async def test_nothing_is_written_while_a_section_is_open(room: Room) -> None:
    """What comes meanwhile waits, and follows in order."""
    await working(room)
    await room.hear(Text("before"), Pause())
    asked = await room.ask("Sure?")
    assert room.editor.text == "|before"
    await room.hear(Text("af"), BASH, ToolFinished("t1", "out"), Notice("Mind."), Text("ter"))
    assert room.editor.text == "|before"
    await room.answer("Yes")
    assert answers(asked) == {"Sure?": "Yes"}
    assert room.editor.text == "|before|x|af|▸ Bash ls …|▸ Bash ls ✓|⚠ Mind.|ter"


async def test_two_questions_at_once(room: Room) -> None:
    """Each gets its own answer, and cancelling one does not stop the turn for the other."""
    await working(room)
    first, second, third = [await room.ask(f"Q{n}?") for n in (1, 2, 3)]
    assert [verdict.waiting for verdict in room.editor.every(p.Verdict)] == [0, 1, 2]
    await room.cancel()
    assert response(first) == "dismissed"
    assert room.editor.every(p.Verdict)[-1].waiting == 1
    await room.answer("No")
    assert answers(second) == {"Q2?": "No"}
    await room.cancel()
    assert denied(third).stop
    assert [section.section for section in room.editor.every(p.Section)] == ["s1", "s2", "s3"]


async def test_a_reopened_question_keeps_no_turn_alive(room: Room) -> None:
    """Only what the agent waits for does: else a cancelled turn would go on."""
    await working(room)
    await room.ask("Old?")
    await room.cancel()
    asked = await room.ask("New?")
    await room.do(p.Reopen(CHAT, "s1"))
    await room.cancel()
    assert denied(asked).stop
    assert room.shown().section == "s1"


@pytest.mark.parametrize("open_first", [True, False])
async def test_a_withdrawn_question_is_closed(room: Room, open_first: bool) -> None:
    """The agent no longer waits: its section says so, in its place."""
    await working(room)
    first, second = await room.ask("Q1?"), await room.ask("Q2?")
    (first if open_first else second).cancel()
    await room.settle()
    assert room.editor.every(p.Verdict)[-1].waiting == 0
    await room.answer("Yes")
    assert answers(second if open_first else first)
    said = [line for freeze in room.editor.every(p.Freeze) for line in freeze.lines]
    said += [write.text for write in room.editor.every(p.Write)]
    assert sum(line.startswith("✗ No longer open: Q") for line in said) == 1


async def test_a_subagents_question_splits_no_paragraph_twice(room: Room) -> None:
    """What the agent goes on to say stands after the section, as one paragraph."""
    await working(room)
    await room.hear(Text("one "))
    await room.ask("Sure?", agent_id="a1")
    await room.hear(Text("two "))
    await room.answer("Yes")
    await room.hear(Text("three"))
    assert room.editor.text == "|one |x|two three"


# --- the draft --------------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", [Pause(), TurnEnded()])
async def test_what_steers_is_taken_at_the_next_boundary(
    room: Room, boundary: Pause | TurnEnded
) -> None:
    """Once, and what comes between taking and sending waits."""
    await working(room)
    await room.hear(Text("Hel"))
    await room.do(p.Queue(CHAT, now=True), p.Queue(CHAT, now=True))
    await room.hear(Text("lo"))
    assert not room.editor.every(p.Take)
    await room.hear(boundary, Text("Good"))
    await room.do(p.Queue(CHAT, now=True))
    assert room.editor.text == "|Hello"
    await room.send("Next")
    await room.hear(Text("bye"), Pause())
    assert room.editor.text == "|Hello|Goodbye"
    assert len(room.editor.every(p.Take)) == 1
    assert "Next" in room.agent.prompts


async def test_what_is_queued_waits_for_the_end_of_the_turn(room: Room) -> None:
    """Each message gets one of its own: Claude Code would glue together what waits there."""
    await working(room)
    await room.hear(Text("Hello"), Pause())
    await room.do(p.Queue(CHAT))
    assert not room.editor.every(p.Take)
    await room.hear(TurnEnded())
    assert len(room.editor.every(p.Take)) == 1
    await room.send("One")
    await room.do(p.Queue(CHAT))
    assert len(room.editor.every(p.Take)) == 1
    await room.hear(Text("Well"), TurnEnded())
    assert len(room.editor.every(p.Take)) == 2


@pytest.mark.parametrize("told", [True, False])
async def test_one_message_at_a_time_goes_into_a_turn(room: Room, told: bool) -> None:
    """The next one when the agent tells that it is taken; at the latest when the turn is over."""
    await working(room)
    await room.hear(Text("Hello"), Pause())
    await room.do(p.Queue(CHAT, now=True))
    await room.send("One")
    await room.do(p.Queue(CHAT, now=True))
    assert len(room.editor.every(p.Take)) == 1
    id = room.agent.prompts["One"]
    await room.hear(Taken(id) if told else TurnEnded([room.agent.prompts["Hi"], id]))
    assert [taken.messages for taken in room.editor.every(p.Taken)] == [[id]] * told
    assert len(room.editor.every(p.Take)) == 2


@pytest.mark.parametrize("end", [TurnEnded(stopped=True), TurnEnded(error="It failed.")])
async def test_after_a_turn_that_failed_nothing_goes_by_itself(room: Room, end: TurnEnded) -> None:
    await working(room)
    await room.hear(Text("Hello"), Pause())
    await room.do(p.Queue(CHAT, number=3))
    await room.hear(end)
    assert not room.editor.every(p.Take)
    assert [hold.number for hold in room.editor.every(p.Hold)] == [3]


async def test_what_a_stopped_turn_did_not_take_comes_back(room: Room) -> None:
    """As a message of its own."""
    await working(room)
    await room.hear(Text("Hello"), Pause())
    await room.do(p.Queue(CHAT, now=True))
    await room.send("One")
    id = room.agent.prompts["One"]
    await room.hear(Withdrawn([id]), TurnEnded([room.agent.prompts["Hi"]], stopped=True))
    assert [(refill.text, refill.messages) for refill in room.editor.every(p.Refill)] == [
        ("One", [id])
    ]
    assert room.editor.states[-1] == "idle"


async def test_a_draft_waits_for_the_connection(room: Room) -> None:
    """Written before the agent was there, it is its first prompt; the state tells."""
    room.chats.handle(p.Open(CHAT, "/chat.md", "/"))
    await room.do(p.Queue(CHAT))
    await room.send("Hi")
    await room.hear(Text("Hello"), TurnEnded())
    assert list(room.agent.prompts) == ["Hi"]
    assert room.editor.states == ["connecting", "working", "idle"]


async def test_a_draft_waits_for_the_section(room: Room) -> None:
    """It goes out once the question is answered, after what was said meanwhile."""
    await working(room)
    asked = await room.ask("Sure?")
    await room.do(p.Queue(CHAT, now=True))
    await room.ask("Really?")
    await room.answer("Yes")
    assert not room.editor.every(p.Take)
    await room.answer("Yes")
    assert len(room.editor.every(p.Take)) == 1
    assert asked.done()


@pytest.mark.parametrize("cut", range(1, 58))
async def test_a_long_id_is_bent_wherever_it_is_cut(room: Room, cut: int) -> None:
    """Longer than any of ours, it is a marker to the editor all the same."""
    marker = f"⟦{'a' * 50}=1=1⟧"
    await working(room)
    await room.hear(Text(marker[:cut]), Text(marker[cut:]), Pause())
    assert "⟦" not in room.editor.text


async def test_a_mode_is_set_before_what_is_said_in_it(room: Room) -> None:
    """However long the agent takes for it, and though it can be stopped meanwhile."""
    await room.open()
    room.agent.willing.clear()
    await room.do(p.SetMode(CHAT, "acceptEdits"))
    await room.send("Go on")
    await room.do(p.Stop(CHAT))
    assert (list(room.agent.prompts), room.agent.interrupts) == ([], 0)
    room.agent.willing.set()
    await room.settle()
    assert (list(room.agent.prompts), room.agent.interrupts) == (["Go on"], 1)


async def test_no_message_splits_a_sentence(room: Room) -> None:
    """A subagent's section closes while the agent speaks: the draft goes on waiting."""
    await working(room)
    await room.hear(Text("Hel"))
    await room.ask("Sure?", agent_id="a1")
    await room.do(p.Queue(CHAT, now=True))
    await room.answer("Yes")
    assert not room.editor.every(p.Take)
    await room.hear(Text("lo"), Pause())
    assert len(room.editor.every(p.Take)) == 1


async def test_an_empty_draft_changes_nothing(room: Room) -> None:
    """The user emptied it before it was taken: the chat goes on."""
    await working(room)
    await room.hear(TurnEnded())
    await room.do(p.Queue(CHAT))
    await room.hear(Text("by the way"))
    await room.send("")
    assert room.editor.text == "|by the way"
    assert list(room.agent.prompts) == ["Hi"]


# --- turns ------------------------------------------------------------------------------------


async def test_one_result_may_answer_two_prompts(room: Room) -> None:
    """A prompt sent into a running turn becomes part of it, so no second result comes."""
    first = await working(room)
    await room.hear(Pause())
    await room.send("And")
    await room.hear(TurnEnded([first, room.agent.prompts["And"]]))
    assert room.editor.states == ["connecting", "idle", "working", "idle"]


async def test_a_background_result_answers_no_prompt(room: Room) -> None:
    """The agent woke up by itself while a prompt was on its way."""
    uuid = await working(room)
    await room.hear(Text("done in the background"), TurnEnded(["task"]))
    assert room.editor.states[-1] == "working"
    await room.hear(TurnEnded([uuid]))
    assert room.editor.states[-1] == "idle"


async def test_speech_without_a_prompt_is_work(room: Room) -> None:
    """The chat follows an agent that speaks by itself."""
    await room.open()
    await room.hear(Text("News"), TurnEnded())
    assert room.editor.states == ["connecting", "idle", "working", "idle"]


async def test_a_stopped_turn_leaves_no_tool_running(room: Room) -> None:
    """Its tools get no result any more."""
    await working(room)
    await room.hear(BASH)
    await room.do(p.Stop(CHAT))
    assert room.agent.interrupts == 1
    await room.hear(TurnEnded(stopped=True))
    assert room.editor.text == "|▸ Bash ls …|▸ Bash ls ✗|■ Stopped."


async def test_stop_without_a_turn_says_so(room: Room) -> None:
    """There is nothing to interrupt."""
    await room.open()
    await room.do(p.Stop(CHAT))
    assert room.agent.interrupts == 0
    assert room.editor.every(p.Say)


async def test_stop_settles_all_that_waits(room: Room) -> None:
    """The agent cancels none of its 27 requests, and still each is settled, once."""
    uuid = await working(room)
    asked = [await room.ask(f"Q{n}?") for n in range(27)]
    await room.do(p.Stop(CHAT))
    assert all(denied(task).stop for task in asked)
    assert len(room.editor.every(p.Section)) == 1
    assert {section.state for section in room.store.kept.values()} == {"cancelled"}
    await room.hear(TurnEnded([uuid], stopped=True))
    assert room.editor.states[-1] == "idle"
    await room.send("Again")
    assert "Again" in room.agent.prompts


# --- what is shown ----------------------------------------------------------------------------


async def test_thinking_starts_anew_after_an_interruption(room: Room) -> None:
    """A notice stands between two thoughts, so the second has a title of its own."""
    await working(room)
    await room.hear(Thinking("hm"), Thinking("m\nyes"), Notice("Mind."), Thinking("so"))
    assert room.editor.text == "|✻ Thinking\n│ hmm\n│ yes|⚠ Mind.|✻ Thinking\n│ so"


@pytest.mark.parametrize("cut", range(1, 22))
async def test_no_marker_comes_in_pieces(room: Room, cut: int) -> None:
    """The agent's text can't forge a marker, wherever the stream is cut."""
    marker = "⟦s1=1=1⟧\r\nx <"
    await working(room)
    await room.hear(Text(marker[:cut]), Text(marker[cut:]), Pause())
    assert room.editor.text.replace("›", ">") == "|‹s1=1=1⟧\nx <"
