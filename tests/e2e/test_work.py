"""Subagents, commands in the background, and the list of what runs."""

from __future__ import annotations

import re

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import start, wait_idle

HEARD = """
_G.ends = {}
vim.api.nvim_create_autocmd('User', { pattern = 'WinnowTaskEnd', callback = function(event)
  table.insert(_G.ends, event.data.how)
end })
"""
WAIT = "until [ -e stop ]; do sleep 0.1; done; echo whole"


def bash(id: str, command: str, **more: object) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": f"do {id}", **more}, id)


def plain(editor: Editor) -> list[str]:
    """The lines of the current buffer without markers."""
    return [line.partition("⟦")[0] for line in editor.lines()]


def test_what_runs_in_the_background_is_seen_stopped_and_told_once(
    claude: Editor, api: ScriptedAPI
) -> None:
    claude.configure(mode="bypassPermissions")
    claude.lua(HEARD)
    api.on("Go on", say(bash("t1", f"echo up; {WAIT}", run_in_background=True)), say("It runs."))
    start(claude, "Go on")
    claude.wait_screen("idle · 1 in background")
    assert claude.lua("return require('winnow').statusline()").startswith("idle · 1 in background")
    claude.keys(":Winnow tasks<CR>")
    claude.wait(lambda: any("· up" in line for line in plain(claude)), "what it has said")
    assert re.match(r"▸ do t1 · 0:\d\d · up", plain(claude)[1])
    claude.keys("2Gdd:w<CR>")
    claude.wait_screen("Stop do t1?")
    claude.keys("y")
    claude.wait(lambda: claude.lua("return _G.ends") == ["stopped"], "its end")
    claude.wait(lambda: any("✗ do t1" in line for line in plain(claude)), "what has ended")
    claude.keys(":Winnow<CR>")
    claude.wait_line("▸ Background do t1 · stopped after")
    wait_idle(claude)
    text = claude.text()
    assert text.count("Background do t1") == 1
    assert re.search(r"^▸ Bash echo up; .* ✗$", text, re.MULTILINE)
    assert "in background" not in "\n".join(claude.screen())


def test_a_running_command_is_sent_to_the_background(claude: Editor, api: ScriptedAPI) -> None:
    """The turn goes on, and its end is told."""
    claude.configure(mode="bypassPermissions")
    api.on("Go on", say(bash("t1", WAIT)), say("It runs."), say("I heard."))
    start(claude, "Go on")
    claude.wait_line("▸ Bash until")
    claude.keys(":Winnow background<CR>")
    claude.wait_line("It runs.", timeout=30)
    claude.wait_screen("1 in background")
    (claude.sandbox.project / "stop").touch()
    claude.wait_line("▸ Background do t1 · done after")
    claude.wait_line("I heard.")
    wait_idle(claude)
    claude.keys(":Winnow background<CR>")
    assert "Nothing runs here" in claude.messages()
