"""Tasks whose place can't be reached: they are tried again, each time later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

FIRST, MOST = 5.0, 300.0  # seconds


class Reach:
    """When to try again.

    Args:
        again: has a task go on.
    """

    def __init__(self, again: Callable[[str], None]) -> None:
        self._again = again
        self._tries: dict[str, int] = {}  # in vain, since something was heard
        self._waiting: dict[str, asyncio.TimerHandle] = {}

    def failed(self, task: str) -> float:
        """It was in vain; in so many seconds it is tried again."""
        tries = self._tries[task] = self._tries.get(task, 0) + 1
        seconds = min(MOST, FIRST * 2.0 ** min(tries - 1, 10))
        self._waiting[task] = asyncio.get_running_loop().call_later(seconds, self._try, task)
        return seconds

    def heard(self, task: str) -> None:
        """Its place can be reached."""
        self._tries.pop(task, None)

    def now(self) -> None:
        """Try all of them again."""
        for task in list(self._waiting):
            self._waiting[task].cancel()
            self._try(task)

    def _try(self, task: str) -> None:
        del self._waiting[task]
        self._again(task)

    def close(self) -> None:
        """Try none any more."""
        for waiting in self._waiting.values():
            waiting.cancel()
        self._waiting.clear()
