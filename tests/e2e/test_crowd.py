"""Many chats at once."""

from __future__ import annotations

import pytest

from tests.api import ScriptedAPI
from tests.crowd import prompt_all, wait_answers
from tests.e2e.editor import Editor

pytestmark = pytest.mark.fresh("session")


@pytest.mark.timeout(300)
def test_eight_chats_prompted_at_once(claude: Editor, api: ScriptedAPI) -> None:
    """All answer, those that wait say for what, and typing elsewhere goes on meanwhile."""
    prompt_all(claude, api, 8)
    claude.wait_screen(" others to start… · goes out")
    slowest = wait_answers(claude, 8, timeout=200)
    assert slowest < 2
    said = [str(request["messages"]) for request in api.requests]
    assert all(sum(f"Hello {number}" in text for text in said) == 1 for number in range(8))
