"""One editor with the real CLI for all tests of this folder, with the guard as users have it.

In all other tests it lets every key through.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.api import ScriptedAPI
from tests.e2e.editor import Editor
from tests.e2e.tools.shared import Shared


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """What the tests of this folder share."""
    folder = tmp_path_factory.mktemp("guard")
    with ScriptedAPI() as api, closing(Shared(folder, api, agent="claude")) as shared:
        yield shared


@pytest.fixture
def api(shared: Shared) -> ScriptedAPI:
    """The API of the editor that they share, without a script."""
    shared.api.clear()
    shared.api.requests.clear()
    return shared.api


@pytest.fixture
def claude(shared: Shared) -> Iterator[Editor]:
    """An empty chat in that editor."""
    with shared.fresh() as editor:
        editor.guard()
        try:
            yield editor
        finally:
            editor.guard(0)
