"""A run: all that follows from its events, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from winnow.core.never import assert_never
from winnow.core.run import events as e
from winnow.core.run import handing
from winnow.core.run import query as q
from winnow.core.run.query import Query
from winnow.core.run.task import Impossible, State, Task, merged, step

NEAR = 0.8  # of the budget: the user is told

_TREES = (
    *(e.TreeMade, e.MergeAsked, e.MergeAccepted, e.MergeReturned),
    *(e.Merged, e.TreeRemoved),
)
_SETTLES = (
    *(e.TaskCreated, e.TaskResumed, e.TaskDone, e.TaskFailed, e.TaskCancelled),
    *(e.Merged, e.TreeRemoved),
)
_ENDED = {"failed": "failed", "cancelled": "was cancelled", "done": "is not merged"}
_QUERY_STATES: dict[type[e.TaskEvent], q.State] = {
    e.HumanQueryReturned: "asked",
    e.QueryWithdrawn: "withdrawn",
    e.QueryDelivered: "delivered",
}
_QUESTIONS = (
    *(e.WorkerAsked, e.HumanQueryRequested, e.QueryHanded, e.HumanQueryReturned),
    *(e.QueryAnswered, e.HumanQueryAnswered, e.QueryWithdrawn, e.QueryDelivered),
)
_ANSWERS = (e.QueryAnswered, e.HumanQueryAnswered, e.QueryWithdrawn)


class Run(msgspec.Struct):
    """One goal and its tasks. Changed by `apply` only.

    Attributes:
        order: tasks in the order in which they start, when they can.
        dependants: who waits for each task.
        costs: US dollars by task; the orchestrator's under the empty name.
        near: the user has been told that most of the budget is spent.
    """

    id: str
    chat: str = ""
    cwd: str = ""
    goal: str = ""
    limits: e.Limits = e.Limits()
    state: Literal["running", "finished", "stopped", "blocked(budget)"] = "running"
    reason: str = ""
    summary: str = ""
    tasks: dict[str, Task] = {}
    order: list[str] = []
    dependants: dict[str, list[str]] = {}
    queries: dict[str, Query] = {}
    costs: dict[str, float] = {}
    near: bool = False
    since: float = 0.0
    alive: float = 0.0

    # --- looked up ------------------------------------------------------------------------------

    @property
    def cost(self) -> float:
        """US dollars so far."""
        return sum(self.costs.values())

    @property
    def left(self) -> float | None:
        """US dollars of the budget that are left; None: it has none."""
        return self.limits.budget - self.cost if self.limits.budget else None

    def next_task(self, ahead: int = 0) -> str:
        """The id of the task that is made next, after so many others."""
        return f"t{len(self.tasks) + ahead + 1}"

    def next_query(self) -> str:
        """The id of the question that is asked next."""
        return f"q{len(self.queries) + 1}"

    def pending(self, task: str | None = None) -> list[Query]:
        """The questions that have no answer yet, of a task or of all."""
        return q.pending(self.queries.values(), task=task)

    def undelivered(self, task: str) -> list[Query]:
        """Those of a task whose answer it may not have yet."""
        own = (query for query in self.queries.values() if query.task == task)
        return [query for query in own if query.state == "answered"]

    def waiting_for(self, task: Task) -> list[str]:
        """What a task waits for and is not done, or not merged."""
        found = {id: self.tasks[id] for id in task.waits_for if id in self.tasks}
        done = {id for id, one in found.items() if one.state == "done" and not one.unmerged}
        return [id for id in task.waits_for if id not in done]

    # --- changed --------------------------------------------------------------------------------

    def apply(self, event: e.Event) -> None:
        """Something happened.

        Raises:
            Impossible: it can't have, and nothing is changed.
        """
        match event:
            case e.RunStarted(at=at, chat=chat, cwd=cwd, goal=goal, limits=limits):
                self.chat, self.cwd, self.limits, self.since = chat, cwd, limits, at
                self.goal = goal or self.goal
            case e.RunFinished(summary=summary):
                self.state, self.summary, self.reason = "finished", summary, ""
            case e.RunStopped(reason=reason):
                self._stop(event, reason)
            case e.RunContinued(budget=budget):
                self._continue(event, budget)
            case e.Reordered(tasks=tasks):
                self._reorder(tasks)
            case e.Spent(task=task, cost=cost):
                self.costs[task] = cost
                self._set(task, cost=cost)
            case e.BudgetNear():
                self.near = True
            case e.BudgetReached(task=task, cost=cost):
                if not task:
                    self.state = "blocked(budget)"
                    self.reason = f"${cost:.2f} of ${self.limits.budget:.2f} are spent"
            case e.TaskEvent():
                self._apply_task(event)
            case _:
                assert_never(event)
        self.alive = max(self.alive, event.at)

    def _apply_task(self, event: e.TaskEvent) -> None:
        unknown = event.task and event.task not in self.tasks
        if unknown and not isinstance(event, e.TaskCreated):
            raise Impossible(f"there is no task {event.task}")
        match event:
            case e.TaskCreated():
                self._create(event)
            case e.SessionKnown(session=session):
                self._set(event.task, session=session)
            case e.Told() | e.TaskSilent():
                pass
            case _ if isinstance(event, _TREES):
                self.tasks[event.task] = merged(self.tasks[event.task], event)
            case _ if isinstance(event, _QUESTIONS):
                self._apply_question(event)
            case _:
                self._move(event, getattr(event, "reason", ""))
        if isinstance(event, _ANSWERS):
            self._unblock(event)
        if not isinstance(event, e.TaskSilent):
            self._set(event.task, alive=event.at)
        if isinstance(event, _SETTLES):
            self._settle(event, [event.task, *self.dependants.get(event.task, ())])

    def _create(self, event: e.TaskCreated) -> None:
        if event.task != self.next_task():
            raise Impossible(f"{event.task} does not follow {len(self.tasks)} tasks")
        self.tasks[event.task] = Task(
            len(self.tasks) + 1,
            event.title,
            event.prompt,
            event.waits_for,
            event.worker,
            since=event.at,
            alive=event.at,
        )
        self.order.append(event.task)
        for other in event.waits_for:
            self.dependants.setdefault(other, []).append(event.task)

    def _move(self, event: e.TaskEvent, reason: str) -> None:
        task = self.tasks[event.task]
        state = step(task.state, event)
        changed = msgspec.structs.replace(task, state=state, reason=reason, since=event.at)
        if isinstance(event, e.TaskDone):
            changed = msgspec.structs.replace(changed, summary=event.summary)
        if isinstance(event, e.TaskStarted) and event.place:
            changed = msgspec.structs.replace(changed, place=event.place)
        if isinstance(event, e.TaskResumed) and task.merge:  # there will be more to merge
            outdated = task.merge.conflicts
            changed = msgspec.structs.replace(changed, merge=None, outdated=outdated)
        self.tasks[event.task] = changed
        if state in handing.ENDS:
            self._take_back(event)
        if changed.over:
            self._close_queries(event.task, answered=state == "cancelled")

    def _set(self, task: str, **values: object) -> None:
        if task in self.tasks:
            self.tasks[task] = msgspec.structs.replace(self.tasks[task], **values)

    def _settle(self, event: e.RunEvent, tasks: Iterable[str]) -> None:
        """What waits for others is ready when these are done, and only then."""
        for task in [self.tasks[id] for id in tasks if id in self.tasks]:
            if task.waits_for and task.state in ("ready", "blocked(dependency)"):
                others = self.waiting_for(task)
                state: State = "blocked(dependency)" if others else "ready"
                found = [self.tasks[id] for id in others if id in self.tasks]
                ended = [one for one in found if one.over]
                what = [f"{one.id}, which {_ENDED[one.state]}" for one in ended] or others
                reason = f"waits for {', '.join(what)}" if others else ""
                if (state, reason) != (task.state, task.reason):
                    self._set(task.id, state=state, reason=reason, since=event.at)

    def _stop(self, event: e.RunStopped, reason: str) -> None:
        """Who works does so no more, and is ready to go on."""
        if self.state == "finished":
            raise Impossible("the run is finished")
        self.state, self.reason = "stopped", reason
        for task in list(self.tasks.values()):
            if task.state == "running":
                self._set(task.id, state="ready", reason="its run is stopped", since=event.at)

    def _continue(self, event: e.RunContinued, budget: float) -> None:
        self.state, self.reason, self.near = "running", "", False
        self.limits = msgspec.structs.replace(self.limits, budget=budget or self.limits.budget)
        for task in list(self.tasks.values()):
            if task.state == "ready":
                self._set(task.id, reason="")
            if task.state == "blocked(budget)" and (task.left is None or task.left > 0):
                self._set(task.id, state="ready", reason="", since=event.at)
        self._settle(event, list(self.tasks))

    def _reorder(self, tasks: tuple[str, ...]) -> None:
        """The places that these have are theirs in this order."""
        if len(set(tasks)) < len(tasks) or not set(tasks) <= set(self.order):
            raise Impossible(f"no order: {tasks}")
        new = iter(tasks)
        self.order = [next(new) if id in tasks else id for id in self.order]

    # --- questions ------------------------------------------------------------------------------

    def _apply_question(self, event: e.TaskEvent) -> None:
        match event:
            case e.WorkerAsked(question=question):
                self._move(event, f"asks: {question}")
                self._ask(event)
            case e.HumanQueryRequested():
                self._ask_human(event)
            case e.QueryHanded():
                self._hand(event)
            case e.QueryAnswered(answer=answer) | e.HumanQueryAnswered(answer=answer):
                self._query(event, event.query, "answered", answer=answer)
            case e.HumanQueryReturned() | e.QueryWithdrawn() | e.QueryDelivered():
                self._query(event, event.query, _QUERY_STATES[type(event)])
            case _:
                raise Impossible(f"{type(event).__name__} is about no question")

    def _ask(self, event: e.WorkerAsked) -> None:
        self.queries[event.query] = Query(
            event.query,
            self.id,
            event.task,
            event.question,
            event.options,
            event.context,
            call=event.call,
            node=event.node,
            created_at=event.at,
        )

    def _ask_human(self, event: e.HumanQueryRequested) -> None:
        if event.query not in self.queries and not event.task:  # its own
            self.queries[event.query] = Query(
                event.query, self.id, "", event.question, created_at=event.at
            )
        said = {"human": event.question, "message": event.message}
        self._query(event, event.query, "with_human", **said)
        if event.task:
            self._set(event.task, reason=f"asks you: {event.question}", since=event.at)

    def _hand(self, event: e.QueryHanded) -> None:
        query = self.queries.get(event.query)
        if query is None or (
            why := handing.problem(self.tasks, self.queries.values(), query, event.to)
        ):
            raise Impossible(why if query else f"there is no question {event.query}")
        self._query(event, event.query, "with_task", to=event.to)
        self._set(event.task, reason=f"asks {event.to}: {query.question}", since=event.at)

    def _take_back(self, event: e.TaskEvent) -> None:
        """What this task had to answer, the orchestrator has again."""
        for query in handing.returned(self.queries.values(), event.task):
            self.queries[query.id] = msgspec.structs.replace(query, state="asked", to="")
            self._set(query.task, reason=f"asks: {query.question}", since=event.at)

    def _query(self, event: e.TaskEvent, id: str, state: q.State, **values: object) -> None:
        if (query := self.queries.get(id)) is None or query.task != event.task:
            raise Impossible(f"{event.task} has no question {id}")
        if not q.may(query.state, state):
            raise Impossible(f"question {id} is {query.state}, not {state}")
        self.queries[id] = msgspec.structs.replace(query, state=state, **values)

    def _unblock(self, event: e.TaskEvent) -> None:
        """With its last question answered a task is ready, in the session that it has."""
        task = self.tasks.get(event.task)
        if task and task.state == "blocked(input)" and not self.pending(event.task):
            self._set(event.task, state="ready", reason="", since=event.at)

    def _close_queries(self, task: str, *, answered: bool) -> None:
        for query in list(self.queries.values()):
            if query.task == task and (query.pending or (answered and query.state == "answered")):
                self.queries[query.id] = msgspec.structs.replace(query, state="over")


def replay(id: str, events: Iterable[e.Event]) -> Run:
    """The run that these events make.

    Raises:
        Impossible: they are not those of a run.
    """
    run = Run(id)
    for event in events:
        run.apply(event)
    return run
