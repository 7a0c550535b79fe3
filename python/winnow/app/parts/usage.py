"""What a chat uses: money, the context, the plan."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from pathlib import PurePath
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core.listing import Row
from winnow.core.tasks import events as tasks
from winnow.core.usage import context, meter, plan, report
from winnow.core.usage.context import Context

NAME = "usage"

# What each chat has cost, by its path, in US dollars; one table for each editor.
_costs: MutableMapping[ports.Editor, dict[str, float]] = WeakKeyDictionary()


class Usage(Part):
    """Counts what the chat costs, and knows how full its context is.

    Attributes:
        cost: of the session, in US dollars.
        context: as it was told last.
    """

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self.cost = 0.0
        self.context = Context()
        self._can = False  # the agent can be asked
        self._asking = False
        self._models: meter.Models = {}
        self._names: dict[str, str] = {}  # of tasks, as subagents are
        self._tokens: dict[str, int] = {}
        self._plan: dict[str, plan.Window] = {}
        self._list = self.shown = _Report(self)
        self._budget = around.opened.budget  # US dollars that all of it may cost; 0: no limit
        self._over = False  # it is spent

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`; what goes on after the budget was spent has as much again."""
        match event:
            case p.Budget(dollars=dollars):
                self._allow(dollars)
                limit = report.money(dollars) if dollars else "as much as it likes"
                cost = report.money(self.cost)
                self.around.page.say(f"This chat may cost {limit}; it has cost {cost}.")
                return True
            case p.Again() if self._over:
                more = self.around.opened.budget or self._budget
                self._allow(self.cost + more)
            case _:
                pass
        return False

    def _allow(self, dollars: float) -> None:
        """It may cost so much; an agent knows only the budget that it was started with."""
        self._budget, self._over = dollars, False
        self.around.renew()

    def spec(self, spec: ports.AgentSpec) -> ports.AgentSpec:
        """See `Part.spec`."""
        if not self._budget:
            return spec
        left = meter.left(self._budget, self.cost)
        return msgspec.structs.replace(spec, budget=left, total=self._budget)

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        match event:
            case meter.Spent(models=models, before=before):
                self._models = meter.together(self._models, models)
                if before > self.cost:
                    self.cost = before
                    self.around.moved()
            case tasks.Began(id=id, what=what):
                self._names[id] = what
            case tasks.Progress(id=id, tokens=tokens) | tasks.Ended(id=id, tokens=tokens):
                self._tokens[id] = max(tokens, self._tokens.get(id, 0))
            case context.Filled(tokens=tokens) if self.context.size:
                self.context = _filled(self.context, tokens)
            case plan.Limited(window=window):
                self._plan = plan.known(self._plan, [window])
            case a.TurnEnded(cost=cost, trouble=trouble):
                self.cost += cost
                self._over = trouble == "budget"
                costs = _costs.setdefault(self.around.world.editor, {})
                costs[self.around.opened.path] = costs.get(self.around.opened.path, 0.0) + cost
                self.ask()
            case context.Compacted():
                self.ask()
            case _:
                return
        self._list.moved()

    def connected(self, agent: ports.Agent) -> None:
        """See `Part.connected`: a session that is resumed may be full already."""
        self._can = agent.controls is not None
        if self.around.opened.session:
            self.ask()

    def ended(self) -> None:
        """See `Part.ended`."""
        self._can = self._asking = False

    def status(self) -> Mapping[str, Any]:
        """See `Part.status`."""
        now = self.context
        return {"cost": self.cost, "context": now.percent, "warning": now.warning}

    def ask(self, *, more: bool = False) -> None:
        """Learn how full the context is, and with ``more`` what is left of the plan."""
        if not self._can or self._asking:
            return
        self._asking = True
        self.around.session.control(lambda agent: agent.context(), self._told, self._untold)
        if more:
            self.around.session.control(lambda agent: agent.plan(), self._told_plan, lambda _: None)

    def known(self) -> report.Known:
        """All of it."""
        costs = _costs.get(self.around.world.editor, {})
        told = self.cost or self._can or not self.around.opened.session
        return report.Known(
            self.cost if told else None,
            self._budget,
            models=self._models,
            context=self.context,
            subagents=[(self._names.get(id, id), n) for id, n in self._tokens.items() if n],
            plan=list(self._plan.values()),
            chats={PurePath(path).stem: cost for path, cost in costs.items() if cost},
        )

    def _told(self, now: Context) -> None:
        self._asking = False
        if now.size and now != self.context:
            self.context = now
            self._list.moved()
            self.around.moved()

    def _untold(self, error: ports.AgentError) -> None:  # noqa: ARG002  the log has it
        self._asking = False

    def _told_plan(self, windows: list[plan.Window]) -> None:
        self._plan = plan.known(self._plan, windows)
        self._list.moved()


class _Report(List):
    """The list `:Winnow usage`."""

    def __init__(self, usage: Usage) -> None:
        super().__init__(NAME, usage.around.world.editor, usage.around.page.chat)
        self._usage = usage

    def opened(self) -> None:
        """See `List.opened`."""
        self._usage.ask(more=True)

    def rows(self) -> list[Row]:
        """See `List.rows`."""
        now = self._usage.around.world.clock.now()
        return [Row(line) for line in report.lines(self._usage.known(), now)]


def _filled(now: Context, tokens: int) -> Context:
    """So many tokens are in it, as the last request says: the parts are those of before."""
    return Context(tokens, now.size, now.limit, now.parts)
