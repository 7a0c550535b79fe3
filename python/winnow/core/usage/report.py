"""What `:Winnow usage` shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone

import msgspec

from winnow.core.text.text import brief
from winnow.core.usage.context import Context
from winnow.core.usage.meter import Amount, Models, total
from winnow.core.usage.plan import Window

_WIDE = 40  # columns of a name
_BAR = 20


class Known(msgspec.Struct, frozen=True):
    """What is known of a chat's usage; money in US dollars.

    Args:
        cost: of the session; None: it is not known yet.
        budget: what the chat may cost; 0: as much as it likes.
        models: by model, since the agent was first started here.
        subagents: tokens of each, by what it is for.
        chats: what each chat of this Neovim has cost here.
    """

    cost: float | None = 0.0
    budget: float = 0.0
    models: Models = {}
    context: Context = Context()
    subagents: Sequence[tuple[str, int]] = ()
    plan: Sequence[Window] = ()
    chats: Mapping[str, float] = {}


def lines(known: Known, now: float) -> list[str]:
    """The report; ``now`` is in seconds since the epoch."""
    parts = [_context(known.context), _models(known), _subagents(known.subagents)]
    parts += [_plan(known.plan, now), _chats(known.chats), _dearest(known)]
    found: list[str] = []
    for part in parts:
        block = list(part)
        found += ["", *block] if found and block else block
    return found


def _context(context: Context) -> Iterator[str]:
    yield "## Context"
    yield ""
    if not context.size:
        yield "Claude has not told yet how full its context is."
        return
    yield f"{bar(context.used / context.size)} {context.percent} %, " + (
        f"{short(context.used)} of {short(context.size)} tokens"
    )
    if context.limit:
        yield f"It is compacted at {short(context.limit)}."
    yield from _table([(name, short(tokens)) for name, tokens in context.parts])


def _models(known: Known) -> Iterator[str]:
    yield "## Cost"
    yield ""
    if known.cost is None:
        yield "What this chat has cost is known once Claude is connected."
    else:
        yield f"This chat has cost {money(known.cost)}."
    if known.budget:
        yield f"Its budget is {money(known.budget)}."
    ranked = sorted(known.models.items(), key=lambda one: -one[1].cost)
    yield from _table([(name, _amount(amount)) for name, amount in ranked])


def _amount(amount: Amount) -> str:
    parts = [
        money(amount.cost),
        f"{short(amount.input)} in",
        f"{short(amount.output)} out",
        f"{short(amount.read)} from cache",
        f"{short(amount.cached)} to cache",
    ]
    return ", ".join(parts)


def _subagents(subagents: Sequence[tuple[str, int]]) -> Iterator[str]:
    if subagents:
        yield "## Subagents"
        yield ""
        ranked = sorted(subagents, key=lambda one: -one[1])
        yield from _table([(name, f"{short(tokens)} tokens") for name, tokens in ranked])


def _plan(plan: Sequence[Window], now: float) -> Iterator[str]:
    if plan:
        yield "## Plan"
        yield ""
        yield from _table([(one.name, _window(one, now)) for one in plan])


def _window(one: Window, now: float) -> str:
    used = "used up" if one.full else f"{100 * one.share:.0f} % used" if one.share >= 0 else "?"
    return f"{used}, resets {at(one.until, now)}" if one.until else used


def _chats(chats: Mapping[str, float]) -> Iterator[str]:
    if len(chats) > 1:
        yield "## All chats of this Neovim"
        yield ""
        ranked = sorted(chats.items(), key=lambda one: -one[1])
        yield from _table([(name, money(cost)) for name, cost in ranked])
        yield from _table([("together", money(sum(chats.values())))])


def _dearest(known: Known) -> Iterator[str]:
    """What costs most, and what can be done about it."""
    context, used = known.context, total(known.models.values())
    found: list[str] = []
    if context.near:
        found.append("A full context is read again with each request: `:Winnow compact`.")
    if used.cached > used.read and used.cached > 10_000:
        found.append("More is written to the cache than read from it: long pauses let it expire.")
    if context.used and context.parts:
        name, tokens = context.parts[0]
        all_ = max(context.used, sum(count for _, count in context.parts))  # told apart
        found.append(f"{name}: {round(100 * tokens / all_)} % of what the context holds.")
    if found:
        yield "## What costs most"
        yield ""
        yield from found


def _table(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    shown = [(brief(name, _WIDE), text) for name, text in rows]
    wide = max((len(name) for name, _ in shown), default=0)
    for name, text in shown:
        yield f"  {name.ljust(wide)}  {text}"


def bar(share: float) -> str:
    """A share from 0 to 1, drawn."""
    full = round(_BAR * min(1.0, max(0.0, share)))
    return "█" * full + "░" * (_BAR - full)


def money(cost: float) -> str:
    """US dollars."""
    return f"${cost:.2f}" if cost >= 0.005 or not cost else f"${cost:.4f}"


def short(tokens: int) -> str:
    """A number of tokens in few characters."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.2f}M"


def at(time: float, now: float) -> str:
    """A time, by the user's own clock."""
    made = datetime.fromtimestamp(time, timezone.utc).astimezone()
    return f"{made:%H:%M}" if abs(time - now) < 18 * 3600 else f"{made:%a %d %b, %H:%M}"
