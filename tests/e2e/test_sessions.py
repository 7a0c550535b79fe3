"""Neovim's own ways to end and to come back: `:mksession`, `:qa` and what else quits."""

from __future__ import annotations

import pytest

from tests.api import Gate, ScriptedAPI, ask, question, say
from tests.e2e.desk import section
from tests.e2e.editor import Editor
from tests.e2e.steps import start, wait_section
from tests.e2e.test_resume import chat_file
from tests.soaking import first, soak

FRUIT = question("Which fruit?", "Apple", "Pear", "Plum", header="Fruit")
KINDS = [None, "curdir,folds,tabpages,winsize", "blank,buffers,curdir,options,localoptions"]
LAYOUT = """
  return vim.tbl_map(function(win)
    local name = vim.fn.bufname(vim.api.nvim_win_get_buf(win))
    return { vim.fs.basename(name), vim.api.nvim_win_get_width(win), vim.wo[win].conceallevel }
  end, vim.api.nvim_list_wins())
"""


def asked(claude: Editor, api: ScriptedAPI) -> None:
    """A question waits beside another file, and one option of it was deleted."""
    (claude.sandbox.project / "a.txt").write_text("a\n")
    claude.resize(160, 30)
    api.add(say(ask("toolu_1", FRUIT)), say("Noted."))
    claude.keys(":edit a.txt<CR>")
    start(claude)
    wait_section(claude, "Question: Fruit")
    claude.keys("gg/^Pear<CR>ddGAlater<Esc>")


@pytest.mark.fresh("session")
@pytest.mark.parametrize("options", first(1, KINDS), ids=["default", "few", "all"])
@pytest.mark.parametrize("way", ["leave", *soak("source", "start")])
def test_a_session_file_brings_the_question_back(
    claude: Editor, api: ScriptedAPI, way: str, options: str | None
) -> None:
    """As it was left, in the window where it was, and once."""
    asked(claude, api)
    if options:
        claude.command(f"set sessionoptions={options}")
    file = claude.sandbox.root / "Session.vim"
    path, layout = chat_file(claude), claude.lua(LAYOUT)
    make = f"mksession! {file}"
    claude.command(f"autocmd VimLeavePre * {make}" if way == "leave" else make)
    if way == "source":
        claude.command(f"source {file}")
    else:
        claude.restart("-S", str(file))
    open_again = "vim.api.nvim_get_current_buf() == require('winnow.registry').all()[1].buf"
    claude.wait(lambda: claude.lua(f"return {open_again}"), "the chat")
    wait_section(claude, "Question: Fruit")
    claude.wait_screen("keep one of 2")
    assert claude.lua(LAYOUT) == layout
    assert not any("Pear" in line for line in section(claude))
    assert claude.text().count("━━ Question: Fruit") == 1
    assert "later" in claude.text()
    assert "No longer open" not in claude.text()
    buffers = "vim.tbl_map(function(b) return b.name end, vim.fn.getbufinfo())"
    assert claude.lua(f"return {buffers}").count(str(path)) == 1


@pytest.mark.fresh("session")
@pytest.mark.parametrize("waits", [True, False], ids=["waiting", "working"])
@pytest.mark.parametrize("only", [True, *soak(False)], ids=["one window", "two windows"])
def test_to_write_all_and_quit_is_refused(
    claude: Editor, api: ScriptedAPI, waits: bool, only: bool
) -> None:
    """As beside a running terminal job; the file is written all the same."""
    api.add(say("Begun.", ask("toolu_1", FRUIT) if waits else Gate()), say("Noted."))
    start(claude)
    claude.wait_line("Question: Fruit" if waits else "Begun.")
    claude.keys("G" + "Alater<Esc>" + (":silent! only<CR>" if only else ":vnew<CR><C-w>p"))
    for keys in (":wqa<CR>", ":xa<CR>", ":qa<CR>", *([":wq<CR>", "ZZ", ":x<CR>"] * only)):
        claude.keys(keys)
        claude.dismiss()
        claude.wait_screen(":qa! quits all the same")
        assert not claude.lua("return vim.bo.modified")
        claude.command("messages clear | redraw!")
    assert "later" in chat_file(claude).read_text()
    if not only:
        claude.keys(":wq<CR>")
        assert claude.lua("return #vim.api.nvim_list_wins()") == 1
        assert ":qa!" not in claude.messages()
    claude._client.request("nvim_input", ":wq!<CR>" if only else ":qa!<CR>")
    assert claude.process.wait(10) == 0
    claude._disconnect()


@pytest.mark.soak
@pytest.mark.fresh("session")
def test_several_chats_refuse_with_one_sentence(claude: Editor, api: ScriptedAPI) -> None:
    """`:qa!` ends them all."""
    api.add(say("One.", Gate()), say("Two.", Gate()))
    start(claude)
    claude.wait_line("One.")
    claude.keys(":Winnow new<CR>AHi<Esc><CR>")
    claude.wait_line("Two.")
    claude.keys(":qa<CR>")
    claude.dismiss()
    claude.wait_screen(":qa! quits all the same")
    assert claude.messages().count(":qa!") == 1
    claude._client.request("nvim_input", ":qa!<CR>")
    assert claude.process.wait(10) == 0
    claude._disconnect()
