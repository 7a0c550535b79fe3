"""What was decided is on disk, apart for each project, and for every Neovim."""

from __future__ import annotations

from pathlib import Path

import pytest
from winnow.adapters.decided import SqliteDecided
from winnow.adapters.store import SqliteStore
from winnow.ports import StoreError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "winnow.db"
    SqliteStore(path).close()
    return path


async def test_verdicts_add_up_until_they_are_forgotten(path: Path) -> None:
    decided = SqliteDecided(path)
    await decided.decide("/a", {"x": "kept", "y": "dropped"})
    await decided.decide("/a", {"y": "kept", "z": "granted"})
    await decided.decide("/b", {"x": "dropped"})
    other = SqliteDecided(path)
    assert await other.verdicts("/a") == {"x": "kept", "y": "kept", "z": "granted"}
    await other.forget("/a")
    assert await decided.verdicts("/a") == {}
    assert await decided.verdicts("/b") == {"x": "dropped"}


async def test_modes(path: Path) -> None:
    decided = SqliteDecided(path)
    assert await decided.mode("/chat.md") == ""
    await decided.set_mode("/chat.md", "plan")
    await decided.set_mode("/chat.md", "acceptEdits")
    assert await decided.mode("/chat.md") == "acceptEdits"


async def test_what_fails_is_a_sentence(tmp_path: Path) -> None:
    decided = SqliteDecided(tmp_path / "winnow.db")
    with pytest.raises(StoreError, match=r"What you decided can't be kept or looked up: .*\."):
        await decided.verdicts("/a")
