"""What Lua and the host tell each other about the review of what changed in files."""

from __future__ import annotations

from typing import Union

from winnow.protocol.base import ChatMessage


class Remark(ChatMessage, frozen=True):
    """Send this, which the user has said elsewhere; it waits with what waits already."""

    text: str


class Review(ChatMessage, frozen=True):
    """What the list ``review`` shows: changes since this. A mark, or a name that git knows."""

    since: str = ""


class Accept(ChatMessage, frozen=True):
    """What that list shows is accepted: the next review begins there.

    With ``before``, as it was shown, only what stands in that and not in ``lines``.
    """

    before: list[str] = []
    lines: list[str] = []


class Saved(ChatMessage, frozen=True):
    """The user has written a file while the agent worked.

    ``before`` and ``after`` are copies of it, which are deleted then; empty: there was none.
    """

    path: str
    before: str
    after: str


class VisitChange(ChatMessage, frozen=True):
    """Go to a line (from 1) of the file whose change begins with ``head`` in that list."""

    head: str
    line: int


ReviewEvent = Union[Review, Accept, Saved, VisitChange]
