"""What happens in a run: appended, never changed. All of its state follows from these.

Tagged by ``type``, in snake case, as they are kept and exported.
"""

from __future__ import annotations

import re
from typing import Literal, Union

import msgspec

Blocker = Literal["dependency", "place", "budget"]
By = Literal["orchestrator", "user", "run"]
"""Who wants something; "run": it follows from something else."""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class WorkerOptions(msgspec.Struct, frozen=True):
    """What a worker is made from; empty, or 0: as the run has it."""

    model: str = ""
    mode: str = ""  # the permission mode
    effort: str = ""
    budget: float = 0.0  # US dollars
    place: str = ""  # where it runs; empty: here
    worktree: bool = False  # it has one of its own


class Tree(msgspec.Struct, frozen=True):
    """A git worktree with a branch of its own, in which an agent works."""

    root: str  # the top of the repository that its change comes home to
    path: str  # its own top
    cwd: str  # the folder in it that stands for the one it was made from
    branch: str
    base: str  # the commit from which its change counts


class Limits(msgspec.Struct, frozen=True):
    """How much a run may do; ``budget`` in US dollars, 0: as much as it likes."""

    max_workers: int = 3
    budget: float = 0.0
    worker: WorkerOptions = WorkerOptions()  # for tasks that say nothing else
    gate: str = ""  # a command that must pass on what is merged
    uncommitted: bool = False  # worktrees begin with what is not committed, too
    merge: Literal["ask", "all", "none"] = "ask"  # what becomes of what is changed in worktrees
    silence: float = 600.0  # seconds without a sign of life, then the user is told; 0: never


class RunEvent(msgspec.Struct, frozen=True, tag_field="type", tag=_snake):
    """``at`` is in seconds since the epoch."""

    at: float
    run: str


class RunStarted(RunEvent, frozen=True):
    """The user gave it a goal. ``chat`` is the path of the chat in which it is led."""

    chat: str
    cwd: str
    goal: str = ""
    limits: Limits = Limits()


class RunFinished(RunEvent, frozen=True):
    """The orchestrator is through."""

    summary: str = ""


class RunStopped(RunEvent, frozen=True):
    """The user has stopped it: who works is ended, and goes on with `RunContinued`."""

    reason: str = ""


class RunContinued(RunEvent, frozen=True):
    """It goes on, with this budget (0: as before), and what the budget blocked with it."""

    budget: float = 0.0


class Reordered(RunEvent, frozen=True):
    """Tasks that have not started start in this order."""

    tasks: tuple[str, ...]


class Spent(RunEvent, frozen=True):
    """What a task has cost so far, or the orchestrator (``task`` empty), in US dollars."""

    task: str
    cost: float


class BudgetNear(RunEvent, frozen=True):
    """Most of the run's budget is spent."""

    cost: float


class BudgetReached(RunEvent, frozen=True):
    """A budget is spent: the run's (``task`` empty), or a task's."""

    cost: float
    task: str = ""


# --- about a task -----------------------------------------------------------------------------


class TaskEvent(RunEvent, frozen=True):
    """Something about one task."""

    task: str


class TaskCreated(TaskEvent, frozen=True):
    """There is something to do, when all that it waits for is done."""

    title: str
    prompt: str
    waits_for: tuple[str, ...] = ()
    worker: WorkerOptions = WorkerOptions()
    by: By = "orchestrator"


class TaskStarted(TaskEvent, frozen=True):
    """A worker works on it: in a session of its own, or again in the one it had."""

    place: str = ""


class SessionKnown(TaskEvent, frozen=True):
    """The worker's session has this id."""

    session: str


class TaskBlocked(TaskEvent, frozen=True):
    """It can't go on; that it waits for an answer is `WorkerAsked`."""

    kind: Blocker
    reason: str


class TaskResumed(TaskEvent, frozen=True):
    """It is to go on, in the same session."""

    reason: str = ""


class TaskDone(TaskEvent, frozen=True):
    """The worker is through; ``summary`` is what it said at last."""

    summary: str = ""


class TaskFailed(TaskEvent, frozen=True):
    """It did not come to its end."""

    reason: str


