"""Waiting for a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")

BEAT = 1.0  # seconds: what is used up at most while everything is stopped


async def within(seconds: float, reply: Awaitable[T]) -> T:
    """A reply, if it comes in that time: in seconds in which this program ran.

    A machine that was asleep, or a terminal that was stopped, has every timer run out before what
    came meanwhile is read.

    Raises:
        asyncio.TimeoutError: it did not come.
    """
    coming = asyncio.ensure_future(reply)
    try:
        while seconds > 0 and not coming.done():
            await asyncio.wait({coming}, timeout=min(BEAT, seconds))
            seconds -= BEAT
        if not coming.done():
            raise asyncio.TimeoutError
        return coming.result()
    finally:
        coming.cancel()
