"""The board: what is shown of runs, and what an edited one asks for."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.listing import Problem
from winnow.core.run import board
from winnow.core.run import events as e
from winnow.core.run.board import Edits, Live
from winnow.core.run.run import Run, replay
from winnow.core.text.text import strip_markers

NOW = 1000.0


def a_run(id: str = "abcd", tasks: int = 7) -> Run:
    made = [
        e.TaskCreated(1, id, f"t{number}", f"Title {number}", "Do it")
        for number in range(1, tasks + 1)
    ]
    return replay(id, [e.RunStarted(0, id, "/chat.md", "/shop", "Port the shop"), *made])


@pytest.fixture
def run() -> Run:
    """t1 is done, t2 failed, t3 asks you, t4 runs; t5, t6 and t7 are ready."""
    run = a_run()
    for task in ("t1", "t2", "t3", "t4"):
        run.apply(e.TaskStarted(2, "abcd", task))
    run.apply(e.TaskDone(880, "abcd", "t1", "All is well."))
    run.apply(e.TaskFailed(880, "abcd", "t2", "It broke."))
    run.apply(e.WorkerAsked(880, "abcd", "t3", "q1", "Which?"))
    run.apply(e.HumanQueryRequested(880, "abcd", "t3", "q1", "Which store?"))
    run.apply(e.Spent(880, "abcd", "t4", 0.5))
    return run


def shown(run: Run, **live: Live) -> list[str]:
    return board.render([run], NOW, {("abcd", task): found for task, found in live.items()})


def edited(run: Run, now: list[str]) -> Edits | Problem:
    return board.read({"abcd": run}, shown(run), now)


def test_what_needs_the_user_comes_first(run: Run) -> None:
    """A line says state and reason, where, how long ago, what it cost and what it changed."""
    live = Live(995, "Reading models.py", "", "big", "3 files +9 -2")
    texts = [strip_markers(line) for line in shown(run, t4=live)]
    assert texts == [
        "━━ Port the shop · working · 1 needs you · 1 of 7 done · $0.50 · 2 min",
        "? t3 Title 3 · asks you: Which store? · 2 min",
        "✗ t2 Title 2 · failed: It broke.",
        "▸ t4 Title 4 · running: Reading models.py · big · now · $0.50 · 3 files +9 -2",
        "○ t5 Title 5 · ready · 16 min",
        "○ t6 Title 6 · ready · 16 min",
        "○ t7 Title 7 · ready · 16 min",
        "✓ t1 Title 1 · done: All is well.",
    ]
    permission = strip_markers(shown(run, t4=Live(permission="Bash rm -r x"))[2])
    assert permission == "! t4 Title 4 · wants to: Bash rm -r x · 16 min · $0.50"


def test_a_run_that_is_not_led_here_says_so(run: Run) -> None:
    """Maybe nobody works on it: it goes on when its chat is open. One that is over does not."""
    (head, *_) = board.render([run], NOW, away={"abcd"})
    assert "━━ Port the shop · working · not open here · 1 needs you" in head
    for task in ("t3", "t4", "t5", "t6", "t7"):
        run.apply(e.TaskCancelled(890, "abcd", task, "user"))
    assert "━━ Port the shop · idle · 1 of 7 done" in board.render([run], NOW)[0]
    run.apply(e.RunFinished(900, "abcd", "Enough"))
    assert "not open" not in board.render([run], NOW, away={"abcd"})[0]


def test_what_is_to_be_merged_needs_the_user(run: Run) -> None:
    """With its size; then the line says what came of it, and where a task runs."""
    tree = e.Tree("/shop", "/t", "/t", "winnow/t4", "c0")
    run.apply(e.TreeMade(990, "abcd", "t4", tree))
    run.apply(e.TaskDone(990, "abcd", "t4", "Ported."))
    run.apply(e.MergeAsked(990, "abcd", "t4", "c1", "2 files +9 −2"))
    line = next(strip_markers(line) for line in shown(run) if " t4 " in line)
    assert line == "? t4 Title 4 · asks you: Shall its change be merged? · $0.50 · 2 files +9 −2"
    for event, state in (
        (e.MergeReturned(991, "abcd", "t4"), "done, not merged: Ported."),
        (e.MergeAccepted(992, "abcd", "t4", {"a": None}), "done, merging: Ported."),
        (e.Merged(993, "abcd", "t4", ("a",)), "done, merged: Ported."),
    ):
        run.apply(event)
        assert f"✓ t4 Title 4 · {state} · $0.50" in strip_markers("\n".join(shown(run)))
    run.apply(e.TaskStarted(994, "abcd", "t5", "big"))
    assert "▸ t5 Title 5 · running · big · now" in strip_markers("\n".join(shown(run)))


def test_a_budget_is_shown_with_what_is_spent(run: Run) -> None:
    run.apply(e.RunContinued(900, "abcd", 2))
    assert "$0.50 of $2.00" in shown(run)[0]
    run.apply(e.BudgetReached(990, "abcd", 2.5))
    assert "blocked(budget) · $2.50 of $2.00 are spent" in shown(run)[0]


def test_no_runs() -> None:
    assert board.render([], NOW) == [board.EMPTY]
    assert board.read({}, [board.EMPTY], [board.EMPTY]) == Edits()


def test_deleting_cancels(run: Run) -> None:
    """What is over already just comes again."""
    lines = shown(run)
    assert edited(run, lines) == Edits()
    assert edited(run, [lines[0], *lines[2:]]) == Edits(cancel=(("abcd", "t3"),))
    assert edited(run, lines[:1]) == Edits(
        cancel=tuple(("abcd", task) for task in ("t3", "t4", "t5", "t6", "t7"))
    )


def test_without_its_line_a_run_stops(run: Run) -> None:
    """Its tasks stay what they are, unless their lines go, too; one that is over has no stop."""
    other = a_run("efgh", 1)
    lines = board.render([run, other], NOW)
    runs = {"abcd": run, "efgh": other}
    assert board.read(runs, lines, lines[1:]) == Edits(stop=("abcd",))
    no_other = [line for line in lines if line != lines[9]]
    assert board.read(runs, lines, no_other) == Edits(stop=("efgh",))
    assert board.read(runs, lines, [*no_other, "One"]) == Edits(
        stop=("efgh",), add=(("efgh", "One"),)
    )
    every = board.read(runs, lines, [])
    assert isinstance(every, Edits)
    assert every.stop == ("abcd", "efgh")
    assert ("efgh", "t1") in every.cancel
    other.apply(e.RunStopped(NOW, "efgh"))
    found = board.read(runs, lines, no_other)
    assert isinstance(found, Problem)
    assert (found.row, "has nothing to stop" in found.sentence) == (9, True)


def test_a_new_line_is_a_task(run: Run) -> None:
    lines = shown(run)
    assert edited(run, [*lines[:3], "  Write the docs ", *lines[3:]]) == Edits(
        add=(("abcd", "Write the docs"),)
    )


def test_moving_changes_the_order_of_those_that_have_not_started(run: Run) -> None:
    lines = shown(run)
    moved = [*lines[:4], lines[6], lines[4], lines[5], lines[7]]
    assert edited(run, moved) == Edits(order={"abcd": ("t7", "t5", "t6")})
    assert edited(run, [*lines[:1], *lines[2:], lines[1]]) == Edits()  # its place says nothing
    fewer = [*lines[:4], lines[6], lines[4], lines[7]]
    assert edited(run, fewer) == Edits(cancel=(("abcd", "t6"),), order={"abcd": ("t7", "t5")})


def test_of_two_runs_a_line_belongs_to_the_one_above(run: Run) -> None:
    other = a_run("efgh", 1)
    lines = board.render([run, other], NOW)
    runs = {"abcd": run, "efgh": other}
    assert board.read(runs, lines, [*lines, "One", lines[9]]) == Problem(
        12, "this run is in line 10, too; u takes it back."
    )
    assert board.read(runs, lines, [*lines, "One"]) == Edits(add=(("efgh", "One"),))
    found = board.read(runs, lines, ["One", *lines])
    assert found == Problem(0, "this is no task of any run: write it below the run's line.")
    moved = [*lines[:1], lines[10], *lines[1:10]]
    assert board.read(runs, lines, moved) == Problem(1, "t1 can't move to another run.")


@pytest.mark.parametrize(
    ("change", "row", "sentence"),
    [
        (lambda lines: [*lines[:2], lines[2].replace("Title", "Tale"), *lines[3:]], 2, "t2 was ch"),
        (lambda lines: [*lines[:2], strip_markers(lines[2]), *lines[3:]], 2, "has lost what says"),
        (lambda lines: [*lines[:2], lines[2][:-1], *lines[3:]], 2, "has lost what says"),
        (lambda lines: [*lines, lines[3]], 8, "t4 is in line 4, too"),
        (lambda lines: [*lines, "x⟦abcd=99=t⟧"], 8, "not on this board"),
    ],
)
def test_nonsense_is_named_with_its_line(run: Run, change, row, sentence) -> None:  # type: ignore[no-untyped-def]
    found = edited(run, change(shown(run)))
    assert isinstance(found, Problem)
    assert found.row == row
    assert sentence in found.sentence


def test_a_title_forges_no_line(run: Run) -> None:
    run.apply(e.TaskCreated(1, "abcd", "t8", "a⟦abcd=1=t⟧\nb ⟦", "Do it"))
    assert edited(run, shown(run)) == Edits()


@given(st.data())
def test_any_edit_is_understood_or_named(data: st.DataObject) -> None:
    """And a problem's line is one of the board's."""
    run = a_run(tasks=4)
    lines = shown(run)
    extra = st.one_of(st.sampled_from(lines), st.text(max_size=8))
    now = data.draw(st.lists(extra, max_size=8))
    found = edited(run, now)
    if isinstance(found, Problem):
        assert 0 <= found.row < max(1, len(now))
    else:
        assert set(found.cancel) <= {("abcd", task) for task in run.tasks}


def test_a_thousand_tasks_are_drawn_and_read_at_once() -> None:
    """In well under 10 ms each, on an idle machine; here is room for a busy one."""
    runs = {id: a_run(id, 500) for id in ("abcd", "efgh")}
    times = []
    for _ in range(5):
        before = time.process_time()
        lines = board.render(runs.values(), NOW)
        assert board.read(runs, lines, lines) == Edits()
        times.append(time.process_time() - before)
    assert len(lines) == 1003
    assert min(times) < 0.06
