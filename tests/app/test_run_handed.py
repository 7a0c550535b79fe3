"""A question that the user hands to another task; a run that they stop; a worker that is silent."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.run import board
from winnow.core.run.run import replay

from tests.app.fakes import FakeClock
from tests.app.running import RUN, Running, result


@pytest.fixture
async def room() -> AsyncIterator[Running]:
    """A run with two workers, of which Cart asks."""
    room = Running()
    await room.begin()
    await room.make("Cart", "Tax")
    yield room
    assert replay(RUN, room.store.events) == room.run
    await room.chats.close()


def notes(room: Running) -> list[str]:
    return [said.text for said in room.editor.every(p.Say)]


async def test_another_task_answers(room: Running) -> None:
    """It is told as a message, the orchestrator that it was; the answer comes in turn, once."""
    asked = await room.asks("Cart", "Which rate?", "7", "19")
    await room.do(p.HandOver(RUN, "t2"))
    assert room.run.tasks["t1"].reason == "asks t2: Which rate?"
    told = room.told(room.worker("Tax"))
    assert told.startswith("t1 “Cart” asks (q1), and the user wants you to answer:\n\n> Which")
    assert "- 7\n- 19" in told
    await room.end()  # of its turn about the question, which is no longer its own
    assert "handed the question of t1 “Cart” (q1)" in room.told(room.boss)
    assert isinstance(await room.answers("Tax", "q1", "19"), a.Allow)
    assert result(asked) == "19"
    assert room.states == {"Cart": "running", "Tax": "running"}
    again = await room.answers("Tax", "q1", "7")
    assert again == a.Deny("q1 needs your answer no more.")
    await room.end()
    assert "t2 “Tax” has answered t1 “Cart” (q1)" in room.told(room.boss)
    assert [kind for kind in room.happened if kind.startswith(("Query", "Worker"))] == [
        *("WorkerAsked", "QueryHanded", "QueryAnswered"),
    ]


async def test_what_the_user_was_asked_is_closed(room: Running) -> None:
    """The section goes; the user can still answer, and then the other task can't."""
    asked = await room.asks("Cart")
    await room.say("[NEED_HUMAN: Which store?]")
    assert room.shown()
    await room.do(p.HandOver(RUN, "t2", "q1"))
    assert room.editor.section is None
    assert room.chat.say_to("t1", "SQLite")
    await room.settle()
    assert result(asked) == "SQLite"
    assert await room.answers("Tax", "q1", "Redis") == a.Deny("q1 needs your answer no more.")


@pytest.mark.parametrize("ends", ["done", "cancelled", "works on"])
async def test_who_does_not_answer_gives_it_back(room: Running, ends: str) -> None:
    """The orchestrator has it again, and is told so."""
    asked = await room.asks("Cart")
    await room.do(p.HandOver(RUN, "t2", "q1"))
    await room.end()
    if ends == "done":
        await room.done("Tax", "I don't know.")
    elif ends == "cancelled":
        room.chat.calls.cancel("t2")
        await room.settle()
    assert room.run.queries["q1"].state == ("with_task" if ends == "works on" else "asked")
    for _ in range(3):
        await room.end()
    reminded = "t1 still waits for an answer to q1" in "".join(room.boss.prompts)
    assert reminded == (ends != "works on")
    assert not asked.done()


async def test_one_that_is_through_goes_on_for_it(room: Running) -> None:
    await room.done("Tax", "Done.")
    await room.end()
    asked = await room.asks("Cart", "Which rate?")
    await room.do(p.HandOver(RUN, "t2", task="t1"))
    assert "wants you to answer" in room.told(room.worker("Tax"))
    await room.answers("Tax", "q1", "19")
    assert result(asked) == "19"


async def test_a_crash_loses_no_handed_question(room: Running) -> None:
    """Who was to answer it is told again, and the answer finds who asked."""
    await room.asks("Cart")
    await room.do(p.HandOver(RUN, "t2"))
    await room.chats.close()
    store = room.store
    room.chats = type(room.chats)(room.world)
    await room.lead("session")
    assert room.run.queries["q1"].state == "with_task"
    told = list(room.worker("Tax").prompts)
    assert any("wants you to answer" in text for text in told)
    await room.answers("Tax", "q1", "19")
    assert "The answer to what you asked earlier" in room.told(room.worker("Cart"))
    assert room.store is store


