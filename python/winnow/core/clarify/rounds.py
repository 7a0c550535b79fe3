"""One round: what the model asks, and how far each area is clear."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

Area = Literal["scope", "consumer", "success", "edge cases", "errors"]
State = Literal["clear", "assumed", "open"]

AREAS: dict[Area, str] = {
    "scope": "Scope",
    "consumer": "Consumer",
    "success": "Success",
    "edge cases": "Edge cases",
    "errors": "Errors",
}
SHORTEST = 5  # characters of a question
MOST = 5  # questions of a round, and rounds

PLAIN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "minItems": 0,
            "maxItems": MOST,
            "items": {"type": "string", "minLength": SHORTEST},
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}

_TEXT = {"type": "string", "minLength": 1}


def _object(**properties: object) -> dict[str, Any]:
    """The schema of an object that has these, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMA: dict[str, Any] = _object(
    questions={
        "type": "array",
        "minItems": 0,
        "maxItems": MOST,
        "items": _object(
            question={"type": "string", "minLength": SHORTEST},
            area={"enum": list(AREAS)},
            why=_TEXT,
            recommended=_object(answer=_TEXT, reason=_TEXT),
            options={
                "type": "array",
                "maxItems": 6,
                "items": _object(answer=_TEXT, description={"type": "string"}),
            },
        ),
    },
    areas=_object(
        **{
            area: _object(state={"enum": ["clear", "assumed", "open"]}, note={"type": "string"})
            for area in AREAS
        }
    ),
)


class Choice(msgspec.Struct, frozen=True):
    """An answer that is offered; ``reason`` says why, or what it means."""

    answer: str
    reason: str = ""


class Asked(msgspec.Struct, frozen=True):
    """A question; ``recommended`` is what is assumed where the user leaves it open.

    A bare one has only its text.
    """

    question: str
    area: Area | Literal[""] = ""
    why: str = ""
    recommended: Choice | None = None
    options: tuple[Choice, ...] = ()  # others than that


class Standing(msgspec.Struct, frozen=True):
    """How far an area is clear."""

    state: State
    note: str = ""


class Round(msgspec.Struct, frozen=True):
    """What is still open; nothing: no questions."""

    questions: tuple[Asked, ...] = ()
    areas: dict[Area, Standing] = {}


class Refused(Exception):
    """It is no round; the text says why, for the model and for the user."""


def read(given: dict[str, Any], before: Iterable[str] = ()) -> Round:
    """A round from an object that fits one of the schemas.

    Args:
        given: the object.
        before: the questions that were asked already.

    Raises:
        Refused: it asks too much, nothing that can be understood, or the same thing twice.
    """
    found = given["questions"]
    if len(found) > MOST:
        raise Refused(f"there are {len(found)} questions, and {MOST} is the most")
    known = {_key(question) for question in before}
    questions = []
    for one in found:
        asked = Asked(one.strip()) if isinstance(one, str) else _asked(one)
        if len(asked.question) < SHORTEST:
            raise Refused(f"“{asked.question}” is no question")
        if _key(asked.question) in known:
            raise Refused(f"“{asked.question}” is asked twice")
        known.add(_key(asked.question))
        questions.append(asked)
    areas = msgspec.convert(given.get("areas", {}), dict[Area, Standing])
    return Round(tuple(questions), areas)


def _asked(given: dict[str, Any]) -> Asked:
    recommended = Choice(given["recommended"]["answer"].strip(), given["recommended"]["reason"])
    if not recommended.answer:
        raise Refused(f"“{given['question']}” has no recommended answer")
    options = {
        answer: Choice(answer, one["description"])
        for one in given["options"]
        if (answer := one["answer"].strip()) not in ("", recommended.answer)
    }
    return Asked(
        given["question"].strip(),
        given["area"],
        given["why"].strip(),
        recommended,
        tuple(options.values()),
    )


def _key(question: str) -> str:
    """What two questions share that are the same but for case, blanks and the end."""
    return " ".join(question.casefold().split()).rstrip(" ?!.:")
