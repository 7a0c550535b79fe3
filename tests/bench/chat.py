"""A question, its answer and a patch, from the CLI to the screen and back."""

from __future__ import annotations

import time

from tests.bench.cli import LINES
from tests.bench.figures import Section
from tests.bench.world import Desk, desk, now, on_screen, scratch, used

chat = Section("chat", desk, rounds=5)

PATCH = 10_000  # lines of the diff
EDITS = 10
JUDGED = """
local section = require('winnow.registry').current().section
local judge = section.judge
section.judge = function(...)
  judge(...)
  vim.cmd.redraw()
  _G.judged = vim.uv.hrtime()
end
"""


def trip(desk: Desk) -> float:
    """a line by a bare request, drawn"""
    with scratch(desk, 1):
        mark = f"<{now()}>"
        began = now()
        desk.request("nvim_buf_set_lines", 0, 0, 0, True, [mark])
        return on_screen(desk, mark) - began


def key(desk: Desk) -> float:
    """a key and the answer to a bare request"""
    with scratch(desk, 1):
        began = now()
        desk.request("nvim_input", "x")
        desk.request("nvim_eval", "0")
        return now() - began


def bare_patch(desk: Desk) -> float:
    """as many lines by a bare request, drawn"""
    with scratch(desk, 1):
        mark = f"<{now()}>"
        began = now()
        desk.request("nvim_buf_set_lines", 0, 0, -1, True, [mark, *["+ a line"] * PATCH])
        return on_screen(desk, mark) - began


@chat.figure(10, floor=trip)
def question(desk: Desk) -> float:
    """A question: from the CLI's stdout to the screen"""
    desk.wait_state("idle")
    desk.keys("iask me<Esc><CR>")
    shown = on_screen(desk, "keep one of 3")
    return shown - desk.noted("asked:AskUserQuestion")


@chat.figure(5, floor=key)
def reply(desk: Desk) -> float:
    """Its answer: from <CR> to the CLI's stdin"""
    desk.keys("dd")
    desk.keys("dd")
    desk.wait_screen("━━ C ━━")
    pressed = now()
    desk.keys("<CR>")
    desk.wait_line("Selected: C")
    return desk.noted("answered") - pressed


@chat.figure(100, floor=bare_patch)
def patch(desk: Desk) -> float:
    """A patch of 10,000 lines: likewise"""
    assert LINES // 12 * 9 > PATCH * 0.99
    desk.wait_state("idle")
    desk.keys("ipatch<Esc><CR>")
    shown = on_screen(desk, "━━ Patch")
    took = shown - desk.noted("asked:Write")
    desk.keys(":Winnow deny<CR>")
    desk.wait_line("Denied: Write")
    return took


def bare_edit(desk: Desk) -> list[float]:
    """the same in as many lines of plain text"""
    with scratch(desk, PATCH):
        desk.keys("gg")
        return [_edit(desk, "dd")[0] for _ in range(EDITS)]


@chat.figure(2, floor=bare_edit)
def option(desk: Desk) -> list[float]:
    """dd in a question of 4 x 40 options, drawn: processor time"""
    desk.wait_state("idle")
    desk.keys("imany<Esc><CR>")
    on_screen(desk, "Option 9")
    desk.lua(JUDGED)
    return [_edit(desk, "dd")[0] for _ in range(EDITS)]


@chat.figure(16)
def option_judged(desk: Desk) -> list[float]:
    """… until the foot says what <CR> would do"""
    took = [_edit(desk, "dd")[1] for _ in range(EDITS)]
    desk.keys("<Esc><Esc>")
    desk.wait_state("idle")
    return took


@chat.figure(5, floor=bare_edit)
def hunk(desk: Desk) -> list[float]:
    """dd in a patch of 10,000 lines, drawn: processor time"""
    desk.wait_state("idle")
    desk.keys("ipatch<Esc><CR>")
    on_screen(desk, "━━ Patch")
    desk.lua(JUDGED)
    desk.keys(f"{PATCH // 2}G")
    return [_edit(desk, "dd", "/^+<CR>")[0] for _ in range(EDITS)]


@chat.figure(50)
def hunk_judged(desk: Desk) -> list[float]:
    """… until the foot says what <CR> would do there"""
    took = [_edit(desk, "dd", "/^+<CR>")[1] for _ in range(EDITS)]
    desk.keys(":Winnow deny<CR>")
    desk.wait_line("Denied: Write")
    return took


def _edit(desk: Desk, keys: str, first: str = "") -> tuple[float, float]:
    """Milliseconds of processor time that an edit takes, and until its verdict is drawn."""
    desk.keys(first)
    desk.screen()
    before, began = used(desk), now()
    desk.request("nvim_input", keys)
    time.sleep(0.2)  # nothing is asked meanwhile: that takes time, too
    return used(desk) - before, desk.lua("return (_G.judged or 0) / 1e6") - began
