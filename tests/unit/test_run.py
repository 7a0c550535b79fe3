"""A run is what its events make of it; what can't happen is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.run import events as e
from winnow.core.run import handing, prompts, schedule, timeline
from winnow.core.run.query import FORM, TOKEN, named, pending, route, with_human
from winnow.core.run.run import Run, replay
from winnow.core.run.task import Impossible, State, Task, step
from winnow.core.run.tools import NewTask
from winnow.core.text.encoding import from_json, to_json

RUN = "abcd"
TREE = e.Tree("/shop", "/trees/t1", "/trees/t1", "winnow/t1", "c0")


def created(task: str, *waits_for: str) -> e.TaskCreated:
    return e.TaskCreated(1, RUN, task, task.upper(), f"Do {task}", waits_for)


def asked(task: str, query: str) -> e.WorkerAsked:
    return e.WorkerAsked(3, RUN, task, query, "Which?", ("A", "B"), "ctx", "call", "here")


def run_of(*events: e.Event) -> Run:
    return replay(RUN, [e.RunStarted(0, RUN, "/chat.md", "/shop", "Do it"), *events])


def started(*tasks: str) -> list[e.Event]:
    made: list[e.Event] = [created(task) for task in tasks]
    return [*made, *(e.TaskStarted(2, RUN, task) for task in tasks)]


def states(run: Run) -> list[str]:
    return [task.state for task in run.tasks.values()]


# --- states -----------------------------------------------------------------------------------


def test_an_answer_makes_it_ready_then_running() -> None:
    """The way of a question, from the worker to the user and back."""
    way: list[tuple[e.Event, State, str]] = [
        (asked("t1", "q1"), "blocked(input)", "asked"),
        (
            e.HumanQueryRequested(4, RUN, "t1", "q1", "Which one?"),
            "blocked(input)",
            "with_human",
        ),
        (e.HumanQueryAnswered(5, RUN, "t1", "q1", "A"), "ready", "answered"),
        (e.TaskResumedAfterHumanQuery(6, RUN, "t1", "q1"), "running", "answered"),
        (e.QueryDelivered(7, RUN, "t1", "q1"), "running", "delivered"),
    ]
    run = run_of(*started("t1"))
    for event, state, query in way:
        run.apply(event)
        assert (run.tasks["t1"].state, run.queries["q1"].state) == (state, query)
    found = run.queries["q1"]
    assert (found.question, found.human, found.answer) == ("Which?", "Which one?", "A")
    assert (found.options, found.context, found.call) == (("A", "B"), "ctx", "call")
    assert (found.run, found.task, found.agent, found.node) == (RUN, "t1", "t1", "here")
    assert found.created_at == 3


def test_a_worker_that_asks_twice_waits_for_both() -> None:
    """One answer is not enough."""
    run = run_of(*started("t1"), asked("t1", "q1"), asked("t1", "q2"))
    run.apply(e.QueryAnswered(4, RUN, "t1", "q2", "A"))
    assert states(run) == ["blocked(input)"]
    assert [query.id for query in run.undelivered("t1")] == ["q2"]
    run.apply(e.QueryWithdrawn(5, RUN, "t1", "q1"))
    assert states(run) == ["ready"]


def test_a_task_starts_when_all_it_waits_for_is_done() -> None:
    """Not at a first notice; and when one fails, the orchestrator decides."""
    run = run_of(created("t1"), created("t2"), created("t3", "t1", "t2"))
    assert states(run) == ["ready", "ready", "blocked(dependency)"]
    for task in ("t1", "t2"):
        run.apply(e.TaskStarted(2, RUN, task))
    run.apply(e.TaskDone(3, RUN, "t1", "one"))
    assert states(run)[2] == "blocked(dependency)"
    assert run.tasks["t3"].reason == "waits for t2"
    run.apply(e.TaskFailed(3, RUN, "t2", "broke"))
    assert run.tasks["t3"].reason == "waits for t2, which failed"
    run.apply(e.TaskResumed(4, RUN, "t2"))
    run.apply(e.TaskStarted(4, RUN, "t2"))
    run.apply(e.TaskDone(5, RUN, "t2", "two"))
    assert states(run)[2] == "ready"
    assert "## T1\n\none" in prompts.task(run.tasks["t3"], run)


def test_what_is_not_merged_is_not_done_for_others() -> None:
    """A dependant starts when the change is merged, or dropped; and goes on if there is none."""
    made: list[e.Event] = [created("t1"), created("t2", "t1"), e.TreeMade(2, RUN, "t1", TREE)]
    done: list[e.Event] = [e.TaskStarted(3, RUN, "t1"), e.TaskDone(4, RUN, "t1")]
    run = run_of(*made, *done)
    assert run.tasks["t2"].reason == "waits for t1, which is not merged"
    run.apply(e.MergeAsked(5, RUN, "t1", "c1", "1 file +1 −0"))
    run.apply(e.MergeReturned(6, RUN, "t1", "not yet"))
    assert not run.tasks["t1"].merging
    run.apply(e.MergeAccepted(7, RUN, "t1", {"a": None}))
    with pytest.raises(Impossible):
        run.apply(e.MergeAccepted(8, RUN, "t1", {"a": None}))
    assert states(run) == ["done", "blocked(dependency)"]
    run.apply(e.Merged(9, RUN, "t1", ("a",)))
    assert states(run) == ["done", "ready"]
    with pytest.raises(Impossible):
        run.apply(e.Merged(9, RUN, "t1", ("a",)))
    nothing = run_of(*made, *done, e.TreeRemoved(5, RUN, "t1"))
    assert states(nothing) == ["done", "ready"]


def test_a_question_ends_with_its_task() -> None:
    """Whoever has it."""
    for end in (e.TaskCancelled(9, RUN, "t1"), e.TaskFailed(9, RUN, "t1", "died")):
        run = run_of(*started("t1"), asked("t1", "q1"), end)
        assert run.queries["q1"].state == "over"
        assert run.pending() == []
        with pytest.raises(Impossible):
            run.apply(e.QueryAnswered(10, RUN, "t1", "q1", "late"))


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ("running", e.TaskStarted(1, RUN, "t1")),
        ("ready", e.TaskDone(1, RUN, "t1")),
        ("cancelled", e.TaskResumed(1, RUN, "t1")),
        ("cancelled", e.TaskCancelled(1, RUN, "t1")),
        ("done", e.TaskFailed(1, RUN, "t1", "")),
        ("ready", asked("t1", "q1")),
        ("blocked(dependency)", e.TaskStarted(1, RUN, "t1")),
        ("blocked(input)", e.TaskResumedAfterHumanQuery(1, RUN, "t1", "q1")),
        ("done", e.TaskBlocked(1, RUN, "t1", "budget", "")),
    ],
)
def test_impossible_steps_raise(state: State, event: e.Event) -> None:
    with pytest.raises(Impossible):
        step(state, event)


def test_what_names_nothing_is_impossible() -> None:
    """A task or a question that is not there, and one that is there already."""
    run = run_of(*started("t1"))
    for event in (
        e.TaskStarted(1, RUN, "t9"),
        e.QueryAnswered(1, RUN, "t1", "q9", ""),
        created("t1"),
        created("t3"),
        e.Reordered(1, RUN, ("t1", "t1")),
    ):
        with pytest.raises(Impossible):
            run.apply(event)


def test_a_budget_blocks_and_a_higher_one_goes_on() -> None:
    run = run_of(*started("t1"), e.Spent(3, RUN, "t1", 1.5), e.Spent(3, RUN, "", 0.25))
    assert (run.cost, run.left, run.tasks["t1"].cost) == (1.75, None, 1.5)
    run.apply(e.TaskBlocked(4, RUN, "t1", "budget", "spent"))
    run.apply(e.BudgetReached(4, RUN, 1.75))
    assert (run.state, list(schedule.starting(run))) == ("blocked(budget)", [])
    run.apply(e.RunContinued(5, RUN, 4))
    assert (run.state, run.left, list(schedule.starting(run))) == ("running", 2.25, ["t1"])


# --- replayed ---------------------------------------------------------------------------------

Maker = Callable[[Run, random.Random, str], e.Event]


def _task(run: Run, luck: random.Random) -> str:
    return luck.choice(list(run.tasks) or ["t1"])


def _query(run: Run, luck: random.Random) -> tuple[str, str]:
    query = luck.choice(list(run.queries.values()))
    return query.task, query.id


MAKERS: list[Maker] = [
    lambda run, luck, text: e.TaskCreated(
        1,
        RUN,
        run.next_task(),
        text,
        text,
        tuple(luck.sample(list(run.tasks), len(run.tasks) // 3)),
    ),
    lambda run, luck, text: e.TaskStarted(2, RUN, _task(run, luck), text),
    lambda run, luck, text: e.TaskStarted(2, RUN, _task(run, luck), text),
    lambda run, luck, text: e.SessionKnown(2, RUN, _task(run, luck), text),
    lambda run, luck, text: e.WorkerAsked(3, RUN, _task(run, luck), run.next_query(), text),
    lambda run, luck, text: e.HumanQueryRequested(4, RUN, "", run.next_query(), text),
    lambda run, luck, text: e.HumanQueryRequested(4, RUN, *_query(run, luck), text),
    lambda run, luck, text: e.HumanQueryReturned(4, RUN, *_query(run, luck), text),
    lambda run, luck, text: e.HumanQueryAnswered(5, RUN, *_query(run, luck), text),
    lambda run, luck, text: e.QueryHanded(5, RUN, *_query(run, luck), _task(run, luck)),
    lambda run, luck, text: e.TaskSilent(5, RUN, _task(run, luck), 600, text),
    lambda run, luck, text: e.QueryAnswered(5, RUN, *_query(run, luck), text),
    lambda run, luck, text: e.QueryDelivered(6, RUN, *_query(run, luck)),
    lambda run, luck, text: e.QueryWithdrawn(6, RUN, *_query(run, luck)),
    lambda run, luck, text: e.TaskResumedAfterHumanQuery(7, RUN, _task(run, luck), ""),
    lambda run, luck, text: e.TaskBlocked(
        7, RUN, _task(run, luck), luck.choice(get_args(e.Blocker)), text
    ),
    lambda run, luck, text: e.TaskResumed(8, RUN, _task(run, luck), text),
    lambda run, luck, text: e.TaskDone(8, RUN, _task(run, luck), text),
    lambda run, luck, text: e.TaskFailed(8, RUN, _task(run, luck), text),
    lambda run, luck, text: e.TaskCancelled(8, RUN, _task(run, luck)),
    lambda run, luck, text: e.Reordered(8, RUN, tuple(luck.sample(run.order, len(run.order) // 2))),
    lambda run, luck, text: e.Spent(8, RUN, _task(run, luck), luck.random()),
    lambda run, luck, text: e.BudgetNear(8, RUN, 1),
    lambda run, luck, text: e.BudgetReached(8, RUN, 1),
    lambda run, luck, text: e.Told(8, RUN, _task(run, luck), text),
    lambda run, luck, text: e.TreeMade(3, RUN, _task(run, luck), TREE),
    lambda run, luck, text: e.MergeAsked(9, RUN, _task(run, luck), text, text),
    lambda run, luck, text: e.MergeAccepted(9, RUN, _task(run, luck), {text: None}, text),
    lambda run, luck, text: e.MergeReturned(9, RUN, _task(run, luck), text),
    lambda run, luck, text: e.Merged(9, RUN, _task(run, luck), (text,)),
    lambda run, luck, text: e.TreeRemoved(9, RUN, _task(run, luck), text),
    lambda run, luck, text: e.RunContinued(9, RUN, 2),
    lambda run, luck, text: e.RunStopped(9, RUN, text),
    lambda run, luck, text: e.RunFinished(9, RUN, text),
    lambda run, luck, text: e.RunStarted(0, RUN, text, text, text),
]


@given(st.integers(0), st.text(max_size=5))
def test_a_run_replays_to_the_same_state(seed: int, text: str) -> None:
    """What happened is kept, read again, and makes the same; what can't happen changes nothing."""
    run, kept, luck = Run(RUN), [], random.Random(seed)  # Hypothesis's own takes minutes
    for _ in range(40):
        try:
            event = luck.choice(MAKERS)(run, luck, text)
        except (IndexError, ValueError):
            continue
        before = msgspec.json.encode(run)
        try:
            run.apply(event)
        except Impossible:
            assert msgspec.json.encode(run) == before
        else:
            kept.append(to_json(event))
    assert replay(RUN, [from_json(text, e.Event) for text in kept]) == run  # type: ignore[arg-type]
    for query in run.queries.values():  # none waits for a task that is over
        task = run.tasks.get(query.task)
        assert not (query.pending and task and task.over)
        if query.state == "with_task":
            assert run.tasks[query.to].state not in handing.ENDS
            assert query.to != query.task
    for task in run.tasks.values():  # who is blocked has a question, and the other way round
        assert (task.state == "blocked(input)") == bool(run.pending(task.id))


