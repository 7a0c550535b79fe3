"""A run's events as lines to read, and the life of each question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from winnow.core.ledger.ledger import local
from winnow.core.run import events as e
from winnow.core.text.text import brief

_WIDE = 100  # characters of what an event says


def lines(events: Iterable[e.Event]) -> list[str]:
    """One line an event, then one a question."""
    known = list(events)
    told = [_line(event) for event in known if not isinstance(event, (e.Spent, e.SessionKnown))]
    lives = list(_lives(known))
    return [*told, *(["", "Questions", *lives] if lives else [])]


def in_place(event: e.Event) -> str:
    """What an event says in the conversation of its task; empty: that tells it already."""
    words = _IN_PLACE.get(type(event), "")
    if not words:
        return ""
    if isinstance(event, e.TaskBlocked):
        words = f"{words} ({event.kind})"
    if isinstance(event, e.QueryHanded):
        words = f"{words} {event.to}"
    said = getattr(event, "question", "") or getattr(event, "reason", "")
    said = ", ".join(getattr(event, "files", ())) or said
    return f"· {local(event.at):%H:%M} {words}" + (f": {_row(said)}" if said else "")


def _row(said: str) -> str:
    """What was said in one row."""
    return brief(" ".join(said.split()), _WIDE)


_IN_PLACE: dict[type[e.Event], str] = {
    e.HumanQueryRequested: "asks you",
    e.HumanQueryReturned: "not answered",
    e.QueryHanded: "handed to",
    e.TaskSilent: "no sign of life",
    e.TaskResumedAfterHumanQuery: "goes on with your answer",
    e.TaskBlocked: "blocked",
    e.TaskResumed: "goes on",
    e.TaskDone: "done",
    e.Merged: "merged",
    e.MergeReturned: "not merged",
    e.TaskFailed: "failed",
    e.TaskCancelled: "cancelled",
}


def _line(event: e.Event) -> str:
    return f"{_time(event.at)}  {_words(event)}"


def _time(at: float) -> str:
    return f"{local(at):%Y-%m-%d %H:%M:%S}"


def _words(event: e.Event) -> str:
    """What happened, in words: whose it is, what it is, and what was said."""
    who = getattr(event, "task", "") or (
        "orchestrator" if isinstance(event, e.TaskEvent) else "run"
    )
    name = str(type(event).__struct_config__.tag)
    what = name.removeprefix("task_").removeprefix("run_").replace("_", " ")
    query = getattr(event, "query", "")
    said = next(filter(None, (getattr(event, field, "") for field in _FIELDS)), "")
    said = ", ".join(getattr(event, "files", ())) or said
    said = event.tree.path if isinstance(event, e.TreeMade) else said
    said = f"to {event.to}" if isinstance(event, e.QueryHanded) else said
    money = getattr(event, "cost", 0.0) or getattr(event, "budget", 0.0)
    spent = f" (${money:.2f})" if money else ""
    return f"{who} {what} {query}".rstrip() + spent + (f": {_row(said)}" if said else "")


_FIELDS = ("question", "answer", "reason", "summary", "goal", "title", "text", "diff", "kept")
_STATIONS: dict[type[e.Event], str] = {
    e.WorkerAsked: "asked",
    e.HumanQueryRequested: "with you",
    e.HumanQueryReturned: "with the orchestrator",
    e.QueryHanded: "with",
    e.HumanQueryAnswered: "answered by you",
    e.QueryAnswered: "answered by the orchestrator",
    e.QueryWithdrawn: "withdrawn",
    e.QueryDelivered: "delivered",
}


def _lives(events: list[e.Event]) -> Iterator[str]:
    lives: dict[str, list[str]] = {}
    asked: dict[str, str] = {}
    open_of: dict[str, set[str]] = {}
    for event in events:
        if (station := _STATIONS.get(type(event))) is not None:
            id = getattr(event, "query", "")
            if isinstance(event, e.QueryHanded):
                station = f"with {event.to}"
            if by := getattr(event, "by", ""):
                station = f"answered by {by}"
            lives.setdefault(id, []).append(f"{station} {local(event.at):%H:%M:%S}")
            task, question = getattr(event, "task", ""), getattr(event, "question", "")
            asked.setdefault(id, f"{task or 'orchestrator'} “{brief(question, 60)}”")
            open_of.setdefault(task, set()).add(id)
            if station in ("withdrawn", "delivered"):
                open_of[task].discard(id)
        elif isinstance(event, (e.TaskCancelled, e.TaskFailed)):
            for id in open_of.pop(event.task, set()):
                lives[id].append(f"over {local(event.at):%H:%M:%S}")
    for id, stations in lives.items():
        yield f"{id} {asked[id]}: {' → '.join(stations)}"
