"""Asking whether a project's settings may act, and what Claude Code then gets of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from winnow.core import project
from winnow.core.agent import Allow, Reply, Request, Update
from winnow.core.asking import rules
from winnow.core.asking.way import Answered, ReadFile, Way
from winnow.core.project import Entry, Project
from winnow.core.proposal.proposal import Changed, Kept, Settings
from winnow.core.proposal.settings import lines_of
from winnow.core.question import Option, Question
from winnow.core.section.form import Form
from winnow.core.text import grammar
from winnow.core.text.encoding import from_json, to_json

TOOL = "winnow:trust"  # no tool: what Winnow itself asks before it starts the agent
TRUST = "Trust this project"
WITHOUT = "Go on without its settings"
_LONGEST = 90_000  # bytes; an argument of a program may have 131,072

Verdict = Literal["kept", "dropped", "granted"]
Verdicts = Mapping[str, Verdict]
"""What was decided about entries by their text; "granted": the user's own rules, as JSON."""


class Given(msgspec.Struct, frozen=True):
    """What Claude Code gets of a project: its files as they are, or only these parts of them.

    What the project says to Claude (CLAUDE.md) it gets in any case; ``prompts`` are those parts of
    it that Claude Code reads only with the rest.
    """

    whole: bool = True
    settings: dict[str, Any] = {}
    servers: dict[str, Any] = {}
    prompts: str = ""


class ProjectTrust(Way):
    """Not asked by the agent, but before it starts."""

    tool = TOOL
    has_line = False
    past = "Whether the project is trusted is asked with your next message."
    inside = "Whether a project is trusted is decided in its section."

    def read(self, id: str, request: Request, file: ReadFile) -> Form:
        """See `Way`."""
        return form(id, request.input)

    def reply(self, answered: Answered) -> Reply:
        """The entries that are kept; to go on without any is an answer, too."""
        refused = answered.form.refuses(answered.given.kept)
        match answered.change:
            case Kept(input=input) | Changed(input=input) if not refused:
                return Allow(input)
        return Allow({"entries": []})

    def line(self, input: dict[str, Any]) -> str:
        """See `Way`."""
        return str(input["project"])


def asked(name: str, entries: list[str]) -> Request:
    """Ask about these entries of the project of this name."""
    return Request(TOOL, {"project": name, "entries": entries})


def form(form_id: str, input: dict[str, Any]) -> Form:
    """The section that asks: ``input`` holds the project's name and the entries to decide on."""
    asked = Settings(TOOL, input, str(input["project"]), tuple(input["entries"]))
    text = (
        f"{asked.project} brings settings that act by themselves. "
        "Delete those that shall not, then decide. With any of them gone its agents, commands and "
        "skills stay out, too. CLAUDE.md is read in any case."
    )
    options = (Option(TRUST, role="allow"), Option(WITHOUT, role="deny"))
    return Form(form_id, (Question(text, asked.project, options),), asked)


def undecided(entries: Iterable[Entry], verdicts: Verdicts) -> list[str]:
    """What the user has to be asked about."""
    return [entry.text for entry in entries if entry.text not in verdicts]


def given(what: Project, verdicts: Verdicts) -> Given:
    """What goes by these verdicts; what isn't decided is left out."""
    entries = project.entries(what.sources)
    kept = [entry for entry in entries if verdicts.get(entry.text) == "kept"]
    settings: dict[str, Any] = {}
    for text, verdict in verdicts.items():
        if verdict == "granted":
            settings = project.merged(settings, _granted(text))
    poses = any(entry.poses for entry in entries)
    if len(kept) == len(entries) and what.is_known and not poses:
        # From a file they count only where Claude Code itself trusts the project.
        for entry in kept:
            rules = entry.settings.get("permissions", {})
            found = {key: rules[key] for key in ("allow", "additionalDirectories") if key in rules}
            settings = project.merged(settings, {"permissions": found} if found else {})
        return Given(settings=settings)
    settings = project.merged(settings, project.restrictions(what.sources))
    servers: dict[str, Any] = {}
    for entry in kept:
        settings = project.merged(settings, entry.settings)
        servers |= entry.servers
    return Given(False, settings, servers, _prompts(what))


def held(updates: Iterable[Update]) -> tuple[list[Update], list[str]]:
    """Permission updates as they go to Claude Code, and those that Winnow keeps for the project.

    Claude Code would write them into the project, and read all else anew that stands there by
    then. So it has them for the session only, and gets them again with the next one.
    """
    passed, kept = [], []
    for update in updates:
        if update.get("destination") in ("localSettings", "projectSettings"):
            kept.append(to_json(update))
            update = {**update, "destination": "session"}  # noqa: PLW2901
        passed.append(update)
    return passed, kept


def told(what: Project, verdicts: Verdicts) -> list[str]:
    """What was decided, as lines to read."""
    words = {"kept": grammar.KEPT, "dropped": grammar.REFUSED}
    entries = [entry.text for entry in project.entries(what.sources)]
    lines = [f"{words.get(verdicts.get(text, ''), '?')} {text}" for text in entries]
    lines += [
        f"{grammar.KEPT} {rules.label(from_json(text, dict[str, Any]))}"
        for text, verdict in verdicts.items()
        if verdict == "granted"
    ]
    return [part for line in lines for part in lines_of(line)]


def _prompts(what: Project) -> str:
    parts = [f"Contents of {it.name}:\n\n{it.text}" for it in what.prompts if it.text]
    return "\n\n".join(parts).encode()[:_LONGEST].decode(errors="ignore")


def _granted(text: str) -> dict[str, Any]:
    """A permission update as settings."""
    match from_json(text, dict[str, Any]):
        case {"type": "addRules", "behavior": str(behavior), "rules": list(rules)}:
            return {"permissions": {behavior: [_rule(rule) for rule in rules]}}
        case {"type": "addDirectories", "directories": list(folders)}:
            return {"permissions": {"additionalDirectories": folders}}
    return {}


def _rule(rule: dict[str, Any]) -> str:
    content = rule.get("ruleContent")
    return f"{rule.get('toolName')}({content})" if content else str(rule.get("toolName"))
