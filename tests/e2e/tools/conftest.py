"""One editor with the real CLI for all tests of a file: each gets a chat of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.api import ScriptedAPI
from tests.e2e.editor import Editor
from tests.e2e.tools.shared import Shared


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """What the tests of a file share."""
    with ScriptedAPI() as api, closing(Shared(tmp_path_factory.mktemp("shared"), api)) as shared:
        yield shared


@pytest.fixture
def api(shared: Shared) -> ScriptedAPI:
    """The API of the editor that they share, without a script."""
    shared.api.clear()
    shared.api.requests.clear()
    return shared.api


@pytest.fixture
def claude(shared: Shared) -> Iterator[Editor]:
    """A chat in that editor, with room for a whole section."""
    with shared.fresh() as editor:
        editor.resize(110, 70)
        yield editor
