"""Permission updates: what they are called, and what they would have let through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from winnow.core.agent import Request, Update
from winnow.core.editor import tools as editor

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
_LINKED = "resolves through a symlink"

Offer = tuple[Update, ...]
"""Permission updates that are granted together."""


def offer(request: Request) -> Offer:
    """What can be granted so that the same call is not asked for again; empty: nothing can.

    Claude Code suggests parts, of which one alone is mostly not enough, also where all of them
    are not. What is here was measured with CLI 2.1.332, see `tests/app/test_always.py`.
    """
    if request.reason not in _ORDINARY and _LINKED not in request.reason:
        return ()  # it holds against every rule, and in every mode but bypassing
    rules, folders, modes = (
        tuple(one for one in request.suggestions if one.get("type") == kind and _allows(one))
        for kind in ("addRules", "addDirectories", "setMode")
    )
    if not folders:
        return _in_one_scope(rules or modes)
    if not rules:
        return _in_one_scope(modes + folders)
    if not (modes or request.mode == "acceptEdits") or not request.blocked:
        return ()  # output goes to a file; or one of several commands writes one, and all count
    if modes and not request.blocked.startswith("/"):
        return _in_one_scope(rules)  # the folder is the session's
    return _in_one_scope(rules + folders)


def passing(request: Request) -> Offer:
    """What of that can be granted until the turn ends: what `cover` can tell a later call by."""
    of_turn = request.reason in _ORDINARY and not request.worker  # who has turns of its own
    return offer(request) if of_turn else ()


def _allows(update: Update) -> bool:
    return update.get("behavior", "allow") in ("allow", None)


def _in_one_scope(parts: Offer) -> Offer:
    """One part of it alone would be of no use where the other is missing."""
    if len({update.get("destination") for update in parts}) < 2:
        return parts
    return tuple({**update, "destination": "session"} for update in parts)


def label(*updates: Update) -> str:
    """What is granted together, in plain words, with its scope."""
    return f"Always allow {scoped(*updates)}"


def scoped(*updates: Update) -> str:
    """The same, without saying that it is allowed."""
    scope = _SCOPES.get(updates[0].get("destination") or "session", "this session")
    return f"{_said(updates)} ({scope})"


def passing_label(*updates: Update) -> str:
    """The same for what is granted until the turn ends."""
    return f"Allow {_said(updates)} until this answer ends"


def _said(updates: Offer) -> str:
    return " and ".join(dict.fromkeys(part for update in updates for part in _parts(update)))


def _parts(update: Update) -> list[str]:
    match update.get("type"):
        case "addRules":
            return [_rule(rule) for rule in update.get("rules") or []]
        case "addDirectories":
            return [f"work in {', '.join(update.get('directories') or [])}"]
        case _ if update.get("mode") == "acceptEdits":
            return ["edits"]
        case _:
            return [f"what mode {update.get('mode')} does"]


def _rule(rule: dict[str, Any]) -> str:
    """A rule in plain words, or in Claude Code's own where these would say less."""
    tool, content = str(rule.get("toolName")), str(rule.get("ruleContent") or "")
    start = content.removesuffix(" *").removesuffix(":*")
    folder = content.removesuffix("/**")
    if not content:
        ours = editor.name_of(tool)
        return f"every {ours} in Neovim" if ours else f"every use of {tool}"
    if tool == "Bash" and "*" not in start:
        return f"“{content}”" if start == content else f"“{start} …”"
    if tool == "WebFetch" and content.startswith("domain:"):
        return f"{tool} from {content.removeprefix('domain:')}"
    if content.startswith("//") and folder != content and "*" not in folder:
        return f"{tool} in {folder[1:]}"
    return f"{tool}({content})"


def cover(granted: Sequence[Update], request: Request) -> bool:
    """Would these updates have let through what waits, so that nobody had been asked?

    Rather no than yes: what is covered runs, and the user never saw it.
    """
    have, wanted = _grants(granted), _grants(offer(request))
    return request.reason in _ORDINARY and wanted != [] and all(one in have for one in wanted)


def _grants(updates: Sequence[Update]) -> list[Any]:
    """What the updates allow, one by one."""
    kinds = ("rules", "directories")
    several = [one for update in updates for kind in kinds for one in update.get(kind) or []]
    return several + [update["mode"] for update in updates if update.get("type") == "setMode"]
