"""What the agents of a run are told: once, at the start, and when something happens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from winnow.core.run.places import Place
from winnow.core.run.query import FORM, Query
from winnow.core.run.run import Run
from winnow.core.run.task import Task

ORCHESTRATOR = f"""\
You lead a run: the user has one goal, and several workers reach it. You are the only one who talks
to the user. You plan and decide; workers do. You can read the project, but you neither edit nor
run anything.

- Look first, then make tasks with `create_tasks`: few, each whole in itself, each with all that its
  worker has to know, since a worker sees nothing but its prompt. Let a task wait for those whose
  results it needs. Tasks that change the same files must not run at the same time.
- Then end your turn. You are woken when a worker asks, is through, or fails. Never poll or wait.
- A worker's question comes to you as a message of its own. If you know the answer, or can find it
  by reading, call `reply` with it. What is the user's to decide, you don't decide.
- Whenever you need an answer from the user, write {FORM} in your message, exactly in this form, as
  plain text, and end your turn. Say in the question all that the user has to know to answer it,
  since they have not seen what the worker sees. The answer goes to the worker that asked by itself.
- When a task fails, decide: make another, do without, or ask the user.
- When all is done, call `finish`, then sum up for the user: what was done, what was decided, what
  is left.
- Don't narrate. A line where the user has to know something is enough.
"""

WORKER = """\
You are one of several workers on a larger goal, and have one task of it. Nobody reads along, and
you can't talk to the user. Where you would have to guess at what is wanted, call
`ask_orchestrator`, and wait: it knows the goal, and finds out what it doesn't know. Ask one thing
at a time, with what one must know to answer it; don't ask what you can find out yourself.

Your last message is your result. Say in it what you did, what you found, and what is left open,
so that somebody who has not seen your work can go on with it.
"""

_IN_TREE = (
    "It has a git worktree of its own. If it has changed files there, the user is asked what of "
    "that is merged, and you are told. What waits for it starts then."
)
_OWN_TREE = (
    "Your folder is a git worktree of your own: what you change there is merged by the user when "
    "you are done, so neither merge nor push."
)

STOPPED = "The user has stopped the run: nothing starts until they let it go on."
CONTINUED = "The user had stopped the run, and lets it go on: its workers go on where they were."
GO_ON = "Your work was interrupted. Go on where you stopped; what was under way may have failed."


def places(places: Sequence[Place]) -> str:
    """What the orchestrator has to know of the places; nothing, where there is only one."""
    if len(places) < 2:
        return ""
    named = ", ".join(f"{place.name} ({place.slots} at a time)" for place in places)
    return f"Workers run where there is room: {named}. Name a task's `place` only if it matters."


def task(task: Task, run: Run) -> str:
    """The first thing that a worker is told."""
    parts = [task.prompt.strip() or task.title]
    if task.waits_for:
        results = "\n\n".join(
            f"## {run.tasks[id].title}\n\n{run.tasks[id].summary or '(it said nothing)'}"
            for id in task.waits_for
        )
        parts.append(f"What was done before, by others:\n\n{results}")
    if task.tree:
        parts.append(_OWN_TREE)
    return "\n\n".join(parts)


def asked(query: Query, task: Task) -> str:
    """The orchestrator's turn about a worker's question."""
    lines = [f"{_who(task)} asks ({query.id}):", "", _quoted(query.question)]
    if query.options:
        lines += ["", "It sees these answers:", *(f"- {option}" for option in query.options)]
    if query.context:
        lines += ["", "What it says about it:", "", _quoted(query.context)]
    lines += ["", f"Answer with `reply` (task {task.id}, query {query.id}), or ask the user."]
    return "\n".join(lines)


def handed(query: Query, asker: Task) -> str:
    """A worker's turn about a question of another worker's."""
    lines = [f"{_who(asker)} asks ({query.id}), and the user wants you to answer:", ""]
    lines.append(_quoted(query.question))
    if query.options:
        lines += ["", "It sees these answers:", *(f"- {option}" for option in query.options)]
    if query.context:
        lines += ["", "What it says about it:", "", _quoted(query.context)]
    lines += ["", f"Call `answer_question` (query {query.id}), then go on with your own task."]
    return "\n".join(lines)


def handed_over(query: Query, asker: Task, to: Task) -> str:
    """The user has done so; for the orchestrator."""
    return (
        f"The user has handed the question of {_who(asker)} ({query.id}), “{query.question}”, to "
        f"{_who(to)}, which answers it: you need not."
    )


def answered_by(query: Query, asker: Task, by: Task) -> str:
    """That task has; for the orchestrator."""
    return (
        f"{_who(by)} has answered {_who(asker)} ({query.id}), which has it:\n\n"
        f"{_quoted(query.answer)}"
    )


def silent(task: Task, minutes: int, does: str) -> str:
    """Nothing is heard of a worker; for the orchestrator."""
    what = f" Last it did this: {does}." if does else ""
    return (
        f"{_who(task)} works, and has given no sign of life for {minutes} min.{what} The user "
        "knows. It may just take long: wait, tell it something with `reply`, or cancel it."
    )


def returned(query: Query, task: Task | None, reason: str) -> str:
    """The user did not answer."""
    of = f" of {_who(task)}" if task else ""
    return f"About the question{of} ({query.id}), “{query.question}”: {reason}"


def again(query: Query | None, near: Iterable[str]) -> str:
    """What it wrote reached nobody."""
    lines = []
    if pieces := [_quoted(piece) for piece in near]:
        lines += [
            "This did not reach the user, since it is not in the right form:",
            "",
            *pieces,
            "",
        ]
    if query is not None:
        lines.append(f"{query.task} still waits for an answer to {query.id}: call `reply`, or")
        lines.append(f"ask the user: write {FORM}, exactly so, as plain text.")
    else:
        lines.append(f"If you need an answer from the user, write {FORM}, exactly so.")
    return "\n".join(lines)


def human_answer(query: Query) -> str:
    """The user's answer to what the orchestrator asked for itself."""
    return f"The user answers to “{query.human or query.question}”:\n\n{query.answer}"


