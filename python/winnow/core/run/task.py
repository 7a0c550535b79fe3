"""A task, and the one function that says which state comes after which."""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from winnow.core.run import events as e

State = Literal[
    "ready",
    "running",
    "blocked(input)",  # it waits for an answer, of the orchestrator's or of the user's
    "blocked(dependency)",  # what it waits for is not done
    "blocked(place)",  # where it is to run can't be reached
    "blocked(budget)",
    "done",
    "failed",
    "cancelled",
]

_WAITS: tuple[State, ...] = ("blocked(place)", "blocked(budget)")
_OPEN: tuple[State, ...] = ("ready", "running", "blocked(input)", "blocked(dependency)", *_WAITS)
_STOPPED: tuple[State, ...] = ("done", "failed")  # it can be gone on with

# From which states an event may come, and to which it leads.
_STEPS: dict[type[e.RunEvent], tuple[tuple[State, ...], State]] = {
    e.TaskStarted: (("ready",), "running"),
    e.WorkerAsked: (("running", "blocked(input)"), "blocked(input)"),
    e.TaskResumed: (("running", *_WAITS, *_STOPPED), "ready"),
    e.TaskResumedAfterHumanQuery: (("ready",), "running"),
    e.TaskDone: (("running",), "done"),
    e.TaskFailed: (_OPEN, "failed"),
    e.TaskCancelled: ((*_OPEN, *_STOPPED), "cancelled"),
}
_BLOCKED: dict[e.Blocker, tuple[tuple[State, ...], State]] = {
    "dependency": (("ready",), "blocked(dependency)"),
    "place": (("ready", "running"), "blocked(place)"),
    "budget": (("ready", "running"), "blocked(budget)"),
}


class Impossible(Exception):
    """An event came that can't have happened."""


class Merge(msgspec.Struct, frozen=True):
    """How a task's change comes home: asked about, accepted, merged; or put aside."""

    commit: str = ""
    diff: str = ""
    state: Literal["asked", "accepted", "aside", "done"] = "asked"
    reason: str = ""
    wanted: dict[str, Union[str, None]] = {}
    note: str = ""
    conflicts: bool = False


class Task(msgspec.Struct, frozen=True):
    """Something to be done by one worker.

    Attributes:
        number: from 1, in the order in which they were made; ``id`` is ``t{number}``.
        reason: why it is in its state, for the user.
        summary: what the worker said at last.
        session: the worker's, to be resumed.
        cost: US dollars.
        since: when it came into its state.
        alive: when something was last heard of it.
        place: where it runs, or ran last; its session is there.
        tree: the worktree that it has.
        merge: how far its change has come.
        outdated: the worktree needs what the user's files have become.
    """

    number: int
    title: str
    prompt: str
    waits_for: tuple[str, ...] = ()
    worker: e.WorkerOptions = e.WorkerOptions()
    state: State = "ready"
    reason: str = ""
    summary: str = ""
    session: str = ""
    cost: float = 0.0
    since: float = 0.0
    alive: float = 0.0
    place: str = ""
    tree: e.Tree | None = None
    merge: Merge | None = None
    outdated: bool = False

    @property
    def id(self) -> str:
        """What the orchestrator calls it."""
        return f"t{self.number}"

    @property
    def over(self) -> bool:
        """Nothing more will come of it by itself."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def unmerged(self) -> bool:
        """It may have changed something that is not merged."""
        return self.tree is not None and (self.merge is None or self.merge.state != "done")

    @property
    def merging(self) -> bool:
        """It is done, and its change on the way to the user, or home."""
        aside = self.merge is not None and self.merge.state == "aside"
        return self.state == "done" and self.unmerged and not aside

    @property
    def left(self) -> float | None:
        """US dollars of its own budget that are left; None: it has none."""
        return self.worker.budget - self.cost if self.worker.budget else None


def step(state: State, event: e.RunEvent) -> State:
    """The state after an event that changes it.

    Raises:
        Impossible: that can't happen in this state.
    """
    table = _BLOCKED[event.kind] if isinstance(event, e.TaskBlocked) else _STEPS[type(event)]
    allowed, to = table
    if state not in allowed:
        raise Impossible(f"{type(event).__name__} in state {state}")
    return to


def merged(task: Task, event: e.TaskEvent) -> Task:
    """The task after an event about its worktree.

    Raises:
        Impossible: that can't happen now.
    """
    now = task.merge.state if task.merge else ""
    change = msgspec.structs.replace
    match event:
        case e.TreeMade(tree=tree) if task.tree is None or task.outdated:
            return change(task, tree=tree, merge=None, outdated=False)
        case e.MergeAsked(commit=commit, diff=diff, reason=reason) if task.merging:
            asked = Merge(commit, diff, reason=reason, conflicts=event.conflicts)
            return change(task, merge=asked)
        case e.MergeAccepted(wanted=wanted, note=note) if task.merge and now in ("asked", "aside"):
            given = change(task.merge, state="accepted", wanted=wanted, note=note, reason="")
            return change(task, merge=given)
        case e.MergeReturned(reason=reason) if task.merging and now != "accepted":
            return change(task, merge=change(task.merge or Merge(), state="aside", reason=reason))
        case e.Merged() if task.merge and now == "accepted":
            return change(task, merge=change(task.merge, state="done", wanted={}))
        case e.TreeRemoved() if task.tree is not None:
            return change(task, tree=None)
    raise Impossible(f"{type(event).__name__} with merge {now or 'none'}")