def test_every_event_is_made() -> None:
    """By the test above."""
    made = {
        type(maker(run_of(*started("t1"), asked("t1", "q1")), random.Random(1), ""))
        for maker in MAKERS
    }
    assert made == set(get_args(e.Event))


# --- questions --------------------------------------------------------------------------------


def test_plain_text_answers_only_when_one_waits() -> None:
    run = run_of(*started("t1", "t2"), asked("t1", "q1"), asked("t2", "q2"))
    assert route(run.queries.values(), "A") is None  # the orchestrator has them
    run.apply(e.HumanQueryRequested(4, RUN, "t1", "q1", "?"))
    found = route(run.queries.values(), "A")
    assert found is not None
    assert found.id == "q1"
    assert route(run.queries.values(), " \n") is None
    run.apply(e.HumanQueryRequested(4, RUN, "t2", "q2", "?"))
    assert route(run.queries.values(), "A") is None
    assert named(with_human(run.queries.values())) == "t1 (q1), t2 (q2)"


def test_questions_are_found_by_run_task_and_agent() -> None:
    run = run_of(*started("t1", "t2"), asked("t1", "q1"), asked("t2", "q2"))
    run.apply(e.HumanQueryRequested(4, RUN, "", "q3", "Mine?"))
    every = run.queries.values()
    assert [query.id for query in pending(every, run=RUN)] == ["q1", "q2", "q3"]
    assert pending(every, run="other") == []
    assert [query.id for query in pending(every, task="t2")] == ["q2"]
    assert [query.id for query in pending(every, agent="t1")] == ["q1"]
    assert [query.id for query in pending(every, task="")] == ["q3"]


