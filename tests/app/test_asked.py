"""Lists of what the agent tells: rules, and MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.app.lists import FRAME
from winnow.core import listing
from winnow.core.controls import Rule, Server
from winnow.core.text.text import strip_markers

from tests.app.fakes import CHAT, Room, working

RULES = [
    Rule("allow", "Bash(ls)", "localSettings", "this project", "persistent"),
    Rule("allow", "Bash(make)", "session", "this session", "session"),
    Rule("deny", "Read(x)", "policySettings", "your organisation"),
]


class Fake:
    """Of a session with these rules and servers."""

    def __init__(self) -> None:
        self.problem = ""
        self.revoked: list[str] = []
        self.switched: list[tuple[str, bool]] = []
        self.silent = False
        self.odd: list[Server] = []
        self.early = 0  # how often there are no servers yet

    async def rules(self) -> list[Rule]:
        self._fail()
        if self.silent:
            await asyncio.Event().wait()
        return RULES

    async def revoke(self, rules: Sequence[Rule]) -> None:
        self._fail()
        self.revoked += [rule.rule for rule in rules]

    async def servers(self) -> list[Server]:
        if self.early:
            self.early -= 1
            return []
        off = {name for name, on in self.switched if not on}
        states = [(name, "disabled" if name in off else "connected") for name in ("db", "web")]
        return self.odd or [Server(name, state, ("query",)) for name, state in states]

    async def switch(self, server: str, *, on: bool) -> None:
        self.switched.append((server, on))

    def _fail(self) -> None:
        if self.problem:
            raise ports.AgentError(self.problem)


async def opened(room: Room, name: str) -> Fake:
    """The list of this name is looked at."""
    await working(room)
    fake = Fake()
    room.agent.controls = cast(ports.Controls, fake)
    await room.do(p.WatchList(name, CHAT, open=True))
    await shown(room)
    return fake


async def shown(room: Room) -> list[str]:
    """What stands there when it has been told."""
    await asyncio.sleep(2 * FRAME)
    return room.editor.every(p.Listed)[-1].lines


async def edit(room: Room, name: str, *lines: str, **how: Any) -> None:
    before = room.editor.every(p.Listed)[-1].lines
    await room.do(p.EditList(name, CHAT, before=before, lines=list(lines), **how))


async def test_nobody_waits_for_a_reply_that_can_not_come(room: Room) -> None:
    """The agent is ended: so is what it was asked."""
    fake = await opened(room, "rules")
    fake.silent = True
    await room.do(p.WatchList("rules", CHAT, open=True))
    await asyncio.wait_for(room.chats.close(), 5)


async def test_a_rule_is_revoked_when_that_is_meant(room: Room) -> None:
    """One that stands in no file of the user's is not, and its line is named."""
    fake = await opened(room, "rules")
    stored, session, fixed = await shown(room)
    assert strip_markers(stored) == "allow Bash(ls) · this project"
    await edit(room, "rules", stored, session)
    assert room.editor.every(p.ListProblem)[-1].row == 2
    await edit(room, "rules", stored, session, fixed, "allow all")
    assert room.editor.every(p.ListProblem)[-1].row == 3
    await edit(room, "rules", session, fixed)
    assert fake.revoked == []
    asks = "Revoke “Bash(ls)” for good, in this project?"
    assert room.editor.every(p.ListAsks)[-1].sentence == asks
    await edit(room, "rules", session, fixed, force=True)
    assert fake.revoked == ["Bash(ls)"]
    assert room.editor.every(p.Listed)[-1].done


async def test_what_can_not_be_told_or_done_is_said(room: Room) -> None:
    """In the list, and once when something was wanted."""
    fake = await opened(room, "rules")
    others = (await shown(room))[1:]
    fake.problem = "No."
    await edit(room, "rules", *others, force=True)
    assert room.editor.every(p.Notify)[-1].text == "No."
    assert await shown(room) == ["No."]


async def test_a_server_is_switched_off_and_on_again(room: Room) -> None:
    """By its line, by `u`, or by its name."""
    fake = await opened(room, "mcp")
    db, web = await shown(room)
    assert strip_markers(db) == "db · connected · 1 tool"
    await edit(room, "mcp", web)
    assert fake.switched == [("db", False)]
    left, off = await shown(room)
    assert (left, off.startswith("Off in this session: db.")) == (web, True)
    await edit(room, "mcp", db, web)
    await edit(room, "mcp", left, "nobody")
    assert room.editor.every(p.ListProblem)[-1].row == 1
    assert fake.switched == [("db", False), ("db", True)]


async def test_what_a_server_says_of_itself_hides_nothing_and_is_lines(room: Room) -> None:
    fake = await opened(room, "mcp")
    fake.odd = [Server("d\nb\u202e", "failed", ("a\nb",), "one\ntwo\x1b")]
    await room.do(p.WatchList("mcp", CHAT, open=True))
    await shown(room)
    await room.do(p.PickLine("mcp", CHAT, key=listing.key("d\nb\u202e")))
    peeked = ["# d ⏎ b‹U+202E›", "", "one", "two␛", "", "- a ⏎ b"]
    assert room.editor.every(p.Peeked)[-1].lines == peeked


@pytest.mark.parametrize("event", [p.WatchList("mcp", CHAT, open=True), p.Wake(CHAT)])
async def test_what_only_an_agent_knows_starts_one(room: Room, event: p.Event) -> None:
    """Of a chat that was only opened; not of one that is to start nothing by itself."""
    await room.do(p.Open(CHAT, "/chat.md", "/", session="old", eager=False), event)
    assert room.agents == []
    await room.do(p.Close(CHAT))
    await room.open("old")
    assert room.agents == []
    room.slow = True
    await room.do(event)
    assert [agent.spec.session for agent in room.agents] == ["old"]
    assert room.editor.every(p.Status)[-1].state == "connecting"
    if isinstance(event, p.WatchList):
        assert await shown(room) == ["Claude is being connected …"]


async def test_servers_that_are_not_there_yet_are_asked_for_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right after its start, a session has none."""
    monkeypatch.setattr("winnow.app.parts.servers._SOON", 0.0)
    fake = await opened(room, "mcp")
    fake.early = 1
    await room.do(p.WatchList("mcp", CHAT, open=True))
    assert [strip_markers(line)[:2] for line in await shown(room)] == ["db", "we"]


async def test_an_effort_is_one_that_there_is(room: Room) -> None:
    """Also before the agent has said which its model has."""
    await room.open("old")
    await room.do(p.Choose(CHAT, "effort", "none"))
    told = "There is no effort none: it is one of low, medium, high, xhigh, max."
    assert room.editor.every(p.Say)[-1].text == told
    assert room.editor.every(p.Meta) == []
