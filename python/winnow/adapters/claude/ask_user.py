"""The other ways to ask that Claude Code gets from us: a `question` tool, and choices in text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from winnow import ports
from winnow.adapters.claude.tool_server import Tool, ToolError, ToolServer, answered
from winnow.core.asking import question_tool
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
    answer = answered(question_tool.TOOL, ask, to_json)

    async def run(input: dict[str, Any]) -> str:
        try:
            return await answer(input)
        except ToolError as error:
            return to_json(question_tool.failed(str(error)))

    tool = Tool(question_tool.NAME, question_tool.DESCRIPTION, question_tool.SCHEMA, run)
    return {question_tool.SERVER: ToolServer(question_tool.SERVER, [tool]).config}
