"""Which tasks start next, and which can be made at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from winnow.core.question import Malformed
from winnow.core.run import events as e
from winnow.core.run.run import Run
from winnow.core.run.tools import NewTask

MOST_AT_ONCE = 50  # tasks in one call: more is no plan
MOST = 999  # tasks of a run: a marker's numbers have three digits


def starting(run: Run) -> list[str]:
    """The tasks that start now: those that are ready, in order, up to the limit.

    One that has a session goes on before others begin. Who waits for an answer needs no place.
    """
    if run.state != "running":
        return []
    running = sum(task.state == "running" for task in run.tasks.values())
    ready = [id for id in run.order if run.tasks[id].state == "ready"]
    ready.sort(key=lambda id: not run.tasks[id].session)  # stable
    return ready[: max(0, run.limits.max_workers - running)]


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
    run: Run, new: Sequence[NewTask], at: float, by: e.By = "orchestrator"
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
    found = _resolved(run, dict(zip(ids, new, strict=True)))
    if isinstance(found, Malformed):
        return found
    if ring := circle(found):
        return Malformed(f"These wait for each other, none was made: {' → '.join(ring)}.")
    return [
        e.TaskCreated(at, run.id, id, one.title.strip(), one.prompt, found[id], one.worker, by)
        for id, one in zip(ids, new, strict=True)
    ]


def _resolved(run: Run, new: Mapping[str, NewTask]) -> dict[str, tuple[str, ...]] | Malformed:
    """What each new task waits for, by id."""
    titles = {task.title: id for id, task in run.tasks.items()}
    titles |= {task.title.strip(): id for id, task in new.items()}
    found = {}
    for id, task in new.items():
        if not task.title.strip():
            return Malformed("A task has no title, none was made: give each one a few words.")
        names = []
        for name in dict.fromkeys(task.waits_for):
            known = name if name in run.tasks or name in new else titles.get(name.strip())
            if known is None:
                return Malformed(
                    f"“{task.title}” waits for “{name}”, which is no task, none was made: name it "
                    "by its id or by its title."
                )
            names.append(known)
        found[id] = tuple(names)
    return found
