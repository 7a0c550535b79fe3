"""All chats as lines: renamed, deleted, brought back; sessions that become chats."""

from __future__ import annotations

import os

import pytest

from tests.e2e.conftest import Open
from tests.e2e.editor import Editor

HEAD = "---\nwinnow: 1\ncwd: {}\nagent: scripted\n---\n"
CHAT = HEAD + "\n## You\n\n{}\n\n## Claude\n\nYes.\n\n## You\n\n"


@pytest.fixture
def chats(open_editor: Open) -> Editor:
    """Two chats, and the list of them."""
    editor = open_editor(agent="scripted")
    folder = editor.sandbox.data / "winnow" / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(("The cart is slow", "Why does the build fail?")):
        path = folder / f"2020010{number}-000000-project.md"
        path.write_text(CHAT.format(editor.sandbox.project, text))
        os.utime(path, (10**9 + number,) * 2)
    editor.keys(":Winnow chats<CR>")
    editor.wait_line("The cart is slow")
    return editor


def files(editor: Editor, folder: str) -> list[str]:
    """The names of the files of a folder."""
    return sorted(path.name for path in (editor.sandbox.data / "winnow" / folder).glob("*.md"))


def test_a_chat_is_renamed_deleted_and_brought_back(chats: Editor) -> None:
    """With the keys that do so to any text; an open one goes with its buffer."""
    chats.keys("gg/cart<CR>cwshop<Esc>:w<CR>")
    file = chats.sandbox.data / "winnow/chats/20200100-000000-project.md"
    chats.wait(lambda: "title: The shop is slow\n" in file.read_text(), "the title")
    chats.keys("gg/build<CR><CR>")
    chats.wait_line("## Claude")
    chats.keys(":Winnow chats<CR>:edit!<CR>")
    chats.wait_line(" · open")
    assert "⟦" not in "\n".join(chats.drawn())
    chats.keys("gg/build<CR>dd:w<CR>")
    chats.wait(lambda: files(chats, "trash") == ["20200101-000000-project.md"], "the trash")
    assert files(chats, "chats") == ["20200100-000000-project.md"]
    assert chats.lua("return #vim.fn.glob(... .. '/*', true, true)", str(file.parent)) == 1
    assert (
        chats.lua("return vim.fn.bufexists(...)", str(file.with_name(files(chats, "trash")[0])))
        == 0
    )
    chats.keys(":Winnow restore 20200101-000000-project.md<CR>")
    chats.wait_line("## Claude")
    assert files(chats, "trash") == []
    assert "Why does the build fail?" in chats.text()


@pytest.mark.fresh("session")
def test_a_folder_that_can_t_be_written_says_so(chats: Editor) -> None:
    """Then the line comes back."""
    (chats.sandbox.data / "winnow" / "trash").write_text("in the way")
    chats.keys("gg/cart<CR>dd:w<CR>")
    chats.wait_screen("Not deleted:")
    chats.dismiss()
    chats.wait_line("The cart is slow")
    assert len(files(chats, "chats")) == 2


def test_a_text_finds_the_chats_that_hold_it(chats: Editor) -> None:
    chats.keys(":Winnow chats BUILD<CR>")
    chats.wait_line("No chat holds “BUILD”")
    chats.keys(":Winnow chats build<CR>")
    chats.wait_line("Why does the build fail?")
    assert "cart" not in chats.text()
    chats.keys(":Winnow resume cart<CR>")
    chats.wait_line("## Claude")
    assert "The cart is slow" in chats.text()
