"""Fixtures: agents on a stage, and a chat in a room."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests import api
from tests.app.fakes import Room
from tests.app.stage import Stage


@pytest.fixture
def server() -> Iterator[api.ScriptedAPI]:
    with api.ScriptedAPI() as running:
        yield running


@pytest.fixture(params=["claude", "scripted"])
def stage(request: pytest.FixtureRequest, tmp_path: Path, server: api.ScriptedAPI) -> Stage:
    return Stage(request.param, tmp_path, server)


@pytest.fixture
def real(tmp_path: Path, server: api.ScriptedAPI) -> Stage:
    return Stage("claude", tmp_path, server)


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    """A room that must be left as it was: all agents closed, no task left."""
    room = Room()
    yield room
    assert room.editor.disturbing == []
    await room.chats.close()
    await room.settle()
    assert all(agent.closed for agent in room.agents)
    assert asyncio.all_tasks() == {asyncio.current_task()}
