"""The specification that comes out: what the model gives for it, and its Markdown."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from winnow.core.clarify.clarification import Clarification
from winnow.core.clarify.rounds import AREAS
from winnow.core.text import grammar

_LIST = {"type": "array", "items": {"type": "string", "minLength": 1}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "summary": {"type": "string", "minLength": 1},
        "scope": {**_LIST, "minItems": 1},
        "non_goals": _LIST,
        "interfaces": _LIST,
        "acceptance_criteria": {**_LIST, "minItems": 1},
        "assumptions": _LIST,
        "open_questions": _LIST,
    },
    "additionalProperties": False,
}
SCHEMA["required"] = list(SCHEMA["properties"])


class Spec(msgspec.Struct, frozen=True):
    """What it says, section by section."""

    title: str
    summary: str = ""
    scope: tuple[str, ...] = ()
    non_goals: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


def draft(known: Clarification) -> Spec:
    """What stands there while there are questions: the answers, and what is open."""
    return Spec(
        title_of(known.request),
        "A draft: what was answered so far stands below, the rest follows.",
    )


def markdown(spec: Spec, known: Clarification, date: str) -> str:
    """The file.

    Args:
        spec: what the model gave.
        known: what it is made from.
        date: of the clarifications.
    """
    assumed = [
        f"{_line(entry.question)} {_line(entry.answer)}" for entry in known.log if entry.assumed
    ]
    left = [asked.question for asked in known.open]
    parts = [
        f"# {_line(spec.title)}",
        spec.summary.strip(),
        "## Request\n\n" + _quoted(known.request),
        _section("Scope", spec.scope),
        _section("Non-goals", spec.non_goals),
        _section("Interfaces", spec.interfaces),
        _section(
            "Acceptance criteria",
            [f"**AC-{n}**: {text}" for n, text in enumerate(spec.acceptance_criteria, 1)],
        ),
        _section("Assumptions", _together(spec.assumptions, assumed)),
        _section("Open questions", _together(spec.open_questions, left)),
        _clarifications(known, date),
        mark(known.id),
    ]
    return "\n\n".join(parts) + "\n"


def mark(id: str) -> str:
    """The line by which the file is known again."""
    return f"{grammar.SPEC} {id} -->"


_MARK = re.compile(rf"(?m)^{re.escape(grammar.SPEC)} (\w+) -->")


def marked(text: str) -> str:
    """Of which clarification a file is; empty: of none."""
    found = _MARK.findall(text)
    return found[-1] if found else ""


def title_of(request: str) -> str:
    """What to call a request: the beginning of its first line."""
    line = next((line for line in request.split("\n") if line.strip(" \t#")), "")
    words = _line(line).lstrip("# ")
    return words if len(words) <= 60 else words[:59].rsplit(" ", 1)[0] + "…"


def file_name(request: str, date: str) -> str:
    """Of its file: the date, and what it is about."""
    words = re.findall(r"\w+", title_of(request).casefold())[:6]
    return "-".join([date, *words])[:80] + ".md"


def _clarifications(known: Clarification, date: str) -> str:
    lines = ["## Clarifications"]
    if known.log:
        lines += ["", f"### {date}", ""]
    for entry in known.log:
        answer = _line(entry.answer) + " (assumed)" * entry.assumed
        lines.append(f"- {_line(entry.question)} → {answer}" if entry.question else f"- {answer}")
    if known.areas:
        lines += ["", "| Area | State | Note |", "| --- | --- | --- |"]
        for area, standing in known.areas.items():
            lines.append(f"| {AREAS[area]} | {standing.state} | {_cell(standing.note)} |")
    return "\n".join(lines if len(lines) > 1 else [*lines, "", "None."])


def _section(title: str, items: tuple[str, ...] | list[str]) -> str:
    return f"## {title}\n\n" + ("\n".join(f"- {_item(item)}" for item in items) or "None.")


def _together(first: tuple[str, ...], more: list[str]) -> list[str]:
    """Both lists, without what stands in the first already."""
    told = "\n".join(map(_line, first)).casefold()
    return [*first, *(one for one in more if _line(one).casefold() not in told)]


def _item(text: str) -> str:
    """Text of several lines as one item of a list."""
    return "\n  ".join(line for line in text.strip().split("\n") if line.strip())


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip("\n").split("\n"))
