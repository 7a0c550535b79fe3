"""Our tools as Claude Code gets them, and the SDK without what would serve them otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from winnow.adapters.claude.tool_server import Tool, ToolError, ToolServer

PYTHON = str(Path(__file__).parents[2] / "python")
STATE = """
import sys
from winnow.adapters.claude import sdk
{before}
sdk.load()
from winnow.adapters.claude.agent import ClaudeAgent
import claude_agent_sdk
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "mcp")[:1])
{after}
"""


def state(before: str = "", after: str = "") -> str:
    """What a process prints that imports the SDK: the first module of ``mcp`` that is there."""
    done = subprocess.run(
        [sys.executable, "-c", STATE.format(before=before, after=after)],
        env={"PYTHONPATH": PYTHON, "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_sdk_comes_without_mcp() -> None:
    """And whoever wants that gets the real one."""
    after = "from mcp.types import Tool; assert Tool.model_fields"
    assert state(after=after) == ""


def test_an_sdk_that_needs_more_of_it_gets_it() -> None:
    """It takes longer, and works."""
    assert state('sdk._NAMES["mcp.types"] = ()') == "mcp"


async def shout(input: dict[str, Any]) -> str:
    if "text" not in input:
        raise ToolError("Shout what?")
    return str(input["text"]).upper()


SERVER = ToolServer("ours", [Tool("shout", "Louder.", {"type": "object"}, shout)])


async def said(method: str, **params: Any) -> dict[str, Any]:
    answer = await SERVER.handle(
        {"jsonrpc": "2.0", "id": 7, "method": method, "params": params},
    )
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    return answer


async def test_a_client_learns_what_there_is() -> None:
    hello = await said("initialize", protocolVersion="2031-01-01")
    assert hello["result"]["protocolVersion"] == "2031-01-01"
    assert hello["result"]["serverInfo"]["name"] == "ours"
    [tool] = (await said("tools/list"))["result"]["tools"]
    assert (tool["name"], tool["inputSchema"]) == ("shout", {"type": "object"})
    assert (await said("ping"))["result"] == {}


@pytest.mark.parametrize(
    ("name", "input", "text", "failed"),
    [
        ("shout", {"text": "hé"}, "HÉ", False),
        ("shout", {}, "Shout what?", True),
        ("whisper", {}, "There is no tool whisper.", True),
    ],
)
async def test_a_call_has_a_result_that_the_model_reads(
    name: str, input: dict[str, Any], text: str, failed: bool
) -> None:
    result = (await said("tools/call", name=name, arguments=input))["result"]
    assert result == {"content": [{"type": "text", "text": text}], "isError": failed}


async def test_what_makes_no_sense_is_refused() -> None:
    assert (await said("resources/list"))["error"]["code"] == -32601
    assert (await said("tools/call", name="shout", arguments=3))["error"]["code"] == -32603
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert await SERVER.handle(note) == {"jsonrpc": "2.0", "result": {}}
