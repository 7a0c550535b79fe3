"""Prompts many chats at once, and measures until the last one has answered: ``make soak``."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.api import ScriptedAPI, say
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox

CHATS = 20
ANSWERED = """
  return vim.iter(require('winnow.registry').all()):filter(function(chat)
    local text = table.concat(chat:lines(0, -1), '\\n')
    return text:find('Here I am.', 1, true) and not text:find('⚠', 1, true)
  end):totable()[...] ~= nil
"""


def prompt_all(editor: Editor, api: ScriptedAPI, count: int) -> None:
    """Open so many chats, and send a message in each at once."""
    api.add(*[say("Here I am.")] * count)
    for number in range(count):
        editor.keys(f":tab Winnow new<CR>AHello {number}<Esc><CR>")


def wait_answers(editor: Editor, count: int, timeout: float) -> float:
    """Type elsewhere until all have answered; how long the slowest key took, in seconds."""
    editor.keys(":tabnew<CR>")
    slowest = 0.0

    def answered() -> bool:
        nonlocal slowest
        before = time.monotonic()
        editor.keys("ax<Esc>")
        slowest = max(slowest, time.monotonic() - before)
        return bool(editor.lua(ANSWERED, count))

    editor.wait(answered, f"{count} answers", timeout)
    return slowest


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CHATS
    with tempfile.TemporaryDirectory() as root, ScriptedAPI() as api:
        editor = Editor(Sandbox(Path(root), {"agent": "claude"}, api.env(Path(root, "claude"))))
        try:
            began = time.monotonic()
            prompt_all(editor, api, count)
            slowest = wait_answers(editor, count, 300)
            taken = time.monotonic() - began
        finally:
            editor.close()
    print(
        f"{count} chats answered after {taken:.1f} s; the slowest key took {slowest * 1000:.0f} ms"
    )


if __name__ == "__main__":
    main()
