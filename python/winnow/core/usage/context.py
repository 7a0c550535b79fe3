"""How full the context is."""

from __future__ import annotations

from typing import Any

import msgspec

from winnow.core.agent import Side
from winnow.core.usage.meter import number

NEAR = 80  # percent of the context, or of what compaction waits for, from which on it is told


class Filled(Side, frozen=True):
    """The model has read so many tokens with its last request."""

    tokens: int


class Compacted(Side, frozen=True):
    """A summary stands for the conversation so far."""


class Context(msgspec.Struct, frozen=True):
    """What is in the context, in tokens.

    Args:
        used: all of it.
        size: of the context.
        limit: at which Claude Code compacts it by itself; 0: never.
        parts: what it is made of, the largest first.
    """

    used: int = 0
    size: int = 0
    limit: int = 0
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def percent(self) -> int:
        """How full it is, from 0 to 100; 0 where that is not known."""
        return min(100, round(100 * self.used / self.size)) if self.size else 0

    @property
    def near(self) -> bool:
        """It is almost full."""
        return bool(self.size) and self.used >= (self.limit or self.size) * NEAR / 100

    @property
    def warning(self) -> str:
        """What the user should know of that, in a few words; empty: nothing."""
        if not self.near:
            return ""
        if self.limit:
            left = max(0, 100 - round(100 * self.used / self.limit))
            when = f"compacted in {left} %" if left else "compacted next"
            return f"context {self.percent} % full, {when}"
        return f"context {self.percent} % full: :Winnow compact makes room"


def read(raw: Any) -> Context | None:
    """Claude Code's reply to ``get_context_usage``; None where it says nothing."""
    if not isinstance(raw, dict) or not (size := int(number(raw.get("maxTokens")))):
        return None
    given = raw.get("categories")
    parts = [
        (str(one.get("name")), int(number(one.get("tokens"))))
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict) and one.get("kind", "used") == "used" and not _is_free(one)
    ]
    used = int(number(raw.get("totalTokens")))
    said = used - sum(tokens for _, tokens in parts)
    if said > 0 and not any(name == "Messages" for name, _ in parts):
        parts.append(("Messages", said))
    limit = int(number(raw.get("autoCompactThreshold"))) if raw.get("isAutoCompactEnabled") else 0
    largest = sorted((part for part in parts if part[1]), key=lambda part: -part[1])
    return Context(used, size, min(limit, size), tuple(largest))


def _is_free(one: dict[str, Any]) -> bool:
    """Whether this part of a reply is room that nothing fills; older ones only name it."""
    return bool(one.get("isDeferred")) or one.get("name") in ("Free space", "Autocompact buffer")
