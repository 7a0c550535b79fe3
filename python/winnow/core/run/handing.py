"""A question that is handed to another task: which one can take it, and when it comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from winnow.core.run.query import Query
from winnow.core.run.task import State, Task

# Its worker does nothing more by itself, so what it was asked goes back to the orchestrator.
ENDS: tuple[State, ...] = ("done", "failed", "cancelled", "blocked(budget)")
_TAKES: tuple[State, ...] = ("ready", "running")
_AGAIN: tuple[State, ...] = ("done", "failed")  # it goes on for that


def problem(
    tasks: Mapping[str, Task],
    queries: Iterable[Query],
    query: Query,
    to: str,
    *,
    again: bool = False,
) -> str:
    """Why a task can't be asked this, as the end of a sentence; empty: it can.

    Args:
        tasks: of the run.
        queries: of the run.
        query: the question.
        to: the task.
        again: one that is through can go on for it.
    """
    task, takes = tasks.get(to), (*_TAKES, *(_AGAIN if again else ()))
    asks = any(other.task == to and other.pending for other in queries)
    why: list[tuple[bool, str]] = [
        (not query.pending or not query.task, f"{query.id} waits for no answer to a task"),
        (task is None, f"there is no task {to}"),
        (to == query.task, f"{to} itself asks it"),
        (asks, f"{to} waits for an answer itself"),
        (task is not None and not task.session, f"{to} has not begun"),
        (task is not None and task.state not in takes, f"{to} is {task.state if task else ''}"),
    ]
    return next((sentence for holds, sentence in why if holds), "")


def returned(queries: Iterable[Query], task: str) -> list[Query]:
    """The questions that a task has to answer."""
    return [query for query in queries if query.state == "with_task" and query.to == task]
