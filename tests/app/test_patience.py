"""Waiting for a reply, in the time in which this program ran."""

from __future__ import annotations

import asyncio
import time

import pytest
from winnow.adapters.claude import patience
from winnow.adapters.claude.patience import within


async def test_a_machine_that_slept_has_not_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply is read after all timers of that time have run out."""
    monkeypatch.setattr(patience, "BEAT", 0.05)
    loop = asyncio.get_running_loop()
    reply: asyncio.Future[str] = loop.create_future()
    loop.call_later(0.01, time.sleep, 0.6)
    loop.call_later(0.02, loop.call_later, 0.01, reply.set_result, "done")
    assert await within(0.5, reply) == "done"


async def test_a_reply_that_does_not_come() -> None:
    """Is waited for no longer."""
    reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    with pytest.raises(asyncio.TimeoutError):
        await within(0.01, reply)
    assert reply.cancelled()