def test_the_rule_stands_in_the_orchestrators_prompt_only() -> None:
    """Nor does anything else that a worker is told hold it."""
    assert FORM in prompts.ORCHESTRATOR
    run = run_of(*started("t1"), asked("t1", "q1"))
    of_worker = [prompts.WORKER, prompts.GO_ON, prompts.task(run.tasks["t1"], run)]
    of_worker.append(prompts.answer(run.queries["q1"]))
    assert TOKEN not in "".join(of_worker).upper()


def test_what_the_orchestrator_is_told() -> None:
    run = run_of(*started("t1"), asked("t1", "q1"), created("t2", "t1"))
    task, query = run.tasks["t1"], run.queries["q1"]
    said = prompts.asked(query, task)
    assert said.startswith("t1 “T1” asks (q1):\n\n> Which?")
    assert "- A\n- B" in said
    assert "> ctx" in said
    run.apply(e.TaskFailed(5, RUN, "t1", "It broke."))
    said = prompts.failed(run.tasks["t1"], run)
    assert said == "t1 “T1” failed: It broke. t2 waited for it: decide how to go on."
    assert "t2 blocked(dependency) (waits for t1, which failed): T2" in prompts.listed(run)


# --- which task starts ------------------------------------------------------------------------


def test_tasks_start_in_order_up_to_the_limit() -> None:
    """One that has begun goes first; one that waits for an answer takes no place."""
    run = run_of(*(created(f"t{number}") for number in range(1, 6)))
    assert list(schedule.starting(run)) == ["t1", "t2", "t3"]
    run.apply(e.Reordered(2, RUN, ("t5", "t1")))
    assert list(schedule.starting(run)) == ["t5", "t2", "t3"]
    for task in ("t2", "t3", "t4"):
        run.apply(e.TaskStarted(3, RUN, task))
    assert list(schedule.starting(run)) == []
    run.apply(e.SessionKnown(3, RUN, "t4", "s"))
    run.apply(asked("t4", "q1"))
    assert list(schedule.starting(run)) == ["t5"]
    run.apply(e.QueryAnswered(4, RUN, "t4", "q1", "A"))
    assert list(schedule.starting(run)) == ["t4"]


