"""Workers' questions reach the user by way of the orchestrator, and answers come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.run import events as e
from winnow.core.run.events import Limits
from winnow.core.run.run import replay
from winnow.core.run.transcript import RunTurn
from winnow.core.transcript.entries import Said, Told

from tests.app.fakes import CHAT
from tests.app.running import ASK, RUN, Running, result


@pytest.fixture
async def room() -> AsyncIterator[Running]:
    """A run with its orchestrator at work; it must be left as it was."""
    room = Running()
    await room.begin()
    yield room
    assert room.editor.disturbing == []
    assert replay(RUN, room.store.events) == room.run
    await room.chats.close()
    await room.settle()
    assert all(agent.closed for agent in room.agents)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def texts(room: Running, kind: type[p.Say] = p.Say) -> list[str]:
    return [said.text for said in room.editor.every(kind)]


# --- a question and its answer ----------------------------------------------------------------


async def test_a_worker_asks_the_user_answers_and_it_goes_on(room: Running) -> None:
    """Blocked, answered, resumed; every step is on record."""
    await room.make("Cart")
    assert room.states == {"Cart": "running"}
    assert room.told(room.worker("Cart")) == "Do Cart"
    asked = await room.asks("Cart", "Which store?", "Postgres", "SQLite")
    assert room.states == {"Cart": "blocked(input)"}
    assert room.told(room.boss).startswith("t1 “Cart” asks (q1):\n\n> Which store?")
    assert "▸ t1 “Cart” asks (q1): Which store?" in room.editor.text
    await room.say("Yours to decide.\n\n[NEED_HUMAN: Which store shall the cart use?]")
    shown = room.shown().lines
    assert shown[0].startswith("━━ Question: t1 Cart")
    assert room.question == "Which store shall the cart use?"
    assert any(line.startswith("SQLite") for line in shown)
    assert room.editor.state == "waiting"
    lines = [line for line in shown if not line.startswith("Postgres")]
    await room.do(p.Confirm(CHAT, room.shown().section, lines, len(lines) - 1))
    assert result(asked) == "SQLite"
    assert room.states == {"Cart": "running"}
    room.worker("Cart").say(a.ToolFinished("call-Cart-Which store?", "SQLite"))
    await room.settle()
    assert room.run.queries["q1"].state == "delivered"
    await room.done("Cart", "It uses SQLite.")
    assert room.states == {"Cart": "done"}
    assert room.told(room.boss) == "t1 “Cart” is done. It says:\n\n> It uses SQLite."
    assert room.happened == [
        *("RunStarted", "TaskCreated", "TaskStarted", "WorkerAsked", "HumanQueryRequested"),
        *("HumanQueryAnswered", "TaskResumedAfterHumanQuery", "QueryDelivered", "TaskDone"),
    ]
    assert [made.kept for made in room.store.ledger] == [("SQLite",)]
    said = [(turn.role, turn.content) for turn in room.store.turns[RUN, "t1"]]
    assert said[0] == ("orchestrator", "Do Cart")
    assert said[-1] == ("agent", "It uses SQLite.")


async def test_the_orchestrator_answers_by_itself(room: Running) -> None:
    """The user sees that it was asked, and no section."""
    await room.make("Cart")
    asked = await room.asks("Cart")
    assert isinstance(await room.call("reply", task="t1", text="SQLite"), a.Allow)
    assert result(asked) == "SQLite"
    assert room.states == {"Cart": "running"}
    await room.end()
    assert room.editor.every(p.Section) == []
    assert "QueryAnswered" in room.happened


async def test_several_ask_at_once_and_each_gets_its_own(room: Running) -> None:
    """A turn of the orchestrator's for each; answers in any order."""
    await room.make("A", "B", "C")
    asked = {title: await room.asks(title, f"{title}?") for title in ("B", "A", "C")}
    for title in ("B", "A", "C"):
        assert f"“{title}” asks" in room.told(room.boss)
        await room.say(f"[NEED_HUMAN: {title}, really?]")
    assert set(room.states.values()) == {"blocked(input)"}
    for title in ("B", "A", "C"):
        assert f"{title}, really?" in room.question
        await room.write(f"yes, {title}")
    assert {title: result(one) for title, one in asked.items()} == {
        title: f"yes, {title}" for title in "ABC"
    }
    assert set(room.states.values()) == {"running"}


