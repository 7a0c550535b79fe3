"""Permissions, patches and plans as sections: the same grammar as a question, shown in full."""

from __future__ import annotations

from typing import Any

from winnow.core.agent import Update
from winnow.core.proposal.proposal import Call, Patch, Plan, Proposal
from winnow.core.question import Option, Question
from winnow.core.section.form import Form
from winnow.core.text.text import brief, clean

_LONGEST = 300  # characters of a sentence that an agent has a part in

ALLOW = "Allow once"
DENY = "Deny"
KEEP_PLANNING = "Keep planning"
_SCOPES = {
    "session": "this session",
    "localSettings": "this project",
    "projectSettings": "this project, for all",
    "userSettings": "all your projects",
}


def _mode(name: str) -> tuple[Update, ...]:
    return ({"type": "setMode", "mode": name, "destination": "session"},)


_PLAN = (
    Option("Approve, ask before each edit", role="allow", updates=_mode("default")),
    Option("Approve, accept edits", role="always", updates=_mode("acceptEdits")),
    Option(KEEP_PLANNING, "write what to change after this line", role="deny"),
)

# Why Claude Code asks when all that is missing is a rule (CLI 2.1.332).
_ORDINARY = (
    "",
    "This command requires approval",
    "Path is outside allowed working directories",
)

# What fits into a window; of more, the size is said.
_LINES = 20
_CHARACTERS = 1000


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
    options = _PLAN if isinstance(proposal, Plan) else _options(suggestions)
    asker = f"Subagent {brief(agent)}" if agent else "Claude"
    sentences = (f"{asker} {_wish(tool, proposal)}", *why, *_size(proposal))
    text = "\n".join(clean(sentence, _LONGEST) for sentence in sentences)
    return Form(form_id, (Question(text, _header(tool, proposal), options),), proposal, agent)


def _options(suggestions: list[Update]) -> tuple[Option, ...]:
    always: dict[str, tuple[Update, ...]] = {}
    for update in suggestions:
        label = suggestion_label(update)
        always[label] = (*always.get(label, ()), update)
    return (
        Option(ALLOW, role="allow"),
        *(Option(label, role="always", updates=updates) for label, updates in always.items()),
        Option(DENY, "write a reason after this line", role="deny"),
    )


def covers(granted: list[Update], suggestions: list[Update], reason: str, *, same: bool) -> bool:
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


def suggestion_label(update: Update) -> str:
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


def _size(proposal: Proposal) -> list[str]:
    """How much there is to read, where that is more than can be seen at once."""
    lines = [line for block in proposal.blocks for line in block.lines]
    text = "\n".join(lines)
    if isinstance(proposal, Call) and isinstance(command := proposal.input.get("command"), str):
        text = command  # with all of its blanks
    if len(lines) <= _LINES and len(text) <= _CHARACTERS:
        return []
    counted = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
    return [f"{len(text):,} characters in {counted}:"]


def _header(tool: str, proposal: Proposal) -> str:
    match proposal:
        case Plan(text=text):
            return next(filter(None, (line.strip("# ") for line in text.split("\n"))), "")
        case Patch(path=path):
            return path.rpartition("/")[2]
    return tool
