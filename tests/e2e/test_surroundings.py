"""Options, mappings, windows and folders that a user may have, and a question among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.api import question
from tests.e2e.desk import ScriptedDesk, go
from tests.e2e.editor import Editor
from tests.e2e.rpc import GoneError
from tests.e2e.steps import draft, wait_idle
from tests.e2e.test_resume import chat_file, write_chat

FRUIT = question("Which fruit?", "Apple", "Pear", header="Fruit")
NOTE = "as red as they come, and none that has lain about for long"


@pytest.fixture
def _defaults(desk: ScriptedDesk) -> Iterator[None]:
    """No other test of this file gets the options of this one."""
    yield
    desk.close()


@pytest.mark.usefixtures("_defaults")
@pytest.mark.parametrize("options", ["textwidth=30 formatoptions+=ta", "wrapmargin=40"])
def test_a_note_stays_on_its_line(desk: ScriptedDesk, options: str) -> None:
    """Vim breaks a long line while it is typed, which made the note's end an answer of its own."""
    with desk.asked(FRUIT) as editor:
        editor.command(f"set {options}")
    with desk.asked(FRUIT) as editor:
        editor.keys(f"jddkA {NOTE}<Esc>")
        assert NOTE in editor.line()


LATE = {
    "textwidth": 30,
    "wrapmargin": 40,
    "formatoptions": "tcroqa",
    "fileencoding": "latin1",
    "fileformat": "dos",
    "bomb": True,
}
SETS = """
  local options, event = ...
  local function set()
    for name, value in pairs(vim.bo.filetype == 'winnow' and options or {}) do
      vim.bo[name] = value
    end
  end
  if event == 'later' then
    vim.api.nvim_create_autocmd('BufEnter', {
      callback = function() vim.defer_fn(set, 100) end
    })
  elseif event ~= 'now' then
    vim.api.nvim_create_autocmd(event, { callback = set })
  else
    set()
  end
"""


@pytest.mark.fresh("session")
@pytest.mark.parametrize("when", ["FileType", "BufWinEnter", "BufEnter", "later", "now"])
def test_what_others_set_late_breaks_no_line(editor: Editor, when: str) -> None:
    """Nor does it begin one, or take signs from the file; and the chat can be left."""
    if when != "now":
        editor.lua(SETS, LATE, when)
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    if when == "now":
        editor.lua(SETS, LATE, when)
    if when == "later":
        editor.lua("vim.wait(200)")
    editor.keys(f"i# {NOTE} ✓ 日本<CR>one<Esc>kotwo<Esc>")
    assert draft(editor) == f"# {NOTE} ✓ 日本\ntwo\none"
    path, copy = chat_file(editor), editor.sandbox.root / "copy.md"
    editor.keys(f":write {copy}<CR>")
    for file in (path, copy):
        assert file.read_bytes() == (editor.text() + "\n").encode()
    with suppress(GoneError):
        editor.keys(":new<CR>:only<CR>:buffer #<CR>:quit<CR>")
    editor.process.wait(20)
    editor.kill()


@pytest.mark.fresh("session")
def test_an_editorconfig_breaks_no_line(editor: Editor) -> None:
    """One above the chats folder is for what lies there."""
    path = write_chat(editor.sandbox.data / "winnow" / "chats")
    rules = ["root = true", "[*]", "charset = latin1", "max_line_length = 30", "end_of_line = crlf"]
    (editor.sandbox.data / ".editorconfig").write_text("\n".join(rules))
    editor.keys(f":edit {path}<CR>")
    assert not editor.lua("return vim.bo.modified")
    editor.keys(f"Gi{NOTE} ✓<Esc>")
    assert draft(editor) == f"{NOTE} ✓"
    other = editor.sandbox.root / "other"
    other.hardlink_to(path)  # so it is written in place
    editor.keys("A!<Esc>:write<CR>")
    # Not at once: the agent may connect just then, which the frontmatter says.
    editor.wait(lambda: path.read_bytes() == (editor.text() + "\n").encode(), "the file's bytes")


