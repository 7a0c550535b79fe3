"""Subagents of sessions that are over, or are resumed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from winnow.core.agent import AgentEvent


class PastSubagent(msgspec.Struct, frozen=True):
    """One of them: ``what`` it was for, the ``call`` that started it, the ``parent`` that did."""

    id: str
    what: str = ""
    type: str = ""
    model: str = ""
    call: str = ""
    parent: str = ""


class Subagents(Protocol):
    """What a session has kept of its subagents. All give nothing of a session that is unknown."""

    async def listed(self, session: str) -> Sequence[PastSubagent]:
        """All of them, at any depth."""

    async def events(self, session: str, id: str) -> Sequence[AgentEvent]:
        """What one has said and done, as it would have been told."""

    async def todo(self, session: str) -> Sequence[tuple[str, str, str]]:
        """What it has to do: id, words, and how far it is."""

    async def promote(self, session: str, id: str) -> str:
        """Make a session of one, with all that it knows; gives that one's id, or nothing."""
