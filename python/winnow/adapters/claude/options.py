"""What a session is started with: the SDK's options."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from tempfile import NamedTemporaryFile
from typing import Any, cast

from claude_agent_sdk import (
    CanUseToolShadowedWarning,
    ClaudeAgentOptions,
    HookJSONOutput,
    HookMatcher,
    PermissionMode,
)
from claude_agent_sdk.types import HookEvent

from winnow import ports
from winnow.adapters.claude import ask_user, editor_tools, private, rules, run_tools
from winnow.adapters.claude.requests import Requests
from winnow.core.asking import run_tool
from winnow.core.asking.trust import Given
from winnow.core.text.encoding import to_json

_OURS = f"{run_tool.PREFIX}.*"  # tools that are answered where their use is permitted
_PATIENT = 20 * 86400.0  # seconds for the user to decide; more is too much for a timer of the CLI's
READING = ("Read", "Glob", "Grep")
# What may write; of ours, what does has been put to the user before.
_WRITING = "^(Bash|Edit|Write|NotebookEdit|mcp__(?!winnow).*)$"
_TOOL_ENDS: tuple[HookEvent, ...] = ("PostToolUse", "PostToolUseFailure")


# Nobody was asked about the settings of a project there. What it says to Claude is read.
_ELSEWHERE: dict[str, Any] = {"setting_sources": ["user"], "add_dirs": ["."]}


def options(
    spec: ports.AgentSpec,
    ask: ports.Ask,
    requests: Requests,
    *,
    cli_path: str,
    env: dict[str, str],
    settings_changed: Callable[[], object],
    stderr: Callable[[str], None],
    files: ExitStack,
) -> ClaudeAgentOptions:
    """The options of a session.

    Args:
        spec: what it is made from.
        ask: for the tool to ask with.
        requests: everything else that Claude Code asks goes there.
        cli_path: the CLI to run; empty for the one that comes with the SDK.
        env: variables on top of the inherited ones; an empty value drops one.
        settings_changed: called when they have, on disk.
        stderr: takes the CLI's, line by line.
        files: gets those that must be there until the CLI has ended.
    """
    if spec.mode == "bypassPermissions":  # questions and plans still come to can_use_tool
        warnings.simplefilter("ignore", CanUseToolShadowedWarning)
    elsewhere = bool(spec.place.command)
    return ClaudeAgentOptions(
        cwd="/" if elsewhere else spec.cwd,
        cli_path=cli_path or None,
        resume=spec.session or None,
        model=None if spec.model == "default" else spec.model or None,
        permission_mode=cast(PermissionMode, spec.mode) if spec.mode else None,
        **_asking(spec, ask),
        **run_tools.limits(spec),
        **(_ELSEWHERE if elsewhere else _project(spec.given, spec.cwd, files)),
        include_partial_messages=True,
        forward_subagent_text=True,
        enable_file_checkpointing=not (elsewhere or spec.aside or spec.role == "worker"),
        can_use_tool=requests.can_use_tool,
        hooks=_hooks(spec, requests, settings_changed),
        max_buffer_size=64 << 20,  # a longer line, such as a big image, ends the client
        stderr=stderr,
        env=private.variables(whole=spec.given.whole)
        | (run_tools.WORKER_ENV if spec.role == "worker" else {})
        | (private.UNCOMPACTED if spec.compact == "off" else {})
        | env,
    )


def _asking(spec: ports.AgentSpec, ask: ports.Ask) -> dict[str, Any]:
    """How it asks, whom, and what it is told of that: arguments of the SDK's options."""
    if spec.aside:
        return {"tools": list(READING), "fork_session": True, "extra_args": private.NO_TRACE}
    if spec.role:
        found = run_tools.options(spec, spec.given.prompts)
        servers = run_tools.servers(spec.role, ask)
    else:
        found = ask_user.options(spec.questions, spec.given.prompts)
        servers = ask_user.servers(spec.questions, ask)
        if (editor := _editor(spec)) is not None:
            servers |= editor_tools.servers(editor)
    return {**found, "mcp_servers": {**spec.given.servers, **servers}}


def _project(given: Given, cwd: str, files: ExitStack) -> dict[str, Any]:
    """What the session gets of its project's settings: arguments of the SDK's options."""
    found: dict[str, Any] = {}
    if not given.whole:
        found |= {"setting_sources": ["user"], "add_dirs": [cwd]}
    if given.settings:  # as a file, since all users can read a command line
        file = files.enter_context(NamedTemporaryFile(prefix="winnow-", suffix=".json"))  # noqa: SIM115
        file.write(to_json(given.settings).encode())
        file.flush()
        found["settings"] = file.name
    return found


def _editor(spec: ports.AgentSpec) -> ports.EditorTools | None:
    """Neovim, if its tools are given to the agent."""
    return None if spec.aside or spec.role else spec.editor


def _asks(spec: ports.AgentSpec) -> bool:
    """Whether the user is asked before the context is compacted; not for a worker."""
    return spec.compact == "ask" and spec.role != "worker"


def _hooks(
    spec: ports.AgentSpec, requests: Requests, settings_changed: Callable[[], object]
) -> dict[HookEvent, list[HookMatcher]]:
    compacts = HookMatcher("auto", [requests.compacts], timeout=_PATIENT)
    # Our tools come to `can_use_tool`, also in modes that permit or deny without asking.
    always = HookMatcher(_OURS, [rules.deciding("ask")])
    return {
        **({"PreCompact": [compacts]} if _asks(spec) else {}),
        "PreToolUse": [always, *editor_tools.allowed(_editor(spec)), *_waiting(spec)],
        private.CONFIG_CHANGE: [HookMatcher(hooks=[_keeping_out(settings_changed)])],
        **{event: [HookMatcher(hooks=[requests.tool_ended])] for event in _TOOL_ENDS},
    }


def _waiting(spec: ports.AgentSpec) -> list[HookMatcher]:
    """A hook that has what may write wait."""
    if (ready := spec.before_writing) is None:
        return []

    async def hook(*_: object) -> HookJSONOutput:
        await ready()
        return {}

    return [HookMatcher(_WRITING, [hook])]


def _keeping_out(changed: Callable[[], object]) -> Callable[..., Any]:
    """A hook that lets no change act in mid-session: hooks that a pull brings in would run at once.

    The user's own are kept out as well, since with them the CLI reads all files anew.
    """

    async def hook(*_: object) -> HookJSONOutput:
        changed()
        return {"decision": "block", "reason": "The session is started anew before it goes on."}

    return hook
