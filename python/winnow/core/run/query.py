"""A question on its way: from a worker to the orchestrator, maybe to the user, and back.

`parse_human_query` finds what the orchestrator asks the user in its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

TOKEN = "NEED_HUMAN"
FORM = f"[{TOKEN}: question]"

State = Literal["asked", "with_human", "with_task", "answered", "delivered", "withdrawn", "over"]
"""Who has it: the orchestrator, the user, another task, the worker soon, the worker; or nobody any
more, since who asked took it back, or its task is over."""

_STEPS: dict[State, tuple[State, ...]] = {
    "asked": ("with_human", "with_task", "answered", "withdrawn", "over"),
    "with_human": ("asked", "with_task", "answered", "withdrawn", "over"),
    "with_task": ("asked", "with_human", "answered", "withdrawn", "over"),
    "answered": ("delivered", "over"),
    "delivered": (),
    "withdrawn": (),
    "over": (),
}


class Query(msgspec.Struct, frozen=True):
    """``task`` is empty where the orchestrator itself asks. ``human`` is how it asks the user.

    ``to`` is the task that has to answer it, where the user has said so.
    """

    id: str
    run: str
    task: str
    question: str
    options: tuple[str, ...] = ()
    context: str = ""
    human: str = ""
    to: str = ""
    answer: str = ""
    state: State = "asked"
    call: str = ""  # the worker's tool call, which waits for it
    node: str = ""  # where the worker runs
    message: str = ""  # the orchestrator's prompt in answer to which it asked the user
    created_at: float = 0.0

    @property
    def agent(self) -> str:
        """Who asks: the worker of a task is called as the task is."""
        return self.task

    @property
    def pending(self) -> bool:
        """It has no answer yet."""
        return self.state in ("asked", "with_human", "with_task")


def may(state: State, to: State) -> bool:
    """Whether a question can go from one state to the other."""
    return to in _STEPS[state]


def pending(
    queries: Iterable[Query], *, run: str = "", task: str | None = None, agent: str | None = None
) -> list[Query]:
    """Those that have no answer yet, the oldest first: of a run, a task, or an agent."""
    return [
        query
        for query in queries
        if query.pending
        and run in ("", query.run)
        and task in (None, query.task)
        and agent in (None, query.agent)
    ]


def route(queries: Iterable[Query], text: str) -> Query | None:
    """The question that a plain message answers: the only one that the user is asked.

    None: it is for the orchestrator; with two or more nobody could say which it answers.
    """
    waiting = with_human(queries)
    return waiting[0] if len(waiting) == 1 and text.strip() else None


def with_human(queries: Iterable[Query]) -> list[Query]:
    """Those that the user is asked."""
    return [query for query in queries if query.state == "with_human"]


def with_orchestrator(queries: Iterable[Query]) -> list[Query]:
    """Those that wait for what the orchestrator makes of them."""
    return [query for query in queries if query.state == "asked"]


# --- in the orchestrator's text ---------------------------------------------------------------


class Parsed(msgspec.Struct, frozen=True):
    """What a message asks the user; ``near``: pieces that seem to, but not in the right form."""

    questions: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


_BEGIN = re.compile(rf"\[{TOKEN}:")
_LIKE = re.compile(r"(?i)(?<![a-z0-9_])need[_ -]?human(?![a-z0-9_])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
_PIECE = 80  # characters of a near miss, for the log


def parse_human_query(text: str) -> Parsed:
    """The questions for the user in what the orchestrator says, as a whole message.

    In a fence, in quotes or in code it is only spoken about, unless that is all that is said.
    One without a question is none.
    """
    spoken, shown = _split(text)
    questions, near, end = [], [], 0
    closing = _closing(spoken)
    for found in _LIKE.finditer(spoken):
        if found.start() < end:
            continue  # within the one before
        begin = found.start() - 1
        close = closing.get(begin)
        if _BEGIN.match(spoken, max(begin, 0)) and close and not _in_bold(spoken, begin, close):
            questions.append(spoken[found.end() + 1 : close].strip())
            end = close
        elif _asks(spoken, found):
            near.append(spoken[max(begin, 0) : begin + _PIECE].split("\n")[0])
    if not spoken.strip(" \t\n*_") and _LIKE.search(shown):
        near.append(shown.strip()[:_PIECE])
    return Parsed(tuple(filter(None, questions)), tuple(near))


def _split(text: str) -> tuple[str, str]:
    """What is said, and what is only shown: fenced, quoted, or as code."""
    said, shown, fence = [], [], ""
    for line in text.split("\n"):
        opens = _FENCE.match(line)
        if fence:
            shown.append(line)
            if opens and opens[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif opens:
            fence = opens[1]
            shown.append(line)
        elif line.lstrip().startswith(">"):
            shown.append(line)
        else:
            shown += _CODE.findall(line)
            said.append(_CODE.sub("", line))
    return "\n".join(said), "\n".join(shown)


def _closing(text: str) -> dict[int, int]:
    """Where each bracket that opens is closed; in one go, since a text may be all brackets."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for found in re.finditer(r"[\[\]]", text):
        if found[0] == "[":
            opened.append(found.start())
        elif opened:
            closing[opened.pop()] = found.start()
    return closing


def _in_bold(text: str, begin: int, close: int) -> bool:
    return any(
        text.endswith(mark, 0, begin) and text.startswith(mark, close + 1) for mark in ("**", "__")
    )


def _asks(text: str, found: re.Match[str]) -> bool:
    """Whether it seems to ask: with a bracket before it, or a colon behind it."""
    before = text[max(found.start() - 20, 0) : found.start()].rstrip(" *_")[-1:]
    after = text[found.end() : found.end() + 20].lstrip(" *_")
    return before in ("[", "(") or after.startswith(":")


def named(queries: Sequence[Query]) -> str:
    """Some questions, as one sentence can name them."""
    return ", ".join(f"{query.task or 'Claude'} ({query.id})" for query in queries)
