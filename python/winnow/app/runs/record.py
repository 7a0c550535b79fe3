"""A run on record: what happens is applied and kept here first, and then acted on."""

from __future__ import annotations

import logging
from collections.abc import Callable

from winnow import ports
from winnow.core.run import events as e
from winnow.core.run.run import Run
from winnow.core.run.task import Impossible

log = logging.getLogger(__name__)


class Record:
    """A run and its place in the store.

    Attributes:
        run: as its events have made it.
        lengths: how many turns the transcript of each task had.
        loaded: the store has told what happened before.
        heard: is told of each event.
        refused: the orchestrator wanted to end it, but for changes that are not merged.
        count: how many events have come since it was loaded.
    """

    def __init__(self, id: str, world: ports.World) -> None:
        self.run = Run(id)
        self.lengths: dict[str, int] = {}
        self.loaded = False
        self.heard: Callable[[e.Event], None] = lambda _: None
        self.refused = False
        self.count = 0
        self._world = world

    async def load(self) -> None:
        """Learn what happened before. What can't have, costs only itself."""
        known = self.count  # the store has these by now, and they have been applied
        events = await self._world.runs.events(self.run.id)
        for event in events[: len(events) - known]:
            try:
                self.run.apply(event)
            except Impossible as error:  # noqa: PERF203
                log.error("run %s: %s", self.run.id, error)
        self.lengths = await self._world.runs.lengths(self.run.id)
        self.loaded = True

    def record(self, event: e.Event, *with_it: ports.Kept) -> None:
        """Something happened.

        Raises:
            Impossible: it can't have.
        """
        self.apply(event)
        self.keep(event, *with_it)

    def apply(self, event: e.Event) -> None:
        """As `record`, where the event is kept together with what follows from it."""
        self.run.apply(event)
        self.count += 1
        self.heard(event)

    def keep(self, *kept: ports.Kept) -> None:
        """Put this on record: all of it, or nothing."""
        self._world.store.save(*kept)

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return self._world.clock.now()

    def started(self, task: str, place: str = "") -> e.Event:
        """It runs, or runs again with what the user has answered."""
        for query in self.run.undelivered(task):
            if query.human:
                return e.TaskResumedAfterHumanQuery(self.now, self.run.id, task, query.id)
        return e.TaskStarted(self.now, self.run.id, task, place)