@pytest.mark.parametrize(
    ("to", "query", "said"),
    [
        ("t1", "q1", "q1 was not handed over: t1 itself asks it."),
        ("t9", "q1", "q1 was not handed over: there is no task t9."),
        ("t3", "q1", "q1 was not handed over: t3 waits for an answer itself."),
        ("t2", "", "Say which question: t1 (q1), t3 (q2) wait."),
        ("t2", "q9", "Say which question: t1 (q1), t3 (q2) wait."),
    ],
)
async def test_what_can_t_be_handed_over(room: Running, to: str, query: str, said: str) -> None:
    """A sentence says why, and nothing changes."""
    await room.end()
    await room.make("Late")
    await room.asks("Cart")
    await room.asks("Late")
    before = list(room.store.events)
    await room.do(p.HandOver(RUN, to, query))
    assert said in notes(room)
    assert room.store.events == before


# --- a run that the user stops ------------------------------------------------------------------


async def test_a_stopped_run_keeps_everything(room: Running) -> None:
    """Nobody works, not even the orchestrator; a question is answered; then all of it goes on."""
    await room.asks("Cart", "Which store?")
    await room.say("[NEED_HUMAN: Which store?]")
    await room.do(p.HaltRun(RUN))
    assert room.states == {"Cart": "blocked(input)", "Tax": "ready"}
    assert room.run.state == "stopped"
    assert all(agent.closed for agent in room.agents if agent.spec.role == "worker")
    await room.write("SQLite")
    assert room.states == {"Cart": "ready", "Tax": "ready"}
    prompts = len(room.boss.prompts)
    await room.do(p.HaltRun(RUN))
    assert notes(room)[-1] == "This run is stopped: there is nothing to stop."
    await room.do(p.GoOn(RUN))
    assert room.states == {"Cart": "running", "Tax": "running"}
    assert "SQLite" in room.told(room.worker("Cart"))
    assert room.worker("Tax").spec.session == "session-Tax"
    assert len(room.boss.prompts) == prompts + 1
    assert "lets it go on" in room.told(room.boss)


async def test_nothing_starts_in_a_stopped_run(room: Running) -> None:
    """Whatever the orchestrator makes; it is not woken, but told so when the user writes."""
    await room.do(p.HaltRun(RUN))
    prompts = len(room.boss.prompts)
    room.chat.calls.add("Docs")
    await room.settle()
    assert len(room.boss.prompts) == prompts
    await room.queue("What is left?")
    made = await room.call("create_tasks", tasks=[{"title": "More", "prompt": "x"}])
    assert isinstance(made, a.Allow)
    assert "nothing starts until they let it go on" in made.input["result"]
    assert room.states["More"] == room.states["Docs"] == "ready"
    await room.chats.close()
    room.chats = type(room.chats)(room.world)
    await room.lead("session")
    assert room.run.state == "stopped"
    assert "running" not in room.states.values()


# --- a worker of which nothing is heard ----------------------------------------------------------


async def test_a_silent_worker_is_told_of_once(room: Running) -> None:
    """The user and the orchestrator; not of one that waits, and again when it was heard since."""
    clock, pulse = room.world.clock, room.chat._crew.pulse
    assert isinstance(clock, FakeClock)
    await room.asks("Cart")
    room.worker("Tax").say(a.Text("I run all tests."), a.Pause())
    await room.settle()
    pulse.look()
    clock.time += 3600  # the machine slept, or somebody has set its clock
    pulse.look()
    assert pulse.silent == set()
    clock.time -= 3600
    for _ in range(3):
        clock.time += 601
        pulse.look(601)
        await room.settle()
    said = "t2 “Tax” gives no sign of life for 10 min: write to it"
    assert next(note for note in notes(room) if "sign of life" in note).startswith(said)
    assert room.happened.count("TaskSilent") == 1
    assert room.run.tasks["t2"].state == "running"
    (line,) = [
        line for line in board.render([room.run], clock.time, room.chat.live) if " t2 " in line
    ]
    assert "running: no sign of life (write to it, dd, or wait)" in line
    assert "30 min" in line
    await room.end()
    await room.end()
    assert "sign of life for 10 min. Last it did this: I run" in "".join(room.boss.prompts)
    room.worker("Tax").say(a.Text("Still at it."), a.Pause())
    await room.settle()
    pulse.look()
    assert pulse.silent == set()
    pulse.look(601)
    assert room.happened.count("TaskSilent") == 2
