"""`<Esc>` drops a question only when it is pressed twice, and meant."""

from __future__ import annotations

import time

import pytest

from tests.api import ScriptedAPI
from tests.e2e.editor import Editor
from tests.e2e.guard.pressing import PAUSE, answered, asked, choose, held, look, send, shown, tap

AGAIN = "<Esc> again cancels"


def offered(claude: Editor) -> bool:
    """Whether the foot says that one more press cancels."""
    return any(AGAIN in row for row in claude.screen())


def escape(claude: Editor) -> None:
    """Press <Esc>, and look at what comes of it."""
    tap(claude, "<Esc>", every=PAUSE)
    claude.settle()


def test_two_presses_cancel(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, choose())
    time.sleep(0.3)  # half a second since it came
    escape(claude)
    claude.wait_screen(AGAIN)
    assert not answered(claude)
    escape(claude)
    claude.wait_line("asks again")
    assert len(api.requests) == 1


@pytest.mark.parametrize("key", ["j", "dd", ":", "<LeftMouse><0,0>", "A"])
def test_any_other_key_takes_it_back(claude: Editor, api: ScriptedAPI, key: str) -> None:
    asked(claude, api, choose())
    time.sleep(0.3)
    escape(claude)
    claude.wait_screen(AGAIN)
    claude.keys(key)
    claude.wait(lambda: not offered(claude), "the verdict")
    claude.keys("<C-Bslash><C-n>:silent! 1 | /^Memcached<CR>")
    time.sleep(0.6)  # that may have left Insert mode
    escape(claude)
    claude.wait_screen(AGAIN)
    assert not answered(claude)


@pytest.mark.parametrize("leaves", ["A note<Esc>", "A note<C-Bslash><C-n>", "Rn<C-Bslash><C-n>"])
def test_one_after_insert_mode_is_none(claude: Editor, api: ScriptedAPI, leaves: str) -> None:
    """Two of them leave Insert mode for sure, by habit."""
    asked(claude, api, choose())
    claude.guard(5000)
    claude.lua("require('winnow.registry').current().section.sight.at = 0")  # seen long ago
    claude.keys(leaves)
    claude.keys("<Esc>")
    assert not offered(claude)
    claude.guard(0)
    claude.keys("<Esc>")
    claude.wait_screen(AGAIN)
    assert not answered(claude)


def test_one_right_after_it_came_is_none(claude: Editor, api: ScriptedAPI) -> None:
    claude.guard(3000)
    send(claude, api, choose())
    shown(claude)
    claude.keys("<Esc>")
    assert not offered(claude)
    claude.guard(300)
    look(claude)
    time.sleep(0.3)
    escape(claude)
    claude.wait_screen(AGAIN)


def test_a_key_held_down_cancels_nothing(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, choose())
    time.sleep(0.3)
    held(claude, "<Esc>")
    assert not answered(claude)
    assert offered(claude)


def test_two_as_quick_as_one_cancel_nothing(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, choose())
    time.sleep(0.3)
    tap(claude, "<Esc>", "<Esc>")
    claude.wait_screen(AGAIN)
    assert not answered(claude)
