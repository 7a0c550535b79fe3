"""What Claude Code gets in a run: tools of ours, and fewer of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from claude_agent_sdk import SdkMcpTool, ToolAnnotations, create_sdk_mcp_server

from winnow import ports
from winnow.adapters.claude.private import ALWAYS_LOAD
from winnow.core import agent as a
from winnow.core.asking import question_tool, run_tool
from winnow.core.never import assert_never
from winnow.core.run import prompts, tools

# A turn that leaves something running would be taken for the worker's last.
WORKER_ENV = {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}


def options(spec: ports.AgentSpec, given: str) -> dict[str, Any]:
    """What makes Claude one of a run: arguments of the SDK's ``ClaudeAgentOptions``.

    ``given`` is what it is told beside. The orchestrator reads, and has no tool that edits or runs
    anything; a worker has none that asks the user.
    """
    leads = spec.role == "orchestrator"
    said = (given, prompts.ORCHESTRATOR, spec.about) if leads else (given, prompts.WORKER)
    prompt = {
        "type": "preset",
        "preset": "claude_code",
        "append": "\n\n".join(filter(None, said)),
    }
    own = {"tools": list(tools.READING)} if leads else {"disallowed_tools": ["AskUserQuestion"]}
    return {"system_prompt": prompt, **own}


def limits(spec: ports.AgentSpec) -> dict[str, Any]:
    """How hard it may think, and what it may cost."""
    return {"effort": spec.effort or None, "max_budget_usd": spec.budget or None}


def servers(role: tools.Role, ask: ports.Ask) -> dict[str, Any]:
    """The MCP server with the tools of a role."""
    made = [
        SdkMcpTool(
            tool.name,
            tool.description,
            tool.schema,
            _handler(f"{run_tool.PREFIX}{tool.name}", ask),
            ToolAnnotations(maxResultSizeChars=500_000),  # else a long one goes to a file, unread
        )
        for tool in tools.of(role)
    ]
    server = create_sdk_mcp_server(question_tool.SERVER, tools=made)
    return {question_tool.SERVER: {**server, **ALWAYS_LOAD}}


def _handler(tool: str, ask: ports.Ask) -> Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]:
    """By the time that it runs, the run has done what it asks for: see `ask_user`."""

    async def run(input: dict[str, Any]) -> dict[str, Any]:
        said, failed = input.get(question_tool.RESULT), False
        if said is None:
            match await ask(a.Request(tool, input)):
                case a.Allow(input=allowed):
                    said = allowed[question_tool.RESULT]
                case a.Deny(message=message):
                    said, failed = message, True
                case other:
                    assert_never(other)
        return {"content": [{"type": "text", "text": str(said)}], "is_error": failed}

    return run
