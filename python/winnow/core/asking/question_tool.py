"""The `question` tool: an agent asks for values that a program can use, and gets them back.

Its answers belong to questions by place and id, never by text, so texts may be equal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from winnow.core.agent import Allow, Reply, Request
from winnow.core.asking.way import Answered, ReadFile, Way, form_of
from winnow.core.question import Malformed, Option, Question
from winnow.core.section.answer import SKIPPED, Answers, Decided
from winnow.core.section.form import Form
from winnow.core.text import grammar
from winnow.core.text.text import brief, clean

NAME = "question"
SERVER = "winnow"
TOOL = f"mcp__{SERVER}__{NAME}"  # what Claude Code calls it
RESULT = "result"  # where the input carries the result to the tool
DESCRIPTION = (
    "Ask the user one or more multiple-choice questions. They can always answer in their own words "
    "instead, so don't add an option for that."
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "Names the answer; each id once"},
                    "label": {"type": "string", "description": "A word or two for the question"},
                    "prompt": {"type": "string", "description": "The question in full"},
                    "options": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "value": {
                                    "type": ["string", "number", "boolean", "null"],
                                    "description": "What comes back",
                                },
                                "label": {"type": "string", "description": "What the user reads"},
                                "description": {"type": "string"},
                            },
                            "required": ["value", "label"],
                        },
                    },
                    "multiSelect": {"type": "boolean", "description": "May several be picked?"},
                },
                "required": ["id", "prompt", "options"],
            },
        }
    },
    "required": ["questions"],
}

MOST = 999  # questions, and options of each: the addresses in markers have three digits

Result = dict[str, Any]


def failed(reason: str) -> Result:
    """The result of a call that nobody could answer."""
    return {"questions": [], "answers": [], "cancelled": True, "error": reason}


NO_INTERFACE = failed("Nobody can answer here: there is no user interface. Decide yourself.")


class QuestionTool(Way):
    """See the module."""

    tool = TOOL
    waits_unattended = False

    def read(self, id: str, request: Request, file: ReadFile) -> Form | Malformed:
        """See `Way`."""
        return form_of(id, request, read(request.input), skips=True)

    def reply(self, answered: Answered) -> Reply:
        """See `Way`."""
        reply = _reply(answered.request, result(answered.request.input, answered.answers))
        return msgspec.structs.replace(reply, note=answered.remark)

    def refused(self, request: Request, reason: str) -> Reply:
        """See `Way`."""
        return _reply(request, failed(reason))

    def unanswered(self, request: Request, reason: str) -> Reply:
        """See `Way`."""
        return _reply(request, NO_INTERFACE)

    def cancelled(self, request: Request, reason: str, *, stop: bool) -> Reply:
        """See `Way`."""
        return _reply(request, result(request.input, None))

    def line(self, input: dict[str, Any]) -> str:
        """See `Way`."""
        return call_line(input)

    def output(self, text: str) -> list[str]:
        """See `Way`."""
        return shown(text)


def _reply(request: Request, result: Result) -> Allow:
    """The tool passes on what its input brings, whatever became of the question.

    That is held against `SCHEMA` before the tool runs: what was understood goes there, not what
    was sent, or the model would read that its question was wrong when the user has answered.
    """
    return Allow(
        {"questions": [_as_in_schema(one) for one in _understood(request)], RESULT: result}
    )


def _understood(request: Request) -> list[_Asked]:
    try:
        return _read(request.input)
    except _Refused:
        return []


def _as_in_schema(asked: _Asked) -> dict[str, Any]:
    return {
        "id": asked.id,
        "label": asked.label,
        "prompt": asked.prompt,
        "options": [msgspec.to_builtins(pick) for pick in asked.options],
        "multiSelect": asked.multi,
    }


class _Asked(msgspec.Struct, frozen=True):
    sent: dict[str, Any]
    id: str
    label: str
    prompt: str
    options: tuple[_Pick, ...]

    @property
    def multi(self) -> bool:
        """Of no options none can be kept: own words are the answer, without a second <CR>."""
        return bool(self.options) and self.sent.get("multiSelect") in (True, "true")


class _Pick(msgspec.Struct, frozen=True):
    value: str | int | float | bool | None
    label: str
    description: str


class _Refused(Exception):
    """A sentence for the model."""


def read(input: dict[str, Any]) -> tuple[Question, ...] | Malformed:
    """The questions of a call, in its order."""
    try:
        asked = _read(input)
    except _Refused as refused:
        return Malformed(str(refused))
    prompts = [one.prompt for one in asked]
    return tuple(
        Question(
            # Equal texts differ by their ids, for the user and for the ledger.
            question=one.prompt if prompts.count(one.prompt) == 1 else f"{one.prompt} ({one.id})",
            header=one.label,
            options=tuple(Option(pick.label, pick.description) for pick in one.options),
            multi=one.multi,
        )
        for one in asked
    )


def result(input: dict[str, Any], answers: Answers | None) -> Result:
    """What the agent gets. Without answers, the user cancelled."""
    try:
        asked = _read(input)
    except _Refused as refused:
        return failed(str(refused))
    given = [
        entry
        for one, decided in zip(asked, answers or (), strict=answers is not None)
        for entry in _entries(one, decided)
    ]
    questions = [{**one.sent, "id": one.id, "label": one.label} for one in asked]
    return {"questions": questions, "answers": given, "cancelled": answers is None}


def call_line(input: dict[str, Any]) -> str:
    """A call on one line of the chat."""
    try:
        asked = _read(input)
    except _Refused:
        return NAME
    labels = ", ".join(brief(one.label) for one in asked)
    return f"{NAME} · {len(asked)}: {brief(labels, 80)}"


def shown(output: str) -> list[str]:
    """The result that the tool has given to the agent, as `result_lines`; empty for any other."""
    try:
        return result_lines(json.loads(output))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def result_lines(result: Result) -> list[str]:
    """A result as lines of the chat: one for each answer."""
    if result.get("error"):
        return [f"{grammar.REFUSED} {clean(str(result['error']))}"]
    if result.get("cancelled"):
        return [f"{grammar.REFUSED} Cancelled"]
    labels = {one["id"]: brief(one["label"]) for one in result["questions"]}
    lines = []
    for entry in result["answers"]:
        said = clean(str(entry["label"]))
        if entry.get("skipped"):
            lines.append(f"{grammar.REFUSED} {labels[entry['id']]}: Skipped")
            continue
        said = f"{grammar.OWN} “{said}”" if entry["wasCustom"] else said or "(empty)"
        note = f" — {clean(entry['notes'])}" if entry.get("notes") else ""
        lines.append(f"{grammar.KEPT} {labels[entry['id']]}: {said}{note}")
    return lines


def _entries(asked: _Asked, given: Decided) -> Iterator[dict[str, Any]]:
    """An entry for each pick and each text of the user's own; notes go with the first."""
    notes = {"notes": given.notes} if given.notes else {}
    for index in given.kept:
        pick = asked.options[index - 1]
        entry = {"id": asked.id, "value": pick.value, "label": pick.label, "wasCustom": False}
        yield {**entry, "index": index, **notes}
        notes = {}
    if given.skipped:
        yield {"id": asked.id, "value": None, "label": SKIPPED, "wasCustom": False, "skipped": True}
    several = isinstance(given.answer, list)
    for text in given.own if several else [given.answer] * bool(given.own):
        yield {"id": asked.id, "value": text, "label": text, "wasCustom": True, **notes}
        notes = {}


