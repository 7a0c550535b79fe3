"""Fixtures of the agents' tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import api
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