def new(title: str, *waits_for: str) -> NewTask:
    return NewTask(title, "Do it", waits_for)


def test_new_tasks_name_others_by_id_or_title() -> None:
    run = run_of(created("t1"))
    made = schedule.created(run, [new("B", "A", "t1"), new("A", "T1")], 5)
    assert isinstance(made, list)
    assert [(one.task, one.title, one.waits_for) for one in made] == [
        ("t2", "B", ("t3", "t1")),
        ("t3", "A", ("t1",)),
    ]
    for event in made:
        run.apply(event)
    assert states(run) == ["ready", "blocked(dependency)", "blocked(dependency)"]


@pytest.mark.parametrize(
    ("tasks", "sentence"),
    [
        ([], "no task"),
        ([new("A", "C"), new("B", "A"), new("C", "B")], "t1 → t3 → t2 → t1"),
        ([new("A", "A")], "t1 → t1"),
        ([new("A", "t9")], "which is no task"),
        ([new(" ")], "no title"),
        ([new(f"A{number}") for number in range(500)], "500 tasks are too many at once"),
    ],
)
def test_nonsense_makes_no_task(tasks: list[NewTask], sentence: str) -> None:
    made = schedule.created(Run(RUN), tasks, 5)
    assert not isinstance(made, list)
    assert sentence in made.reason