def _read(input: dict[str, Any]) -> list[_Asked]:
    sent = input.get("questions")
    if isinstance(sent, dict):
        sent = [sent]
    if not isinstance(sent, list) or not sent:
        raise _Refused("No questions: `questions` must be a list of at least one.")
    if len(sent) > MOST:
        raise _Refused(f"{len(sent)} questions are too many: at most {MOST} can be asked.")
    asked = [_question(item, number) for number, item in enumerate(sent, 1)]
    ids = [one.id for one in asked]
    for id in ids:
        if ids.count(id) > 1:
            raise _Refused(f"Two questions have the id “{id}”: make each id distinct.")
    return asked


def _question(item: object, number: int) -> _Asked:
    if not isinstance(item, dict):
        raise _Refused(f"Question {number} is not an object with `id`, `prompt` and `options`.")
    id, label = _text(item.get("id")), _text(item.get("label")).strip()
    prompt = _text(item.get("prompt")) or label
    if not prompt.strip():
        raise _Refused(f"Question {number} has no `prompt`.")
    options = item.get("options")
    if options is None:
        options = []
    if not isinstance(options, list) or len(options) > MOST:
        raise _Refused(f"`options` of question {number} must be a list of at most {MOST}.")
    picks = [
        _pick(option, f"{place} of question {number}") for place, option in enumerate(options, 1)
    ]
    return _Asked(
        sent=item,
        id=id if id.strip() else f"q{number}",
        label=label or f"Q{number}",
        prompt=prompt,
        options=tuple(picks),
    )


def _pick(option: object, name: str) -> _Pick:
    # One that can't be read is not left out, as in other questions: the index would be another's.
    if not isinstance(option, dict):
        option = {"value": option, "label": option}
    value, label = option.get("value"), option.get("label")
    if value is not None and not isinstance(value, (str, int, float)):
        raise _Refused(f"`value` of option {name} must be a string, a number, a boolean or null.")
    if "value" not in option:
        value = label = _text(label)
    shown = _text(label) or (str(value) if value is not None else "")
    if not shown.strip():
        raise _Refused(f"Option {name} has no `label`.")
    return _Pick(value, shown, _text(option.get("description")))


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return str(value)
