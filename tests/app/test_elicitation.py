"""What MCP servers ask: through the real CLI, which tells of it by a request of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from winnow import protocol as p
from winnow.adapters.claude.agent import ClaudeAgent
from winnow.core import agent as a
from winnow.core.asking import elicitation

from tests import api
from tests.app.fakes import CHAT, Room, working
from tests.app.stage import Stage, connected

SERVER = str(Path(__file__).parents[1] / "forms_server.py")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}, "ok": {"type": "boolean"}}}


@asynccontextmanager
async def served(real: Stage, *calls: tuple[str, dict[str, Any]]) -> AsyncIterator[ClaudeAgent]:
    """Claude calls these tools of a server that asks."""
    config = {"mcpServers": {"forms": {"command": sys.executable, "args": [SERVER]}}}
    (real.folder / "config").mkdir()
    (real.folder / "config" / ".claude.json").write_text(json.dumps(config))
    uses = [api.ToolUse(f"mcp__forms__{c}", i, f"toolu_{n}") for n, (c, i) in enumerate(calls)]
    real.server.add(api.say(*uses), api.say("Done."))
    agent = real.claude(mode="bypassPermissions", env={"IS_SANDBOX": "1"})
    async with connected(agent, real.user):
        status = None
        while status != "connected":
            servers = (await agent._client.get_mcp_status())["mcpServers"]
            (status,) = (one["status"] for one in servers if one["name"] == "forms")
            assert status in ("pending", "connected")
            await asyncio.sleep(0.02)
        await agent.prompt("Go on.", "00000000-0000-4000-8000-000000000001")
        yield agent


async def asked(real: Stage) -> tuple[a.Request, asyncio.Future[a.Reply]]:
    request, reply = await real.user.asked.get()
    assert request.tool == elicitation.TOOL
    return request, reply


async def test_a_form_s_answer_reaches_the_server(real: Stage) -> None:
    """Each gets its own; those of one message come one after the other."""
    calls = [("form", {"schema": SCHEMA, "message": m}) for m in ("First?", "Second?")]
    async with served(real, *calls):
        content = {"n": 42, "ok": False}
        for _ in calls:
            request, reply = await asked(real)
            assert request.input["server"] == "forms"
            assert request.input["schema"] == SCHEMA
            assert request.input["order"] == ["n", "ok"]
            accepted = request.input["message"] == "First?"
            given = {"action": "accept", "content": content} if accepted else {"action": "decline"}
            reply.set_result(a.Allow(given))
        await real.user.turn()
        results = [api_result(real, f"toolu_{n}") for n in (0, 1)]
        assert results == [{"action": "accept", "content": content}, {"action": "decline"}]


async def test_an_address_is_asked_about(real: Stage) -> None:
    async with served(real, ("url", {})):
        request, reply = await asked(real)
        assert request.input["url"] == "https://example.com/login?next=%2F"
        reply.set_result(a.Allow({"action": "accept"}))
        await real.user.turn()
        assert api_result(real, "toolu_0") == {"action": "accept"}


async def test_a_form_is_withdrawn(real: Stage) -> None:
    until = real.folder / "until"
    async with served(real, ("gone", {"schema": SCHEMA, "until": str(until)})):
        await asked(real)
        until.touch()
        await real.user.turn()
        assert real.user.cancelled == 1


def api_result(real: Stage, id: str) -> Any:
    return json.loads(real.server.tool_result(id))


# --- in the chat ------------------------------------------------------------------------------


async def form(room: Room, **more: Any) -> Any:
    await working(room)
    wanted = {"mcp_server_name": "forms", "message": "Who?", "requested_schema": SCHEMA, **more}
    task = room.agent.ask(elicitation.request(wanted))
    await room.settle()
    return task


async def test_it_is_filled_in_as_a_section(room: Room) -> None:
    """What is optional may stay empty; the record says so."""
    task = await form(room)
    section = room.shown()
    lines = [line + " 42" * ("=1=e⟧" in line) for line in section.lines]
    lines = [line for line in lines if not line.startswith(("Yes", "No"))]
    await room.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))
    assert task.result() == a.Allow({"action": "accept", "content": {"n": 42}})
    (freeze,) = room.editor.every(p.Freeze)
    assert freeze.lines[1:] == [
        "✓ Own answer: “42”",
        "**ok** (optional)",
        "✗ Left out",
        "~~Yes~~ · ~~No~~",
    ]


@pytest.mark.parametrize(
    ("choice", "action"), [("deny", "decline"), ("cancel", "cancel"), ("allow", "")]
)
async def test_it_is_declined_or_cancelled(room: Room, choice: Any, action: str) -> None:
    task = await form(room)
    if choice == "cancel":
        await room.cancel()
    else:
        await room.do(p.Grant(CHAT, room.shown().section, choice))
    assert (task.result() if task.done() else None) == (
        a.Allow({"action": action}) if action else None
    )


async def test_what_is_too_long_is_declined_and_said(room: Room) -> None:
    many = {"properties": {f"f{n}": {"type": "string"} for n in range(300)}}
    task = await form(room, requested_schema=many)
    assert task.result() == a.Allow({"action": "decline"})
    assert "The form of forms has 300 fields, more than 200: it was declined." in room.editor.text


async def test_too_many_values_are_declined_at_once(room: Room) -> None:
    """Also those that all have one label, which are told apart."""
    values = [{"const": str(number), "title": "same"} for number in range(20_000)]
    task = await form(room, requested_schema={"properties": {"a": {"oneOf": values}}})
    assert task.result() == a.Allow({"action": "decline"})
    assert "has 20000 values, more than 999: it was declined." in room.editor.text