async def test_plain_text_answers_the_only_question(room: Running) -> None:
    await room.make("Cart")
    asked = await room.asks("Cart")
    await room.say("[NEED_HUMAN: Which store?]")
    prompts = len(room.boss.prompts)
    await room.queue("SQLite, please")
    assert result(asked) == "SQLite, please"
    assert len(room.boss.prompts) == prompts  # it is not told as a message, too
    assert room.editor.section is None
    assert "✓ Answered: t1 (q1)" in room.editor.text
    assert room.store.kept["s1"].state == "answered"


async def test_what_comes_while_a_message_is_taken_stands_below_what_came_of_it(
    room: Running,
) -> None:
    await room.make("A", "B")
    asked = await room.asks("A")
    await room.say("[NEED_HUMAN: A?]")
    await room.do(p.Queue(CHAT))
    assert room.editor.taking
    room.worker("B").ask(a.Request("Bash", {"command": "make"}, "c1"))
    await room.settle()
    await room.send("SQLite")
    assert result(asked) == "SQLite"
    assert room.shown().lines[0].startswith("━━ Permission: Bash · t2 B")
    assert "✓ Answered: t1 (q1)" in room.editor.text


async def test_plain_text_is_no_answer_when_two_wait(room: Running) -> None:
    """It goes to the orchestrator; the chat says which wait, and asks them again."""
    await room.make("A", "B")
    asked = [await room.asks("A"), await room.asks("B")]
    await room.say("[NEED_HUMAN: A?]")
    await room.say("[NEED_HUMAN: B?]")
    await room.queue("SQLite")
    assert not any(one.done() for one in asked)
    assert room.told(room.boss) == "SQLite"
    said = "That answers no question, as 2 wait: t1 (q1), t2 (q2). "
    assert any(text.startswith(said) for text in texts(room))
    await room.end()
    assert room.question == "A?"
    await room.write("yes")
    assert (asked[0].done(), asked[1].done()) == (True, False)


async def test_a_message_passes_what_workers_ask(room: Running) -> None:
    """A permission that stands in its way is asked again below it."""
    await room.make("A", "B")
    asked = await room.asks("A")
    await room.say("[NEED_HUMAN: A?]")
    wanted = room.worker("B").ask(a.Request("Bash", {"command": "make"}, "c1"))
    await room.settle()
    await room.queue("SQLite")
    assert result(asked) == "SQLite"
    assert room.shown().lines[0].startswith("━━ Permission: Bash · t2 B")
    assert "✓ Answered: t1 (q1)" in room.editor.text
    await room.do(p.Grant(CHAT, room.shown().section, "allow"))
    assert isinstance(wanted.result(), a.Allow)


async def test_the_orchestrator_asks_for_itself(room: Running) -> None:
    """Its answer comes as a message."""
    await room.say("[NEED_HUMAN: Which shop?]")
    assert room.shown().lines[0].startswith("━━ Question: Claude asks")
    await room.write("The one in Bonn")
    assert room.told(room.boss) == "The user answers to “Which shop?”:\n\nThe one in Bonn"
    await room.say("Fine.")
    assert room.run.queries["q1"].state == "delivered"


# --- what goes wrong --------------------------------------------------------------------------


async def test_a_near_miss_is_asked_for_in_the_right_form(room: Running) -> None:
    await room.make("Cart")
    await room.asks("Cart", "Which store?")
    await room.say("**NEED_HUMAN**: which store?")
    assert room.editor.section is None
    assert "not in the right form" in room.told(room.boss)
    assert "[NEED_HUMAN: question]" in room.told(room.boss)
    await room.say("[NEED_HUMAN: which store?]")
    assert room.question == "which store?"


