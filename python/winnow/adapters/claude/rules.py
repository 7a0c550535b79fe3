"""Permission rules: what Claude Code suggests, what it takes, and what it lists."""

from __future__ import annotations

from typing import Any, Literal, cast

from claude_agent_sdk import (
    HookCallback,
    HookJSONOutput,
    PermissionUpdate,
    ToolPermissionContext,
)

SOURCES = {
    "userSettings": "all your projects (settings.json of Claude Code)",
    "projectSettings": "this project, for everybody (.claude/settings.json)",
    "localSettings": "this project, for you (.claude/settings.local.json)",
    "policySettings": "your organisation",
    "session": "this session",
    "flagSettings": "this project, as you decided here (:Winnow trust)",
    "command": "a skill or command that runs",
}


def suggestions(context: ToolPermissionContext) -> list[dict[str, Any]]:
    """The updates that Claude Code offers, as it sends them."""
    return [update.to_dict() for update in context.suggestions]


def updates(taken: list[dict[str, Any]]) -> list[PermissionUpdate]:
    """Those that the user has taken up."""
    return [PermissionUpdate.from_dict(update) for update in taken]


def deciding(decision: Literal["allow", "ask"]) -> HookCallback:
    """A hook before a tool that says what becomes of the call."""

    async def hook(*_: object) -> HookJSONOutput:
        output = {"hookEventName": "PreToolUse", "permissionDecision": decision}
        return cast(HookJSONOutput, {"hookSpecificOutput": output})

    return hook
