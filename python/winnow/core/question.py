"""What an agent asks, read from the tool input it sent.

The wire promises 1–4 questions with 2–4 options; models send other things. Whatever can be
understood is asked, the rest is refused with a sentence from which a model can do better.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from winnow.core.agent import Update

Role = Literal["answer", "allow", "always", "deny"]
"""What keeping an option does: "always" allows, and lets more of the kind through."""


class Option(msgspec.Struct, frozen=True):
    """One thing to choose. ``label`` is what goes back, byte for byte.

    ``updates`` are what holds from then on, where it allows something.
    """

    label: str
    description: str = ""
    preview: str = ""
    role: Role = "answer"
    updates: tuple[Update, ...] = ()


class Question(msgspec.Struct, frozen=True):
    """One question. ``question`` is the key of its answer, byte for byte."""

    question: str
    header: str
    options: tuple[Option, ...]
    multi: bool = False


class Malformed(msgspec.Struct, frozen=True):
    """It can't be asked. ``reason`` is for the model."""

    reason: str


def read_questions(input: dict[str, Any]) -> tuple[Question, ...] | Malformed:
    """The questions of an AskUserQuestion call."""
    asked = input.get("questions")
    if isinstance(asked, dict):
        asked = [asked]
    if not isinstance(asked, list) or not asked:
        return Malformed("There is no question: `questions` must be a list of 1 to 4 questions.")
    questions = []
    for number, item in enumerate(asked, 1):
        if not isinstance(item, dict):
            return Malformed(f"Question {number} is not an object with `question` and `options`.")
        question = _question(item)
        if not question.options:
            return Malformed(
                f"Question {number} has no options: give it 2 to 4, each with a `label`."
            )
        questions.append(question)
    # Answers are keyed by the text, so one of two equal questions could never be answered.
    if len({question.question for question in questions}) < len(questions):
        return Malformed("Two questions have the same text: make each text distinct.")
    return tuple(questions)


def _question(item: dict[str, Any]) -> Question:
    text, header = _text(item.get("question")), _text(item.get("header"))
    options = item.get("options")
    read = [_option(option) for option in options] if isinstance(options, list) else []
    return Question(
        question=header or "" if text is None else text,
        header=header or "",
        options=tuple(option for option in read if option is not None),
        multi=item.get("multiSelect") in (True, "true"),
    )


def _option(item: object) -> Option | None:
    if not isinstance(item, dict):
        label = _text(item)
        return None if label is None else Option(label)
    label, description = _text(item.get("label")), _text(item.get("description"))
    if label is None:
        return None if description is None else Option(description)
    return Option(label, description or "", _text(item.get("preview")) or "")


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return str(value)