class TaskCancelled(TaskEvent, frozen=True):
    """Somebody wants it no more."""

    by: By = "orchestrator"
    reason: str = ""


class TaskSilent(TaskEvent, frozen=True):
    """Nothing was heard of its worker for so many seconds, though it works; told once."""

    seconds: float
    reason: str = ""  # what it does, as far as one knows


class Told(TaskEvent, frozen=True):
    """Words for the worker that answer nothing."""

    text: str
    by: By = "user"


# --- about what a task has changed in a worktree of its own -------------------------------------


class TreeMade(TaskEvent, frozen=True):
    """It has a worktree."""

    tree: Tree


class MergeAsked(TaskEvent, frozen=True):
    """The user is asked whether to merge its change, which ``commit`` holds; maybe again."""

    commit: str
    diff: str  # how much it is, in short
    reason: str = ""  # why it was not merged the last time
    conflicts: bool = False  # the user's files have changed in the same places


class MergeAccepted(TaskEvent, frozen=True):
    """The user wants this much of it; nothing: it is dropped. Then it is merged, once."""

    wanted: dict[str, Union[str, None]]  # see `winnow.core.proposal.merge.Wanted`
    note: str = ""  # what the user says about it


class MergeReturned(TaskEvent, frozen=True):
    """It is not merged for now; the worktree stays."""

    reason: str = ""


class Merged(TaskEvent, frozen=True):
    """These files of the user's were changed."""

    files: tuple[str, ...]


class TreeRemoved(TaskEvent, frozen=True):
    """The worktree is gone; what it held is ``kept`` under this name. Empty: it held nothing."""

    kept: str = ""


# --- about a question -------------------------------------------------------------------------


class WorkerAsked(TaskEvent, frozen=True):
    """A worker asks the orchestrator. ``call`` is its tool call, ``node`` where it runs."""

    query: str
    question: str
    options: tuple[str, ...] = ()
    context: str = ""
    call: str = ""
    node: str = ""


class HumanQueryRequested(TaskEvent, frozen=True):
    """The orchestrator asks the user; about a worker's question, or (``task`` empty) its own.

    ``message`` is the prompt in answer to which it did.
    """

    query: str
    question: str
    message: str = ""


class HumanQueryAnswered(TaskEvent, frozen=True):
    """The user answered; ``by_text``: with a message in the chat, not in its section."""

    query: str
    answer: str
    by_text: bool = False


class HumanQueryReturned(TaskEvent, frozen=True):
    """The user did not answer, so the orchestrator has the question again."""

    query: str
    reason: str


class QueryHanded(TaskEvent, frozen=True):
    """The user has another task answer it, whose id is ``to``; see `winnow.core.run.handing`."""

    query: str
    to: str


class QueryAnswered(TaskEvent, frozen=True):
    """The orchestrator answered, or the task ``by`` that was handed the question."""

    query: str
    answer: str
    by: str = ""


class QueryDelivered(TaskEvent, frozen=True):
    """Who asked has the answer on record."""

    query: str


class QueryWithdrawn(TaskEvent, frozen=True):
    """The question is over without an answer."""

    query: str
    reason: str = ""


class TaskResumedAfterHumanQuery(TaskEvent, frozen=True):
    """The worker goes on with what the user has answered."""

    query: str


Event = Union[
    RunStarted,
    RunFinished,
    RunStopped,
    RunContinued,
    Reordered,
    Spent,
    BudgetNear,
    BudgetReached,
    TaskCreated,
    TaskStarted,
    SessionKnown,
    TaskBlocked,
    TaskResumed,
    TaskDone,
    TaskFailed,
    TaskCancelled,
    TaskSilent,
    Told,
    TreeMade,
    MergeAsked,
    MergeAccepted,
    MergeReturned,
    Merged,
    TreeRemoved,
    WorkerAsked,
    HumanQueryRequested,
    HumanQueryAnswered,
    HumanQueryReturned,
    QueryHanded,
    QueryAnswered,
    QueryDelivered,
    QueryWithdrawn,
    TaskResumedAfterHumanQuery,
]
