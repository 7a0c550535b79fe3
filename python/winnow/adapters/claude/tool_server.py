"""Tools of ours, as an MCP server in this process.

Claude Code speaks to it by messages of its control channel (``mcp_message``), which `Process` gives
to `ToolServer.handle`. The SDK has such a server, too, made of the package ``mcp``: to import that
takes five times as long as the rest of the SDK, and these few methods are all that there is to it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from winnow import __version__, ports
from winnow.adapters.claude.private import ALWAYS_LOAD
from winnow.core import agent as a
from winnow.core.asking import question_tool
from winnow.core.never import assert_never

log = logging.getLogger(__name__)

LONGEST = 500_000  # characters of a result; a longer one goes to a file, unread
_PROTOCOL = "2025-06-18"  # of MCP; the client's own, where it says one
_NO_METHOD, _FAILED = -32601, -32603  # JSON-RPC's


class Tool(NamedTuple):
    """One tool.

    Args:
        schema: JSON schema of its input.
        run: gives what the model reads.
        reads: it changes nothing, so that several may run at a time.

    Raises:
        ToolError: from ``run``; the model reads why.
    """

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[dict[str, Any]], Awaitable[str]]
    reads: bool = False


class ToolError(Exception):
    """A tool can't do what it was called for."""


class ToolServer:
    """One server."""

    def __init__(self, name: str, tools: Sequence[Tool]) -> None:
        self.name = name
        self._tools = {tool.name: tool for tool in tools}

    @property
    def config(self) -> dict[str, Any]:
        """Its entry in the SDK's ``mcp_servers``; the CLI gets no more than type and name."""
        return {"type": "sdk", "name": self.name, "instance": self, **ALWAYS_LOAD}

    async def handle(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a message of JSON-RPC; nobody reads that to a notification."""
        id, method = message.get("id"), message.get("method")
        try:
            result = await self._result(method, message.get("params") or {})
        except Exception as error:
            log.exception("the tool server's %s", method)
            return _refusal(id, _FAILED, str(error))
        if result is None:
            return _refusal(id, _NO_METHOD, f"There is no method {method}.")
        return {"jsonrpc": "2.0", **({} if id is None else {"id": id}), "result": result}

    async def _result(self, method: object, params: dict[str, Any]) -> dict[str, Any] | None:
        match method:
            case "initialize":
                return {
                    "protocolVersion": params.get("protocolVersion", _PROTOCOL),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": self.name, "version": __version__},
                }
            case "tools/list":
                return {"tools": [_described(tool) for tool in self._tools.values()]}
            case "tools/call":
                return await self._call(str(params.get("name")), params.get("arguments") or {})
            case "ping":
                return {}
            case str() if method.startswith("notifications/"):
                return {}
        return None

    async def _call(self, name: str, input: dict[str, Any]) -> dict[str, Any]:
        failed = False
        try:
            if (tool := self._tools.get(name)) is None:
                raise ToolError(f"There is no tool {name}.")
            text = await tool.run(input)
        except ToolError as error:
            text, failed = str(error), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}


def _refusal(id: object, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def _described(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
        **({"annotations": {"readOnlyHint": True}} if tool.reads else {}),
        "_meta": {"anthropic/maxResultSizeChars": LONGEST},
    }


def answered(
    tool: str, ask: ports.Ask, show: Callable[[Any], str] = str
) -> Callable[[dict[str, Any]], Awaitable[str]]:
    """What runs a tool that asks: by then, somebody has mostly answered.

    That is done where its use is permitted (`can_use_tool`), since only there Claude Code says
    who asks. Should it be permitted without going there, the tool asks.

    Args:
        show: makes a text of what the answer left in the input.

    Raises:
        ToolError: when it runs, and is denied.
    """

    async def run(input: dict[str, Any]) -> str:
        if question_tool.RESULT not in input:
            match await ask(a.Request(tool, input)):
                case a.Allow(input=input):
                    pass
                case a.Deny(message=message):
                    raise ToolError(message)
                case other:
                    assert_never(other)
        return show(input[question_tool.RESULT])

    return run
