"""Questions that a model writes into its text, as JSON: read, and answered.

Three formats, told apart by ``type``: one question, a group of them, a form of them. A model that
is asked for JSON also sends comments, trailing commas and numbers for ids; where it is clear what
is meant, it is asked. Nothing that is shown is changed: what is no question stays, byte for byte.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Union

import msgspec

from winnow.core.agent import Allow, Reply, Request
from winnow.core.asking.way import Answered, ReadFile, Way, form_of
from winnow.core.question import Malformed, Option, Question
from winnow.core.section.answer import SKIPPED, Answers, Decided
from winnow.core.section.form import Form, option_line
from winnow.core.text.text import prose

MOST = 999  # questions, and options of each: the addresses in markers have three digits

TYPES = frozenset({"user_choice", "user_choice_group", "user_choices"})


class Choice(msgspec.Struct, frozen=True):
    """What is asked. ``questions`` have their context below their text, for the section.

    ``texts``, ``ids`` and ``picks`` (option ids) are in the same order. ``title`` and ``context``
    are about all of them.
    """

    questions: tuple[Question, ...]
    texts: tuple[str, ...]
    ids: tuple[str, ...]
    picks: tuple[tuple[str, ...], ...]
    title: str = ""
    context: str = ""


TOOL = "winnow:choices"  # no tool: nobody waits for the answer


class ChoicesInText(Way):
    """See the module."""

    tool = TOOL
    awaited = False

    def read(self, id: str, request: Request, file: ReadFile) -> Form | Malformed:
        """See `Way`."""
        return form_of(id, request, _choice_of(request).questions, skips=True)

    def reply(self, answered: Answered) -> Reply:
        """Nobody gets it."""
        return Allow({})

    def message(self, answered: Answered, *, late: bool) -> str:
        """See `Way`."""
        if late:
            return super().message(answered, late=late)
        text = answer_text(_choice_of(answered.request), answered.answers)
        return f"{text}\n\nAbout all of it: {answered.comment}" if answered.comment else text

    def as_text(self, request: Request) -> list[str]:
        """See `Way`."""
        return numbered(_choice_of(request))

    def by_number(self, request: Request, text: str) -> int | None:
        """See `Way`."""
        return by_number(_choice_of(request), text)


def asked(choice: Choice) -> Request:
    """A choice as a request that nobody waits for."""
    return Request(TOOL, msgspec.to_builtins(choice))


def choice_of(request: Request) -> Choice | None:
    """The choice that was `asked` so; None: it was another request."""
    return _choice_of(request) if request.tool == TOOL else None


def _choice_of(request: Request) -> Choice:
    return msgspec.convert(request.input, Choice)


# --- the formats ------------------------------------------------------------------------------

Text = Union[str, int, float, None]


class Item(msgspec.Struct):
    """An option as it is sent."""

    id: Text = None
    label: Text = None
    description: Text = None


Items = Union[list[Union[str, int, float, Item]], None]


class Asked(msgspec.Struct, rename={"multi": "multiSelect"}):
    """A question as a form has it."""

    id: Text = None
    question: Text = None
    context: Text = None
    choices: Items = None
    multi: Union[bool, None] = None

    @property
    def items(self) -> Items:
        """The options."""
        return self.choices


class Either(Asked):
    """A question that may call its options by either name."""

    options: Items = None

    @property
    def items(self) -> Items:
        """The options."""
        if self.options and self.choices and self.options != self.choices:
            raise _Refused("has both `options` and `choices`, and they differ")
        return self.options or self.choices


class UserChoice(Either, tag_field="type", tag="user_choice"):
    """One question."""


class UserChoiceGroup(msgspec.Struct, tag_field="type", tag="user_choice_group"):
    """Questions about one thing."""

    choices: list[Either]
    question: Text = None
    context: Text = None


class UserChoices(msgspec.Struct, tag_field="type", tag="user_choices"):
    """A form."""

    questions: list[Asked]
    title: Text = None
    description: Text = None


Sent = Union[UserChoice, UserChoiceGroup, UserChoices]


class _Refused(Exception):
    """A question that can't be asked."""


def read(text: str) -> Choice | Malformed | None:
    """The choice that this JSON object is; None if it is something else."""
    if not (looks_like_one(text) or '"question"' in text):
        return None  # soon: a message may hold thousands of small objects
    try:
        # Not strict: a line break within a string is an error, but no riddle.
        value = _typed(json.loads(_loosened(text), strict=False))
    except (ValueError, RecursionError) as error:
        return Malformed(f"its JSON is wrong: {error}") if looks_like_one(text) else None
    if value is None:
        return None
    try:
        sent: Sent = msgspec.convert(value, Sent)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        return Malformed(f"it is not in the format: {error}")
    return _choice(sent)


def _typed(value: Any) -> dict[str, Any] | None:
    """An object with the type of a choice. It may also be the only key, or missing in a group."""
    match value:
        case {"type": str(kind)} if kind in TYPES:
            return {**value}
        case {"choices": [_, *_]} if _is_group(value):
            return {**value, "type": "user_choice_group"}
        case dict() if len(value) == 1:
            ((kind, inner),) = value.items()
            return {**inner, "type": kind} if kind in TYPES and isinstance(inner, dict) else None
    return None


