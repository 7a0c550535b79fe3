"""Workers in other places: who starts where, and what happens when one can't be reached."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.app.runs import reach
from winnow.core import agent as a
from winnow.core.run.places import HERE, Place
from winnow.core.run.run import replay

from tests.app.fakes import CHAT
from tests.app.running import RUN, Running, result

LOST = ports.AgentError("Claude Code ended with exit code 255.")
BIG = Place("big", ("ssh", "big"), cwd="~/src/shop", slots=1)


@pytest.fixture
async def room() -> AsyncIterator[Running]:
    """A run with room for one worker here, and for one elsewhere."""
    room = Running()
    room.places = [BIG, Place(HERE, slots=1)]
    await room.begin()
    yield room
    assert replay(RUN, room.store.events) == room.run
    await room.chats.close()
    await room.settle()
    assert all(agent.closed for agent in room.agents)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def make(room: Running, *tasks: dict[str, object]) -> a.Reply:
    """The orchestrator makes these."""
    made = await room.call("create_tasks", tasks=[{"prompt": "Do it", **task} for task in tasks])
    await room.end()
    return made


async def elsewhere(room: Running) -> None:
    """A worker is at work in another place."""
    await make(room, {"title": "Cart", "place": "big"})
    room.worker("Cart").say(a.Started("session-cart"))
    await room.settle()


async def blocked(room: Running, times: int) -> None:
    """It was in vain so many times."""
    await room.until(lambda: room.happened.count("TaskBlocked") >= times)


def reason(room: Running) -> str:
    return room.run.tasks["t1"].reason


async def test_each_place_has_its_slots(room: Running) -> None:
    """Here comes first; what has no room waits, and follows where there is some."""
    await make(room, {"title": "A"}, {"title": "B"}, {"title": "C"})
    where = {title: room.worker(title).spec.place for title in "AB"}
    assert where == {"A": Place(HERE, slots=1), "B": BIG}
    assert room.states == {"A": "running", "B": "running", "C": "ready"}
    room.worker("B").say(a.Started("session-b"))
    await room.done("B", "done")
    assert room.worker("C").spec.place == BIG


async def test_a_task_goes_where_it_is_to(room: Running) -> None:
    """Even if it waits for that; and its questions say where they come from."""
    await make(room, {"title": "A", "place": "big"}, {"title": "B", "place": "big"})
    assert room.states == {"A": "running", "B": "ready"}
    await room.asks("A")
    assert room.run.queries["q1"].node == "big"


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"place": "bog"}, "“bog”, which is no place, none was made: there are here, big."),
        ({"place": "big", "worktree": True}, "worktree, and those are here, not in big"),
    ],
)
async def test_no_task_is_made_where_it_can_not_be(
    room: Running, task: dict[str, object], said: str
) -> None:
    made = await make(room, {"title": "A"}, {"title": "B", **task})
    assert isinstance(made, a.Deny)
    assert said in made.message
    assert room.run.tasks == {}


async def test_a_lost_connection_blocks_and_the_session_goes_on_there(room: Running) -> None:
    """The user has it tried again at once; nothing was lost, and nothing is told twice."""
    await elsewhere(room)
    worker = room.worker("Cart")
    worker.say(a.Text("I begin."), LOST)
    worker.away = True
    await room.settle()
    assert room.states == {"Cart": "blocked(place)"}
    assert reason(room).startswith("big: Claude Code ended with exit code 255.")
    assert reason(room).endswith("It is tried again in 5 s.")
    await room.do(p.GoOn(RUN))
    again = room.worker("Cart")
    assert (again.spec.session, again.spec.place) == ("session-cart", BIG)
    assert room.states == {"Cart": "running"}
    assert "Do it" not in again.prompts  # it has heard that
    await room.done("Cart", "It is done.")
    assert room.states == {"Cart": "done"}


async def test_what_may_not_have_arrived_is_found_out_when_it_can_be(room: Running) -> None:
    """An answer that was on its way when the connection was lost is told once, and only once."""
    await elsewhere(room)
    asked = await room.asks("Cart", "Which?")
    worker = room.worker("Cart")
    assert isinstance(await room.call("reply", task="t1", text="SQLite"), a.Allow)
    assert result(asked) == "SQLite"
    worker.away = True
    worker.say(LOST)
    await room.settle()
    assert room.states == {"Cart": "blocked(place)"}
    assert len([one for one in room.store.letters.values() if "SQLite" in one.text]) == 1
    await room.do(p.GoOn(RUN))
    told = [text for text in room.worker("Cart").prompts if "SQLite" in text]
    assert len(told) == 1
    await room.done("Cart", "It is done.")
    assert [one for one in room.store.letters.values() if "SQLite" in one.text] == []


async def test_it_is_tried_again_later_each_time(
    room: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself; and from the first delay on again once it was reached."""
    monkeypatch.setattr(reach, "FIRST", 0.01)
    room.problems.extend(["big can't be reached: ssh ended with 255."] * 3)
    await make(room, {"title": "Cart", "place": "big"})
    for tries, seconds in enumerate((0.01, 0.02, 0.04), 1):
        await blocked(room, tries)
        reasons = [getattr(event, "reason", "") for event in room.store.events]
        said = f"big can't be reached: ssh ended with 255. It is tried again in {seconds:g} s."
        assert said in reasons
    await room.until(lambda: room.states["Cart"] == "running" and room.worker("Cart").prompts)
    room.worker("Cart").say(a.Started("session-cart"), LOST)
    await blocked(room, 4)
    assert "again in 0.01 s." in str(room.store.events)
    assert room.happened.count("TaskFailed") == 0


async def test_a_place_that_is_no_more_blocks(room: Running) -> None:
    """Until it is one again, and the run goes on."""
    await elsewhere(room)
    await room.do(p.Close(CHAT))
    await room.settle()
    room.places = []
    await room.lead(session="boss")
    await room.settle()
    assert reason(room) == "There is no place big: there are here."
    await room.do(p.Close(CHAT))
    room.places = [BIG]
    await room.lead(session="boss")
    await room.settle()
    assert room.states == {"Cart": "running"}
    assert room.worker("Cart").spec.session == "session-cart"