async def test_a_question_that_is_not_passed_on_reaches_the_user(room: Running) -> None:
    """The orchestrator is told once more; then the user is asked what the worker asks."""
    await room.make("Cart")
    asked = await room.asks("Cart", "Which store?")
    await room.say("Hm.")
    assert "t1 still waits for an answer to q1" in room.told(room.boss)
    await room.say("Hm.")
    assert room.question == "Which store?"
    await room.write("SQLite")
    assert result(asked) == "SQLite"


async def test_a_worker_that_writes_the_form_asks_nobody(room: Running) -> None:
    await room.make("Cart")
    await room.done("Cart", "[NEED_HUMAN: Which store?]")
    assert room.editor.every(p.Section) == []
    assert room.states == {"Cart": "done"}


async def test_a_worker_has_no_way_to_the_user(room: Running) -> None:
    """Its tools to ask with are refused, and the orchestrator's are not its own."""
    await room.make("Cart")
    for tool in ("AskUserQuestion", "mcp__winnow__question", "mcp__winnow__create_tasks", ASK):
        asked = room.worker("Cart").ask(a.Request(tool, {"question": " "}, "c"))
        await room.settle()
        assert isinstance(asked.result(), a.Deny)
    assert room.states == {"Cart": "running"}


async def test_a_worker_that_asks_twice_waits_for_both(room: Running) -> None:
    await room.make("Cart")
    first, second = await room.asks("Cart", "One?"), await room.asks("Cart", "Two?")
    refused = await room.call("reply", task="t1", text="yes")
    assert isinstance(refused, a.Deny)
    assert "t1 (q1), t1 (q2) wait" in refused.message
    await room.call("reply", task="t1", text="yes", query="q2")
    assert (first.done(), result(second)) == (False, "yes")
    assert room.states == {"Cart": "blocked(input)"}
    await room.call("reply", task="t1", text="no", query="q1")
    assert result(first) == "no"
    assert room.states == {"Cart": "running"}


async def test_what_the_orchestrator_can_not_do_is_said(room: Running) -> None:
    await room.make("Cart")
    for tool, input, sentence in (
        ("reply", {"task": "t9", "text": "x"}, "There is no task t9: there are t1."),
        ("reply", {"task": "t1", "text": "x", "query": "q9"}, "t1 has no question q9"),
        ("cancel_task", {"task": "t9"}, "There is no task t9"),
        ("finish", {"summary": "x"}, "The run is not over: t1 is running."),
        ("create_tasks", {"tasks": []}, "There is no task in it"),
        (
            "create_tasks",
            {"tasks": [{"title": str(n), "prompt": ""} for n in range(500)]},
            "500 tasks are too many at once",
        ),
        (
            "create_tasks",
            {
                "tasks": [
                    {"title": "A", "prompt": "", "waits_for": ["B"]},
                    {"title": "B", "prompt": "", "waits_for": ["A"]},
                ]
            },
            "wait for each other",
        ),
    ):
        reply = await room.call(tool, **input)
        assert isinstance(reply, a.Deny)
        assert sentence in reply.message
    assert list(room.run.tasks) == ["t1"]


async def test_a_worker_that_dies_is_tried_once_more(room: Running) -> None:
    """In the same session; then its task has failed, and the orchestrator is told why."""
    await room.make("Cart")
    first = room.worker("Cart")
    first.say(a.Text("I "), ports.AgentError("It broke."))
    await room.settle()
    second = room.worker("Cart")
    assert second is not first
    assert second.spec.session == "session-Cart"
    assert room.told(second).startswith("Your work was interrupted.")
    assert room.states == {"Cart": "running"}
    second.say(ports.AgentError("It broke again."))
    await room.settle()
    assert room.states == {"Cart": "failed"}
    assert room.told(room.boss) == "t1 “Cart” failed: It broke again."


