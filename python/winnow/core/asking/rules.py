"""Permission updates: what they are called, and what they would have let through."""

from __future__ import annotations

from typing import Any

from winnow.core.agent import Update

_SCOPES = {
    "session": "this session",
    "localSettings": "this project",
    "projectSettings": "this project, for all",
    "userSettings": "all your projects",
}

# Why Claude Code asks when all that is missing is a rule (CLI 2.1.332).
_ORDINARY = (
    "",
    "This command requires approval",
    "Path is outside allowed working directories",
)


def label(update: Update) -> str:
    """A permission update in plain words, with its scope."""
    scope = _SCOPES.get(update.get("destination") or "session", "this session")
    match update.get("type"):
        case "addRules":
            rules = " and ".join(map(_rule, update.get("rules") or []))
            return f"Always allow {rules} ({scope})"
        case "addDirectories":
            folders = ", ".join(update.get("directories") or [])
            return f"Always allow work in {folders} ({scope})"
        case "setMode" if update.get("mode") == "acceptEdits":
            return f"Always allow edits ({scope})"
        case "setMode":
            return f"Always: mode {update.get('mode')} ({scope})"
        case other:
            return f"Always: {other} ({scope})"


def _rule(rule: dict[str, Any]) -> str:
    """A rule in plain words, or in Claude Code's own where these would say less."""
    tool, content = str(rule.get("toolName")), str(rule.get("ruleContent") or "")
    start = content.removesuffix(" *").removesuffix(":*")
    folder = content.removesuffix("/**")
    if not content:
        return f"every use of {tool}"
    if tool == "Bash" and "*" not in start:
        return f"“{content}”" if start == content else f"“{start} …”"
    if tool == "WebFetch" and content.startswith("domain:"):
        return f"{tool} from {content.removeprefix('domain:')}"
    if content.startswith("//") and folder != content and "*" not in folder:
        return f"{tool} in {folder[1:]}"
    return f"{tool}({content})"


def cover(granted: list[Update], suggestions: list[Update], reason: str, *, same: bool) -> bool:
    """Would these updates have let through what waits, so that nobody had been asked?

    Rather no than yes: what is covered runs, and the user never saw it.

    Args:
        granted: what the user allowed always.
        suggestions: what would allow that which waits.
        reason: why Claude Code asks for it. Most reasons, such as a file that is sensitive or a
            path that leads elsewhere, hold against every rule and in every mode but bypassing.
        same: it is the very call for which the updates were granted.
    """
    if reason not in _ORDINARY:
        return False
    rules, modes = _rules(granted), _modes(granted)
    kinds = {one.get("type") for one in suggestions}
    # A pipe has an update for each of its commands, and needs them all. With a folder or a mode
    # beside them it writes a file, for which they are not enough.
    if wanted := _rules(suggestions):
        return (same or kinds == {"addRules"}) and all(rule in rules for rule in wanted)
    return kinds == {"setMode"} and _modes(suggestions) <= modes


def _rules(updates: list[Update]) -> list[Any]:
    """What the updates allow."""
    return [
        rule
        for one in updates
        if one.get("type") == "addRules" and one.get("behavior") == "allow"
        for rule in one.get("rules") or []
    ]


def _modes(updates: list[Update]) -> set[Any]:
    return {one.get("mode") for one in updates if one.get("type") == "setMode"}
