"""The MCP servers of a chat's session, as a list."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Sequence
from typing import Any

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.asked import Asked, HasAsked
from winnow.app.parts.part import Around
from winnow.core import listing
from winnow.core.controls import Server
from winnow.core.listing import Edits, Problem, Row
from winnow.core.text.text import clean, clean_block

_SOON = 1.0  # seconds after which one that starts is looked at again
NONE = "This session has no MCP servers."
OFF = "Off in this session: {}. u brings a line back, and :w switches it on; so does its name."
STATES = {"needs-auth": "needs a login: /mcp in Claude Code", "pending": "starts"}


class ServersList(Asked[list[Server]]):
    """The list `mcp`."""

    called = "mcp"
    new = True  # the name of one that is off switches it on

    def ask(self, controls: ports.Controls) -> Coroutine[Any, Any, list[Server]]:
        """See `Asked.ask`."""
        return controls.servers()

    def take(self, told: list[Server]) -> None:
        """See `Asked.take`."""
        super().take(told)
        if not told or any(one.state == "pending" for one in told):  # none right after its start
            asyncio.get_running_loop().call_later(_SOON, self.look)

    def rows(self) -> Sequence[Row]:
        """See `List.rows`."""
        if self.problem or not self.told:
            return [Row(self.problem or NONE)]
        rows = [Row(_line(one), listing.key(one.name)) for one in self.told if _on(one)]
        off = [one.name for one in self.told if not _on(one)]
        return [*rows, Row(OFF.format(", ".join(off)))] if off else rows

    def past(self) -> Collection[str]:
        """See `List.past`."""
        return [listing.key(one.name) for one in self.told if not _on(one)]

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        by_key = {listing.key(one.name): one for one in self.told}
        on = [by_key[key].name for key in edits.back if key in by_key]
        for _, text in edits.added:
            name = text.partition(" · ")[0]
            if name not in [one.name for one in self.told if not _on(one)]:
                return Problem(_row(event, text), f"no server {name} is off in this session.")
            on.append(name)
        off = [by_key[key].name for key in edits.gone if key in by_key and _on(by_key[key])]
        for name, wanted in (*((name, False) for name in off), *((name, True) for name in on)):
            self._switch(name, on=wanted)
        self.told = [
            Server(one.name, "pending" if one.name in on else "disabled", one.tools)
            if one.name in (*on, *off)
            else one
            for one in self.told
        ]
        return None

    def _switch(self, name: str, *, on: bool) -> None:
        self.around.session.control(
            lambda controls: controls.switch(name, on=on), lambda _: self.look(), self.complain
        )

    def pick(self, key: str, *, peek: bool) -> None:  # noqa: ARG002
        """Show its tools."""
        for one in self.told:
            if listing.key(one.name) == key:
                tools = [f"- {clean(tool)}" for tool in one.tools] or ["It offers no tools now."]
                why = [*clean_block(one.error), ""] if one.error else []
                self._tell(p.Peeked([f"# {clean(one.name)}", "", *why, *tools]))


class Servers(HasAsked):
    """Has the list."""

    def __init__(self, around: Around) -> None:
        super().__init__(around, ServersList(around, []))


def _on(server: Server) -> bool:
    return server.state != "disabled"


def _line(server: Server) -> str:
    count = len(server.tools)
    tools = f" · {count} tool{'s' if count != 1 else ''}" if count else ""
    why = f": {server.error}" if server.error else ""
    return f"{server.name} · {STATES.get(server.state, server.state)}{why}{tools}"


def _row(event: p.EditList, text: str) -> int:
    return next((row for row, line in enumerate(event.lines) if text in line), 0)
