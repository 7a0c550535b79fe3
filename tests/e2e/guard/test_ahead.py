"""A key answers only what was on the screen before it was pressed, whenever it is read."""

from __future__ import annotations

import time

import pytest

from tests.api import Gate, ScriptedAPI, say
from tests.e2e.editor import Editor
from tests.e2e.guard.pressing import (
    LOOP,
    SOON,
    answer,
    answered,
    asked,
    busy,
    choose,
    held,
    look,
    made,
    press,
    send,
    shown,
    tap,
    touch,
)
from tests.e2e.steps import wait_idle
from tests.e2e.terminal import Terminal
from tests.soaking import first

OPEN = """
  local function open() return require('winnow.registry').current().section end
  local function draw() vim.cmd.redraw() return open() end
"""
HELD = "return require('winnow.dispatch').holds(vim.api.nvim_get_current_buf())"
BUSY = {  # until the section is open, or from then on
    "vim.wait": "started() vim.wait(9000, open)",
    "vim.wait that draws": "started() vim.wait(9000, draw)",
    "vim.wait that goes on": "vim.wait(9000, open) vim.cmd.redraw() started() vim.wait(500)",
    "sleep": "started() repeat vim.cmd.sleep('50m') until open()",
    "a loop": "vim.wait(9000, open) started() " + LOOP.format(0.5),
    "a command": "vim.wait(9000, open) started() vim.cmd('silent !sleep 0.5')",
}


@pytest.mark.parametrize("keys", first(2, ["<CR><CR>", "<CR>j<CR><CR>", "dd<CR>", "<Esc><Esc>"]))
@pytest.mark.parametrize("code", BUSY.values(), ids=BUSY)
def test_keys_typed_ahead_answer_nothing(
    claude: Editor, api: ScriptedAPI, code: str, keys: str
) -> None:
    """Neovim was busy when they were typed, and the section came before they were read."""
    wait_idle(claude)
    send(claude, api, choose())
    busy(claude, OPEN + code, keys)
    claude.wait_line("━━ ")
    assert not answered(claude)
    claude.keys("u")
    answer(claude, api)


