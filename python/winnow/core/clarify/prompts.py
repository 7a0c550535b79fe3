"""What the model is told, from templates that a user may replace."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

import msgspec

from winnow.core.clarify.clarification import Clarification
from winnow.core.text.encoding import to_json

NAMES = ("system", "questions", "spec")  # of the templates: each is a file ``NAME.md``
_PLACE = re.compile(r"\{\{([A-Z]+)\}\}")
_NEEDED = {"questions": ("REQUEST", "LOG"), "spec": ("REQUEST", "LOG")}


class Prompts(msgspec.Struct, frozen=True):
    """The templates. In the last two, ``{{NAME}}`` stands for what `values` has by that name."""

    system: str
    questions: str
    spec: str


class Incomplete(Exception):
    """A template leaves out what the model must know; the text says which one."""


def prompts(texts: Mapping[str, str]) -> Prompts:
    """The templates of these names.

    Raises:
        Incomplete: one has no place for the request, or for the log.
    """
    for name, needed in _NEEDED.items():
        places = set(_PLACE.findall(texts[name]))
        for place in needed:
            if place not in places:
                raise Incomplete(f"{name}.md has no {{{{{place}}}}}")
    return Prompts(*(texts[name] for name in NAMES))


def fill(template: str, known: Clarification, now: str, spec: str = "") -> str:
    """A template with what is known in it.

    What is put in is not looked at again, and nothing in it can end the fence around it.

    Args:
        template: one of `Prompts`.
        known: what is clear so far.
        now: the time, with its zone.
        spec: the specification as the user has left it, where there is one.
    """
    found = values(known, now, spec)
    return _PLACE.sub(lambda place: found.get(place[1], place[0]), template)


def values(known: Clarification, now: str, spec: str) -> dict[str, str]:
    """What may stand in a template, by its name there."""
    log = "\n".join(to_json(_line(entry)) for entry in known.log)
    areas = "\n".join(
        f"- {area}: {standing.state}; {' '.join(standing.note.split())}"
        for area, standing in known.areas.items()
    )
    diff = difflib.unified_diff(known.written.split("\n"), spec.split("\n"), lineterm="", n=1)
    changes = "\n".join(diff) if spec and known.written else ""
    inside = [known.request, log, areas, spec, changes]
    longest = max(len(run) for text in inside for run in ["", *re.findall("~+", text)])
    return {
        "FENCE": "~" * max(3, longest + 1),
        "REQUEST": known.request,
        "LOG": log,
        "AREAS": areas,
        "SPEC": spec,
        "CHANGES": changes,
        "NOW": now,
    }


def _line(entry: msgspec.Struct) -> dict[str, object]:
    """An entry as JSON, which none can be taken for that the user has made up."""
    told = msgspec.structs.asdict(entry)
    return {key: value for key, value in told.items() if value != "" or key == "answer"}


def again(reason: str) -> str:
    """What is said before the template when an object was refused."""
    return f"Your last answer was refused, since {reason}. Answer once more.\n\n"
