"""The guard as users have it, in an empty chat with the real CLI.

In all other tests it lets every key through.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.editor import Editor


@pytest.fixture
def claude(claude: Editor) -> Iterator[Editor]:
    """The editor that all tests share."""
    claude.command("Winnow new")
    claude.guard()
    try:
        yield claude
    finally:
        claude.guard(0)
