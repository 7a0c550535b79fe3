"""What runs beside a conversation: which of it, since when, and whether its end was told."""

from __future__ import annotations

import pytest
from winnow.core import agent as a
from winnow.core.listing import Row
from winnow.core.tasks import events as t
from winnow.core.tasks import lines
from winnow.core.tasks.tasks import Task, Tasks

SLEEP = t.Began("b1", "sleep", t.COMMAND, "call1")
LOOK = t.Began("a1", "look", t.AGENT, "call2", "Explore", prompt="Look.")
INNER = t.Began("a2", "inner", t.AGENT, "call3", parent="a1")


def heard(*events: a.Side, now: float = 10.0) -> Tasks:
    tasks = Tasks()
    for event in events:
        tasks.hear(event, now)
    return tasks


def only(tasks: list[Task]) -> Task:
    (task,) = tasks
    return task


def test_an_end_is_told_once_however_often_it_is_heard() -> None:
    ended = t.Ended("b1", "completed", "exit code 0")
    tasks = heard(SLEEP, t.Changed("b1", "completed"), ended, t.InBackground(()))
    task = only(tasks.untold)
    assert (task.end, task.summary) == ("done", "exit code 0")
    task.told = True
    for event in (ended, t.Changed("b1", "killed"), t.InBackground(())):
        tasks.hear(event, 20.0)
    tasks.settle(30.0)
    assert not tasks.untold
    assert (task.end, task.ended) == ("done", 10.0)


def test_what_is_no_longer_in_the_full_set_has_ended_though_no_notice_came() -> None:
    tasks = heard(SLEEP, LOOK, t.InBackground((LOOK,)))
    assert tasks.missed
    assert not tasks.untold
    tasks.settle(11.0)
    assert only(tasks.untold).end == "gone"
    assert [task.id for task in tasks.background] == ["a1"]


def test_a_notice_that_comes_after_the_full_set_says_how_it_ended() -> None:
    tasks = heard(SLEEP, t.InBackground(()), t.Ended("b1", "stopped"))
    tasks.settle(12.0)
    assert only(tasks.untold).end == "stopped"


def test_an_end_is_told_with_its_report_which_comes_after_it() -> None:
    tasks = heard(LOOK, t.Changed("a1", "completed"))
    assert tasks.missed
    assert not tasks.untold
    tasks.hear(t.Ended("a1", "completed", "found", tokens=20), 11.0)
    assert (only(tasks.untold).summary, only(tasks.untold).tokens) == ("found", 20)
    alone = heard(LOOK, t.Changed("a1", "killed"))
    alone.settle(11.0)
    assert only(alone.untold).end == "stopped"
    assert not alone.missed


def test_a_task_that_only_the_full_set_names_runs_and_can_begin_again() -> None:
    tasks = heard(t.InBackground((LOOK,)), t.Ended("a1", "completed", "found"))
    only(tasks.untold).told = True
    tasks.hear(t.InBackground((LOOK,)), 20.0)
    assert only(tasks.background).began == 20.0
    tasks.hear(t.Ended("a1", "completed", "more"), 30.0)
    assert only(tasks.untold).summary == "more"


def test_what_is_waited_for_ends_with_its_call_and_is_not_told() -> None:
    tasks = heard(msg := t.Began("b2", "make", call="c", background=False), t.InBackground(()))
    tasks.settle(11.0)
    assert tasks.by_call("c") is not None
    tasks.returned("c", 12.0, failed=True)
    task = tasks.get(msg.id)
    assert task is not None
    assert (task.end, tasks.untold) == ("failed", [])


def test_it_goes_to_the_background_in_the_middle() -> None:
    tasks = heard(t.Began("b2", "make", call="c", background=False), t.Changed("b2", "", True))
    tasks.returned("c", 12.0, failed=False)
    assert only(tasks.background).id == "b2"


def test_a_subagent_that_runs_is_told_what_its_own_tasks_did() -> None:
    tasks = heard(LOOK, INNER, t.Ended("a2", "completed"))
    assert not tasks.untold
    tasks.hear(t.Ended("a1", "completed"), 11.0)
    assert [task.id for task in tasks.untold] == ["a1", "a2"]


def test_below_a_task_is_all_that_it_has_started_the_deepest_first() -> None:
    deep = t.Began("b9", "deep", parent="a2")
    tasks = heard(LOOK, INNER, deep, SLEEP, t.Began("x", "loop", parent="x"))
    assert [task.id for task in tasks.below("a1")] == ["b9", "a2"]
    assert tasks.below("x") == []


@pytest.mark.parametrize("status", ["paused", "dreaming", ""])
def test_a_state_that_nobody_knows_ends_nothing(status: str) -> None:
    tasks = heard(SLEEP, t.Changed("b1", status))
    assert only(tasks.background).status == status


def test_a_notice_for_an_unknown_task_is_told_in_the_words_that_came() -> None:
    """Such as of one that an earlier host has seen begin; what only changes is nothing."""
    tasks = heard(t.Ended("b7", "evaporated", "it is gone"), t.Changed("b8", "completed"))
    task = only(tasks.untold)
    assert (task.id, task.summary) == ("b7", "it is gone")
    assert "evaporated" in lines.told(task)


def test_what_outlives_its_session_is_lost_and_told() -> None:
    tasks = heard(SLEEP, LOOK)
    tasks.lose(15.0)
    assert [task.end for task in tasks.untold] == ["lost", "lost"]
    assert not tasks.background


def test_rows_stand_below_what_has_started_them() -> None:
    tasks = heard(LOOK, INNER, SLEEP, t.Progress("a1", "Running ls", 3400, 2))
    found = lines.rows(7, "shop", tasks, 75.0, {"b1": "line 9"})
    assert [row.text for row in found] == [
        "━━ shop",
        "▸ look · 1 min 5 s · 3k tokens · Explore · Running ls",
        "  ▸ inner · 1 min 5 s",
        "▸ sleep · 1 min 5 s · line 9",
    ]
    assert len({row.key for row in found}) == 4
    assert lines.rows(7, "shop", Tasks(), 75.0, {}) == []


def test_a_name_is_one_line_without_markers() -> None:
    tasks = heard(t.Began("b1", "two\nlines ⟦ab=1=l⟧"))
    row = lines.rows(7, "shop", tasks, 10.0, {})[1]
    assert "\n" not in row.text
    assert "⟦" not in row.text
    assert isinstance(row, Row)


def test_those_that_have_ended_are_forgotten_in_the_end() -> None:
    tasks = Tasks()
    for number in range(1000):
        tasks.hear(t.Began(f"b{number}", "x"), 0.0)
        tasks.hear(t.Ended(f"b{number}", "completed"), 1.0)
        for task in tasks.untold:
            task.told = True
    assert len(list(tasks)) < 250
