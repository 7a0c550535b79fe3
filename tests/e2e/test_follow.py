"""A window that goes where Claude reads and writes."""

from __future__ import annotations

import os

import pytest

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle

SHOWN = """
  return vim.tbl_map(function(win)
    local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
    return { vim.fn.fnamemodify(name, ':t'), vim.api.nvim_win_get_cursor(win)[1] }
  end, vim.tbl_filter(function(win)
    return win ~= vim.api.nvim_get_current_win()
  end, vim.api.nvim_list_wins()))
"""

# What Neovim asks netrw for, which is not to be had here.
FETCHED = """
  fetched = {}
  vim.api.nvim_create_autocmd('BufReadCmd', { pattern = 'http://*', callback = function(event)
    table.insert(fetched, event.match)
  end })
"""

# The host says where Claude is, or where the user wants to go.
GO = """
  local effect = ...
  effect.chat = require('winnow.registry').current().buf
  require('winnow.dispatch').apply({ effect })
"""


def test_a_window_follows_what_is_read_and_written(claude: Editor, api: ScriptedAPI) -> None:
    """Only when that is wanted, and without the focus; what the user opens there stays."""
    project = claude.sandbox.project
    for name in ("a.py", "b.py", "mine.py"):
        (project / name).write_text("".join(f"line {n}\n" for n in range(1, 60)))
    read = {name: str(project / name) for name in ("a.py", "b.py")}
    edit = {"file_path": read["b.py"], "old_string": "line 40\n", "new_string": "forty\nmore\n"}
    api.add(
        say(ToolUse("Read", {"file_path": read["a.py"]}, "toolu_0")),
        say("Read."),
        say(ToolUse("Read", {"file_path": read["a.py"], "offset": 30}, "toolu_1")),
        say("Where?"),
        say(ToolUse("Read", {"file_path": read["b.py"], "limit": 50}, "toolu_2")),
        say(ToolUse("Edit", edit, "toolu_3")),
        say("Written."),
        say(ToolUse("Read", {"file_path": read["b.py"], "offset": 5}, "toolu_4")),
        say("All."),
    )
    start(claude)
    claude.wait_line("Read.")
    wait_idle(claude)
    assert claude.lua(SHOWN) == []
    claude.keys(":Winnow follow<CR>")
    claude.keys("G")
    send(claude, "go on")
    claude.wait_line("Where?")
    wait_idle(claude)
    assert claude.lua(SHOWN) == [["a.py", 30]]
    claude.keys(":Winnow mode acceptEdits<CR>")
    claude.keys("G")
    send(claude, "write")
    claude.wait_line("Written.")
    wait_idle(claude)
    claude.wait(lambda: claude.lua(SHOWN) == [["b.py", 40]], "the place of the edit")
    claude.keys("<C-w>w:edit mine.py<CR><C-w>w")
    claude.keys("G")
    send(claude, "more")
    claude.wait_line("All.")
    wait_idle(claude)
    assert sorted(claude.lua(SHOWN)) == [["b.py", 5], ["mine.py", 1]]


@pytest.mark.parametrize("kind", ["touched", "visit"])
def test_only_files_are_gone_to(editor: Editor, kind: str) -> None:
    """What reads as an address is a file of the project; for a pipe Neovim would wait."""
    project = editor.sandbox.project
    file = project / "http:" / "localhost:9" / "x"
    file.parent.mkdir(parents=True)
    file.write_text("mine\n")
    os.mkfifo(project / "pipe")
    editor.command(f"cd {project}")
    editor.keys(":Winnow<CR>:Winnow follow<CR>")
    editor.lua(FETCHED)
    for path in ("http://localhost:9/x", *([str(project / "pipe")] * (kind == "touched"))):
        editor.lua(GO, {"type": kind, "path": path, "line": 1, "text": ""})
    assert editor.lua("return fetched") == []
    names = editor.lua("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.fn.tabpagebuflist())")
    assert str(file) in names
