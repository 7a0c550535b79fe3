"""Which tasks start next, and which can be made at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from winnow.core.question import Malformed
from winnow.core.run import events as e
from winnow.core.run.places import HERE, Place, find, known, names
from winnow.core.run.run import Run
from winnow.core.run.task import Task
from winnow.core.run.tools import NewTask

ANYWHERE = known(())
MOST_AT_ONCE = 50  # tasks in one call: more is no plan
MOST = 999  # tasks of a run: a marker's numbers have three digits


def starting(run: Run, places: Sequence[Place] = ANYWHERE) -> dict[str, str]:
    """The tasks that start now, and where: those that are ready, in order, while there is room.

    One that has a session goes on before others begin. Who waits for an answer needs no room.
    """
    if run.state != "running":
        return {}
    running = [task.place or HERE for task in run.tasks.values() if task.state == "running"]
    free = {place.name: place.slots - running.count(place.name) for place in places}
    left = run.limits.max_workers - len(running)
    ready = [id for id in run.order if run.tasks[id].state == "ready"]
    starts: dict[str, str] = {}
    for id in sorted(ready, key=lambda id: not run.tasks[id].session):  # stable
        may = [fixed] if (fixed := bound(run, run.tasks[id])) else list(free)
        name = next((name for name in may if free.get(name, 0) > 0), None)
        if name is not None and len(starts) < left:
            free[name] -= 1
            starts[id] = name
    return starts


def bound(run: Run, task: Task) -> str:
    """The only place where a task can run: that of its session, say. Empty: anywhere."""
    if task.session:
        return task.place or HERE
    return task.worker.place or (HERE if has_tree(run, task) else "")


def has_tree(run: Run, task: Task) -> bool:
    """Whether a task is to have a worktree, all of which are here."""
    wanted = task.worker.worktree or run.limits.worker.worktree
    return wanted and task.worker.place in ("", HERE)


def homeless(run: Run, places: Sequence[Place]) -> list[str]:
    """The tasks that are ready, and whose place there is no more."""
    ready = [task for task in run.tasks.values() if task.state == "ready"]
    return [task.id for task in ready if find(places, bound(run, task)) is None]


def circle(waits_for: Mapping[str, Sequence[str]]) -> list[str]:
    """Tasks that wait for each other, the first one again at the end; empty: there are none."""
    done: set[str] = set()
    for start in waits_for:
        path: list[str] = []
        stack = [(start, iter(waits_for.get(start, ())))]
        while stack:
            node, others = stack[-1]
            if node not in path:
                path.append(node)
            following = next((one for one in others if one not in done), None)
            if following is None:
                done.add(node)
                path.remove(node)
                stack.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            else:
                stack.append((following, iter(waits_for.get(following, ()))))
    return []


def created(
    run: Run,
    new: Sequence[NewTask],
    at: float,
    by: e.By = "orchestrator",
    places: Sequence[Place] = ANYWHERE,
) -> list[e.TaskCreated] | Malformed:
    """The tasks of one call, or why they can't be: then none of them is made.

    What they wait for is named by id, or, of the same call and of earlier ones, by title.
    """
    if not new:
        return Malformed("There is no task in it: give `tasks` at least one.")
    if len(new) > MOST_AT_ONCE:
        return Malformed(
            f"{len(new)} tasks are too many at once, none was made: make at most {MOST_AT_ONCE} "
            "larger ones, see what comes of them, and make more then."
        )
    if len(run.tasks) + len(new) > MOST:
        return Malformed(f"A run has at most {MOST} tasks, none was made: {len(run.tasks)} are.")
    ids = [run.next_task(ahead) for ahead in range(len(new))]
    found = _resolved(run, dict(zip(ids, new, strict=True)), places)
    if isinstance(found, Malformed):
        return found
    if ring := circle(found):
        return Malformed(f"These wait for each other, none was made: {' → '.join(ring)}.")
    return [
        e.TaskCreated(at, run.id, id, one.title.strip(), one.prompt, found[id], one.worker, by)
        for id, one in zip(ids, new, strict=True)
    ]


def _misplaced(new: NewTask, places: Sequence[Place]) -> str:
    """Why a task can't run where it is to."""
    place = find(places, new.place)
    if place is None:
        what = f"is to run in “{new.place}”, which is no place, none was made: there are "
        what += names(places)
    elif new.worktree and place.command:
        what = f"is to have a worktree, and those are here, not in {place.name}: none was made"
    else:
        return ""
    return f"“{new.title}” {what}."


def _resolved(
    run: Run, new: Mapping[str, NewTask], places: Sequence[Place]
) -> dict[str, tuple[str, ...]] | Malformed:
    """What each new task waits for, by id."""
    titles = {task.title: id for id, task in run.tasks.items()}
    titles |= {task.title.strip(): id for id, task in new.items()}
    found = {}
    for id, task in new.items():
        if not task.title.strip():
            return Malformed("A task has no title, none was made: give each one a few words.")
        if problem := _misplaced(task, places):
            return Malformed(problem)
        waits = []
        for name in dict.fromkeys(task.waits_for):
            at = name if name in run.tasks or name in new else titles.get(name.strip())
            if at is None:
                return Malformed(
                    f"“{task.title}” waits for “{name}”, which is no task, none was made: name it "
                    "by its id or by its title."
                )
            waits.append(at)
        found[id] = tuple(waits)
    return found
