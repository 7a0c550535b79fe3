"""The board: runs and their tasks as lines, and what an edited board asks for.

A line is found again by the marker at its end, as an option is: the run, the number of the task,
and what kind of line it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Union

import msgspec

from winnow.core.listing import Problem
from winnow.core.run.places import HERE
from winnow.core.run.query import Query
from winnow.core.run.run import Run
from winnow.core.run.task import Task
from winnow.core.text import grammar
from winnow.core.text.duration import age
from winnow.core.text.text import MARKER, brief, marker, strip_markers

EMPTY = "No runs here: :Winnow run {goal} starts one."
AWAY = "not open here"
SILENT = "no sign of life (write to it, dd, or wait)."
_WIDE = 60  # characters of what a line says

# The order of the groups, and what their lines begin with.
_NEEDS, _PERMISSION, _FAILED, _RUNNING, _WAITS, _DONE, _CANCELLED = range(7)
_GROUPS = {
    "failed": _FAILED,
    "running": _RUNNING,
    "ready": _WAITS,
    "blocked(input)": _RUNNING,  # the orchestrator has it; with the user: see `_group`
    "blocked(dependency)": _WAITS,
    "blocked(place)": _FAILED,
    "blocked(budget)": _FAILED,
    "done": _DONE,
    "cancelled": _CANCELLED,
}
_MERGES = {"accepted": ", merging", "aside": ", not merged", "done": ", merged"}
_SIGNS = ("?", "!", grammar.REFUSED, grammar.TOOL, grammar.UNDECIDED, grammar.KEPT, "–")


class Live(msgspec.Struct, frozen=True):
    """What no event tells of a task: it is only so now.

    ``permission`` is what its worker wants to do, and must be allowed.
    """

    alive: float = 0.0  # when something was last heard of it
    saying: str = ""
    permission: str = ""
    place: str = ""
    diff: str = ""  # how much it has changed in its worktree, in short
    silent: bool = False  # it gives no sign of life


Key = tuple[str, str]
"""A run and a task of it."""

# --- shown ------------------------------------------------------------------------------------


def render(
    runs: Iterable[Run],
    now: float,
    live: Mapping[Key, Live] | None = None,
    away: Collection[str] = (),
) -> list[str]:
    """The lines of the board; of each run those come first that need the user.

    ``away`` are the runs that nobody leads here.
    """
    lines: list[str] = []
    for run in runs:
        if lines:
            lines.append("")
        human = {query.task: query for query in run.pending() if query.state == "with_human"}
        rows = []
        for place, id in enumerate(run.order):
            task, found = run.tasks[id], (live or {}).get((run.id, id), _NOTHING)
            question = _asks(task, human.get(id))
            group = _group(task, found, asks=bool(question))
            rows.append((group, place, _line(run, task, found, group, question, now)))
        needs = sum(group <= _PERMISSION for group, _, _ in rows)
        lines.append(_head(run, now, needs, away=run.id in away and run.state != "finished"))
        lines += [line for _, _, line in sorted(rows)]
    return lines or [EMPTY]


_NOTHING = Live()


def _where(task: Task) -> str:
    """The place of a task, where that is not here."""
    place = task.place or task.worker.place
    return "" if place == HERE else place


def _asks(task: Task, query: Query | None) -> str:
    """What the user is asked for it; empty: nothing."""
    if query is not None:
        return query.human or query.question
    if task.merging and task.merge and task.merge.state == "asked":
        return task.merge.reason or "Shall its change be merged?"
    return ""


def _group(task: Task, live: Live, *, asks: bool) -> int:
    if asks:
        return _NEEDS
    return _PERMISSION if live.permission and not task.over else _GROUPS[task.state]


def _head(run: Run, now: float, asking: int, *, away: bool) -> str:
    done = sum(task.state == "done" for task in run.tasks.values())
    needs = f"{asking} need{'s' * (asking == 1)} you" if asking else ""
    parts = [
        _doing(run),
        AWAY * away,
        needs,
        f"{done} of {len(run.tasks)} done",
        _money(run.cost, run.limits.budget),
    ]
    if run.reason:
        parts.insert(1, _short(run.reason))
    said = " · ".join(filter(None, parts))
    text = f"{grammar.RULE * 2} {_short(run.goal) or 'Run'} · {said} · {age(now - run.alive)}"
    return text + marker(run.id, 0, grammar.HEAD)


def _doing(run: Run) -> str:
    """What a run does: its state, and of one that is not over, whether anything is left to do."""
    if run.state != "running":
        return run.state
    if not run.tasks:
        return "planning"
    left = any(not task.over or task.merging for task in run.tasks.values())
    return "working" if left else "idle"


def _line(  # noqa: PLR0917  all that a line says
    run: Run, task: Task, live: Live, group: int, question: str, now: float
) -> str:
    if group == _NEEDS:
        state = f"asks you: {_short(question)}"
    elif group == _PERMISSION:
        state = f"wants to: {_short(live.permission)}"
    else:
        reason = task.reason or (live.saying if task.state == "running" else task.summary)
        if live.silent:
            reason = f"{SILENT} {reason}"
        state = task.state + (_MERGES.get(task.merge.state, "") if task.merge else "")
        state = f"{state}: {_short(reason)}" if reason else state
    parts = [
        f"{_SIGNS[group]} {task.id} {_short(task.title)} · {state}",
        live.place or _where(task),
        "" if task.over else age(now - max(task.alive, live.alive)),
        _money(task.cost, task.worker.budget),
        live.diff or (task.merge.diff if task.merge else ""),
    ]
    text = " · ".join(filter(None, parts))
    return text + marker(run.id, task.number, grammar.TASK)


@lru_cache(maxsize=4096)  # the board is drawn at every change, and most of it stays
def _short(text: str) -> str:
    return brief(text, _WIDE)


def _money(cost: float, budget: float) -> str:
    if budget:
        return f"${cost:.2f} of ${budget:.2f}"
    return f"${cost:.2f}" if cost else ""


# --- edited -----------------------------------------------------------------------------------


class Edits(msgspec.Struct, frozen=True):
    """What the user wants: runs stopped; tasks cancelled, made by title, started in which order."""

    stop: tuple[str, ...] = ()
    cancel: tuple[Key, ...] = ()
    add: tuple[Key, ...] = ()  # a run and a title
    order: dict[str, tuple[str, ...]] = {}


Place = Union[Key, None]
"""What a line's marker says: a run and a task (empty: the run's own line)."""


def read(runs: Mapping[str, Run], before: Sequence[str], now: Sequence[str]) -> Edits | Problem:
    """What a board that showed ``before`` and is ``now`` asks for."""
    shown = {_place(line): line for line in before if _place(line)}
    texts = {strip_markers(line).strip() for line in before}
    heads = {_place(line) for line in now}  # those of a run that is to stop are no more
    seen: dict[Key, int] = {}
    add: list[Key] = []
    run = next(iter(runs)) if len(runs) == 1 else ""
    for row, line in enumerate(now):
        place = _place(line)
        if place is not None:
            if problem := _known(row, line, place, shown, seen, heads, run):
                return problem
            seen[place] = row
            run = place[0]
        elif text := strip_markers(line, fragments=True).strip():
            if text == EMPTY:
                continue
            if text in texts or text != line.strip():
                return Problem(row, _LOST)
            if not run:
                return Problem(row, "this is no task of any run: write it below the run's line.")
            add.append((run, text))
    gone = [place for place in shown if place is not None and place not in seen]
    stop = [place[0] for place in gone if not place[1]]
    for id in stop:
        if (state := runs[id].state) in ("finished", "stopped"):
            row = next(row for row, line in enumerate(before) if _place(line) == (id, ""))
            return Problem(
                row, f"a run that is {state} has nothing to stop; u brings its line back."
            )
    tasks = (place for place in gone if place[1])
    cancel = tuple(place for place in tasks if not runs[place[0]].tasks[place[1]].over)
    return Edits(tuple(stop), cancel, tuple(add), _orders(runs, shown, seen))


_LOST = "this line has lost what says which task it is; u brings it back."


def _place(line: str) -> Place:
    """The task, or run, whose line this is."""
    found = MARKER.search(line)
    if found is None or found[3].lower() not in (grammar.TASK, grammar.HEAD):
        return None
    return found[1], f"t{found[2]}" if found[3].lower() == grammar.TASK else ""


def _known(  # noqa: PLR0917  all that a line is held against
    row: int,
    line: str,
    place: Key,
    shown: Mapping[Place, str],
    seen: Mapping[Key, int],
    heads: Collection[Place],
    run: str,
) -> Problem | None:
    """What is wrong with a line that has a marker."""
    if place not in shown:
        return Problem(row, "this task is not on this board.")
    if place in seen:
        return Problem(
            row, f"{place[1] or 'this run'} is in line {seen[place] + 1}, too; u takes it back."
        )
    if line.rstrip() != shown[place].rstrip():
        what = place[1] or "a run"
        return Problem(row, f"the line of {what} was changed; u brings it back.")
    stops = (place[0], "") in shown and (place[0], "") not in heads
    if place[1] and place[0] != run and not stops:
        return Problem(row, f"{place[1]} can't move to another run.")
    return None


def _orders(
    runs: Mapping[str, Run], shown: Iterable[Place], seen: Mapping[Key, int]
) -> dict[str, tuple[str, ...]]:
    """The new order of the tasks that have not started, by run, where it is another one."""
    orders = {}
    for id, run in runs.items():
        was = list(_ready(run, (place for place in shown if place in seen)))
        is_now = sorted(was, key=lambda task: seen[id, task])
        if was != is_now:
            orders[id] = tuple(is_now)
    return orders


def _ready(run: Run, places: Iterable[Place]) -> Iterator[str]:
    for place in places:
        task = run.tasks.get(place[1]) if place and place[0] == run.id else None
        if task and task.state in ("ready", "blocked(dependency)"):
            yield task.id
