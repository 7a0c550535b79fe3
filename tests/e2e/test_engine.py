"""Which model answers, which servers and rules there are: changed in a running chat."""

from __future__ import annotations

import json
from pathlib import Path

from tests.api import ScriptedAPI, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle
from tests.e2e.test_modes import rules

# As those do that have a picker of their own: in a window, and after the key.
PICKER = """
  local own = vim.ui.select
  vim.ui.select = function(items, _, choose)
    vim.ui.select = own
    vim.cmd.new()
    vim.api.nvim_buf_set_lines(0, 0, -1, false, items)
    vim.keymap.set('n', '<CR>', function()
      local row = vim.fn.line('.')
      vim.cmd.bwipeout({ bang = true })
      vim.schedule(function()
        choose(items[row], row)
      end)
    end, { buffer = true })
  end
"""


def test_the_model_changes_in_mid_session(claude: Editor, api: ScriptedAPI) -> None:
    """It is completed from what the account has, and stands in the chat."""
    api.add(say("One."), say("Two."))
    start(claude)
    wait_idle(claude)
    names = "return vim.fn.getcompletion('Winnow model ', 'cmdline')"
    claude.wait(lambda: "haiku" in claude.lua(names), "the names of the models")
    claude.keys(":Winnow model haiku<CR>")
    claude.wait_line("model: haiku")
    claude.lua(PICKER)
    claude.keys(":Winnow effort<CR>/low<CR><CR>")
    claude.wait_line("effort: low")
    send(claude, "Go on.")
    claude.wait_line("Two.")
    asked = api.requests[-1]
    assert "haiku" in asked["model"]
    assert asked["output_config"]["effort"] == "low"
    claude.keys(":Winnow mcp<CR>")
    claude.wait_line("winnow_editor · connected")
    claude.keys("gg/editor<CR>dd:w<CR>")
    claude.wait_line("Off in this session: winnow_editor.")
    claude.keys("GKu:w<CR>")  # which has a line do nothing that is no thing, and brings back one
    claude.wait_line("winnow_editor · connected")
    claude.wait_gone("Off in this session")
    claude.keys(":Winnow context<CR>")
    claude.wait_line("This session: ")


def test_a_rule_is_revoked_by_its_line(claude: Editor, api: ScriptedAPI) -> None:
    """After a question; then it stands in no file any more."""
    rules(claude, "user", allow=["Bash(touch ok)", "Bash(ls)"])
    file = Path(claude.sandbox.env["CLAUDE_CONFIG_DIR"]) / "settings.json"
    api.add(say("One."))
    start(claude)
    wait_idle(claude)
    claude.keys(":Winnow rules<CR>")
    claude.wait_line("allow Bash(touch ok)")
    claude.keys("gg/touch<CR>dd:w<CR>")
    claude.wait_screen("Revoke “Bash(touch ok)”")
    claude.keys("y")
    claude.wait(lambda: "touch" not in file.read_text(), "the file")
    assert json.loads(file.read_text()) == {"permissions": {"allow": ["Bash(ls)"]}}
