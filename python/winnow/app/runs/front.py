"""What a run needs of the chat in which it is led."""

from __future__ import annotations

from typing import Protocol

from winnow import ports
from winnow.core import agent as a
from winnow.core.transcript.entries import Entry


class Front(Protocol):
    """The chat in which the run is led."""

    async def spec(self) -> ports.AgentSpec:
        """What its own agent is made from; workers are made alike."""

    async def ask(self, request: a.Request) -> a.Reply:
        """Ask the user for a permission."""

    def wake(self, text: str, about: str) -> ports.Message:
        """Tell the orchestrator this, when it is its turn. To be kept with what it is about."""

    def remind(self) -> None:
        """Tell the orchestrator of each question that it has, and does not know of."""

    def ask_user(self, request: a.Request) -> None:
        """Ask the user this, for which no call waits."""

    def withdraw(self, id: str) -> None:
        """Nobody needs the answer to this question, or about the change of this task, any more."""

    def reload(self) -> None:
        """Files of the user's have changed."""

    def note(self, sentence: str) -> None:
        """Tell the user something about the run."""

    def shown(self, task: str, entry: Entry) -> None:
        """The transcript of a task goes on with this."""

    def moved(self) -> None:
        """Something changed."""
