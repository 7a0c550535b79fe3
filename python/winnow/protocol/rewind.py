"""What Lua and the host tell each other about branches of a chat, and a rewind."""

from __future__ import annotations

import msgspec

from winnow.protocol.base import ChatMessage


class AskUnsaved(ChatMessage, frozen=True):
    """Which files are changed in a buffer? `Unsaved` says."""


class Rewind(ChatMessage, frozen=True):
    """Ask what is to be as it was before a message of the user's.

    Its ``text`` and ``nth``, ``cwd`` and ``values`` as in `Fork`; ``lines`` are all above the
    draft, of which it begins in ``row``. ``unsaved`` are the files that are changed in a buffer.
    """

    text: str
    nth: int
    lines: list[str]
    row: int
    unsaved: list[str]
    cwd: str = ""
    values: dict[str, str] = {}


class Unsaved(ChatMessage, frozen=True):
    """The files that are changed in a buffer now: `AskUnsaved` wants to know."""

    paths: list[str]


class Branch(msgspec.Struct, frozen=True):
    """A chat that goes another way from before a message of the user's, ``at`` from 0.

    ``changed``: when it was, in seconds since the epoch. ``origin``: this chat was forked from it
    there.
    """

    at: int
    title: str
    path: str
    changed: float
    origin: bool = False


class Branches(ChatMessage, frozen=True):
    """Which there are."""

    forks: list[Branch]


class FindBranches(ChatMessage, frozen=True):
    """Look which branches there are now."""