def done(task: Task) -> str:
    """A worker is through."""
    said = f"{_who(task)} is done. It says:\n\n{_quoted(task.summary or '(nothing)')}"
    return f"{said}\n\n{_IN_TREE}" if task.tree else said


def merged(task: Task, files: Iterable[str], note: str) -> str:
    """The user has merged its change, or a part of it."""
    said = f"The change of {_who(task)} is merged: {', '.join(files) or 'nothing was new'}."
    return f"{said} {note}".rstrip()


def dropped(task: Task, note: str) -> str:
    """The user does not want its change."""
    said = f"The user has dropped what {_who(task)} has changed: nothing of it was merged."
    return f"{said} {note}".rstrip()


def not_merged(task: Task) -> str:
    """The user has not decided about its change."""
    return f"The user does not merge what {_who(task)} has changed for now: it stays as it is."


def unchanged(task: Task) -> str:
    """There is nothing to merge, for which it has waited."""
    return f"Nothing of {_who(task)} is left to be merged: you can go on, or `finish`."


def left_on_branch(task: Task, reason: str) -> str:
    """Nobody is there to decide about its change."""
    return f"What {_who(task)} has changed is not merged, and won't be in this run: {reason}"


def failed(task: Task, run: Run) -> str:
    """A worker did not come to its end."""
    waiting = [other.id for other in run.tasks.values() if task.id in other.waits_for]
    left = f" {', '.join(waiting)} waited for it: decide how to go on." if waiting else ""
    return f"{_who(task)} failed: {task.reason}{left}"


def cancelled(task: Task, run: Run) -> str:
    """The user has cancelled a task."""
    waiting = [other.id for other in run.tasks.values() if task.id in other.waits_for]
    left = f" {', '.join(waiting)} waited for it." if waiting else ""
    return f"The user has cancelled {_who(task)}.{left}"


def told(task: Task, text: str) -> str:
    """The user wrote to a worker directly; it has it already."""
    return f"The user wrote to {_who(task)} itself, which has it:\n\n{_quoted(text)}"


def added(task: Task) -> str:
    """The user has made a task."""
    return f"The user has added {_who(task)}. It starts as soon as there is room."


def answer(query: Query) -> str:
    """An answer as the worker's message, when the call that asked waits no more."""
    asked = _quoted(query.question)
    return f"The answer to what you asked earlier:\n\n{asked}\n\n{query.answer}"


def ended(run: Run) -> str:
    """All is done, and the orchestrator has not said so."""
    return f"All {len(run.tasks)} tasks are over. Make more, or call `finish` and sum up."


def listed(run: Run) -> str:
    """All tasks, for the orchestrator."""
    lines = []
    for one in run.tasks.values():
        reason = f" ({one.reason})" if one.reason else ""
        lines.append(f"{one.id} {one.state}{reason}: {one.title}")
    lines = lines or ["There are no tasks yet."]
    return "\n".join([*lines, "", STOPPED] if run.state == "stopped" else lines)


def _who(task: Task) -> str:
    return f"{task.id} “{task.title}”"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
