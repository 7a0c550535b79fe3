"""What a run may cost: the user is told when little is left, and at the end work stops."""

from __future__ import annotations

from collections.abc import Callable

from winnow.app.runs.front import Front
from winnow.app.runs.record import Record
from winnow.core.run import events as e
from winnow.core.run.run import NEAR

SPENT = "Its budget is spent."


class Budget:
    """The budgets of a run and of its tasks.

    Args:
        record: the run's.
        front: the chat in which it is led.
        dismiss: ends the worker of a task, which can go on later.
    """

    def __init__(self, record: Record, front: Front, dismiss: Callable[[str], None]) -> None:
        self._record = record
        self._front = front
        self._dismiss = dismiss

    def spent(self, task: str, cost: float, *, through: bool = False) -> None:
        """A task has cost so much more, or the orchestrator (``task`` empty): US dollars.

        One that is ``through`` is done, whatever that has cost.
        """
        run, now = self._record.run, self._record.now
        if cost <= 0:
            return
        self._record.record(e.Spent(now, run.id, task, run.costs.get(task, 0.0) + cost))
        if run.left is None or run.state != "running":
            pass
        elif run.left <= 0:
            self._record.record(e.BudgetReached(now, run.id, run.cost))
            for one in [one for one in run.tasks.values() if not (through and one.id == task)]:
                self._block(one.id, f"The run's budget of ${run.limits.budget:.2f} is spent.")
            self._front.note(
                f"The budget of ${run.limits.budget:.2f} is spent: "
                ":Winnow run ++budget={dollars} raises it."
            )
        elif run.cost >= NEAR * run.limits.budget and not run.near:
            self._record.record(e.BudgetNear(now, run.id, run.cost))
            self._front.note(
                f"${run.cost:.2f} of the budget of ${run.limits.budget:.2f} are spent."
            )

    def over(self, task: str) -> bool:
        """Whether a task has none of its own left, and so is blocked."""
        left = self._record.run.tasks[task].left
        if left is None or left > 0:
            return False
        run, now = self._record.run, self._record.now
        self._record.record(e.BudgetReached(now, run.id, run.tasks[task].cost, task))
        self._block(task, SPENT)
        self._front.note(f"{task} has spent its budget of ${run.tasks[task].worker.budget:.2f}.")
        return True

    def _block(self, task: str, reason: str) -> None:
        run = self._record.run
        if run.tasks[task].state == "running":
            event = e.TaskBlocked(self._record.now, run.id, task, "budget", reason)
            self._record.record(event)
            self._dismiss(task)
