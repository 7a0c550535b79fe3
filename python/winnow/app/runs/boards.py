"""The board, kept up to date while somebody looks at it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List
from winnow.app.runs.run_chat import RunChat
from winnow.core.listing import Problem
from winnow.core.run import board
from winnow.core.run.board import Edits, Live
from winnow.core.run.events import Event
from winnow.core.run.run import Run
from winnow.core.run.task import Impossible
from winnow.core.text.text import brief

log = logging.getLogger(__name__)

_RECENT = 7 * 86400.0  # seconds for which a run that is over is shown

NAME = "board"
ELSEWHERE = "this run is led in a chat that is not open here: <CR> on its line opens that."


Spawn = Callable[[Coroutine[Any, Any, None]], object]


class Board(List):
    """All runs as lines, and what is done to them.

    Args:
        world: where runs are read.
        led: those that are led here.
        spawn: does something beside.
    """

    tick = 5.0

    def __init__(
        self, world: ports.World, led: Callable[[], Iterable[RunChat]], spawn: Spawn
    ) -> None:
        super().__init__(NAME, world.editor)
        self._world = world
        self._led = led
        self._others: dict[str, Run] = {}  # as they are on disk
        self._place = 0  # of the newest event that was read
        self._next = 0.0  # when to read again, by the loop's time
        self._spawn = spawn

    def watch(self, *, open: bool) -> None:
        """See `Shown.watch`: it is shown when it is known what has happened elsewhere."""
        if open:
            self._watched = True
            self._spawn(self._load())
        else:
            self.close()

    async def _load(self) -> None:
        """Learn what has happened since the last time, in runs that are led elsewhere."""
        now = self._world.clock.now()
        since, self._next = now - _RECENT, asyncio.get_running_loop().time() + self.tick
        try:
            events, self._place = await self._world.runs.news(self._place, since)
            if not self._others_hear(events):
                events, self._place = await self._world.runs.news(0, 0.0)
                self._others = {}
                self._others_hear(events)
                self._others = {id: run for id, run in self._others.items() if run.chat}
        except ports.StoreError as error:
            self._world.editor.apply(p.Notify(error.sentence, "warn"))
            return
        self._show()

    def _others_hear(self, events: Iterable[Event]) -> bool:
        """This happened. False: in a run whose beginning is not known, as it is old."""
        led = {chat.run.id for chat in self._led()}
        for event in events:
            run = self._others.setdefault(event.run, Run(event.run))
            try:
                run.apply(event)
            except Impossible as error:
                if event.run not in led:  # one that is led here knows by itself
                    log.error("run %s: %s", event.run, error)
        return all(run.chat for run in self._others.values())

    def _again(self) -> None:
        # Who leads a run elsewhere tells only the disk.
        if asyncio.get_running_loop().time() >= self._next:
            self._spawn(self._load())
        else:
            self._show()

    def lines(self) -> list[str]:
        """See `List.lines`."""
        live: dict[board.Key, Live] = {}
        for chat in self._led():
            live |= chat.live
        away = self._shown().keys() - {chat.run.id for chat in self._led()}
        return board.render(self._shown().values(), self._world.clock.now(), live, away)

    def _shown(self) -> dict[str, Run]:
        """Those that are led here first, then the newest."""
        led = {chat.run.id: chat.run for chat in self._led() if chat.run.chat}
        since = self._world.clock.now() - _RECENT
        others = sorted(self._others.values(), key=lambda run: run.alive, reverse=True)
        recent = {run.id: run for run in others if run.id not in led and run.alive > since}
        return {**led, **recent}

    def edit(self, event: p.EditList) -> None:
        """See `Shown.edit`."""
        read = board.read(self._shown(), event.before, event.lines)
        self.answer(read if isinstance(read, Problem) else self._do(read, event))

    def _do(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """What the user wants; returns as `List.change` does."""
        if problem := self._problem(edits, event):
            return problem
        if not event.force and (stops := _stopped(edits, self._shown())):
            return f"Stop {', '.join(stops)}?"
        for chat in self._led():
            chat.calls.edit(edits)
            if chat.run.id in edits.stop:
                chat.halt()
        return None

    def _problem(self, edits: Edits, event: p.EditList) -> Problem | None:
        """Something is wanted of a run that nobody here can ask."""
        led = {chat.run.id for chat in self._led()}
        wanted = {run for run, _ in (*edits.cancel, *edits.add)} | {*edits.order, *edits.stop}
        if wanted <= led:
            return None
        away = next(iter(wanted - led))
        rows = [row for row, line in enumerate(event.lines) if f"{away}=" in line]
        return Problem(rows[0] if rows else 0, ELSEWHERE)


def _stopped(edits: Edits, runs: Mapping[str, Run]) -> list[str]:
    """The runs that would stop, and the tasks that work now, or wait, and would be cancelled."""
    tasks = (runs[run].tasks[id] for run, id in edits.cancel)
    whole = [f"the whole run “{brief(runs[run].goal, 60)}”" for run in edits.stop]
    return whole + [
        f"{task.id} “{brief(task.title, 60)}”"
        for task in tasks
        if task.state in ("running", "blocked(input)")
    ]
