"""The guard as users have it; in all other tests it lets every key through."""

from __future__ import annotations

import pytest

from tests.api import ScriptedAPI
from tests.e2e.conftest import Desks, Share
from tests.e2e.desk import ClaudeDesk
from tests.e2e.editor import Editor


@pytest.fixture
def claude(share: Share, desks: Desks, api: ScriptedAPI) -> Editor:
    """An empty chat."""
    editor = share(desks(ClaudeDesk), "nothing")
    editor.keys(":Winnow<CR>")
    editor.guard()
    return editor