@pytest.mark.parametrize("heard", [True, False])
async def test_an_orchestrator_that_dies_is_started_once_more(room: Running, heard: bool) -> None:
    """Where a worker waits for it, whatever it has heard of that; then the user is to go on."""
    await room.make("Cart")
    await room.asks("Cart", "Which store?")
    first = room.boss
    if heard:
        first.say(a.Text("I "))
        await room.settle()
    first.say(ports.AgentError("It broke."))
    await room.settle()
    second = room.boss
    assert second is not first
    assert ("still waits for an answer to q1" if heard else "Which store?") in room.told(second)
    second.say(ports.AgentError("It broke again."))
    await room.settle()
    assert room.boss is second
    await room.do(p.Wake(CHAT))  # <CR>
    assert "q1" in room.told(room.boss)
    await room.call("reply", task="t1", text="SQLite")
    await room.end()
    assert room.run.queries["q1"].state == "answered"


async def test_a_worker_killed_before_its_session_was_written_begins_anew(room: Running) -> None:
    """That it could not be resumed is no second death."""
    await room.make("Cart")
    room.worker("Cart").say(ports.AgentError("It was killed."))
    await room.settle()
    room.worker("Cart").say(ports.SessionGone("It is gone."))
    await room.settle()
    third = room.worker("Cart")
    assert third.spec.session == ""
    assert room.told(third) == "Do Cart"
    assert room.states == {"Cart": "running"}
    third.say(ports.AgentError("It broke again."))
    await room.settle()
    assert room.states == {"Cart": "failed"}


async def test_an_answer_outlives_the_worker_that_asked(room: Running) -> None:
    """Its question stays open; the answer is the first thing that the next one hears, once."""
    await room.make("Cart")
    asked = await room.asks("Cart", "Which store?")
    await room.say("[NEED_HUMAN: Which store?]")
    room.worker("Cart").say(ports.AgentError("It broke."))
    await room.settle()
    assert asked.cancelled()
    assert room.states == {"Cart": "blocked(input)"}
    await room.write("SQLite")
    worker = room.worker("Cart")
    assert room.told(worker).endswith("> Which store?\n\nSQLite")
    assert worker.commands == set()
    assert room.states == {"Cart": "running"}
    await room.end(worker)
    assert room.run.queries["q1"].state == "delivered"
    assert room.store.letters == {} or all(one.about for one in room.store.letters.values())


async def test_a_task_cancelled_while_its_question_is_open(room: Running) -> None:
    await room.make("Cart")
    asked = await room.asks("Cart")
    await room.say("[NEED_HUMAN: Which?]")
    room.chat.calls.cancel("t1")
    await room.settle()
    assert room.editor.section is None
    assert room.states == {"Cart": "cancelled"}
    assert room.worker("Cart").closed
    assert asked.cancelled()
    assert room.run.queries["q1"].state == "over"
    assert room.told(room.boss) == "The user has cancelled t1 “Cart”."


async def test_a_question_cancelled_by_the_user_goes_back(room: Running) -> None:
    """The orchestrator decides; and an answer that comes later still counts."""
    await room.make("Cart")
    asked = await room.asks("Cart", "Which?")
    await room.say("[NEED_HUMAN: Which?]")
    await room.cancel()
    assert room.told(room.boss).startswith("About the question of t1 “Cart” (q1), “Which?”: The")
    assert room.states == {"Cart": "blocked(input)"}
    await room.do(p.Reopen(CHAT, "s1"))
    await room.write("SQLite")
    assert result(asked) == "SQLite"


async def test_who_asks_when_the_run_is_over_is_told(room: Running) -> None:
    await room.make("Cart")
    room.chat._record.record(e.RunFinished(1, RUN, "enough"))
    asked = await room.asks("Cart")
    reply = asked.result()
    assert isinstance(reply, a.Deny)
    assert reply.message == "This run is over: end your turn."


# --- permissions ------------------------------------------------------------------------------


