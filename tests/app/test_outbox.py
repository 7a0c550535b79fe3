"""The user's words until the agent has them: over lost agents, closed chats and slow disks."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from winnow import protocol as p
from winnow.app.outbox import WITH_NEXT, Outbox
from winnow.core import agent as a
from winnow.core.agent import Text, ToolFinished, TurnEnded
from winnow.ports import AgentError, Message, SessionGone

from tests.app.fakes import BASH, CHAT, MemoryStore, Room, answers, kept, working

DIED = AgentError("It died.")
CALL = "toolu_1"


async def asks(room: Room, text: str = "Sure?") -> a.Request:
    """A chat whose agent waits for an answer, as the result of a call."""
    await working(room)
    options = [{"label": "Yes"}, {"label": "No"}]
    asked = {"question": text, "header": text, "options": options}
    request = a.Request("AskUserQuestion", {"questions": [asked]}, CALL)
    room.agent.ask(request)
    await room.settle()
    return request


def refilled(room: Room) -> list[str]:
    """What was given back as a draft."""
    return [refill.text for refill in room.editor.every(p.Refill)]


def undelivered(room: Room) -> list[str]:
    """What the store has of it."""
    return [message.text for message in room.store.letters.values()]


async def test_an_answer_is_undelivered_until_the_turn_is_over(room: Room) -> None:
    """It is in the store from the moment that it is decided, with the decision."""
    await asks(room)
    assert undelivered(room) == ["Hi"]
    await room.answer("Yes")
    assert "Answer: Yes" in undelivered(room)[1]
    assert len(room.store.ledger) == 1
    await room.hear(ToolFinished(CALL, "Yes"), TurnEnded())
    assert undelivered(room) == []
    assert refilled(room) == []


@pytest.mark.parametrize("end", [p.Close(CHAT), None])
@pytest.mark.parametrize("heard", [True, False])
async def test_an_answer_is_sent_again_unless_it_was_heard(
    room: Room, end: p.Event | None, heard: bool
) -> None:
    """Its chat was closed, or the host ended: the session tells."""
    await asks(room)
    await room.answer("Yes")
    prompt = room.agent.prompts["Hi"]
    if end:
        await room.do(end)
    else:
        await room.chats.close()
        room.chats = type(room.chats)(room.world)
    room.known = {prompt: "", **({CALL: ""} if heard else {})}
    await room.open(session="abc")
    late = [text for text in room.agent.prompts if "Answer: Yes" in text]
    assert len(late) == (not heard)
    assert room.agent.commands == set()
    await room.hear(TurnEnded())
    assert undelivered(room) == []
    assert refilled(room) == []


async def test_a_message_that_nobody_heard_is_the_draft_again(room: Room) -> None:
    """It stays in the store until the draft is in its file."""
    await working(room)
    await room.do(p.Close(CHAT))
    await room.open(session="abc")
    [refill] = room.editor.every(p.Refill)
    assert refill.text == "Hi"
    assert undelivered(room) == ["Hi"]
    assert not room.agent.prompts
    await room.do(p.Refilled(CHAT, refill.messages))
    assert undelivered(room) == []


async def test_a_message_that_no_host_has_got_is_the_draft_again(room: Room) -> None:
    """The host ended before it read what the editor had sent."""
    opened = p.Open(CHAT, "/chat.md", "/", session="abc", sent=[p.Sent("u1", "Hi")])
    await room.do(opened)
    assert refilled(room) == ["Hi"]
    await room.do(p.Close(CHAT))
    room.known = {"u1": ""}
    await room.do(opened)
    assert refilled(room) == ["Hi"]


async def test_a_session_that_ended_in_its_first_turn_begins_anew(room: Room) -> None:
    """It is not on record, so there is nothing to resume, and no error."""
    await working(room)
    room.agent.known = room.known = None
    await room.hear(a.Started("abc"), DIED)
    assert refilled(room) == ["Hi"]
    await room.do(p.Queue(CHAT))
    await room.send("Hi")
    assert room.agent.spec.session == ""
    assert "Hi" in room.agent.prompts


async def test_a_first_turn_that_a_restart_ended_begins_anew(room: Room) -> None:
    """The file names a session that Claude Code never wrote."""
    await working(room)
    await room.do(p.Close(CHAT))
    room.known = None
    await room.open(session="abc")
    assert [agent.spec.session for agent in room.agents[1:]] == ["abc", ""]
    assert refilled(room) == ["Hi"]


async def test_a_session_that_is_gone_gives_the_answer_back(room: Room) -> None:
    """There is nothing to send it to: it is the draft."""
    await asks(room)
    await room.answer("Yes")
    await room.do(p.Close(CHAT))
    room.store.letters = {
        id: message for id, message in room.store.letters.items() if not message.own
    }
    room.problems.append("It is gone.")
    await room.open(session="abc")
    assert ["Answer: Yes" in text for text in refilled(room)] == [True]
    assert not room.agent.prompts


async def test_what_is_sent_is_not_given_back_too(room: Room) -> None:
    """An agent that dies after its session has the answer: only the other message comes back."""
    await asks(room)
    await room.answer("Yes")
    assert room.agent.known is not None
    room.agent.known.update({CALL: "", room.agent.prompts["Hi"]: ""})
    await room.hear(DIED)
    assert refilled(room) == []
    assert undelivered(room) == []


async def test_words_of_a_discussion_arrive(room: Room) -> None:
    """In turn they are the result of a call; a refusal of it is none of theirs."""
    await asks(room)
    section = room.shown()
    await room.do(p.Discuss(CHAT, section.section, section.lines, "why?"))
    await room.hear(ToolFinished(CALL, "Interrupted.", failed=True), TurnEnded(stopped=True))
    assert ["I want to discuss" in text for text in refilled(room)] == [True]


async def test_words_of_a_discussion_arrive_once(room: Room) -> None:
    """The result holds them."""
    await asks(room)
    section = room.shown()
    await room.do(p.Discuss(CHAT, section.section, section.lines, "why?"))
    await room.hear(ToolFinished(CALL, "The user responded: …"), TurnEnded())
    assert refilled(room) == []
    assert undelivered(room) == []


async def test_only_what_the_user_wrote_may_be_a_command(room: Room) -> None:
    """An answer never is, whatever it begins with."""
    await working(room, "/compact")
    assert room.agent.commands == {"/compact"}
    asked = await room.ask("Sure?")
    await room.cancel()
    await room.hear(TurnEnded(stopped=True))
    await room.do(p.Reopen(CHAT, "s1"))
    lines = ["/deploy", *kept(room.shown().lines, "Yes")]
    await room.do(p.Confirm(CHAT, "s1", lines, len(lines) - 1))
    assert asked.done()
    assert len(room.agent.prompts) == 2
    assert room.agent.commands == {"/compact"}


# --- slow disks -----------------------------------------------------------------------------------


async def test_a_question_is_shown_when_it_is_on_disk(room: Room) -> None:
    """What came before it is shown at once, what comes after waits; other chats do not."""
    await working(room)
    room.store.gate.clear()
    await room.hear(Text("Hm."))
    await room.ask("Sure?")
    await room.hear(Text("Else."))
    assert room.editor.section is None
    assert room.editor.text == "|Hm."
    await room.do(p.Open(CHAT + 1, "/else.md", "/"))
    await room.do(p.Send(CHAT + 1, "Hello"))
    assert "Hello" in room.agents[1].prompts
    room.store.gate.set()
    await room.settle()
    assert room.shown().section == "s1"
    await room.answer("Yes")
    assert room.editor.text == "|Hm.|x|Else."


@pytest.mark.parametrize("given_up", [False, True])
async def test_a_chat_that_closes_waits_for_no_disk(room: Room, given_up: bool) -> None:
    """Whoever ends the loop next finds no task that waits for it."""
    await working(room)
    room.store.gate.clear()
    asked = await room.ask("Sure?")
    if given_up:
        asked.cancel()
        await room.settle()
    await room.do(p.Close(CHAT))
    assert "Shelf" not in repr(asyncio.all_tasks())
    assert room.store.kept["s1"].state == ("expired" if given_up else "open")
    room.store.gate.set()


async def test_an_answer_does_not_wait_for_the_disk(room: Room) -> None:
    """The agent gets it at once, and its record is shown."""
    await working(room)
    asked = await room.ask("Sure?")
    room.store.gate.clear()
    await room.answer("Yes")
    assert answers(asked) == {"Sure?": "Yes"}
    await room.hear(BASH)
    assert room.editor.text.endswith("|x|▸ Bash ls …")
    room.store.gate.set()


async def test_a_chat_works_before_the_store_can_be_read(room: Room) -> None:
    """What is done with sections of an earlier day waits; new ones do not."""
    await asks(room)
    await room.do(p.Close(CHAT))
    room.store.gate.clear()
    await room.open()
    await room.do(p.Reopen(CHAT, "s1"))
    await room.send("Hello")
    assert "Hello" in room.agent.prompts
    assert room.editor.section is None
    room.store.gate.set()
    await room.settle()
    assert room.shown().section == "s1"


async def test_a_ledger_that_cannot_be_read_costs_the_offer(room: Room) -> None:
    """The question is asked all the same."""
    await working(room)
    room.store.broken = True
    await room.ask("Sure?")
    assert room.shown().section == "s1"
    await room.do(p.Recall())
    assert [said.text for said in room.editor.every(p.Notify)] == ["It is broken."]


async def test_a_store_that_cannot_be_read_costs_only_what_is_in_it(room: Room) -> None:
    """The chat says so, and goes on."""
    room.store.broken = True
    await room.open()
    await room.do(p.Reopen(CHAT, "s9"))
    said = [say.text for say in room.editor.every(p.Say)]
    assert said == ["It is broken.", "This question is not on record any more."]
    await room.send("Hi")
    assert "Hi" in room.agent.prompts


async def test_a_section_is_found_in_its_chat_only(room: Room) -> None:
    """Another chat with the same marker in its text neither shows nor changes it."""
    await working(room)
    await room.ask("Sure?")
    stored = room.store.kept["s1"]
    other = CHAT + 1
    await room.do(p.Open(other, "/else.md", "/", session="abc", sections=["s1"]))
    await room.do(p.Edit(other, "s1", ["mine"]), p.Reopen(other, "s1"))
    await room.do(p.Confirm(other, "s1", [], 0), p.Cancel(other, "s1", []))
    await room.do(p.Grant(other, "s1", "allow"), p.Discuss(other, "s1", [], "x"))
    assert room.store.kept["s1"] == stored
    theirs = [freeze.lines for freeze in room.editor.every(p.Freeze) if freeze.chat == other]
    assert "not on record" in theirs[0][0]
    room.editor.section = next(s for s in room.editor.every(p.Section) if s.chat == CHAT)
    assert not any(section.chat == other for section in room.editor.every(p.Section))


async def test_a_confirmed_answer_outlives_the_host(room: Room) -> None:
    """It had not acted on the `<CR>`; the next one does, unless it is no answer yet."""
    await asks(room)
    section = room.shown()
    await room.do(p.Close(CHAT))
    lines = kept(section.lines, "Yes")
    opened = p.Open(CHAT, "/chat.md", "/", session="abc", sections=["s1"], lines=lines)
    await room.do(msgspec.structs.replace(opened, confirmed=len(lines) - 1))
    assert ["Answer: Yes" in text for text in room.agent.prompts] == [True]
    assert "✓ Selected: Yes" in room.editor.every(p.Freeze)[-1].lines
    assert len(room.store.ledger) == 1


async def test_keeping_one_option_is_not_acted_on_before_it_is_answered(room: Room) -> None:
    """The editor deletes the others and presses <CR> by itself: a crash may lose that, too."""
    await asks(room)
    section = room.shown()
    row = next(row for row, line in enumerate(section.lines) if line.startswith("No"))
    press = p.Confirm(CHAT, section.section, section.lines, row)
    await room.do(press)
    assert room.editor.every(p.Verdict)[-1].acted
    await room.do(press)
    assert room.editor.every(p.Delete)
    assert not room.editor.every(p.Verdict)[-1].acted


@pytest.mark.parametrize("heard", [True, False])
async def test_a_confirmed_answer_that_was_heard_is_not_sent_again(room: Room, heard: bool) -> None:
    """The host ended after Claude Code had it, and before the store or the editor knew."""
    await asks(room)
    section = room.shown()
    await room.do(p.Close(CHAT))
    room.known = {CALL: "" if heard else "Interrupted."}
    lines = kept(section.lines, "Yes")
    opened = p.Open(CHAT, "/chat.md", "/", session="abc", sections=["s1"], lines=lines)
    await room.do(msgspec.structs.replace(opened, confirmed=len(lines) - 1))
    assert ["Answer: Yes" in text for text in room.agent.prompts] == [True] * (not heard)
    assert "✓ Selected: Yes" in room.editor.every(p.Freeze)[-1].lines
    assert len(room.store.ledger) == 1


@pytest.mark.parametrize("heard", [True, False])
async def test_what_was_discussed_and_heard_is_no_draft(room: Room, heard: bool) -> None:
    """The editor does not know that the store has it, since the host ended."""
    await asks(room)
    await room.do(p.Close(CHAT))
    room.editor.section = None
    room.known = {CALL: "The user wants to discuss this:\n\nwhy?" if heard else "Interrupted."}
    sent = [p.Sent("u1", "why?", "s1")]
    await room.do(p.Open(CHAT, "/chat.md", "/", session="abc", sent=sent))
    assert ("why?" in "".join(refilled(room))) == (not heard)


async def test_a_clock_that_goes_back_changes_no_order(room: Room) -> None:
    """What was asked later waits after what was asked before."""
    await working(room)
    await room.ask("First?")
    room.clock.time -= 3600
    await room.ask("Second?", agent_id="a1")
    assert room.editor.status is not None
    first, second = room.editor.status.pending
    assert (first.title, second.title) == ("First?", "Second?")
    assert first.since <= second.since


# --- the object -----------------------------------------------------------------------------------


async def test_what_goes_along_arrives_with_its_message() -> None:
    """It is told once; if that did not arrive, with the next one, but not with a command."""
    store = MemoryStore()
    outbox = Outbox("/chat.md", store)
    outbox.hold(outbox.message("By the way.", about=WITH_NEXT))
    assert outbox.write("/compact", "one")[1] == []
    [along] = outbox.write("Hi", "two")[1]
    assert along.text == "By the way."
    assert [m.text for m in outbox.lost({"one": ""})] == ["Hi"]
    [along] = outbox.write("Hi", "three")[1]
    again = Outbox("/chat.md", store)  # after a crash
    again.find([along])
    assert again.sort({"three": ""}) == []
    assert again.write("Well?")[1] == []
    assert outbox.answered(["three"]) == []
    assert outbox.write("Well?")[1] == []


async def test_each_message_comes_back_once() -> None:
    """From whatever state, and what was heard does not."""
    store = MemoryStore()
    outbox = Outbox("/chat.md", store)
    outbox.find([Message("found", "/chat.md", "1")])
    outbox.queue(Message("queued", "/chat.md", "2"))
    outbox.write("3", "sent")
    outbox.write("4", "heard")
    outbox.give(Message("given", "/chat.md", "5", call="c1"))
    outbox.give(Message("missed", "/chat.md", "6", call="c2"))
    outbox.finished({"c2": "stopped"})
    assert [m.text for m in outbox.lost({"heard": ""})] == ["1", "2", "3", "5", "6"]
    assert outbox.lost({}) == outbox.answered([]) == outbox.sort({}) == []
    outbox.refilled(["sent", "given"])
    outbox.find([Message("found", "/chat.md", "1")])
    assert not outbox.waiting
    assert not outbox.sent


async def test_messages_go_out_in_order() -> None:
    """Those of an earlier day first; one that a call did not take is the next."""
    outbox = Outbox("/chat.md", MemoryStore())
    outbox.find([Message("1", "/chat.md", "old"), Message("2", "/chat.md", "mine", own=True)])
    given = Message("3", "/chat.md", "given", call="c1")
    outbox.give(given)
    outbox.withdraw(given)
    assert [m.text for m in outbox.sort({})] == ["mine"]
    sent = []
    while message := outbox.next():
        outbox.send(message)
        sent.append(message.text)
    assert sent == ["old", "given"]
    assert outbox.answered(["1"]) == []
    assert outbox.sent
    assert outbox.answered([]) == []
    assert not outbox.sent
    await asyncio.sleep(0)


async def test_session_gone_is_still_told(room: Room) -> None:
    """When a chat of an earlier day is to go on, and nothing waits, the user must know."""
    room.known = None
    await room.open(session="abc")
    room.problems.append("x")
    await room.do(p.Queue(CHAT))
    assert room.agent.spec.session == "abc"
    await room.hear(SessionGone("It is gone."))
