"""A request and what became of it: what was asked and answered, round by round."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from winnow.core.clarify.rounds import MOST, Area, Asked, Round, Standing
from winnow.core.text import grammar

LONGEST = 400_000  # characters of a request: more fits into no model with what it has to read
ENOUGH = "enough"  # as an answer, it ends the questions
YOU_DECIDE = "You decide"
_AGAIN = re.compile(rf"{grammar.AGAIN} .+?\.md: ")


class Given(msgspec.Struct, frozen=True):
    """The user's answer to a question; ``assumed``: they leave it open, and this is assumed."""

    answer: str
    assumed: bool = False


class Entry(msgspec.Struct, frozen=True):
    """A line of the log. What the user said unasked has no question."""

    round: int
    question: str
    answer: str
    area: Area | str = ""
    assumed: bool = False


class Clarification(msgspec.Struct, frozen=True):
    """All of it, as it is kept.

    Attributes:
        id: its name.
        request: the user's, word for word.
        log: what was asked, in order.
        open: what was asked last and not answered, or left out by *enough*.
        areas: how far each area was clear after the last round.
        rounds: how many there were.
        enough: the user wants no more questions.
        heard: calls and prompts that are part of the log.
        path: the file of the specification; empty: there is none yet.
        written: what it held when it was written last.
        finished: the specification is whole.
        saved: how often it was put on record: who knows less has been overtaken.
    """

    id: str
    request: str = ""
    log: tuple[Entry, ...] = ()
    open: tuple[Asked, ...] = ()
    areas: dict[Area, Standing] = {}
    rounds: int = 0
    enough: bool = False
    heard: tuple[str, ...] = ()
    path: str = ""
    written: str = ""
    finished: bool = False
    saved: int = 0

    @property
    def over(self) -> bool:
        """Nothing more is asked."""
        return self.enough or self.rounds >= MOST

    @property
    def questions(self) -> list[str]:
        """Those of the log."""
        return [entry.question for entry in self.log if entry.question]

    def asks(self, round: Round) -> Clarification:
        """The model has asked this."""
        return msgspec.structs.replace(
            self, open=round.questions, areas=round.areas or self.areas, rounds=self.rounds + 1
        )

    def answered(self, given: Sequence[Given | None], *heard: str) -> Clarification:
        """The user has answered what is open; what has no answer stays so."""
        pairs = list(zip(self.open, given, strict=True))
        entries = [
            Entry(self.rounds, asked.question, one.answer, asked.area, one.assumed)
            for asked, one in pairs
            if one is not None and not is_enough(one.answer)
        ]
        enough = any(one is not None and is_enough(one.answer) for one in given)
        left = tuple(asked for asked, one in pairs if one is None or is_enough(one.answer))
        return msgspec.structs.replace(
            self,
            log=(*self.log, *entries),
            open=left,
            enough=self.enough or enough,
            heard=(*self.heard, *heard),
        )

    def told(self, text: str, *heard: str) -> Clarification:
        """The user says something: the request, *enough*, or what belongs to the log."""
        known = msgspec.structs.replace(self, heard=(*self.heard, *heard))
        if not self.request:
            return msgspec.structs.replace(known, request=text)
        if is_enough(text):
            return msgspec.structs.replace(known, enough=True)
        said = _AGAIN.sub("", text, count=1).strip()  # whose file that is, is known
        log = self.log
        if said != grammar.WHAT_IS_OPEN:
            log = (*log, Entry(self.rounds, "", said))
        if self.finished:  # it is taken up again, with as many rounds
            return msgspec.structs.replace(
                known, log=log, finished=False, enough=False, rounds=0, open=()
            )
        return msgspec.structs.replace(known, log=log, open=())


def is_enough(answer: str) -> bool:
    """Whether an answer ends the questions."""
    return answer.strip().rstrip(".!").casefold() == ENOUGH


def problem(request: str) -> str:
    """Why this can't be clarified, as a sentence; empty: it can."""
    if not request.strip():
        return "The request is empty: say what is wanted."
    if len(request) > LONGEST:
        return (
            f"The request has {len(request):,} characters, and {LONGEST:,} is the most: "
            "name files instead of quoting them."
        )
    return ""
