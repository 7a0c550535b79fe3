"""What is used up: sums of what a session tells, whatever that is, and how it reads."""

from __future__ import annotations

from typing import Any

import pytest
from winnow.core.agent import TurnEnded
from winnow.core.usage import context, plan, report, trouble
from winnow.core.usage.context import Context
from winnow.core.usage.meter import Amount, Meter


def models(input: int, cost: float, name: str = "opus") -> dict[str, Any]:
    return {name: {"inputTokens": input, "outputTokens": 1, "costUSD": cost}}


def test_totals_become_what_has_come_since() -> None:
    """Also of a session that is resumed, and of one that counts from nothing again."""
    count = Meter()
    assert count.hear(0.5, models(100, 0.5)) == (0.5, {"opus": Amount(100, 1, cost=0.5)})
    cost, since = count.hear(0.75, {**models(150, 0.75), **models(7, 0.0, "haiku")})
    assert (cost, since["opus"].input, since["haiku"].input) == (0.25, 50, 7)
    assert count.hear(0.1, models(10, 0.1))[0] == 0.1
    resumed = Meter()
    resumed.begin(2.0, models(900, 2.0))
    assert (resumed.before, resumed.hear(2.5, models(950, 2.5))[0]) == (2.0, 0.5)


@pytest.mark.parametrize("bad", [None, -1, float("nan"), float("inf"), "3", True, [1], 1e300])
def test_what_is_no_amount_costs_nothing(bad: Any) -> None:
    """It neither breaks the sum nor is forgotten what came before."""
    count = Meter()
    count.hear(1.0, models(10, 1.0))
    assert count.hear(bad, bad) == (0.0, {})
    assert count.hear(bad, {"opus": bad, "x": models(1, bad)}) == (0.0, {})
    assert count.hear(1.5, models(12, 1.5))[0] == 0.5
    assert context.read(bad) is None
    assert context.read({"maxTokens": bad, "categories": bad}) is None
    assert plan.read({"rate_limits": bad}) == plan.read(bad) == []


def test_a_context_is_told_of_before_it_is_full() -> None:
    """Against what Claude Code compacts it at, where it does."""
    free = {"name": "Free space", "tokens": 90, "kind": "free"}
    parts = [{"name": "Tools", "tokens": 40, "kind": "used"}, free, "odd", {"tokens": 5}]
    raw = {"maxTokens": 200, "totalTokens": 135, "categories": parts, "autoCompactThreshold": 167}
    found = context.read(raw)
    assert found == Context(135, 200, 0, (("Messages", 90), ("Tools", 40), ("None", 5)))
    assert (found.percent, found.warning) == (68, "")
    found = context.read({**raw, "isAutoCompactEnabled": True})
    assert found
    assert found.warning == "context 68 % full, compacted in 19 %"
    assert Context(200, 200).warning == "context 100 % full: :Winnow compact makes room"
    assert Context(50, 0).warning == ""


def test_limits_of_a_plan() -> None:
    """Also of a kind that nobody knows, and at times that can't be."""
    limits = {
        "five_hour": {"utilization": 92, "resets_at": "2030-01-01T12:00:00Z"},
        "monthly_new": {"utilization": None, "resets_at": "soon"},
        "model_scoped": [{"display_name": "Fable", "utilization": 5, "resets_at": None}, 3],
        "extra_usage": {"is_enabled": True},
    }
    found = {one.name: one for one in plan.read({"rate_limits": limits})}
    assert found["5 hours"] == plan.Window("5 hours", 0.92, 1893499200.0)
    assert found["monthly new"] == plan.Window("monthly new")
    assert found["Fable"].share == 0.05
    assert plan.until(1100, 1000) == 1100
    for never in (900, 1000 + 9 * 86400, -5, None, "x", float("nan")):
        assert plan.until(never, 1000) == 0


def test_a_failure_says_what_happened_and_what_enter_does() -> None:
    """What was done is not done again."""
    ended = TurnEnded(error="Claude is overloaded (529); wait a moment.", trouble="busy")
    told = trouble.told(ended, worked=False, now=0)
    assert told == (
        "Claude is overloaded (529); wait a moment; what you wrote is in the draft again, "
        "<CR> sends it again."
    )
    assert trouble.told(ended, worked=True, now=0).endswith("wait a moment; <CR> goes on.")
    limited = trouble.told(
        TurnEnded(error="No.", trouble="limit", until=1000.0), worked=True, now=0
    )
    assert limited.startswith("Your limit is reached until ")
    assert limited.endswith("; <CR> goes on then.")
    assert trouble.told(TurnEnded(error="Odd."), worked=True, now=0) == "Odd."


def test_a_report_says_what_is_known() -> None:
    """Nothing of what is not."""
    assert report.lines(report.Known(), 0) == [
        "## Context",
        "",
        "Claude has not told yet how full its context is.",
        "",
        "## Cost",
        "",
        "This chat has cost $0.00.",
    ]
    resumed = report.lines(report.Known(None), 0)
    assert resumed[-1] == "What this chat has cost is known once Claude is connected."
    known = report.Known(
        0.42,
        budget=2,
        models={"opus": Amount(1200, 30, 5, 20_000, 0.42)},
        context=Context(126_000, 200_000, 0, (("Messages", 120_000),)),
        subagents=[("Look around", 12_345)],
        plan=[plan.Window("5 hours", 0.92, 1000.0), plan.Window("7 days", full=True)],
        chats={"one": 0.42, "two": 1.0},
    )
    text = "\n".join(report.lines(known, 0))
    assert "█████████████░░░░░░░ 63 %, 126.0k of 200.0k tokens" in text
    assert "This chat has cost $0.42.\nIts budget is $2.00." in text
    assert "  opus  $0.42, 1.2k in, 30 out, 5 from cache, 20.0k to cache" in text
    assert "  Look around  12.3k tokens" in text
    assert "  5 hours  92 % used, resets " in text
    assert "  7 days   used up" in text
    assert "  together  $1.42" in text
    assert "More is written to the cache" in text
    assert "Messages: 95 % of what the context holds." in text
    told_apart = Context(10, 200_000, 0, (("System tools", 12_000), ("Skills", 3_000)))
    assert "System tools: 80 %" in "\n".join(report.lines(report.Known(context=told_apart), 0))