async def test_a_permission_names_its_worker(room: Running) -> None:
    """It is asked in the run's chat; the orchestrator goes on meanwhile."""
    await room.make("Cart", "Docs")
    request = a.Request("Bash", {"command": "make"}, "c1", suggestions=[RULE])
    asked = room.worker("Cart").ask(request)
    other = room.worker("Docs").ask(
        a.Request("Bash", {"command": "make"}, "c2", suggestions=[RULE])
    )
    await room.settle()
    shown = room.shown()
    assert shown.lines[0].startswith("━━ Permission: Bash · t1 Cart")
    assert room.question.startswith("Worker t1 Cart wants to use Bash")
    assert room.chat._crew.live[RUN, "t1"].permission == "Bash make"
    question = await room.asks("Docs", "Which?")
    assert "“Docs” asks" in room.told(room.boss)
    await room.do(p.Grant(CHAT, shown.section, "always"))
    reply = asked.result()
    assert isinstance(reply, a.Allow)
    assert not other.done()  # the rule is for one session
    assert not question.done()
    assert "wants to use Bash" in room.question
    assert not any(effect.line.startswith("▸ Bash") for effect in room.editor.every(p.Tool))


RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make"}],
    "behavior": "allow",
    "destination": "session",
}


async def test_an_answer_grants_nothing(room: Running) -> None:
    """Whoever says yes to a question: a permission waits still."""
    await room.make("Cart")
    asked = room.worker("Cart").ask(a.Request("Bash", {"command": "make"}, "c1"))
    await room.settle()
    question = await room.asks("Cart", "May I run make?")
    await room.call("reply", task="t1", text="Yes, run make.")
    assert result(question) == "Yes, run make."
    assert not asked.done()


async def test_stop_ends_the_orchestrators_turn_only(room: Running) -> None:
    await room.make("Cart")
    asked = await room.asks("Cart")
    await room.say("[NEED_HUMAN: Which?]")
    room.boss.say(a.Text("Well"))
    await room.settle()
    await room.do(p.Stop(CHAT))
    assert room.boss.interrupts == 1
    assert room.worker("Cart").interrupts == 0
    assert any(":Winnow run ++stop" in text for text in texts(room))
    assert room.question == "Which?"
    assert not asked.done()


# --- limits -----------------------------------------------------------------------------------


async def test_no_more_workers_than_the_limit() -> None:
    room = Running()
    await room.begin(limits=Limits(max_workers=2))
    await room.call("create_tasks", tasks=[{"title": t, "prompt": t} for t in "ABC"])
    await room.end()
    assert room.states == {"A": "running", "B": "running", "C": "ready"}
    await room.done("A", "Done.")
    assert room.states == {"A": "done", "B": "running", "C": "running"}
    await room.chats.close()


async def test_at_the_budget_work_stops_and_goes_on_with_more() -> None:
    """The user is told before."""
    room = Running()
    await room.begin(limits=Limits(budget=1.0))
    await room.make("A", "B")
    room.boss.say(a.TurnEnded([], cost=0.85))
    await room.settle()
    assert "$0.85 of the budget of $1.00 are spent." in texts(room)
    await room.asks("A")
    room.boss.say(a.TurnEnded([], cost=0.20))
    await room.settle()
    assert room.states == {"A": "blocked(input)", "B": "blocked(budget)"}
    assert room.worker("B").closed
    assert room.run.state == "blocked(budget)"
    await room.do(p.GoOn(RUN, 2.0))
    assert room.states["B"] == "running"
    assert room.worker("B").spec.session == "session-B"
    assert room.worker("B").spec.budget == pytest.approx(0.95)
    await room.chats.close()


async def test_what_is_done_at_the_budget_is_done() -> None:
    """The others stop; the orchestrator is told of it when the run may cost more."""
    room = Running()
    await room.begin(limits=Limits(budget=1.0))
    await room.make("A", "B")
    await room.end()
    before = len(room.boss.prompts)
    worker = room.worker("A")
    worker.say(a.Text("It is there."), a.Pause(), a.TurnEnded(worker.unheard, cost=1.5))
    await room.settle()
    assert room.states == {"A": "done", "B": "blocked(budget)"}
    assert len(room.boss.prompts) == before
    await room.do(p.GoOn(RUN, 5.0))
    assert "“A” is done. It says:\n\n> It is there." in room.told(room.boss)
    assert room.states["B"] == "running"
    await room.chats.close()


