"""What a chat uses, and what one `<CR>` does when that is too much, through the editor."""

from __future__ import annotations

from tests.api import Failure, Message, ScriptedAPI, Text, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, start

STATUS = "return require('winnow').statusline()"


def shows(editor: Editor, words: str) -> bool:
    """Whether they stand on the screen, beside the text or in it."""
    return any(words in row for row in editor.screen())


def test_one_key_goes_on_after_a_failure(claude: Editor, api: ScriptedAPI) -> None:
    """On the line that says so, too; what was done is not said again."""
    api.add(say("First a look.", ToolUse("Bash", {"command": "echo hi"}, "toolu_1")))
    api.add(Failure(529, "overloaded_error", "Overloaded"))
    start(claude)
    claude.wait(lambda: shows(claude, "## You  <CR> goes on"), "what <CR> does", timeout=30)
    assert draft(claude) == ""
    notice = next(line for line in claude.lines() if line.startswith("⚠ "))
    assert notice.endswith("; <CR> goes on.")
    api.add(say("And that is all."))
    claude.keys("?^⚠<CR><CR>")
    claude.wait_line("And that is all.", timeout=30)
    assert claude.lines().count("Hi") == 1
    assert "Go on where you stopped." in claude.lines()


def test_usage_is_shown(claude: Editor, api: ScriptedAPI) -> None:
    """In short in the statusline, in a list, and as a warning that stays."""
    api.add(Message([Text("Done.")], read=900_000))
    start(claude)
    claude.wait(lambda: shows(claude, "context 90 % full"), "the warning", timeout=30)
    assert " 90 %% · $" in str(claude.lua(STATUS))
    claude.keys(":Winnow usage<CR>")
    claude.wait(lambda: "900.0k of 1.00M tokens" in claude.text(), "the report")
    assert "This chat has cost $" in claude.text()
    assert claude.lua("return vim.wo.wrap and vim.wo.linebreak")
    claude.keys(":Winnow<CR>")  # back, where it was
    assert claude.lua("return { vim.bo.filetype, vim.fn.winnr('$') }") == ["winnow", 1]
