"""What a key costs beside many chats that work, in a real Neovim: ``python -m tests.bench_crowd``.

20 chats, of which one has 30 subagents and two stream 4,000 pieces a second between them. The
agents are ``bench_cli.py``. Times are of the wall, from the key until it is drawn; those of an idle
Neovim come from the same run, since the machine has a part in both.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests import bench_keys
from tests.bench_cli import AGENTS, PIECES
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox

CHATS = 20
KEYS = 400
TARGET = 16  # milliseconds
STATES = """
  local found = {}
  for _, chat in ipairs(require('winnow.registry').all()) do
    found[chat.state] = (found[chat.state] or 0) + 1
  end
  return found[...] or 0
"""
SHOW = """
  local here, other = unpack(vim.api.nvim_tabpage_list_wins(0))
  local words = ...
  local chat = vim.iter(require('winnow.registry').all()):find(function(chat)
    local text = table.concat(chat:lines(0, 40), '\\n')
    return chat.state == 'working' and text:find(words, 1, true)
  end)
  vim.api.nvim_win_set_buf(here, chat.buf)
  vim.api.nvim_win_call(here, function()
    vim.cmd.normal({ 'G', bang = true })
  end)
  vim.api.nvim_set_current_win(other)
  vim.cmd.normal({ 'G', bang = true })
"""
BYTES = """
  local all = 0
  for _, chat in ipairs(require('winnow.registry').all()) do
    all = all + vim.api.nvim_buf_get_offset(chat.buf, vim.api.nvim_buf_line_count(chat.buf))
  end
  return all
"""


def typed(editor: Editor) -> list[float]:
    """Milliseconds of each key."""
    editor.keys("i")
    took = bench_keys.typed(editor, KEYS)
    editor.keys("<Esc>cc<Esc>")
    return took


def row(what: str, took: list[float], idle: float) -> None:
    p99 = bench_keys.ninety_ninth(took)
    print(  # noqa: T201
        f"{what:42} median {statistics.median(took):6.2f} ms, 99th percentile {p99:6.2f} ms"
        f" (target {TARGET}), {p99 / idle:5.1f} times an idle chat's",
        flush=True,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        cli = root / "claude"
        cli.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).parent}/bench_cli.py" "$@"\n'
        )
        cli.chmod(0o755)
        options = {"agent": "claude", "cli_path": str(cli)}
        editor = Editor(Sandbox(root / "editor", options, {"WINNOW_BENCH": str(root / "times")}))
        try:
            editor.keys(":Winnow<CR>")
            editor.wait(lambda: editor.lua(STATES, "idle") == 1, "an idle chat")
            idle = bench_keys.ninety_ninth(alone := typed(editor))
            row("a key in a chat that is alone", alone, idle)
            for number in range(CHATS - 1):
                what = {0: "agents", 1: "flow", 2: "flow"}.get(number, "rest")
                editor.keys(f":tab Winnow new<CR>A{what}<Esc><CR>")
            editor.wait(lambda: editor.lua(STATES, "working") == 3, "three that work", 120)
            editor.wait(lambda: editor.lua(STATES, "idle") == CHATS - 3, "all others", 120)
            began, before = time.monotonic(), editor.lua(BYTES)
            editor.keys(":tabfirst<CR>G")
            row(f"beside {CHATS - 1} chats, out of sight", typed(editor), idle)
            editor.keys(":vertical split<CR>")
            for name, words in ("subagents", "▸ Agent"), ("a stream", "word"):
                editor.lua(SHOW, words)
                row(f"the same, {name} in sight", typed(editor), idle)
            rate = (editor.lua(BYTES) - before) / 5 / (time.monotonic() - began)
            print(  # noqa: T201
                f"{rate:.0f} of {2 * PIECES} pieces a second came, {AGENTS} subagents worked"
            )
        finally:
            editor.close()


if __name__ == "__main__":
    main()