async def test_a_dependant_gets_the_result(room: Running) -> None:
    tasks = [
        {"title": "Plan", "prompt": "Plan it"},
        {"title": "Build", "prompt": "Build it", "waits_for": ["Plan"]},
    ]
    await room.call("create_tasks", tasks=tasks)
    await room.end()
    assert room.states == {"Plan": "running", "Build": "blocked(dependency)"}
    await room.done("Plan", "Use SQLite.")
    assert room.states == {"Plan": "done", "Build": "running"}
    assert "## Plan\n\nUse SQLite." in room.told(room.worker("Build"))


async def test_a_task_that_is_done_can_be_gone_on_with(room: Running) -> None:
    """In its session; and the user can write to a worker, of which the orchestrator is told."""
    await room.make("Cart")
    await room.done("Cart", "Done.")
    await room.call("reply", task="t1", text="And the tests?")
    worker = room.worker("Cart")
    assert worker.spec.session == "session-Cart"
    assert list(worker.prompts) == ["And the tests?"]
    await room.end()
    room.chat.calls.tell("t1", "Use pytest.")
    await room.settle()
    assert room.told(room.boss).startswith("The user wrote to t1 “Cart” itself")
    await room.end(worker)
    assert "Use pytest." in worker.prompts


async def test_the_end_is_the_orchestrators_to_say(room: Running) -> None:
    await room.make("Cart")
    await room.done("Cart", "Done.")
    reply = await room.call("finish", summary="All is ported.")
    assert isinstance(reply, a.Allow)
    assert (room.run.state, room.run.summary) == ("finished", "All is ported.")


# --- over restarts ----------------------------------------------------------------------------


async def restarted(room: Running) -> Running:
    """The same store, and another Neovim after the first was killed."""
    room.chat._record.loaded = False
    again = Running()
    again.store.kept, again.store.letters = dict(room.store.kept), dict(room.store.letters)
    again.store.events, again.store.turns = list(room.store.events), dict(room.store.turns)
    for agent in room.agents:
        again.sessions[agent.spec.about] = dict.fromkeys(agent.prompts.values(), "")
    await again.lead("session")
    return again


async def test_a_restart_asks_nothing_twice(room: Running) -> None:
    """The question is open again; its answer goes to the worker's session."""
    await room.make("Cart", "Docs")
    await room.asks("Cart", "Which store?")
    await room.say("[NEED_HUMAN: Which store?]")
    again = await restarted(room)
    assert again.run.tasks == room.run.tasks | {"t2": again.run.tasks["t2"]}
    assert again.states == {"Cart": "blocked(input)", "Docs": "running"}
    (docs,) = again.agents
    assert (docs.spec.about, docs.spec.session) == ("Docs", "session-Docs")
    assert [text[:21] for text in docs.prompts] == ["Your work was interru"]
    assert again.question == "Which store?"
    assert len(again.editor.every(p.Section)) == 1
    await again.write("SQLite")
    assert again.told(again.worker("Cart")).endswith("> Which store?\n\nSQLite")
    assert again.worker("Cart").spec.session == "session-Cart"
    await again.chats.close()


async def test_a_restart_tells_the_orchestrator_what_it_has_not_heard(room: Running) -> None:
    await room.make("Cart")
    await room.asks("Cart", "Which store?")
    again = await restarted(room)
    assert [agent.spec.role for agent in again.agents] == ["orchestrator"]
    assert "t1 still waits for an answer to q1" in again.told(again.boss)
    assert again.states == {"Cart": "blocked(input)"}
    await again.chats.close()


async def test_an_answer_on_its_way_arrives_after_a_restart(room: Running) -> None:
    """The host was killed before the session had it."""
    await room.make("Cart")
    await room.asks("Cart", "Which store?")
    await room.call("reply", task="t1", text="SQLite")
    again = await restarted(room)
    worker = again.worker("Cart")
    assert list(worker.prompts) == [
        "The answer to what you asked earlier:\n\n> Which store?\n\nSQLite"
    ]
    await again.end(worker)
    assert again.run.queries["q1"].state == "delivered"
    await again.chats.close()


