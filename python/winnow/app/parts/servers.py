"""The MCP servers of a chat's session, as a list."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List, Shown
from winnow.app.parts.part import Around, Part
from winnow.core import listing
from winnow.core.controls import Server
from winnow.core.listing import Edits, Problem, Row

NAME = "mcp"
_SOON = 1.0  # seconds after which one that starts is looked at again
NONE = "This session has no MCP servers."
OFF = "Off in this session: {}. u brings a line back, and :w switches it on; so does its name."
STATES = {"needs-auth": "needs a login: /mcp in Claude Code", "pending": "starts"}


class Servers(Part):
    """Has the list."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._list = ServersList(around)

    def connected(self, agent: ports.Agent) -> None:  # noqa: ARG002
        """See `Part.connected`."""
        self._list.look()

    def lists(self) -> Mapping[str, Shown]:
        """See `Part.lists`."""
        return {NAME: self._list}

    def close(self) -> None:
        """See `Part.close`."""
        self._list.close()


class ServersList(List):
    """The list `mcp`."""

    new = True  # the name of one that is off switches it on

    def __init__(self, around: Around) -> None:
        super().__init__(NAME, around.world.editor, around.page.chat)
        self._session = around.session
        self._servers: list[Server] = []
        self._problem = ""

    def opened(self) -> None:
        """See `List.opened`."""
        self.look()

    def look(self) -> None:
        """Ask the agent anew, if somebody looks."""
        if self._watched:
            self._session.control(lambda controls: controls.servers(), self._take, self._failed)

    def _take(self, servers: list[Server]) -> None:
        self._servers, self._problem = servers, ""
        self.moved()
        if any(one.state == "pending" for one in servers):
            asyncio.get_running_loop().call_later(_SOON, self.look)

    def _failed(self, error: ports.AgentError) -> None:
        self._problem = error.sentence
        self.moved()

    def rows(self) -> Sequence[Row]:
        """See `List.rows`."""
        if self._problem or not self._servers:
            return [Row(self._problem or NONE)]
        rows = [Row(_line(one), listing.key(one.name)) for one in self._servers if _on(one)]
        off = [one.name for one in self._servers if not _on(one)]
        return [*rows, Row(OFF.format(", ".join(off)))] if off else rows

    def past(self) -> Collection[str]:
        """See `List.past`."""
        return [listing.key(one.name) for one in self._servers if not _on(one)]

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        by_key = {listing.key(one.name): one for one in self._servers}
        on = [by_key[key].name for key in edits.back if key in by_key]
        for _, text in edits.added:
            name = text.partition(" · ")[0]
            if name not in [one.name for one in self._servers if not _on(one)]:
                return Problem(_row(event, text), f"no server {name} is off in this session.")
            on.append(name)
        off = [by_key[key].name for key in edits.gone if key in by_key and _on(by_key[key])]
        for name, wanted in (*((name, False) for name in off), *((name, True) for name in on)):
            self._switch(name, on=wanted)
        self._servers = [
            Server(one.name, "pending" if one.name in on else "disabled", one.tools)
            if one.name in (*on, *off)
            else one
            for one in self._servers
        ]
        return None

    def _switch(self, name: str, *, on: bool) -> None:
        def failed(error: ports.AgentError) -> None:
            self._tell(p.Notify(error.sentence, "warn"))
            self.look()

        self._session.control(
            lambda controls: controls.switch(name, on=on), lambda _: self.look(), failed
        )

    def pick(self, key: str, *, peek: bool) -> None:  # noqa: ARG002
        """Show its tools."""
        for one in self._servers:
            if listing.key(one.name) == key:
                tools = [f"- {tool}" for tool in one.tools] or ["It offers no tools now."]
                why = [one.error, ""] if one.error else []
                self._tell(p.Peeked([f"# {one.name}", "", *why, *tools]))


def _on(server: Server) -> bool:
    return server.state != "disabled"


def _line(server: Server) -> str:
    count = len(server.tools)
    tools = f" · {count} tool{'s' if count != 1 else ''}" if count else ""
    why = f": {server.error}" if server.error else ""
    return f"{server.name} · {STATES.get(server.state, server.state)}{why}{tools}"


def _row(event: p.EditList, text: str) -> int:
    return next((row for row, line in enumerate(event.lines) if text in line), 0)
