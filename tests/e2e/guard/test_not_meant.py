"""What was meant for something else: repeats, macros, commands over lines, a mouse, a paste."""

from __future__ import annotations

import time

from tests.api import ScriptedAPI
from tests.e2e.editor import Editor
from tests.e2e.guard.pressing import PAUSE, answered, asked, made, touch

# With the cursor on "Allow once", of which one press says what a second one would do.
TYPED = [
    ".",
    "@:",
    "@@",
    "10@q",
    ":normal <CR><CR><CR>",
    ":global/./normal <C-v><CR>",
    ":bufdo normal <C-v><CR>",
    ':call feedkeys("\\<lt>CR>\\<lt>CR>\\<lt>CR>")',
    ":call timer_start(1, {-> feedkeys(\"\\<lt>CR>\", 'n')}, {'repeat': 20})",
    ":call timer_start(1, {-> execute('Winnow allow')}, {'repeat': 20})",
    ":autocmd CursorHold,SafeState * ++once Winnow allow",
    ":sleep 1",
]
BEHIND = "<CR><CR><CR>"  # typed while that still works


def test_nothing_else_grants(claude: Editor, api: ScriptedAPI) -> None:
    """Each is tried with the same permission, which is still there in the end."""
    asked(claude, api, touch())
    claude.lua("vim.fn.setreg('q', vim.keycode('<CR><CR>j<CR>k<CR>'))")
    go = "/Allow once<CR>"
    for keys in TYPED:
        claude._client.request("nvim_input", go)
        time.sleep(PAUSE)
        end = "<CR>" if keys[0] == ":" else ""
        behind = BEHIND if "sleep" in keys else ""
        claude._client.request("nvim_input", keys + end + behind)
        time.sleep(1.2 if behind else 0.1)
        if claude.blocking():  # several messages were said
            claude._client.request("nvim_input", "<Esc>")
        claude.settle()
        claude.command("silent! autocmd! CursorHold,SafeState *")
        assert not made(claude).exists(), keys
    row = next(row for row, line in enumerate(claude.screen()) if "Allow once" in line)
    for button in ("left", "middle", "right", "left", "left", "left"):
        for action in ("press", "release"):
            claude._client.request("nvim_input_mouse", button, action, "", 0, row, 4)
        claude._client.request("nvim_input", "<Esc>" if button == "right" else "")
    for text in ("\n\n\n", "<CR>\r\r", ":Winnow allow\n"):
        claude._client.request("nvim_paste", text, True, -1)
        claude._client.request("nvim_input", "u")
    assert not answered(claude)
    assert not made(claude).exists()
    claude.command("messages clear")  # some of what was typed is an error of Vim's
