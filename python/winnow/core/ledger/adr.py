"""Decisions as architecture decision records: one Markdown file each."""

from __future__ import annotations

import re

from winnow.core.ledger.ledger import Decision, local
from winnow.core.text.text import brief, clean, clean_block


def slug(decision: Decision) -> str:
    """What the record's file is called, after its number."""
    words = re.findall(r"\w+", (decision.header or decision.question).lower())
    return "-".join(words)[:50].strip("-") or "decision"


def render(decision: Decision) -> list[str]:
    """The record's lines. They hold no number, so a record that is there can be recognised."""
    lines = [
        f"# {_title(decision)}",
        "",
        "Status: accepted",
        "",
        f"Date: {local(decision.when):%Y-%m-%d}",
        "",
        "## Context",
        "",
        *clean_block(decision.question),
        "",
        "## Decision",
        "",
        *(f"- {clean(label)}" for label in decision.kept),
        *(f"- {line}" for text in decision.own for line in clean_block(text)),
    ]
    if decision.notes:
        lines += ["", *clean_block(decision.notes)]
    if decision.dropped:
        lines += ["", "## Alternatives", "", *(f"- {clean(label)}" for label in decision.dropped)]
    return lines


def _title(decision: Decision) -> str:
    answer = ", ".join(brief(text) for text in (*decision.kept, *decision.own))
    return f"{brief(decision.header) or brief(decision.question)}: {answer}"
