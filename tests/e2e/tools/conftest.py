"""Room for a whole section."""

from __future__ import annotations

import pytest

from tests.api import ScriptedAPI
from tests.e2e.conftest import Desks, Share
from tests.e2e.desk import ClaudeDesk
from tests.e2e.editor import Editor


@pytest.fixture
def claude(share: Share, desks: Desks, api: ScriptedAPI) -> Editor:
    """As the usual one, with more of it on the screen."""
    return share(desks(ClaudeDesk), size=(110, 70))
