"""What is allowed until the turn ends. It is kept here alone, so nothing can make it last."""

from __future__ import annotations

from winnow.app.turn import Turn
from winnow.core.agent import Request, Update
from winnow.core.asking import ways


class Passing:
    """Of one chat: forgotten when its turn ends, however it does.

    No agent is told: what Claude Code held for its session would be there after a crash.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._updates: list[Update] = []
        self._of = 0  # the turn in which they were granted

    def grant(self, updates: list[Update]) -> bool:
        """Let through what these updates would. False: no turn runs whose end could end that."""
        if not (updates and self._turn.busy):
            return False
        self._updates = [*self._held(), *updates]
        self._of = self._turn.number
        return True

    def lets(self, request: Request) -> bool:
        """Whether this need not be asked."""
        held = self._held()
        if not held or request.worker:
            return False
        return ways.of(request.tool, request.input).covered(request, held)

    def forget(self) -> None:
        """The user stops the turn: nothing more of it runs."""
        self._updates = []

    def _held(self) -> list[Update]:
        return self._updates if self._turn.number == self._of and self._turn.busy else []
