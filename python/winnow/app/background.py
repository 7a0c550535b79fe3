"""Work that goes on beside, and those who wait for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Tasks that are under way. Held here, since asyncio itself may forget them."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin something."""
        return self.hold(asyncio.create_task(work))

    def hold(self, task: asyncio.Task[T]) -> asyncio.Task[T]:
        """Know of something until it is over."""
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def cancel(self) -> None:
        """Want none of it any more."""
        for task in self.tasks:
            task.cancel()

    async def over(self) -> None:
        """Return when nothing is under way, however it ended."""
        while self.tasks:
            await asyncio.wait(set(self.tasks))
