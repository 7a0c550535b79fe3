"""Which agent starts next: a start takes a processor for a second or two, so few go at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Start:
    """An agent's place in the queue.

    Args:
        urgent: the user waits for it.
        moved: called when ``ahead`` has changed.
    """

    def __init__(self, moved: Callable[[], None], *, urgent: bool) -> None:
        self.urgent = urgent
        self.ahead = 0  # how many others start before it
        self.admitted = asyncio.Event()
        self._moved = moved

    def stand(self, ahead: int) -> None:
        """So many others start before it."""
        if ahead != self.ahead:
            self.ahead = ahead
            self._moved()


class Starts:
    """Lets a few agents start at a time, first those that the user waits for.

    Args:
        at_once: how many.
        slow: seconds after which a start, which maybe hangs, keeps nobody waiting any more.
    """

    def __init__(self, at_once: int, slow: float = 10) -> None:
        self._at_once = at_once
        self._slow = slow
        self._starting: set[Start] = set()
        self._queue: list[Start] = []

    @asynccontextmanager
    async def turn(self, start: Start) -> AsyncIterator[bool]:
        """Wait until it may start; it has started, or failed, when the context ends.

        Gives whether it had to wait.
        """
        self._queue.append(start)
        self._move()
        waits = not start.admitted.is_set()
        try:
            await start.admitted.wait()
            leave = asyncio.get_running_loop().call_later(self._slow, self._leave, start)
            try:
                yield waits
            finally:
                leave.cancel()
        finally:
            self._leave(start)

    def hurry(self, start: Start) -> None:
        """The user waits for this one now."""
        start.urgent = True
        self._move()

    def _leave(self, start: Start) -> None:
        self._starting.discard(start)
        if start in self._queue:
            self._queue.remove(start)
        self._move()

    def _move(self) -> None:
        self._queue.sort(key=lambda start: not start.urgent)  # stable: else as they came
        free = max(0, self._at_once - len(self._starting))
        admitted, self._queue = self._queue[:free], self._queue[free:]
        self._starting.update(admitted)
        for start in admitted:
            start.admitted.set()
            start.stand(0)
        for number, start in enumerate(list(self._queue)):
            start.stand(len(self._starting) + number)
