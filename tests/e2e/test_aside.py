"""A question about a chat is answered in a window of its own."""

from __future__ import annotations

from tests.api import Gate, ScriptedAPI, say
from tests.e2e.editor import Editor
from tests.e2e.steps import start, wait_idle
from tests.e2e.test_resume import chat_file


def test_it_is_answered_while_claude_works(claude: Editor, api: ScriptedAPI) -> None:
    """The cursor stays, the chat has nothing of it, and to close its window is the end of it."""
    api.add(say("One."), say("Two.", Gate(), " Three."))
    api.on("Why one?", say("Because **it** is first."))
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    claude.keys("AGo on<Esc><CR>")
    claude.wait_line("Two.")
    chat = claude.lua("return vim.api.nvim_get_current_buf()")
    claude.keys(":Winnow ask Why one?<CR>")
    claude.wait_screen("> Why one?")
    claude.wait_screen("Because **it** is first.", timeout=40)
    assert claude.lua("return vim.api.nvim_get_current_buf()") == chat
    assert "Why one" not in claude.text()
    claude.keys("<C-w>j:close<CR>")
    api.release()
    claude.wait_line("Two. Three.")
    wait_idle(claude)
    assert "Why one" not in chat_file(claude).read_text()
