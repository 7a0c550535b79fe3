"""A round of clarify: a few questions before any work starts, each with what is assumed else.

The loop in `winnow.app.clarify` waits for the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from winnow.core.agent import Allow, Deny, Reply, Request
from winnow.core.asking.way import Answered, ReadFile, Way, form_of
from winnow.core.clarify.clarification import YOU_DECIDE, Given
from winnow.core.clarify.rounds import AREAS, Asked
from winnow.core.question import Malformed, Option, Question
from winnow.core.section import record
from winnow.core.section.answer import Decided
from winnow.core.section.form import Form

TOOL = "winnow:clarify"  # no tool
_ASSUMED = f"{YOU_DECIDE}, so it is assumed: "


class ClarifyRound(Way):
    """See the module."""

    tool = TOOL
    has_line = False

    def read(self, id: str, request: Request, file: ReadFile) -> Form | Malformed:
        """See `Way`."""
        return form_of(id, request, tuple(map(_question, _asked(request.input))))

    def reply(self, answered: Answered) -> Reply:
        """The input with the answers."""
        asked = _asked(answered.request.input)
        pairs = zip(asked, answered.form.questions, answered.answers, strict=True)
        given = [_given(*pair) for pair in pairs]
        return Allow({**answered.request.input, "answers": msgspec.to_builtins(given)})

    def record(self, answered: Answered) -> list[str]:
        """Without why it was asked."""
        asked = zip(answered.form.questions, _asked(answered.request.input), strict=True)
        brief = tuple(msgspec.structs.replace(shown, question=a.question) for shown, a in asked)
        form = msgspec.structs.replace(answered.form, questions=brief)
        return record.answered(form, answered.answers)

    def message(self, answered: Answered, *, late: bool) -> str:
        """See `Way`: so that `late` finds each answer again, also what is left to the model."""
        blocks = ["My answer to what you asked earlier:"]
        asked = _asked(answered.request.input)
        for one, shown, decided in zip(
            asked, answered.form.questions, answered.answers, strict=True
        ):
            given = _given(one, shown, decided)
            blocks.append(f"{_quoted(one.question)}{_ASSUMED * given.assumed}{given.answer}")
        return "\n\n".join(blocks)

    def cancelled(self, request: Request, reason: str, *, stop: bool) -> Reply:
        """It goes on when the user does."""
        return Deny(reason, stop=True)


def request(asked: tuple[Asked, ...], call: str) -> Request:
    """These questions as a request; ``call`` is its name for the outbox."""
    return Request(TOOL, {"questions": msgspec.to_builtins(asked)}, call)


def answers(allowed: Allow) -> list[Given]:
    """What was answered to it."""
    return msgspec.convert(allowed.input["answers"], list[Given])


def late(text: str, asked: Sequence[Asked]) -> list[Given | None] | None:
    """What such a message answers of these questions; None: it is no answer to any of them."""
    places = [(text.find(_quoted(one.question)), one.question) for one in asked]
    found = sorted(place for place in places if place[0] > 0)
    given: dict[str, Given] = {}
    for number, (at, question) in enumerate(found, 1):
        end = found[number][0] if number < len(found) else len(text)
        said = text[at + len(_quoted(question)) : end].strip()
        assumed = said.startswith(_ASSUMED)
        given[question] = Given(said.removeprefix(_ASSUMED), assumed=assumed)
    return [given.get(one.question) for one in asked] if given else None


def _quoted(question: str) -> str:
    return "\n".join(f"> {line}" for line in question.split("\n")) + "\n\n"


def _asked(input: dict[str, Any]) -> list[Asked]:
    return msgspec.convert(input["questions"], list[Asked])


def _question(asked: Asked) -> Question:
    """The recommended answer comes first, to leave it open last."""
    text = f"{asked.question}\nWhy: {asked.why}" if asked.why else asked.question
    options = tuple(Option(one.answer, one.reason) for one in asked.options)
    if asked.recommended is not None:
        best = asked.recommended
        reason = f"recommended: {best.reason}" if best.reason else "recommended"
        assumed = f"then it is assumed: {best.answer}"
        options = (Option(best.answer, reason), *options, Option(YOU_DECIDE, assumed))
    header = AREAS[asked.area] if asked.area else ""
    return Question(text, header, options, recommended=asked.recommended is not None)


def _given(asked: Asked, question: Question, decided: Decided) -> Given:
    words = " ".join(filter(None, ("; ".join(decided.own), decided.notes)))
    left = asked.recommended is not None and decided.kept == (len(question.options),)
    if left and asked.recommended is not None:
        return Given(words or asked.recommended.answer, assumed=not words)
    answer = decided.answer if isinstance(decided.answer, str) else ", ".join(decided.answer)
    note = f" ({decided.notes})" if decided.notes else ""
    return Given(answer + note)
