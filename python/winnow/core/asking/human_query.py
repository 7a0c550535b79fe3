"""The orchestrator of a run asks the user: for a worker, or for itself.

No agent waits for it in a call: the run has it, and takes the answer to whom it belongs.
"""

from __future__ import annotations

import msgspec

from winnow.core.agent import Allow, Reply, Request
from winnow.core.asking.way import Answered, ReadFile, Way, form_of
from winnow.core.question import Malformed, Option, Question
from winnow.core.section.form import Form

TOOL = "winnow:human_query"  # no tool


class HumanQuery(msgspec.Struct, frozen=True):
    """What is asked; ``task`` and ``title`` are empty where it is the orchestrator's own."""

    run: str
    query: str
    question: str
    task: str = ""
    title: str = ""
    options: tuple[str, ...] = ()


class AskHuman(Way):
    """See the module."""

    tool = TOOL
    has_line = False
    routed = True

    def read(self, id: str, request: Request, file: ReadFile) -> Form | Malformed:
        """See `Way`."""
        query = query_of(request)
        options = tuple(Option(label) for label in dict.fromkeys(query.options))
        header = f"{query.task} {query.title}".strip() or "Claude asks"
        return form_of(id, request, (Question(query.question, header, options),))

    def reply(self, answered: Answered) -> Reply:
        """Nobody gets it."""
        return Allow({})

    def message(self, answered: Answered, *, late: bool) -> str:
        """The answer alone: who gets it knows the question."""
        answer = answered.given.answer
        text = ", ".join(answer) if isinstance(answer, list) else answer
        return f"{text}\n\n{answered.given.notes}".strip()


def asked(query: HumanQuery) -> Request:
    """It as a request that no call waits for."""
    return Request(TOOL, msgspec.to_builtins(query))


def query_of(request: Request) -> HumanQuery:
    """The question that was `asked` so."""
    return msgspec.convert(request.input, HumanQuery)