def _choice(sent: Sent) -> Choice | Malformed:
    asked: Sequence[Asked]
    match sent:
        case UserChoice():
            asked, title, context = [sent], None, None
        case UserChoiceGroup():
            asked, title, context = sent.choices, sent.question, sent.context
        case UserChoices():
            asked, title, context = sent.questions, sent.title, sent.description
    if not asked or len(asked) > MOST:
        return Malformed(f"it needs 1 to {MOST} questions and has {len(asked)}")
    questions, picks = [], []
    for number, one in enumerate(asked, 1):
        try:
            options = [_option(item, place) for place, item in enumerate(one.items or [], 1)]
            text = _text(one.question)
            if not text.strip():
                raise _Refused("has no text")
            if not options or len(options) > MOST:
                raise _Refused(f"needs 1 to {MOST} options and has {len(options)}")
        except _Refused as refused:
            return Malformed(f"question {number} {refused}")
        whole = f"{text}\n{_text(one.context)}".strip("\n")
        questions.append(
            Question(whole, "", tuple(option for _, option in options), one.multi is True)
        )
        labels = [option.label for _, option in options]
        picks.append(_named([id for id, _ in options], labels))
    texts = [_text(one.question) for one in asked]
    ids = _distinct([_text(one.id) for one in asked], ["question"] * len(asked))
    return Choice(tuple(questions), tuple(texts), ids, tuple(picks), _text(title), _text(context))


def _option(item: str | float | Item, place: int) -> tuple[str, Option]:
    if not isinstance(item, Item):
        item = Item(label=item)
    id, label, description = _text(item.id), _text(item.label), _text(item.description)
    for text in (label, description, id):  # what there is names it
        if text.strip():
            return id, Option(text, "" if text == description else description)
    raise _Refused(f"has no label on option {place}")


def _distinct(ids: list[str], names: list[str]) -> tuple[str, ...]:
    """The ids; where several are equal, each says its place and name instead, as it is shown."""
    counts = Counter(ids)
    return tuple(
        id if id.strip() and counts[id] == 1 else f"{place}. {name}"
        for place, (id, name) in enumerate(zip(ids, names, strict=True), 1)
    )


def _named(ids: list[str], labels: list[str]) -> tuple[str, ...]:
    """What an answer says for each option: its id, or its label where that is none of its own."""
    counts = Counter(ids)
    names = [
        id if id.strip() and counts[id] == 1 else label
        for id, label in zip(ids, labels, strict=True)
    ]
    return _distinct(names, labels)


def _is_group(value: dict[str, Any]) -> bool:
    """Only a group may leave its type out, so it must have the shape of one."""
    return value.get("type") in (None, "") and all(
        isinstance(one, dict) and "question" in one and ("options" in one or "choices" in one)
        for one in value["choices"]
    )


UNSEEN = "\ufeff\xa0\u200b"  # what a model sends for a blank, as a regular expression's set

# Whatever begins one ends somewhere, if only with the text: nothing is looked at twice.
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_COMMENT = re.compile(_STRING + r"|(//[^\n]*|/\*.*?\*/)|/\*.*", re.DOTALL)
_TRAILING = re.compile(_STRING + r"|(,)(?=\s*[}\]])", re.DOTALL)
_UNSEEN = re.compile(_STRING + rf"|([{UNSEEN}]+)", re.DOTALL)


def _loosened(text: str) -> str:
    """JSON without comments, commas after the last item, and blanks that are none in JSON."""
    for pattern in (_UNSEEN, _COMMENT, _TRAILING):
        text = pattern.sub(lambda found: "" if found[1] else found[0], text)
    return text


def looks_like_one(text: str) -> bool:
    """Whether this was meant to be a choice, whatever else is wrong with it."""
    return "user_choice" in text  # all three types begin so


def _text(value: Text) -> str:
    return "" if value is None else str(value)


# --- the answer -------------------------------------------------------------------------------


def answer_text(choice: Choice, answers: Answers) -> str:
    """The user's next message: one question's id, or a line for each of several."""
    if len(choice.questions) == 1:
        (given,) = answers
        said = _joined([choice.picks[0][option - 1] for option in given.kept], given)
        return f"{said}\n\nNote: {given.notes}" if given.notes else said
    lines = []
    for number, (asked, given) in enumerate(zip(choice.questions, answers, strict=True)):
        text = choice.texts[number]
        name = f"{text} ({choice.ids[number]})" if choice.texts.count(text) > 1 else text
        labels = [
            _with_id(choice.picks[number][option - 1], asked.options[option - 1].label, option)
            for option in given.kept
        ]
        said = SKIPPED if given.skipped else _joined(labels, given)
        lines.append(f"{_on_one_line(name)}: {said}")
        if given.notes:
            lines.append("  Note: " + given.notes.replace("\n", "\n  "))
    return "\n".join(lines)


def numbered(choice: Choice) -> list[str]:
    """The questions as text, where no section can be shown below their title and context."""
    lines: list[str] = []
    for asked in choice.questions:
        options = [f"{n}. {option_line(option)}" for n, option in enumerate(asked.options, 1)]
        lines += [*([""] if lines else []), *prose(asked.question).split("\n"), "", *options]
    return lines


def by_number(choice: Choice, text: str) -> int | None:
    """The option (from 1) of the only question that this message names by a bare number."""
    number = re.fullmatch(r"\s*([0-9]{1,3})[.)]?\s*", text)
    if number is None or len(choice.questions) > 1:
        return None
    return int(number[1]) if 0 < int(number[1]) <= len(choice.picks[0]) else None


def _joined(picked: list[str], given: Decided) -> str:
    """Picks and own words; an own answer alone stays as it was typed."""
    items = [*picked, *given.own]
    if not picked:
        return "\n\n".join(items)
    return ("; " if any("," in item for item in items) else ", ").join(items)


def _with_id(pick: str, label: str, place: int) -> str:
    """A pick among several questions: the model's own id, if it gave one, and the label."""
    is_id = pick not in (label, f"{place}. {label}")
    return _on_one_line(f"{pick}. {label}" if is_id else pick)


def _on_one_line(text: str) -> str:
    return " ".join(text.split("\n"))
