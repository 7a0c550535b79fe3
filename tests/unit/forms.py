"""Forms to test with."""

from __future__ import annotations

from typing import Any

from winnow.core.asking import permission, plan
from winnow.core.proposal.proposal import Call
from winnow.core.question import Option, Question
from winnow.core.section.form import Form


def asked(text: str, header: str, *labels: str, multi: bool = False) -> Question:
    """A question; a label may carry its description after an em dash."""
    parts = [label.partition(" — ") for label in labels]
    return Question(text, header, tuple(Option(p[0], p[2]) for p in parts), multi)


DATABASE = asked(
    "Which database should we use?",
    "Database",
    "PostgreSQL — Relational, ACID compliant",
    "MongoDB — Document-based, flexible schema",
    "MySQL — Popular",
)
FEATURES = asked("Which features?", "Features", "Auth", "Logging", "Search", multi=True)
ONE = Form("ab", (DATABASE,))
SEVERAL = Form("ab", (FEATURES,))
BOTH = Form("ab", (DATABASE, FEATURES))
LS: dict[str, Any] = {"type": "addRules", "behavior": "allow", "destination": "session"}
LS["rules"] = [{"toolName": "Bash", "ruleContent": "ls"}]
RM = Call("Bash", {"command": "rm -rf build"})
PLAN = plan.form("ab", {"plan": "1. a\n2. b"})
BASH = permission.form("ab", RM, (LS,))


def form(*labels: str, multi: bool = False) -> Form:
    """One question with these labels."""
    return Form("ab", (asked("Which one?", "One", *labels, multi=multi),))
