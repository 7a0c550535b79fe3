"""The chat in which a request is clarified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from winnow import ports
from winnow import protocol as p
from winnow.app.chat import Chat
from winnow.app.clarify.agent import ClarifyAgent
from winnow.app.clarify.paper import Paper
from winnow.core.transcript import progress
from winnow.core.transcript.entries import Recorded


class ClarifyChat(Chat):
    """A chat whose agent is `ClarifyAgent`."""

    _agent: ClarifyAgent | None = None  # the newest one
    _one_by_one: bool | None = None  # None: as the option has it

    def handle(self, event: p.ChatEvent) -> None:
        """See `Chat.handle`."""
        if not isinstance(event, p.Pace):
            super().handle(event)
            return
        self._one_by_one = event.one_by_one
        if self._agent is not None:
            self._agent.pace(one_by_one=event.one_by_one)

    async def _spec(self) -> ports.AgentSpec:
        """See `Chat._spec`. Nothing of the project acts, so nobody is asked whether it may."""
        o = self._opened
        self._stale = False
        return ports.AgentSpec(o.cwd, o.agent, "", o.model)

    async def _make(self, spec: ports.AgentSpec) -> ports.Agent:
        world, options = self._world, self._opened.clarify
        paper = Paper(world.files, world.clock, f"{spec.cwd}/{options.folder}")
        one_by_one = options.one_by_one if self._one_by_one is None else self._one_by_one
        self._agent = ClarifyAgent(
            options.id,
            spec,
            self.ask,
            world,
            paper,
            templates=options.templates,
            show=self._progress,
            wrote=self._wrote,
            one_by_one=one_by_one,
        )
        return self._agent

    def _progress(self, message: Mapping[str, Any]) -> None:
        self._turn.works()
        if shown := progress.lines(message, self._page.folder):
            self._page.append(Recorded(shown))

    def _wrote(self, path: str) -> None:
        self._page.append(p.Reload(path), p.Visit(self.id, path, 1))
