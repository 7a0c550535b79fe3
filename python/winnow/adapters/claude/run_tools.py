"""What Claude Code gets in a run: tools of ours, and fewer of its own."""

from __future__ import annotations

from typing import Any

from winnow import ports
from winnow.adapters.claude.tool_server import Tool, ToolServer, answered
from winnow.core.asking import question_tool, run_tool
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
        Tool(one.name, one.description, one.schema, answered(f"{run_tool.PREFIX}{one.name}", ask))
        for one in tools.of(role)
    ]
    return {question_tool.SERVER: ToolServer(question_tool.SERVER, made).config}
