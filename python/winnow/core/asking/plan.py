"""Shall this plan be followed? Asked as a section in which the plan is edited."""

from __future__ import annotations

import re
from typing import Any

from winnow.core.agent import Request, Update
from winnow.core.asking.permission import Permission, because, sentences, why
from winnow.core.asking.way import Answered, ReadFile
from winnow.core.proposal.proposal import Changed, Plan
from winnow.core.question import Option, Question
from winnow.core.section import record
from winnow.core.section.form import Form


class PlanApproval(Permission):
    """See the module. Unlike other permissions, it is about what follows, not about one call."""

    tool = "ExitPlanMode"
    past = ""

    def asks(self, tool: str, input: dict[str, Any]) -> bool:
        """Without a plan, it is a call like any other."""
        plan = input.get("plan")
        return tool == self.tool and isinstance(plan, str) and bool(plan.strip())

    def read(self, id: str, request: Request, file: ReadFile) -> Form:
        """See `Way`."""
        return form(id, request.input, agent=request.asker, why=why(request))

    def refusal(self, answered: Answered) -> str:
        """See `Permission`."""
        said = because("The user wants to keep planning", answered)
        proposal, change = answered.form.proposal, answered.change
        edits = proposal.told(change) if proposal and isinstance(change, Changed) else ""
        return f"{said}\n\n{edits}" if edits else said

    def message(self, answered: Answered, *, late: bool) -> str:
        """See `Way`."""
        plan = answered.form.proposal
        assert isinstance(plan, Plan)
        text = plan.text_of(answered.change)
        return record.late_plan(answered.form, answered.given, text)

    def covered(self, request: Request, updates: list[Update]) -> bool:
        """See `Way`."""
        return False


def form(
    form_id: str, input: dict[str, Any], *, agent: str = "", why: tuple[str, ...] = ()
) -> Form:
    """The section that asks for approval; see `permission.form`."""
    plan = Plan(input, str(input["plan"]))
    title = next(filter(None, (line.strip("# ") for line in plan.text.split("\n"))), "")
    title = _KIND.sub("", title)
    text = sentences(agent, "has a plan. What stands here is what will be followed.", why, plan)
    return Form(form_id, (Question(text, title, _OPTIONS),), plan, agent)


def _mode(name: str) -> tuple[Update, ...]:
    return ({"type": "setMode", "mode": name, "destination": "session"},)


_KIND = re.compile(r"(?i)\Aplan(?:\s*[:–—-]\s*|\Z)")  # which the head says
_OPTIONS = (
    Option("Approve, ask before each edit", role="allow", updates=_mode("default")),
    Option("Approve, accept edits", role="always", updates=_mode("acceptEdits")),
    Option("Keep planning", "write what to change after this line", role="deny"),
)