@pytest.mark.usefixtures("_defaults")
def test_keys_do_not_wait_for_longer_mappings(desk: ScriptedDesk) -> None:
    """With a mapping of <Esc><Esc>, as for :nohlsearch, one <Esc> would wait for another."""
    with desk.asked(FRUIT) as editor:
        editor.command("set notimeout")
        editor.command("nnoremap <Esc><Esc> <Cmd>nohlsearch<CR>")
        editor.command("nnoremap <CR><CR> <Cmd>update<CR>")
        go(editor)
        editor.keys("<Esc>")
        editor.keys("<Esc>")
        editor.wait_line("asks again")


@pytest.mark.usefixtures("_defaults")
def test_mappings_can_be_cleared(desk: ScriptedDesk) -> None:
    """Leaving the section takes a mapping away that is not there any more."""
    with desk.asked(FRUIT) as editor:
        editor.keys(":mapclear <lt>buffer><CR>gg")
        assert not editor.lua("return vim.fn.maparg('<Esc>', 'n')")


def test_a_window_keeps_what_the_user_sets_in_it(desk: ScriptedDesk) -> None:
    """Long lines and open folds come back with the window."""
    with desk.asked(FRUIT) as editor:
        editor.keys(":setlocal nowrap<CR>zn:split<CR>")
        assert editor.lua("return { vim.wo.wrap, vim.wo.foldenable }") == [False, False]
        editor.keys(":quit<CR>:new<CR>:quit<CR>")
        assert editor.lua("return { vim.wo.wrap, vim.wo.foldenable, vim.wo.conceallevel }") == [
            False,
            False,
            2,
        ]
        editor.keys(":bdelete<CR>:Winnow<CR>")
        assert editor.lua("return { vim.wo.wrap, vim.wo.conceallevel }") == [True, 2]


def test_the_verdict_fits_when_columns_are_taken(desk: ScriptedDesk) -> None:
    """Numbers and signs leave less room for the verdict, which then takes more lines."""
    long = question("Which fruit?", "Apple", "Pear", header="Something with a rather long name")
    with desk.asked(long, {**FRUIT, "question": "Which else?"}) as editor:
        editor.resize(editor.cols, editor.rows)
        width = next(len(row.rstrip("━ ")) for row in editor.screen() if "○○" in row)
        editor.resize(width + 4, 40)
        editor.keys(":setlocal number signcolumn=yes foldcolumn=4<CR>")
        assert not any("○○" in row for row in editor.screen())
        editor.keys(":tab split<CR>:setlocal nonumber signcolumn=no foldcolumn=0<CR>")
        editor.wait_screen("○○")  # it is all that this tab shows
        editor.keys(":tabclose<CR>")
        assert not any("○○" in row for row in editor.screen())
        editor.resize(100, 40)


def test_the_hint_fits_a_narrow_window(desk: ScriptedDesk) -> None:
    """Text below a line does not wrap by itself: beside a file, the keys' names were cut off."""
    with desk.asked(FRUIT) as editor:
        editor.resize(40, 40)
        editor.wait_screen("<Esc><Esc> cancels")
        editor.resize(100, 40)


def test_a_window_that_keeps_its_buffer(editor: Editor) -> None:
    """With 'winfixbuf', the chat comes in a window of its own."""
    editor.keys(":set winfixbuf<CR>:Winnow<CR>ihello<Esc>")
    assert editor.line() == "hello"
    assert editor.lua("return #vim.api.nvim_list_wins()") == 2


@pytest.mark.parametrize("name", ["a b", "$id", "日" * 80, "n" * 250, "[x]%#"])
def test_any_directory_has_its_chat(editor: Editor, name: str) -> None:
    """The agent works there, and the chat is found again."""
    folder: Path = editor.sandbox.project / name
    folder.mkdir()
    enter = "vim.cmd.cd(vim.fn.fnameescape(...))"
    chat = "return { vim.api.nvim_buf_get_name(0), require('winnow.registry').current().cwd }"
    editor.lua(enter, str(folder))
    editor.keys(":Winnow<CR>ihello<Esc>")
    path, cwd = editor.lua(chat)
    assert cwd == str(folder)
    editor.restart()
    editor.lua(enter, str(folder))
    editor.keys(":Winnow<CR>")
    assert editor.lua(chat) == [path, cwd]
    assert "hello" in editor.text()
