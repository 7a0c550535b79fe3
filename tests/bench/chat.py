"""A question, its answer and a patch, from the CLI to the screen and back."""

from __future__ import annotations

from tests.bench.cli import LINES
from tests.bench.figures import Section
from tests.bench.world import Desk, desk, now, on_screen, scratch

chat = Section("chat", desk, rounds=5)

PATCH = 10_000  # lines of the diff


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
