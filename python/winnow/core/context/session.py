"""What an agent offers to be said, and what its session carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from winnow.core.text.text import brief


class Command(msgspec.Struct, frozen=True):
    """A command or a skill: what ``/name`` does, and the hint of what may follow it."""

    name: str
    about: str = ""
    hint: str = ""


class Item(msgspec.Struct, frozen=True):
    """One thing of a session, with its size in tokens; ``path`` where it is a file."""

    name: str
    tokens: int
    path: str = ""


class Carried(msgspec.Struct, frozen=True):
    """What a session carries.

    Args:
        total: tokens.
        most: that there can be.
        parts: headings, each with its things.
    """

    total: int = 0
    most: int = 0
    parts: Sequence[tuple[str, Sequence[Item]]] = ()


class Mentioned(msgspec.Struct, frozen=True):
    """What a mention in the draft would send, in words; ``problem``: it can't be sent."""

    mention: str
    name: str
    amount: str = ""
    problem: bool = False


def next_message(mentions: Sequence[Mentioned]) -> Iterator[str]:
    """The lines of what the next message sends."""
    for one in mentions:
        sign = " " if one.problem else " → "
        yield f"  {one.mention}{sign}{one.name}{f', {one.amount}' if one.amount else ''}"


def heading(carried: Carried) -> str:
    """How full the session is."""
    percent = round(100 * carried.total / carried.most) if carried.most else 0
    return f"This session: {tokens(carried.total)} of {tokens(carried.most)} tokens, {percent} %"


def line(item: Item) -> str:
    """One thing; its size stands where the narrowest window shows it."""
    return f"{tokens(item.tokens):>8}  {item.path or brief(item.name)}"


def tokens(count: int) -> str:
    """A number of tokens, in as few characters as it takes."""
    if count < 1000:
        return str(count)
    if count < 999_500:
        return f"{count / 1000:.1f}k" if count < 99_950 else f"{count / 1000:.0f}k"
    return f"{count / 1e6:.1f}".removesuffix(".0") + "M"
