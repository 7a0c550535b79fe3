"""Permissions, patches and plans as sections: the same grammar as a question, shown in full."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, Literal

from winnow.core.form import Form
from winnow.core.proposal import Call, Patch, Plan, Proposal
from winnow.core.questions import Option, Question

ALLOW = "Allow once"
DENY = "Deny"
KEEP_PLANNING = "Keep planning"
_SCOPES = {
    "session": "this session",
    "localSettings": "this project",
    "projectSettings": "this project, for all",
    "userSettings": "all your projects",
}
# What a plan can be approved with: the mode that follows.
_APPROVALS = {
    "Approve, ask before each edit": "default",
    "Approve, accept edits": "acceptEdits",
}

Update = dict[str, Any]
"""A permission update, in the wire's own form."""


def form(
    form_id: str,
    tool: str,
    proposal: Proposal,
    suggestions: list[Update],
    *,
    agent: str = "",
    why: tuple[str, ...] = (),
) -> Form:
    """The section that asks whether this may be done.

    Args:
        form_id: the section's id.
        tool: the tool's name.
        proposal: what it is to do, shown in full.
        suggestions: permission updates; each becomes an "Always" option.
        agent: the subagent that asks, empty for the main agent.
        why: sentences that say why the user is asked, and what else matters.
    """
    if isinstance(proposal, Plan):
        refusal = Option(KEEP_PLANNING, "write what to change after this line")
        labels = list(_APPROVALS)
    else:
        refusal = Option(DENY, "write a reason after this line")
        labels = [ALLOW, *dict.fromkeys(map(suggestion_label, suggestions))]
    options = (*map(Option, labels), refusal)
    asker = f"Subagent {agent}" if agent else "Claude"
    text = "\n".join([f"{asker} {_wish(tool, proposal)}", *why])
    kind: Literal["permission", "patch", "plan"] = "permission"
    if isinstance(proposal, (Patch, Plan)):
        kind = "patch" if isinstance(proposal, Patch) else "plan"
    header = _header(tool, proposal)
    return Form(form_id, (Question(text, header, options),), kind, proposal, agent)


def updates(proposal: Proposal, suggestions: list[Update], label: str) -> list[Update]:
    """The permission updates that an option stands for."""
    if isinstance(proposal, Plan):
        mode = _APPROVALS.get(label)
        return [{"type": "setMode", "mode": mode, "destination": "session"}] if mode else []
    return [one for one in suggestions if suggestion_label(one) == label]


def covers(granted: list[Update], waiting: list[Update], cwd: str) -> bool:
    """Would these updates have let through what waits with those suggestions?

    What Claude Code suggests is what would let the call through, so equal suggestions tell. But
    outside of ``cwd`` it takes a folder, too.
    """
    kinds = {one.get("type") for one in waiting}
    folders = [folder for one in waiting for folder in one.get("directories") or []]
    if not all(PurePath(folder).is_relative_to(cwd) for folder in folders):
        return False
    rules = [rule for one in granted if one.get("type") == "addRules" for rule in one["rules"]]
    for one in waiting:
        match one:
            case {"type": "addRules", "behavior": "allow", "rules": [_, *_] as wanted}:
                if all(rule in rules for rule in wanted):
                    return True
            case {"type": "setMode", "mode": mode}:
                modes = [u.get("mode") for u in granted if u.get("type") == "setMode"]
                if kinds <= {"setMode", "addDirectories"} and mode in modes:
                    return True
    return False


def suggestion_label(update: Update) -> str:
    """A permission update in plain words, with its scope."""
    scope = _SCOPES.get(update.get("destination") or "session", "this session")
    match update.get("type"):
        case "addRules":
            rules = ", ".join(_rule(rule) for rule in update.get("rules") or [])
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
    content = rule.get("ruleContent")
    return f"{rule.get('toolName')}({content})" if content else f"every {rule.get('toolName')}"


def _wish(tool: str, proposal: Proposal) -> str:
    """What is asked for, in words."""
    match proposal:
        case Plan():
            return "has a plan. What stands here is what will be followed."
        case Patch(old=None, path=path, tool="Write" | "Edit"):
            return f"wants to create {path}."
        case Patch(path=path):
            return f"wants to change {path} with {tool}."
        case Call(tool="Bash", input={"description": str(description)}) if description.strip():
            return f"wants to use Bash: {description}"
    return f"wants to use {tool}."


def _header(tool: str, proposal: Proposal) -> str:
    match proposal:
        case Plan(text=text):
            return next(filter(None, (line.strip("# ") for line in text.split("\n"))), "")
        case Patch(path=path):
            return path.rpartition("/")[2]
    return tool
