"""The chats' files on disk: read, searched, brought back."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from winnow.adapters.library import DiskLibrary
from winnow.ports import LibraryError

CHAT = "---\nwinnow: 1\ncwd: /shop\n---\n\n## You\n\n{}\n\n## Claude\n\nYes.\n"


@pytest.fixture
def library(tmp_path: Path) -> DiskLibrary:
    for name in ("chats", "trash", "open"):
        (tmp_path / name).mkdir()
    for number, text in enumerate(("the Cart", "the Köln build")):
        (tmp_path / "chats" / f"{number}.md").write_text(CHAT.format(text))
    (tmp_path / "chats" / ".0.md.77").write_text("being written")
    (tmp_path / "chats" / "note.md").write_text("no chat")
    return DiskLibrary(tmp_path / "chats", tmp_path / "trash", tmp_path / "open")


def me() -> dict[str, Any]:
    """This process, as a Neovim names itself."""
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return {"pid": os.getpid(), "began": stat[19], "host": os.uname().nodename, "server": ""}


def lock(path: Path) -> str:
    """The name of the file that says who has a chat."""
    return str(path.resolve()).replace("/", "=+")


async def test_chats_are_read_from_their_heads(library: DiskLibrary, tmp_path: Path) -> None:
    """And anew only when they have changed; a file that goes meanwhile is none."""
    assert sorted(kept.head.first for kept in await library.chats()) == [
        "the Cart",
        "the Köln build",
    ]
    (tmp_path / "chats" / "0.md").write_text(CHAT.format("another"))
    (tmp_path / "chats" / "1.md").unlink()
    (tmp_path / "chats" / "lost.md").symlink_to("nowhere")
    assert [kept.head.first for kept in await library.chats()] == ["another"]


async def test_what_another_neovim_has_is_told(library: DiskLibrary, tmp_path: Path) -> None:
    """By the file that says so, if that one still runs."""
    for number, changed in enumerate(({}, {"began": "1"})):
        (tmp_path / "open" / lock(tmp_path / "chats" / f"{number}.md")).write_text(
            json.dumps({**me(), **changed})
        )
    (tmp_path / "open" / "broken").write_text("{")
    (tmp_path / "open" / "other").write_text("[]")
    found = {Path(kept.path).name: kept.elsewhere for kept in await library.chats()}
    assert found == {"0.md": True, "1.md": False}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cart", ["0.md"]),
        ("Cart", ["0.md"]),
        ("CART", []),
        ("köln", ["1.md"]),
        ("yes.", ["0.md", "1.md"]),
    ],
)
async def test_capitals_count_where_there_are_some(
    library: DiskLibrary, tmp_path: Path, text: str, found: list[str]
) -> None:
    paths = [str(tmp_path / "chats" / name) for name in ("0.md", "1.md", "missing.md")]
    holding = await library.holding(text, paths)
    assert sorted(Path(path).name for path in holding) == found


async def test_a_search_can_be_given_up(library: DiskLibrary, tmp_path: Path) -> None:
    search = asyncio.create_task(library.holding("cart", [str(tmp_path / "chats/0.md")] * 10**6))
    await asyncio.sleep(0)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search


async def test_a_chat_comes_back_under_its_name(library: DiskLibrary, tmp_path: Path) -> None:
    """Never over another one, and never from elsewhere."""
    (tmp_path / "trash" / "9.md").write_text(CHAT.format("deleted"))
    (tmp_path / "trash" / "0.md").write_text(CHAT.format("deleted, too"))
    assert await library.bring_back("9.md") == str(tmp_path / "chats" / "9.md")
    for name in ("9.md", "0.md", "../chats/1.md"):
        with pytest.raises(LibraryError):
            await library.bring_back(name)
    assert [kept.head.first for kept in await library.trashed()] == ["deleted, too"]
