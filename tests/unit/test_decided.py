"""What was decided is on disk, apart for each project, and for every Neovim."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from winnow.adapters.store import SqliteStore
from winnow.ports import Decided, StoreError


class Shelf:
    """Stores over one file."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path = path
        self._stack = stack

    def decided(self) -> Decided:
        """Another Neovim's."""
        store = SqliteStore(self.path, lambda sentence, well: None)
        self._stack.callback(store.close)
        return store.decided


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with ExitStack() as stack:
        yield Shelf(tmp_path / "winnow.db", stack)


async def test_verdicts_add_up_until_they_are_forgotten(shelf: Shelf) -> None:
    decided, other = shelf.decided(), shelf.decided()
    await decided.decide("/a", {"x": "kept", "y": "dropped"})
    await decided.decide("/a", {"y": "kept", "z": "granted"})
    await decided.decide("/b", {"x": "dropped"})
    assert await other.verdicts("/a") == {"x": "kept", "y": "kept", "z": "granted"}
    await other.forget("/a")
    assert await decided.verdicts("/a") == {}
    assert await decided.verdicts("/b") == {"x": "dropped"}


async def test_modes(shelf: Shelf) -> None:
    decided = shelf.decided()
    assert await decided.mode("/chat.md") == ""
    await decided.set_mode("/chat.md", "plan")
    await decided.set_mode("/chat.md", "acceptEdits")
    assert await decided.mode("/chat.md") == "acceptEdits"


async def test_what_can_not_be_looked_up_is_said(shelf: Shelf) -> None:
    """While another program has the file, who decides must be asked again."""
    decided = shelf.decided()
    await decided.set_mode("/chat.md", "plan")
    other = sqlite3.connect(shelf.path, isolation_level=None)
    other.execute("DROP TABLE verdicts")
    other.close()
    with pytest.raises(StoreError, match="can't be"):
        await decided.verdicts("/a")


async def test_a_folder_s_name_may_be_no_utf_8(shelf: Shelf) -> None:
    decided, other = shelf.decided(), shelf.decided()
    await decided.decide("/caf\udce9", {"x": "dropped"})
    await decided.set_mode("/caf\udce9.md", "plan")
    assert await other.verdicts("/caf\udce9") == {"x": "dropped"}
    assert await other.verdicts("/caf\udce8") == {}
    assert await other.mode("/caf\udce9.md") == "plan"
    await other.forget("/caf\udce9")
    assert await decided.verdicts("/caf\udce9") == {}
