"""A tool permission as a section: the same grammar as a question, with the call shown in full."""

from __future__ import annotations

import json
from typing import Any

from winnow.core.form import Form
from winnow.core.questions import Option, Question
from winnow.core.text import clean_block

ALLOW = "Allow once"
DENY = "Deny"
_SCOPES = {
    "session": "this session",
    "localSettings": "this project, for you",
    "projectSettings": "this project",
    "userSettings": "all your projects",
}


def permission_form(
    form_id: str,
    tool: str,
    arguments: dict[str, Any],
    suggestions: list[dict[str, Any]],
    *,
    agent: str = "",
    reason: str = "",
) -> Form:
    """The section that asks whether ``tool`` may run with ``arguments``.

    Args:
        form_id: the section's id.
        tool: the tool's name.
        arguments: its input, shown in full.
        suggestions: permission updates in the wire's form; each becomes an "Always" option.
        agent: the subagent that asks, empty for the main agent.
        reason: why the agent has to ask, if it says so.
    """
    asker = f"Subagent {agent}" if agent else "Claude"
    question = f"{asker} wants to use {tool}." + (f" {reason}" if reason else "")
    always = [Option(label) for label in map(suggestion_label, suggestions)]
    options = (Option(ALLOW), *always, Option(DENY, "write a reason after this line"))
    return Form(
        id=form_id,
        questions=(Question(question, tool, options, False),),
        kind="permission",
        body=tuple(_readable(arguments)),
    )


def suggestion_label(update: dict[str, Any]) -> str:
    """A permission update in plain words, with its scope."""
    scope = _SCOPES.get(update.get("destination") or "session", "this session")
    match update.get("type"):
        case "addRules":
            rules = ", ".join(_rule(rule) for rule in update.get("rules") or [])
            return f"Always allow {rules} ({scope})"
        case "addDirectories":
            folders = ", ".join(update.get("directories") or [])
            return f"Always allow work in {folders} ({scope})"
        case "setMode":
            return f"Switch to mode {update.get('mode')} ({scope})"
        case other:
            return f"Apply {other} ({scope})"


def _rule(rule: dict[str, Any]) -> str:
    content = rule.get("ruleContent")
    return f"{rule.get('toolName')}({content})" if content else f"every {rule.get('toolName')}"


def _readable(arguments: dict[str, Any]) -> list[str]:
    """Every argument: text as it is, anything else as JSON."""
    lines: list[str] = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = clean_block(text)
        lines += [f"{name}: {first}", *("  " + line for line in rest)]
    return lines
