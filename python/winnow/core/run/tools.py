"""The tools of a run: what the orchestrator and its workers can call, and how a call is read."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

import msgspec
from msgspec import Meta

from winnow.core.agent import Allow
from winnow.core.asking.question_tool import RESULT
from winnow.core.asking.run_tool import NAMES, PREFIX
from winnow.core.described import Described, described
from winnow.core.question import Malformed
from winnow.core.run.events import WorkerOptions

Role = Literal["", "orchestrator", "worker"]

READING = ("Read", "Grep", "Glob")  # all that the orchestrator has of Claude Code's own


class _Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=False):
    """A call; its first line of doc is what the model reads."""


class NewTask(msgspec.Struct, frozen=True):
    """One task."""

    title: Annotated[str, Meta(description="A few words, for a list")]
    prompt: Annotated[
        str, Meta(description="All that its worker has to know, which sees nothing else")
    ]
    waits_for: Annotated[
        tuple[str, ...],
        Meta(description="Ids of tasks, or titles of tasks in this call, to be done before"),
    ] = ()
    model: str = ""
    mode: Annotated[
        Literal["", "default", "plan"],  # to let more through is the user's to decide
        Meta(description="Permission mode; plan: it only reads, and proposes"),
    ] = ""
    effort: str = ""
    budget: Annotated[float, Meta(description="US dollars that it may cost; 0: no limit")] = 0.0
    place: Annotated[str, Meta(description="Where it runs; empty: here")] = ""
    worktree: Annotated[bool, Meta(description="Give it a git worktree of its own")] = False

    @property
    def worker(self) -> WorkerOptions:
        """What its worker is made from."""
        return WorkerOptions(
            self.model, self.mode, self.effort, self.budget, self.place, self.worktree
        )


class CreateTasks(_Tool, frozen=True):
    """Make tasks. Each is given to a worker as soon as all that it waits for is done."""

    tasks: tuple[NewTask, ...]


class ListTasks(_Tool, frozen=True):
    """All tasks with their states. You are told of every change, so there is no need to poll."""


class Reply(_Tool, frozen=True):
    """Answer a worker's question, or tell a worker something; one that is through goes on."""

    task: str
    text: str
    query: Annotated[str, Meta(description="Which question, if the task has several")] = ""


class CancelTask(_Tool, frozen=True):
    """Stop a worker, and give its task up."""

    task: str
    reason: str = ""


class ReadTranscript(_Tool, frozen=True):
    """What was said and done in a task, the newest last."""

    task: str
    last: Annotated[int, Meta(description="How many turns, from the end", ge=1)] = 20


class Finish(_Tool, frozen=True):
    """Say that the goal is reached, or can't be. Call it once, at the end."""

    summary: str


class AskOrchestrator(_Tool, frozen=True):
    """Ask the orchestrator, and wait for its answer. Ask whenever you would have to guess."""

    question: str
    options: Annotated[tuple[str, ...], Meta(description="Possible answers")] = ()
    context: Annotated[str, Meta(description="What one must know to answer")] = ""


class AnswerQuestion(_Tool, frozen=True):
    """Answer a question of another worker's that you were asked to answer."""

    query: Annotated[str, Meta(description="Which question, as you were told")]
    text: str


Call = Union[
    CreateTasks,
    ListTasks,
    Reply,
    CancelTask,
    ReadTranscript,
    Finish,
    AskOrchestrator,
    AnswerQuestion,
]

_KINDS = (
    *(CreateTasks, ListTasks, Reply, CancelTask, ReadTranscript, Finish),
    *(AskOrchestrator, AnswerQuestion),
)
_TOOLS: dict[str, type[Call]] = dict(zip(NAMES, _KINDS, strict=True))
_WORKERS = ("ask_orchestrator", "answer_question")  # a worker has these, and no others


def of(role: Role) -> list[Described]:
    """The tools of a role."""
    names = [name for name in _TOOLS if (name in _WORKERS) == (role == "worker")]
    return [described(name, _TOOLS[name]) for name in names] if role else []


def is_ours(tool: str) -> bool:
    """Whether it is one of them."""
    return tool.removeprefix(PREFIX) in _TOOLS and tool.startswith(PREFIX)


def read(tool: str, input: dict[str, Any]) -> Call | Malformed:
    """A call of one of them, or what is wrong with it, for the model."""
    given = {key: value for key, value in input.items() if key != RESULT}
    try:
        return msgspec.convert(given, _TOOLS[tool.removeprefix(PREFIX)], strict=False)
    except msgspec.ValidationError as error:
        return Malformed(f"This call can't be understood: {error}.")


def result(input: dict[str, Any], text: str) -> Allow:
    """What lets the call run, which then says this."""
    return Allow({**input, RESULT: text})
