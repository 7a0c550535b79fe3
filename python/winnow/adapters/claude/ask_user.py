"""The other ways to ask that Claude Code gets from us: a `question` tool, and choices in text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from claude_agent_sdk import SdkMcpTool, ToolAnnotations, create_sdk_mcp_server

from winnow import ports
from winnow.adapters.claude.private import ALWAYS_LOAD
from winnow.core import agent as a
from winnow.core.asking import question_tool
from winnow.core.never import assert_never
from winnow.core.text.encoding import to_json

PLUGIN = Path(__file__).parents[2] / "plugin"
_CONTRACT = (PLUGIN / "system_prompt.md").read_text()


def options(questions: str, prompts: str) -> dict[str, Any]:
    """What makes Claude ask in this way: arguments of the SDK's ``ClaudeAgentOptions``.

    ``prompts`` is what it is told beside.
    """
    prompt = {"type": "preset", "preset": "claude_code", **({"append": prompts} if prompts else {})}
    found: dict[str, Any] = {"system_prompt": prompt}
    if questions != "tool":
        prompt["append"] = "\n\n".join(filter(None, (prompts, _CONTRACT)))
        found["plugins"] = [{"type": "local", "path": str(PLUGIN)}]
    if questions == "text":
        found["disallowed_tools"] = ["AskUserQuestion"]
    return found


def servers(questions: str, ask: ports.Ask) -> dict[str, Any]:
    """The MCP server with the tool to ask with, unless questions come as text only."""
    if questions == "text":
        return {}
    tool = SdkMcpTool(
        question_tool.NAME,
        question_tool.DESCRIPTION,
        question_tool.SCHEMA,
        _question_handler(ask),
        ToolAnnotations(maxResultSizeChars=500_000),  # else a long one goes to a file, unread
    )
    server = create_sdk_mcp_server(question_tool.SERVER, tools=[tool])
    return {question_tool.SERVER: {**server, **ALWAYS_LOAD}}


def _question_handler(ask: ports.Ask) -> Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]:
    """The `question` tool: by the time that it runs, the user has mostly answered.

    That is done where its use is permitted (`can_use_tool`), since only there Claude Code says
    who asks. Should it be permitted without going there, the tool asks.
    """

    async def run(input: dict[str, Any]) -> dict[str, Any]:
        if question_tool.RESULT not in input:
            match await ask(a.Request(question_tool.TOOL, input)):
                case a.Allow(input=input):
                    pass
                case a.Deny(message=message):
                    input = {question_tool.RESULT: question_tool.failed(message)}
                case other:
                    assert_never(other)
        text = to_json(input[question_tool.RESULT])
        return {"content": [{"type": "text", "text": text}]}

    return run
