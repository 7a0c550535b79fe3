"""Files that the agent writes, in buffers that show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.editor import Editor
from tests.e2e.steps import wait_idle

LINES = [f"line {number}" for number in range(1, 61)]


def path(editor: Editor, name: str = "app.py") -> Path:
    """A file of the project."""
    return editor.sandbox.project / name


def write(file: Path, *lines: str) -> None:
    """Write as an agent does: all of it."""
    file.write_text("".join(f"{line}\n" for line in lines))


def edit(editor: Editor, name: str = "app.py") -> None:
    """Open a chat, and a file beside it, in which the cursor stays."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.lua("_G.chat = vim.api.nvim_get_current_buf()")
    editor.keys(f":leftabove vsplit {name}<CR>")


def reload(editor: Editor, file: Path | None) -> None:
    """The agent says that it has written this file, or maybe any."""
    editor.lua(
        "require('winnow.dispatch').apply({ { type = 'reload', chat = chat, path = ... } })",
        str(file or ""),
    )


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("autoread", ["autoread", "noautoread"])
def test_a_buffer_shows_what_was_written(editor: Editor, autoread: str, named: bool) -> None:
    """No prompt, no message, the same view; `u` brings the old text back."""
    file = path(editor)
    write(file, *LINES)
    edit(editor)
    editor.keys(f":set {autoread}<CR>:split<CR>40Gzt<C-w>p30Gzt")
    views = editor.lua("return { vim.fn.winsaveview(), vim.fn.win_getid() }")
    editor.keys(":messages clear<CR>")
    write(file, *LINES[:-1], "the end")
    reload(editor, file if named else None)
    assert editor.lines()[-1] == "the end"
    assert editor.messages() == ""
    assert editor.lua("return { vim.fn.winsaveview(), vim.fn.win_getid() }") == views
    assert not editor.lua("return vim.bo.modified")
    editor.keys("<C-w>p")
    assert editor.cursor()[0] == 40
    assert editor.lua("return vim.fn.line('w0')") == 40
    editor.keys("u")
    assert editor.lines() == LINES
    assert editor.lua("return vim.o.autoread") == (autoread == "autoread")


def test_each_change_is_one_step_of_undo(editor: Editor) -> None:
    """However long the file is; and what the user did before is still there to undo."""
    file, lines = path(editor), [f"line {number}" for number in range(12_000)]
    write(file, *lines)
    edit(editor)
    editor.keys("ccmine<Esc>:w<CR>")
    for first in ("once", "twice"):
        lines[1:3] = [first, first]
        write(file, "mine", *lines[1:])
        reload(editor, file)
    seen = []
    for _ in range(3):
        editor.keys("u")
        seen.append(editor.lines()[:3])
    assert seen == [
        ["mine", "once", "once"],
        ["mine", "line 1", "line 2"],
        ["line 0", "line 1", "line 2"],
    ]
    assert editor.lua("return vim.o.undoreload") == 10_000


def test_a_hidden_buffer(editor: Editor) -> None:
    """One that no window shows is read anew, too; the user's window stays what it is."""
    file = path(editor)
    write(file, "old")
    edit(editor)
    editor.keys(":enew<CR>")
    write(file, "new")
    reload(editor, file)
    assert editor.lines() == [""]
    assert editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('app.py'), 0, -1, true)") == [
        "new"
    ]


def test_another_name_of_the_file(editor: Editor) -> None:
    """A buffer may have opened the file by a link."""
    write(path(editor), "old")
    path(editor, "link.py").symlink_to("app.py")
    edit(editor, "link.py")
    write(path(editor), "new")
    reload(editor, path(editor))
    assert editor.lines() == ["new"]


def test_another_file(editor: Editor) -> None:
    """Only the buffer of that file is read anew."""
    write(path(editor), "old")
    edit(editor)
    write(path(editor), "new")
    reload(editor, path(editor, "other.py"))
    assert editor.lines() == ["old"]


@pytest.mark.parametrize("named", [True, False])
def test_unsaved_edits_stay(editor: Editor, named: bool) -> None:
    """They are the user's; a sentence says so, once for each time the file is written."""
    file = path(editor)
    write(file, "old")
    edit(editor)
    editor.keys("Amine<Esc>:messages clear<CR>")
    write(file, "new")
    for _ in range(2):
        reload(editor, file if named else None)
    assert editor.lines() == ["oldmine"]
    sentence = "Claude changed app.py: :w! keeps your edits, :e! takes Claude's."
    assert editor.messages() == sentence
    write(file, "newer")
    reload(editor, file)
    assert editor.messages() == f"{sentence}\n{sentence}"
    editor.keys(":e!<CR>")
    assert editor.lines() == ["newer"]


def test_a_saved_buffer_says_nothing(editor: Editor) -> None:
    """Unsaved edits that a file does not differ from what they were made on are no news."""
    file = path(editor)
    write(file, "old")
    edit(editor)
    editor.keys("Amine<Esc>:messages clear<CR>")
    reload(editor, file)
    reload(editor, None)
    assert editor.lines() == ["oldmine"]
    assert editor.messages() == ""


@pytest.mark.parametrize("hidden", [True, False])
def test_a_file_that_did_not_exist(editor: Editor, hidden: bool) -> None:
    """An empty buffer that was made for it shows what is there now, and can be written."""
    edit(editor)
    if hidden:
        editor.keys(":enew<CR>")
    write(path(editor), "new")
    reload(editor, path(editor))
    if hidden:
        editor.keys(":buffer app.py<CR>")
    assert editor.lines() == ["new"]
    editor.keys("Aer<Esc>:write<CR>")
    assert path(editor).read_text() == "newer\n"


def test_typed_into_a_file_that_did_not_exist(editor: Editor) -> None:
    """It is not taken away."""
    edit(editor)
    editor.keys("imine<Esc>:messages clear<CR>")
    write(path(editor), "new")
    for _ in range(2):
        reload(editor, path(editor))
    assert editor.lines() == ["mine"]
    assert editor.messages().count("Claude changed app.py") == 1


def test_a_file_that_is_gone(editor: Editor) -> None:
    """The buffer keeps what it has, and nothing is asked."""
    write(path(editor), "old")
    edit(editor)
    editor.keys(":messages clear<CR>")
    path(editor).unlink()
    reload(editor, path(editor))
    reload(editor, None)
    assert editor.lines() == ["old"]
    assert editor.messages() == ""


def test_in_the_middle_of_a_command(editor: Editor) -> None:
    """Lines that a selection counts on don't move before it is over."""
    write(path(editor), "one", "two", "three")
    edit(editor)
    editor.keys("jV")
    write(path(editor), "zero", "one", "two", "three")
    reload(editor, path(editor))
    assert editor.lines() == ["one", "two", "three"]
    editor.keys("y")
    assert editor.lua("return vim.fn.getreg('\"')") == "two\n"
    editor.wait(lambda: editor.lines()[0] == "zero", "the file as it is now")


def test_while_typing_elsewhere(editor: Editor) -> None:
    """Focus, mode and the text that is typed stay."""
    write(path(editor), "old")
    edit(editor)
    editor.keys("<C-w>pihello")
    write(path(editor), "new")
    reload(editor, path(editor))
    editor.keys(" there")
    assert editor.line() == "hello there"
    assert editor.mode() == "i"
    editor.keys("<Esc><C-w>p")
    assert editor.lines() == ["new"]