# --- in the buffer of a task ------------------------------------------------------------------

TASK = 8  # its buffer


async def look(room: Running) -> None:
    """Open the buffer of the first task."""
    await room.do(p.Open(TASK, "/t1.task.md", "/shop", run=RUN, task="t1"))


def in_task(room: Running) -> str:
    """What was written there."""
    effects = room.editor.every(p.Transcript) + room.editor.every(p.Write)
    return "\n".join(
        "\n".join(one.lines) if isinstance(one, p.Transcript) else one.text
        for one in effects
        if one.chat == TASK
    )


async def test_the_user_can_answer_what_the_orchestrator_leaves(room: Running) -> None:
    """By writing to the task: the answer is the worker's, and on record."""
    await room.make("Cart")
    asked = await room.asks("Cart")
    await look(room)
    await room.do(p.Send(TASK, "SQLite", "id-1"))
    assert result(asked) == "SQLite"
    assert room.states == {"Cart": "running"}
    assert "SQLite" in in_task(room)
    assert room.run.queries["q1"].state == "answered"
    await room.do(p.Close(TASK))


async def test_what_happens_to_a_task_stands_in_its_conversation(room: Running) -> None:
    """Also what follows from an answer, which is kept with it."""
    await room.make("Cart")
    await look(room)
    asked = await room.asks("Cart")
    await room.say("[NEED_HUMAN: Which store?]")
    await room.do(p.Send(TASK, "SQLite", "id-1"))
    assert result(asked) == "SQLite"
    await room.done("Cart", "It is done.")
    marks = [line[8:] for line in in_task(room).split("\n") if line.startswith("· ")]
    assert marks == ["asks you: Which store?", "goes on with your answer", "done"]
    await room.do(p.Close(TASK))
    twice = room.editor.disturbing  # the fake editor takes all buffers for one
    assert all(isinstance(one, p.Section) and one.chat == TASK for one in twice)
    twice.clear()


async def test_words_for_a_worker_reach_it_and_the_orchestrator_hears_of_it(room: Running) -> None:
    await room.make("Cart")
    await look(room)
    await room.do(p.Send(TASK, "Mind the tests.", "id-1"))
    await room.done("Cart", "It is done.")
    assert room.told(room.worker("Cart")) == "Mind the tests."
    await room.end()
    assert any("Mind the tests." in prompt for prompt in room.boss.prompts)
    await room.do(p.Close(TASK))


async def test_a_task_that_is_led_elsewhere_is_only_read() -> None:
    """It says so, shows what is on record, and gives words back."""
    room = Running()
    await room.store.save(
        RunTurn(RUN, "t1", 0, "orchestrator", Told("Do it."), 1.0),
        RunTurn(RUN, "t1", 1, "agent", Said("I begin."), 2.0),
    )
    await look(room)
    assert in_task(room) == "## Orchestrator\n\nDo it.\n\n## Worker\n\nI begin.\n" + (
        "⚠ This task's run is led in a chat that is not open here: what you see is only to read. "
        "<CR> on the run's line of :Winnow board opens it."
    )
    await room.do(p.Send(TASK, "Hello", "id-1"))
    assert [one.text for one in room.editor.every(p.Refill)] == ["Hello"]
    await room.do(p.Confirm(TASK, "s1", ["A"], 0))  # a section that its file had
    assert len([text for text in texts(room) if text.startswith("This task's run")]) == 2
    await room.chats.close()


async def test_what_the_user_is_asked_hides_nothing_of_a_title(room: Running) -> None:
    """Nor is it another question."""
    await room.make("Cart”?\nStop \u202enothing" + "t" * 5000)
    await room.do(p.WatchList("board", 0, open=True))
    await room.settle()
    before = room.editor.every(p.Listed)[-1].lines
    await room.do(p.EditList("board", before=before, lines=before[:1]))
    [asked] = room.editor.every(p.ListAsks)
    assert asked.sentence.startswith("Stop t1 “Cart”? ⏎ Stop ‹U+202E›nothingtttt")
    assert len(asked.sentence) < 100
