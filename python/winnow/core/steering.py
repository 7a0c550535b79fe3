"""What becomes of messages that are sent while the agent works."""

from __future__ import annotations

from winnow.core.agent import Side


class Taken(Side, frozen=True, tag=True):
    """The agent has taken this message, alone or into the turn that runs."""

    id: str


class Withdrawn(Side, frozen=True, tag=True):
    """The agent will not take these messages any more: the turn was stopped before."""

    ids: list[str]
