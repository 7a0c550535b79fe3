"""Lists of what the agent tells."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List
from winnow.app.parts.part import Around, Part

Told = TypeVar("Told")


class Asked(List, Generic[Told]):
    """One such list, of a chat: its agent is asked when somebody looks, and again by `look`.

    Args:
        first: what counts before it has told anything.

    Attributes:
        called: the list's name.
        told: by the agent.
        problem: why it could not tell it, in a sentence.
    """

    called = ""

    def __init__(self, around: Around, first: Told) -> None:
        super().__init__(self.called, around.world.editor, around.page.chat)
        self.around = around
        self.told = first
        self.problem = ""

    def ask(self, controls: ports.Controls) -> Coroutine[Any, Any, Told]:
        """What the agent is asked."""
        raise NotImplementedError

    def opened(self) -> None:
        """See `List.opened`: who looks wants to know it, of a chat that was only opened, too."""
        self.around.wake()
        self.look()

    def look(self) -> None:
        """It may be otherwise now: ask, if somebody looks."""
        if self._watched:
            self.around.session.control(self.ask, self.take, self._fail)

    def take(self, told: Told) -> None:
        """This is so now."""
        self.told, self.problem = told, ""
        self.moved()

    def _fail(self, error: ports.AgentError) -> None:
        self.problem = error.sentence
        self.moved()

    def complain(self, error: ports.AgentError) -> None:
        """What the user wanted can't be had: say so, and show how it is."""
        self._tell(p.Notify(error.sentence, "warn"))
        self.look()


class HasAsked(Part):
    """A part that only has such a list."""

    def __init__(self, around: Around, shown: Asked[Any]) -> None:
        super().__init__(around)
        self._list = self.shown = shown

    def connected(self, agent: ports.Agent) -> None:  # noqa: ARG002
        """See `Part.connected`."""
        self._list.look()

    def ended(self) -> None:
        """See `Part.ended`."""
        self._list.look()
