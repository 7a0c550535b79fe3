"""Looks after those that work: how much they have changed, and whether they still live."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from winnow import ports
from winnow.app.background import Background
from winnow.app.runs.front import Front
from winnow.app.runs.record import Record
from winnow.app.runs.worker import Worker
from winnow.core.run import events as e
from winnow.core.run import prompts
from winnow.core.text.text import brief

LOOK = 10.0  # seconds between two looks


class Pulse:
    """Looks every few seconds, as long as somebody works.

    Args:
        record: the run's.
        front: the chat in which it is led.
        trees: where worktrees are.
        workers: those that have an agent, by task.
        waits: the tasks that wait for the user, so that nothing is to be heard of them.

    Attributes:
        diffs: how much each task has changed in its worktree, in short.
        silent: the tasks whose worker gives no sign of life.
    """

    def __init__(
        self,
        record: Record,
        front: Front,
        trees: ports.Worktrees,
        workers: Mapping[str, Worker],
        waits: Callable[[], Mapping[str, str]],
    ) -> None:
        self.diffs: dict[str, str] = {}
        self.silent: set[str] = set()
        self._record = record
        self._front = front
        self._trees = trees
        self._workers = workers
        self._waits = waits
        self._looked: dict[str, float] = {}  # at a worker, when it was heard last
        self._quiet: dict[str, float] = {}  # for how long it has been heard no more
        self._soon: asyncio.TimerHandle | None = None
        self._background = Background()

    def begin(self) -> None:
        """Somebody works."""
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(LOOK, self._again)

    def _again(self) -> None:
        self._soon = None
        self.look()
        if self._workers:
            self.begin()

    def look(self, passed: float = LOOK) -> None:
        """See how all of them are, so many seconds after the last time.

        No clock is asked: one that was set, or a machine that slept, tells nothing of a worker.
        """
        limit = self._record.run.limits.silence
        for id, worker in self._workers.items():
            task = self._record.run.tasks[id]
            heard = self._looked.get(id) != worker.alive
            quiet = self._quiet[id] = 0.0 if heard else self._quiet[id] + passed
            works = task.state == "running" and id not in self._waits()
            if not works or not limit or quiet < limit:
                self.silent.discard(id)
            elif id not in self.silent:
                self.silent.add(id)
                self._tell(id, quiet, worker.saying)
            if heard and task.tree is not None:
                self._background.spawn(self._measure(id))
            self._looked[id] = worker.alive
        self.silent &= self._workers.keys()

    def _tell(self, id: str, seconds: float, said: str) -> None:
        """Once, until something is heard again."""
        run, minutes = self._record.run, int(seconds // 60)
        task, does = run.tasks[id], brief(said, 100)
        event = e.TaskSilent(self._record.now, run.id, id, seconds, does)
        self._record.record(event, self._front.wake(prompts.silent(task, minutes, does), id))
        self._front.note(
            f"{id} “{task.title}” gives no sign of life for {minutes} min: write to it in its "
            "buffer, cancel it on the board (dd), or wait."
        )
        self._front.moved()

    async def _measure(self, id: str) -> None:
        task = self._record.run.tasks[id]
        if task.tree is not None:
            found = await self._trees.diffstat(task.tree)
            if found != self.diffs.get(id, ""):
                self.diffs[id] = found
                self._front.moved()

    async def close(self) -> None:
        """Look no more."""
        if self._soon is not None:
            self._soon.cancel()
        self._background.cancel()
        await self._background.over()
