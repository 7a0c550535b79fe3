"""What is left of the user's plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

import msgspec

from winnow.core.agent import Side
from winnow.core.usage.meter import number

LONGEST = 8 * 86400.0  # seconds: no window of a plan is longer
_LATEST = 4e9  # seconds since the epoch, in 2096

_NAMES = {
    "five_hour": "5 hours",
    "seven_day": "7 days",
    "seven_day_opus": "7 days, Opus",
    "seven_day_sonnet": "7 days, Sonnet",
    "seven_day_oauth_apps": "7 days, apps",
    "overage": "extra usage",
}


class Window(msgspec.Struct, frozen=True):
    """One limit: its ``share`` that is used, from 0 to 1, or -1; ``until`` is in seconds since the
    epoch, 0 where it is not told."""

    name: str
    share: float = -1.0
    until: float = 0.0
    full: bool = False


class Limited(Side, frozen=True):
    """The agent was told how much of a limit is used."""

    window: Window


def window(kind: Any, *, share: Any, until: Any, full: bool = False) -> Window:
    """A limit as Claude Code tells it, also one of a kind that nobody knows."""
    named = _NAMES.get(str(kind), str(kind).replace("_", " ") if kind else "plan")
    given = number(share, 1000) if share is not None else -1.0
    return Window(named, given, number(until, _LATEST), full)


def read(raw: Any) -> list[Window]:
    """The limits in Claude Code's reply to ``get_usage``; none for who pays by use."""
    limits = raw.get("rate_limits") if isinstance(raw, dict) else None
    found: list[Window] = []
    for kind, one in (limits if isinstance(limits, dict) else {}).items():
        if isinstance(one, dict) and "resets_at" in one:
            found.append(_scoped(kind, one))
        elif kind == "model_scoped" and isinstance(one, list):
            found += [_scoped(each.get("display_name"), each) for each in one if _is_scope(each)]
    return found


def _is_scope(one: Any) -> bool:
    return isinstance(one, dict)


def _scoped(kind: Any, one: Mapping[str, Any]) -> Window:
    used = one.get("utilization")  # percent here, a fraction in `RateLimitEvent`
    share = number(used, 1000) / 100 if used is not None else None
    return window(kind, share=share, until=_seconds(one.get("resets_at")))


def _seconds(text: Any) -> float:
    """A time in ISO 8601 as seconds since the epoch; 0 for whatever is none."""
    try:
        made = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
        return made.replace(tzinfo=made.tzinfo or timezone.utc).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def until(raw: Any, now: float) -> float:
    """When a limit is over, if that is told and can be: it is ahead, by no more than a week."""
    at = number(raw)
    return at if now < at <= now + LONGEST else 0.0


def known(windows: Mapping[str, Window], news: Iterable[Window]) -> dict[str, Window]:
    """Limits by name, with what is new."""
    return {**windows, **{one.name: one for one in news}}
