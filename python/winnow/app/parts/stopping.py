"""To stop a turn is to stop what it has started, too."""

from __future__ import annotations

import logging

from winnow import ports
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core.tasks import events as t

log = logging.getLogger(__name__)


class Stopping(Part):
    """Knows what the turn has begun that goes on without it: commands and subagents.

    What ran before the turn goes on: it was not stopped.
    """

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._begun: list[str] = []  # tasks of this turn that run
        self._stopped = False  # the user has stopped it

    def stop(self) -> None:
        """The user stops the turn that runs."""
        self._stopped = True
        for id in self._begun:
            self._end(id)

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        match event:
            case t.Began(id=id) if id not in self._begun:
                self._begun.append(id)
                if self._stopped:
                    self._end(id)
            case t.Ended(id=id) if id in self._begun:
                self._begun.remove(id)
            case a.TurnEnded():
                self._begun, self._stopped = [], False
            case _:
                pass

    def ended(self) -> None:
        """See `Part.ended`."""
        self._begun, self._stopped = [], False

    def _end(self, id: str) -> None:
        def failed(error: ports.AgentError) -> None:  # it ended by itself just now
            log.warning("%s", error.sentence)

        async def stop(controls: ports.Controls) -> int:
            return await controls.stop_task(id)

        self.around.session.control(stop, lambda _: None, failed)
