"""What an agent asks of the editor: on its way there, and when nothing comes back."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.adapters.claude import editor_tools
from winnow.app.parts import neovim
from winnow.core import agent as a
from winnow.core.editor import tools as t
from winnow.core.editor.told import Spot, Told

from tests.app.fakes import CHAT, Room

RENAME = t.Rename("a.py", 1, "total", "sum")
FILES = Told(spots=[Spot("/p/a.py", 2), Spot("/p/b.py", 1)], total=2)


async def opened(room: Room, *names: str) -> ports.EditorTools | None:
    """What the agent of a chat gets."""
    await room.do(p.Open(CHAT, "/chat.md", "/p", tools=list(names)))
    await room.send("Hi")
    editor: ports.EditorTools | None = room.agent.spec.editor
    return editor


async def answered(room: Room, asking: asyncio.Task[Any], told: Told) -> p.EditorCall:
    """Neovim's answer to what was asked last."""
    await room.settle()
    call = room.editor.every(p.EditorCall)[-1]
    await room.do(p.EditorAnswer(CHAT, call.id, told))
    assert asking.done()
    return call


async def test_only_what_is_on_is_there(room: Room) -> None:
    """In our order; where all is off, there is no server."""
    editor = await opened(room, "jump", "buffers", "of a later version")
    assert editor
    assert list(editor.offered) == ["buffers", "jump"]
    (server,) = editor_tools.servers(editor).values()
    listed = await server["instance"].handle({"id": 1, "method": "tools/list"})
    hints = [(one["name"], one.get("annotations")) for one in listed["result"]["tools"]]
    assert hints == [("buffers", {"readOnlyHint": True}), ("jump", None)]


async def test_only_what_is_offered_runs_unasked(room: Room) -> None:
    """Another server may have a tool that Claude Code calls the same."""
    (hook,) = editor_tools.allowed(await opened(room, "jump", "buffers", "quickfix"))
    assert hook.matcher
    names = [name for name in t.NAMES if re.fullmatch(hook.matcher, t.PREFIX + name)]
    assert names == ["buffers", "quickfix"]
    assert editor_tools.allowed(None) == []


async def test_nothing_is_there_where_all_is_off(room: Room) -> None:
    assert await opened(room) is None


async def test_the_user_sees_what_would_happen(room: Room) -> None:
    """And only the files that they have seen may change, also when they edit the new name."""
    editor = await opened(room, *t.NAMES)
    asked: list[a.Request] = []

    async def ask(request: a.Request) -> a.Reply:
        asked.append(request)
        return a.Allow(request.input)

    input = {"path": "a.py", "line": 1, "symbol": "total", "new_name": "sum"}
    request = a.Request(f"{t.PREFIX}rename", input)
    asking = asyncio.ensure_future(editor_tools.asking(editor, ask)(request))
    call = await answered(room, asking, FILES)
    assert (call.call, call.dry, call.cwd, call.of) == (RENAME, True, "/p", CHAT)
    wish, *files = asked[0].would
    assert wish == "wants to rename total to sum: 3 places in 2 files."
    assert files == ["a.py: 2 places", "b.py: 1 place"]
    assert editor
    renaming = asyncio.ensure_future(editor.call(t.Rename("a.py", 1, "total", "whole")))
    call = await answered(room, renaming, FILES)
    assert (call.dry, call.files) == (False, ["/p/a.py", "/p/b.py"])
    assert (await renaming).startswith("3 places in 2 files renamed:\n")


@pytest.mark.parametrize(
    ("input", "told", "reason"),
    [
        ({"path": "a.py"}, None, "can't be understood"),
        (
            {"path": "a.py", "line": 1, "symbol": "x", "new_name": "y"},
            Told("No server."),
            "No server.",
        ),
    ],
)
async def test_what_cant_be_done_is_not_asked_for(
    room: Room, input: dict[str, Any], told: Told | None, reason: str
) -> None:
    async def ask(request: a.Request) -> a.Reply:
        raise AssertionError(request)

    editor = await opened(room, *t.NAMES)
    request = a.Request(f"{t.PREFIX}rename", input)
    asking = asyncio.ensure_future(editor_tools.asking(editor, ask)(request))
    if told:
        await answered(room, asking, told)
    reply = await asking
    assert isinstance(reply, a.Deny)
    assert reason in reply.message


async def test_a_neovim_that_is_suspended_costs_an_error(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what it would do when it goes on is called off, its answer ignored."""
    monkeypatch.setattr(neovim, "PATIENCE", 0.0)
    monkeypatch.setattr(neovim, "GRACE", 0.01)
    editor = await opened(room, *t.NAMES)
    assert editor
    with pytest.raises(ports.EditorError, match="suspended"):
        await editor.call(t.Buffers())
    (call,) = room.editor.every(p.EditorCall)
    assert room.editor.every(p.EditorDrop) == [p.EditorDrop(call.id)]
    assert call.deadline == room.world.clock.now()
    await room.do(p.EditorAnswer(CHAT, call.id, Told()))


@pytest.mark.parametrize("how", ["stopped", "closed", "cancelled"])
async def test_nobody_waits_when_it_is_over(room: Room, how: str) -> None:
    """A test that runs is ended."""
    editor = await opened(room, *t.NAMES)
    assert editor
    running = asyncio.ensure_future(editor.call(t.RunTest("a.py", 1)))
    await room.settle()
    match how:
        case "stopped":
            await room.hear(a.Text("x"), a.TurnEnded(stopped=True))
        case "closed":
            await room.do(p.Close(CHAT))
        case _:
            running.cancel()
    await room.settle()
    assert running.done()
    assert room.editor.every(p.EditorDrop)
    with pytest.raises((ports.EditorError, asyncio.CancelledError)):
        await running