@given(st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=3)))
def test_a_circle_is_found_where_there_is_one(edges: dict[int, list[int]]) -> None:
    """As by taking away, again and again, what waits for nothing."""
    waits_for = {str(one): [str(other) for other in others] for one, others in edges.items()}
    ring = schedule.circle(waits_for)
    for one, other in pairwise(ring):
        assert other in waits_for[one]
    left = dict(waits_for)
    while free := [one for one, others in left.items() if not set(others) & set(left)]:
        for one in free:
            del left[one]
    assert bool(ring) == bool(left)
    assert ring[:1] == ring[-1:]


# --- the timeline -----------------------------------------------------------------------------


def test_the_timeline_tells_the_life_of_each_question() -> None:
    told = timeline.lines(
        [
            e.RunStarted(0, RUN, "/chat.md", "/shop", "Do it"),
            *started("t1"),
            e.SessionKnown(2, RUN, "t1", "s"),
            asked("t1", "q1"),
            e.HumanQueryRequested(4, RUN, "t1", "q1", "Which one?"),
            e.HumanQueryAnswered(5, RUN, "t1", "q1", "A"),
            e.TaskResumedAfterHumanQuery(6, RUN, "t1", "q1"),
            e.QueryDelivered(7, RUN, "t1", "q1"),
            asked("t1", "q2"),
            e.TaskCancelled(9, RUN, "t1", "user"),
            e.BudgetReached(9, RUN, 1.5),
        ]
    )
    said = [line.partition("  ")[2] for line in told]
    assert said[:4] == [
        "run started: Do it",
        "t1 created: T1",
        "t1 started",
        "t1 worker asked q1: Which?",
    ]
    assert "t1 resumed after human query q1" in said
    assert "run budget reached ($1.50)" in said
    assert told[-3] == "Questions"
    life = [part.rpartition(" ")[0] for part in told[-2].split(" → ")]
    assert life == ["q1 t1 “Which?”: asked", "with you", "answered by you", "delivered"]
    assert " → over " in told[-1]


def test_a_task_has_what_is_left_of_its_budget() -> None:
    task = Task(1, "A", "", worker=e.WorkerOptions(budget=2), cost=0.5)
    assert (task.left, Task(1, "A", "").left) == (1.5, None)
