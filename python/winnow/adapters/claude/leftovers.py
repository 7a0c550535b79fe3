"""Processes that a stopped task has left behind.

Claude Code ends the processes that it knows of; one that has made itself a session of its own, as
servers do, goes on. All that a command in the background starts writes into the file
``…/tasks/{id}.output``, so that is how such a one is known.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")  # where there is none, nobody is found
_PATIENCE = 2.0  # seconds to end by themselves, before they are killed
_GRACE = 0.2  # seconds in which Claude Code ends what it knows of
_STEP = 0.1


async def end(id: str) -> int:
    """End what a task has left; gives how many processes that were."""
    await asyncio.sleep(_GRACE)
    found = await asyncio.to_thread(_of, id)
    for pid in found:
        _signal(pid, signal.SIGTERM)
    left, waited = found, 0.0
    while left and waited < _PATIENCE:
        await asyncio.sleep(_STEP)
        waited += _STEP
        left = await asyncio.to_thread(_of, id)
    for pid in left:
        _signal(pid, signal.SIGKILL)
    return len(found)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(OSError):  # it has ended meanwhile
        os.kill(pid, number)


def _of(id: str) -> list[int]:
    """Processes whose output goes where that of the task does."""
    if not id.isalnum():
        return []
    end = f"/tasks/{id}.output"
    return [pid for pid in _pids() if pid != os.getpid() and _writes(pid, end)]


def _pids() -> Iterator[int]:
    with suppress(OSError):
        for entry in _PROC.iterdir():
            if entry.name.isdigit():
                yield int(entry.name)


def _writes(pid: int, end: str) -> bool:
    for number in (1, 2):
        with suppress(OSError):  # it has ended, or is another user's
            link = _PROC / str(pid) / "fd" / str(number)
            if str(link.readlink()).endswith(end):
                return True
    return False
