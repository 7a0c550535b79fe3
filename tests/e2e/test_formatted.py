"""What formats a buffer when it is written takes nothing from a chat."""

from __future__ import annotations

import pytest

from tests.api import ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, said, start, wait_idle, wait_section
from tests.e2e.test_resume import chat_file

pytestmark = pytest.mark.fresh("nothing")

TRIM = "vim.cmd([[silent! %s/\\s\\+$//e | silent! %s/\\n\\+\\%$//e]])"
ON_SAVE = f"""
  vim.api.nvim_create_autocmd('BufWritePre', {{ callback = function()
    local view = vim.fn.winsaveview()
    {TRIM}
    vim.fn.winrestview(view)
  end }})
"""
LONG = "a draft that is longer than thirty columns, too"
FILL = (
    "vim.api.nvim_create_autocmd('BufWritePre', { command = 'set tw=30 | silent normal! gggqG' })"
)


def told(api: ScriptedAPI, number: int) -> str:
    """The text of a message that Claude was sent."""
    return str(api.requests[number]["messages"][-1]["content"])


@pytest.mark.parametrize("keys", [":w<CR>", ":w<CR>:w<CR>"])
def test_the_draft_heals(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """Without its blank lines, what was typed next was glued to the heading."""
    api.add(say("One."), say("Two."))
    claude.lua(ON_SAVE)
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    claude.keys(keys + "GAagain<Esc>")
    assert "## Youagain" not in claude.text()
    assert draft(claude) == "again"
    claude.keys("<CR>")
    claude.wait_line("Two.")
    assert "'again'" in told(api, 1)


@pytest.mark.parametrize("keys", [f":lua {TRIM.replace('|', '<Bar>')}<CR>", "0kdG"])
def test_it_heals_after_any_command(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    claude.keys(":Winnow<CR>")
    claude.keys(keys + "GAagain<Esc>")
    assert "## Youagain" not in claude.text()
    assert draft(claude) == "again"


def test_nothing_is_glued_beside_a_section(claude: Editor, api: ScriptedAPI) -> None:
    fruit = question("Which fruit?", "Apple", "Pear", header="Fruit")
    api.add(say(ask("toolu_1", fruit)), say("So be it."))
    claude.lua(ON_SAVE)
    start(claude)
    wait_section(claude, "Question: Fruit")
    claude.keys("gg/^Apple<CR>dd:w<CR>GAagain<Esc>")
    claude.keys("gg/^Pear<CR><CR>")
    claude.wait_line("So be it.")
    wait_idle(claude)
    assert draft(claude) == "again"
    assert "## Youagain" not in claude.text()


def test_what_was_said_is_not_reflowed(claude: Editor, api: ScriptedAPI) -> None:
    text = "A line of Claude's that is longer than thirty columns.\nAnother one."
    api.add(say(text))
    start(claude)
    claude.wait_line("Another one.")
    wait_idle(claude)
    claude.lua(FILL)
    claude.keys("GA" + LONG + "<Esc>:w<CR>")
    assert said(claude) == text
    assert "\n" in draft(claude)
    assert draft(claude).replace("\n", " ") == LONG


def test_a_file_that_was_formatted_elsewhere(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say("One."))
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    claude.keys(":w<CR>")
    path = chat_file(claude)
    claude.keys(":bwipeout<CR>")
    path.write_text(path.read_text().rstrip() + "\n")
    claude.keys(f":edit {path}<CR>GAagain<Esc>")
    assert draft(claude) == "again"
    assert "## Youagain" not in claude.text()
