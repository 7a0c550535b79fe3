"""What Lua and the host tell each other about a rewind."""

from __future__ import annotations

from winnow.protocol.base import ChatMessage


class AskUnsaved(ChatMessage, frozen=True):
    """Which files are changed in a buffer? `Unsaved` says."""


class Rewind(ChatMessage, frozen=True):
    """Ask what is to be as it was before a message of the user's.

    Its ``text`` and ``nth`` as in `Fork`; ``lines`` are all above the draft, of which it begins in
    ``row``. ``unsaved`` are the files that are changed in a buffer.
    """

    text: str
    nth: int
    lines: list[str]
    row: int
    unsaved: list[str]


class Unsaved(ChatMessage, frozen=True):
    """The files that are changed in a buffer now: `AskUnsaved` wants to know."""

    paths: list[str]
