"""Tokens and money, model by model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from winnow.core.agent import Side

LEAST = 0.01  # US dollars: what is left of a budget is never nothing, which would be no limit
MOST = 1e6  # US dollars, or 1e12 tokens: whatever says more is wrong


class Amount(msgspec.Struct, frozen=True):
    """What one model was used for. ``cost`` is in US dollars, all others are tokens."""

    input: int = 0
    output: int = 0
    read: int = 0  # from the cache
    cached: int = 0  # written to it
    cost: float = 0.0

    def plus(self, other: Amount) -> Amount:
        """Both together."""
        return Amount(
            *(mine + its for mine, its in zip(_fields(self), _fields(other), strict=True))
        )

    def minus(self, other: Amount) -> Amount:
        """What has come since that; all of it, where the count has begun anew."""
        mine, its = _fields(self), _fields(other)
        if any(now < before for now, before in zip(mine, its, strict=True)):
            return self
        return Amount(*(now - before for now, before in zip(mine, its, strict=True)))

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.input + self.output + self.read + self.cached


Models = Mapping[str, Amount]


class Spent(Side, frozen=True):
    """What was used since the turn before, by model.

    ``before``: what the session had cost when its agent was started, in US dollars.
    """

    models: Models
    before: float = 0.0


class Meter:
    """Makes what comes since the last time of totals that a session tells.

    A session that is resumed goes on from what Claude Code remembers of it, so that is not new; one
    that is cleared may begin at nothing again.
    """

    def __init__(self) -> None:
        self.before = 0.0
        self._models: Models = {}
        self._cost = 0.0

    def begin(self, cost: Any, models: Any) -> None:
        """The session is resumed with these totals."""
        self.before = self._cost = number(cost)
        self._models = amounts(models)

    def hear(self, cost: Any, models: Any) -> tuple[float, Models]:
        """New totals: what has come since, in US dollars and by model."""
        total, now = number(cost), amounts(models)
        if not total:  # it does not tell
            return 0.0, {}
        spent = total - self._cost if total >= self._cost else total
        parts = {name: one.minus(self._models.get(name, Amount())) for name, one in now.items()}
        self._cost, self._models = total, now
        return spent, {name: one for name, one in parts.items() if one.tokens or one.cost}


def amounts(raw: Any) -> Models:
    """Claude Code's ``modelUsage``; what is wrong in it counts as nothing."""
    found = raw if isinstance(raw, dict) else {}
    return {
        str(name): Amount(
            int(number(one.get("inputTokens"))),
            int(number(one.get("outputTokens"))),
            int(number(one.get("cacheReadInputTokens"))),
            int(number(one.get("cacheCreationInputTokens"))),
            number(one.get("costUSD")),
        )
        for name, one in found.items()
        if isinstance(one, dict)
    }


def number(raw: Any, most: float = MOST * MOST) -> float:
    """A number from 0; 0 for whatever is none, or can't be."""
    if isinstance(raw, bool) or not isinstance(raw, (int, float)):
        return 0.0
    return float(raw) if math.isfinite(raw) and 0 <= raw <= most else 0.0


def together(one: Models, other: Models) -> dict[str, Amount]:
    """The sum, model by model."""
    found = dict(one)
    for name, amount in other.items():
        found[name] = found.get(name, Amount()).plus(amount)
    return found


def left(budget: float, spent: float) -> float:
    """What may still be spent of a budget."""
    return max(LEAST, budget - spent)


def total(models: Iterable[Amount]) -> Amount:
    """All models together."""
    found = Amount()
    for amount in models:
        found = found.plus(amount)
    return found


def _fields(amount: Amount) -> tuple[Any, ...]:
    return (amount.input, amount.output, amount.read, amount.cached, amount.cost)
