"""Whether a project's settings may act: what the user decided, and asking where they did not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from winnow import ports
from winnow import protocol as p
from winnow.app.page import Page
from winnow.app.session import Session
from winnow.core import agent as a
from winnow.core import project
from winnow.core.asking import trust
from winnow.core.project import Project
from winnow.core.transcript.entries import Noted

log = logging.getLogger(__name__)

UNDECIDED = (
    "Nothing was sent: first decide whether this project's settings may act. <CR> asks again."
)


class Trust:
    """The trust in the project that one chat works in.

    Attributes:
        headless: nobody is there to be asked now.
        unasked: what the agent has got is less for that.

    Args:
        ask: shows the section; None in a replay.
    """

    def __init__(
        self,
        opened: p.Open,
        world: ports.World,
        page: Page,
        session: Session,
        ask: ports.Ask | None,
    ) -> None:
        self.headless = opened.headless
        self.unasked = False
        self._cwd = opened.cwd
        self._project = opened.worktree.project  # what is decided about that holds in its worktrees
        self._projects = world.projects
        self._decided = world.decided
        self._page = page
        self._session = session
        self._ask = ask
        self._root = opened.cwd
        self._deciding: asyncio.Task[trust.Verdicts] | None = None  # outlives who wants to know

    async def given(self, wanted: Callable[[], bool]) -> trust.Given:
        """What the agent gets of the project; asks until all is decided.

        Args:
            wanted: whether the user wants the agent now.

        Raises:
            NotWanted: the user has to be asked, but does not want it yet.
            AgentError: they did not decide.
        """
        while True:  # while one decides, the files may change
            unkept = await self._last_decision()
            what = await self._projects.read(self._cwd)
            of = await self._projects.read(self._project) if self._project else what
            self._root = of.root
            verdicts = {**await verdicts_of(self._decided, of.root), **unkept}
            new = trust.undecided(project.entries(what.sources), verdicts)
            self.unasked = bool(new) and self.headless
            if not new or self.headless or self._ask is None:
                return trust.given(what, verdicts)
            if what.trusted and "dropped" not in verdicts.values():
                self._say_trusted(what, len(new))
                self._deciding = self._session.spawn(self._decide(new, new))
            elif not wanted():
                raise ports.NotWanted(UNDECIDED)
            else:
                asked = self._ask(trust.asked(what.name, new))
                self._deciding = self._session.spawn(self._asked(asked, new))

    async def _last_decision(self) -> trust.Verdicts:
        """Wait for what is being decided; returns what of that could not be kept."""
        deciding = self._deciding
        if deciding is None:
            return {}
        try:
            return await asyncio.shield(deciding)
        finally:
            if deciding.done():
                self._deciding = None

    async def _asked(self, asked: Awaitable[a.Reply], new: list[str]) -> trust.Verdicts:
        match await asked:
            case a.Allow(input={"entries": list(kept)}):
                return await self._decide(new, kept)
            case _:
                raise ports.AgentError(UNDECIDED)

    async def _decide(self, new: list[str], kept: list[str]) -> trust.Verdicts:
        decisions: dict[str, trust.Verdict]
        decisions = {entry: "kept" if entry in kept else "dropped" for entry in new}
        return {} if await self._keep(decisions) else decisions

    def _say_trusted(self, what: Project, count: int) -> None:
        settings = "a setting" if count == 1 else f"{count} settings"
        line = f"{what.name} is trusted in Claude Code, so {settings} of it may act: :Winnow trust"
        self._page.append(Noted(line))

    def hold(self, updates: list[a.Update]) -> list[a.Update]:
        """Keep what the user allows for the whole project; returns what the agent is told of it."""
        passed, kept = trust.held(updates)
        if kept:
            self._session.spawn(self._keep(dict.fromkeys(kept, "granted")))
        return passed

    async def _keep(self, verdicts: trust.Verdicts) -> bool:
        try:
            await self._decided.decide(self._root, verdicts)
        except ports.StoreError as error:
            log.error("%s", error.sentence)
            self._page.say(error.sentence, "warn")
            return False
        return True


async def verdicts_of(decided: ports.Decided, root: str) -> dict[str, trust.Verdict]:
    """What was decided about a project; nothing, where that can't be read."""
    try:
        return await decided.verdicts(root)
    except ports.StoreError as error:
        log.error("%s", error.sentence)
        return {}


async def given_in(world: ports.World, cwd: str, like: str) -> trust.Given:
    """What an agent gets of a copy of the project at ``like``: what was decided about that.

    What nobody has decided about yet is left out.
    """
    verdicts = await verdicts_of(world.decided, (await world.projects.read(like)).root)
    return trust.given(await world.projects.read(cwd), verdicts)


async def show(event: p.Trust, world: ports.World) -> p.Effect:
    """What was decided about the project of a folder; with ``revoke``, all of that is forgotten."""
    what = await world.projects.read(event.cwd)
    try:
        if event.revoke:
            await world.decided.forget(what.root)
        verdicts: dict[str, Any] = await world.decided.verdicts(what.root)
    except ports.StoreError as error:
        return p.Notify(error.sentence, "error")
    if event.revoke:
        sentence = "is forgotten; the next message asks anew."
        return p.Notify(f"What was decided about {what.name} {sentence}")
    told = trust.told(what, verdicts)  # fenced, since Markdown would hide parts of it
    lines = ["```text", *told, "```"] if told else ["It brings no settings that act by themselves."]
    if what.trusted:
        lines.append("Claude Code itself trusts it.")
    return p.Rules([f"trust: {what.root}", "", *lines])
