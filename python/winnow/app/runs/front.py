"""What a run needs of the chat in which it is led."""

from __future__ import annotations

from typing import Protocol

from winnow import ports
from winnow.core import agent as a
from winnow.core.asking.human_query import HumanQuery
from winnow.core.transcript.entries import Entry


class Front(Protocol):
    """The chat in which the run is led."""

    async def spec(self) -> ports.AgentSpec:
        """What its own agent is made from; workers are made alike."""

    async def ask(self, request: a.Request) -> a.Reply:
        """Ask the user for a permission."""

    def wake(self, text: str, about: str) -> ports.Message:
        """Tell the orchestrator this, when it is its turn. To be kept with what it is about."""

    def ask_user(self, asked: HumanQuery) -> None:
        """Ask the user this."""

    def withdraw(self, query: str) -> None:
        """Nobody needs the answer to this any more."""

    def note(self, sentence: str) -> None:
        """Tell the user something about the run."""

    def shown(self, task: str, entry: Entry) -> None:
        """The transcript of a task goes on with this."""

    def moved(self) -> None:
        """Something changed."""