@pytest.mark.parametrize("keys", ["G?^Deny<CR><CR><CR>", ":Winnow deny<CR>"])
def test_keys_typed_ahead_decide_no_permission(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """What would allow it is not believed for another reason, too: nobody has seen it."""
    wait_idle(claude)
    send(claude, api, touch())
    busy(claude, OPEN + BUSY["vim.wait that draws"], keys)
    claude.wait_line("Permission: Bash")
    assert not answered(claude)


def test_a_command_typed_ahead_gives_no_time(claude: Editor, api: ScriptedAPI) -> None:
    """Whatever time passes while Neovim works off what was typed, nobody looks."""
    wait_idle(claude)
    send(claude, api, choose())
    busy(claude, OPEN + BUSY["vim.wait"], ":sleep 400m<CR><CR>:sleep 400m<CR><CR>")
    claude.wait_line("━━ ")
    time.sleep(1)
    assert not answered(claude)


def test_a_terminal_s_keys_typed_ahead_answer_nothing(terminal: Terminal) -> None:
    terminal.guard(2000)
    terminal.keys(":Winnow<CR>")
    wait_idle(terminal)
    terminal.keys("iHi<Esc>")
    terminal.wait(lambda: terminal.mode() == "n", "Normal mode")
    terminal.keys("<CR>")
    shown(terminal)
    terminal.keys("dd<CR>")
    terminal.wait_screen(SOON)
    terminal.keys("<CR>" * 200)
    time.sleep(0.5)
    assert terminal.line().startswith("MongoDB")  # not a step


def test_what_came_too_soon_is_said(claude: Editor, api: ScriptedAPI) -> None:
    claude.guard(5000)
    send(claude, api, choose())
    shown(claude)
    claude.keys("dd<CR>")
    claude.wait_screen(SOON)
    assert not answered(claude)


def test_a_key_while_an_operator_waits_is_about_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """`d` when the section comes: it is shown after that, so what is typed at once is early."""
    claude.guard(5000)
    wait_idle(claude)
    api.add(say("I ask:", Gate(), choose()), say("So be it."))
    claude.keys("AHi<Esc><CR>")
    claude.wait_line("I ask:")
    claude.keys("d")
    api.release()
    claude.wait(lambda: claude.lua(HELD), "the question")
    assert "━━" not in claude.text()
    claude.keys("<Esc>")
    claude.wait_line("━━ ")
    tap(claude, "<CR>", "<CR>")
    assert not answered(claude)


# --- read late --------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["<F5>", ":Winnow allow<CR>"])
def test_a_key_that_was_read_late_may_be_an_early_one(
    claude: Editor, api: ScriptedAPI, keys: str
) -> None:
    """Neovim is busy right after it has drawn: when a key came meanwhile, nobody knows."""
    claude.lua("vim.keymap.set('n', '<F5>', '<Plug>(winnow-allow)')")
    claude.guard(1000)
    send(claude, api, touch())
    shown(claude)
    busy(claude, "started() " + LOOP.format(1.5), keys)
    claude.wait_screen(SOON)
    assert not answered(claude)
    assert not made(claude).exists()


@pytest.mark.parametrize("delay", [0.25, 0.5])
def test_a_key_held_down_while_neovim_is_busy_grants_nothing(
    claude: Editor, api: ScriptedAPI, delay: float
) -> None:
    """Its presses are read late, and not as fast as they came."""
    asked(claude, api, touch())
    time.sleep(2)
    tap(claude, "<CR>", every=delay)
    busy(claude, "started() " + LOOP.format(2.5), *["<CR>"] * 90)
    assert not answered(claude)
    assert not made(claude).exists()


def test_what_just_came_on_the_screen_is_not_meant(claude: Editor, api: ScriptedAPI) -> None:
    """It was announced long ago, and not shown."""
    api.add(say("I ask:", Gate(), touch()), say("So be it."))
    claude.keys("AHi<Esc><CR>:enew<CR>")
    api.release()
    claude.wait(lambda: "Claude waits" in claude.messages(), "an announcement")
    time.sleep(0.5)
    claude.guard(5000)
    claude.keys(":Winnow next<CR>")
    shown(claude)
    claude.keys(":Winnow allow<CR>")
    claude.wait_screen(SOON)
    assert not made(claude).exists()
    claude.guard()
    look(claude)
    press(claude, ":Winnow allow<CR>")
    claude.wait(made(claude).exists, "what it asked for")


def test_a_key_on_coming_back_was_for_another_program(claude: Editor, api: ScriptedAPI) -> None:
    """What the user types where another window has just given way is not meant for Neovim."""
    asked(claude, api, choose())
    claude.guard(2000)
    time.sleep(2)
    for here in (False, True):
        claude.request("nvim_ui_set_focus", here)
    claude.keys("dd<CR>")
    claude.wait_screen(SOON)
    assert not answered(claude)
    claude.guard()
    press(claude, "", "<CR>")
    claude.wait_line("So be it.")


def test_a_key_while_no_screen_is_there_is_about_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """What was typed in the shell behind `fg` is read before Neovim has its screen again."""
    asked(claude, api, choose())
    claude.request("nvim_ui_detach")
    tap(claude, "dd", "<CR>")
    claude.request("nvim_ui_attach", 80, 24, {"ext_linegrid": True, "rgb": True})
    assert SOON in claude.messages()
    assert not answered(claude)
    press(claude, "", "<CR>")
    claude.wait_line("So be it.")


def test_what_follows_an_answer_has_its_own_time(claude: Editor, api: ScriptedAPI) -> None:
    """`<CR>` is held when the next one opens under it."""
    asked(claude, api, touch("one"), touch("two"))
    claude.keys("jdd")
    claude.keys("?Allow<CR>")
    press(claude, "", "<CR>", "<CR>")
    claude.wait(lambda: made(claude, "one").exists(), "the first", timeout=5)
    held(claude, delay=0.04)
    assert not made(claude, "two").exists()
