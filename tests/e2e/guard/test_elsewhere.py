"""Commands and mappings act on what was there when they were begun, wherever that is."""

from __future__ import annotations

import time

import pytest

from tests.api import ScriptedAPI
from tests.e2e.editor import Editor
from tests.e2e.guard.pressing import (
    PAUSE,
    SOON,
    answered,
    asked,
    look,
    made,
    press,
    send,
    shown,
    touch,
)

GRANT_FIRST = """
  local chat = require('winnow.registry').all()[1]
  vim.g.one = chat.pending[1].section
  require('winnow.host').notify('grant', {
    chat = chat.buf, section = vim.g.one, choice = 'allow', lines = {},
  })
"""
SECOND_IS_SEEN = """
  local chat = require('winnow.registry').all()[1]
  local section = chat.section
  local missing = section and require('winnow.section.seen').missing(section)
  return missing and section.id ~= vim.g.one and #missing == 0
"""


def test_allow_is_about_what_waited_when_it_was_typed(claude: Editor, api: ScriptedAPI) -> None:
    """While it is typed someone answers the first one, and the second one comes."""
    asked(claude, api, touch("one"), touch("two"))
    claude.keys(":Winnow allow")
    claude.lua(GRANT_FIRST)
    claude.wait(lambda: made(claude, "one").exists(), "the first")
    claude.wait(lambda: claude.screen() and claude.lua(SECOND_IS_SEEN), "the second")
    time.sleep(0.5)
    claude.keys("<CR>")
    time.sleep(0.5)
    assert not made(claude, "two").exists()
    assert SOON in claude.messages()
    look(claude)
    press(claude, ":Winnow allow<CR>")
    claude.wait_line("So be it.")
    assert made(claude, "two").exists()


@pytest.mark.parametrize(
    ("name", "keys"),
    [("allow", ""), ("always", ""), ("keep", ""), ("deny", "<CR>"), ("discuss", "why<CR>")],
)
def test_a_mapping_is_about_what_was_there(
    claude: Editor, api: ScriptedAPI, name: str, keys: str
) -> None:
    claude.lua(f"vim.keymap.set('n', '<F5>', '<Plug>(winnow-{name})')")
    claude.guard(5000)
    send(claude, api, touch())
    shown(claude)
    claude.keys("<F5>" + keys)
    claude.keys("<C-Bslash><C-n>")
    assert not answered(claude)
    assert "━━ Permission: Bash" in claude.text()
    assert not made(claude).exists()


ALLOW = "vim.cmd('Winnow allow')"
WAYS = {
    "a command": "'<Cmd>Winnow allow<CR>'",
    "keys": "':Winnow allow<CR>'",
    "a function": f"function() {ALLOW} end",
    "after a program": f"function() vim.fn.system('sleep 0.5') {ALLOW} end",
    "after getchar": f"function() if vim.fn.getcharstr() == 'y' then {ALLOW} end end",
    "fed after it": "function() vim.fn.getchar() vim.fn.feedkeys(':Winnow allow\\r', 'it') end",
    "after confirm": f"function() if vim.fn.confirm('?', '&yes') == 1 then {ALLOW} end end",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_mapping_grants(claude: Editor, api: ScriptedAPI, way: str) -> None:
    claude.lua(f"vim.keymap.set('n', ' a', {WAYS[way]})")
    asked(claude, api, touch())
    claude.keys(" a")
    if "after" in way:
        time.sleep(0.5)
        claude.keys("y")
    claude.wait(made(claude).exists, "what it asked for")


def test_a_mapping_of_terminal_mode_grants(claude: Editor, api: ScriptedAPI) -> None:
    """Where Neovim never says that nothing is typed ahead."""
    claude.resize(80, 60)
    claude.lua("vim.keymap.set('t', '<F5>', '<Cmd>Winnow allow<CR>')")
    send(claude, api, touch())
    claude.keys(":belowright 5split | terminal cat<CR>i")
    claude.wait(lambda: claude.lua("return #require('winnow.registry').all()[1].pending > 0"), "it")
    time.sleep(1)
    claude.keys("<F5>")
    claude.wait(made(claude).exists, "what it asked for")
    claude.keys("<C-Bslash><C-n>:bwipeout!<CR>")
    claude.resize(80, 24)


def test_a_list_grants_what_was_on_the_screen(claude: Editor, api: ScriptedAPI) -> None:
    """A line that was in no window when the command was typed is shown instead; then `:w` does."""
    asked(claude, api, touch())
    claude.keys(":tab Winnow pending<CR>:tabclose<CR>")
    claude.wait(
        lambda: claude.lua("return vim.fn.getbufline('winnow://pending', 1)[1] ~= ''"), "it"
    )
    claude.keys(":sbuffer winnow://pending | silent %s/^ask/allow/ | write<CR>")
    claude.wait(lambda: "it was not on the screen when" in claude.messages(), "why")
    time.sleep(PAUSE)
    assert not made(claude).exists()
    claude.keys(":w<CR>")
    claude.wait(made(claude).exists, "what it asked for")
    claude.keys(":bwipeout!<CR>")
