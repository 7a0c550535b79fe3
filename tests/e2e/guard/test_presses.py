"""One press is one: not a key that is held down, nor one of a run."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.api import ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.guard.pressing import (
    CHOICE,
    FEATURES,
    LOOP,
    PAUSE,
    answered,
    asked,
    busy,
    choose,
    held,
    look,
    made,
    press,
    tap,
    touch,
)
from tests.e2e.steps import wait_idle
from tests.soaking import first

LANGUAGE = question("Which language?", "Lua", "Python", header="Language")
LONG = "\n".join(f"true {number}" for number in range(40)) + "\ntouch made"


@pytest.mark.parametrize("keys", first(2, ["<CR>", "h<CR>"]))
@pytest.mark.parametrize(("every", "count"), first(2, [(0.1, 30), (0.5, 10)]))
def test_a_run_of_presses_grants_nothing(
    claude: Editor, api: ScriptedAPI, keys: str, every: float, count: int
) -> None:
    """Up to half a pause apart; that is longer here, so that no busy machine makes it a whole."""
    asked(claude, api, touch())
    claude.guard(1000)
    time.sleep(1)
    tap(claude, *[keys] * count, every=every)
    assert not answered(claude)
    assert not made(claude).exists()


@pytest.mark.parametrize("delay", [0.2, 0.4, 0.66])
@pytest.mark.parametrize("start", ["", ":Winnow next"])
def test_a_key_held_down_grants_nothing(
    claude: Editor, api: ScriptedAPI, start: str, delay: float
) -> None:
    asked(claude, api, touch())
    claude.keys(start)
    held(claude, delay=delay)
    assert not answered(claude)
    assert not made(claude).exists()


@pytest.mark.parametrize("delay", [0.2, 0.66])
def test_a_key_held_down_answers_no_question(
    claude: Editor, api: ScriptedAPI, delay: float
) -> None:
    """Nor is a question with all options answered, nor several reviewed and sent."""
    asked(claude, api, ask("t1", CHOICE, FEATURES))
    held(claude, delay=delay, count=60)
    assert not answered(claude)
    claude.keys("?^Redis<CR>dd")
    time.sleep(PAUSE)
    held(claude, delay=delay)  # a first press that decides
    assert not answered(claude)


MAPPINGS = ["<Plug>(winnow-allow)", ":Winnow allow<CR>", "<Plug>(winnow-keep)"]


@pytest.mark.parametrize("delay", [0.25, 0.5])
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_a_mapping_held_down_grants_nothing_unseen(
    claude: Editor, api: ScriptedAPI, mapping: str, delay: float
) -> None:
    """Its first press says what was not on the screen; a meant second one would grant it."""
    call = touch()
    call.input["command"] = LONG
    claude.lua("vim.keymap.set('n', '<F5>', ...)", mapping)
    asked(claude, api, call)
    claude.lua("require('winnow.registry').current().section:step(1)")
    look(claude)
    held(claude, "<F5>", delay)
    assert "not on the screen yet" in claude.messages()
    assert not answered(claude)
    press(claude, "", "<F5>")
    claude.wait(made(claude).exists, "what it asked for")


@pytest.mark.parametrize("then", ["j", "<C-l>"])
def test_a_key_let_go_for_another_was_held_down(
    claude: Editor, api: ScriptedAPI, then: str
) -> None:
    asked(claude, api, touch())
    tap(claude, "<CR>", every=0.5)
    tap(claude, "<CR>", "<CR>", "<CR>", then)
    assert not answered(claude)
    assert not made(claude).exists()


def test_a_press_that_waits_does_so_while_neovim_is_busy(claude: Editor, api: ScriptedAPI) -> None:
    """Whether it goes on is known only when all is read that came meanwhile."""
    asked(claude, api, touch())
    press(claude, "<CR>")
    code = "vim.defer_fn(function() started() " + LOOP.format(0.5) + " end, 50)"
    tap(claude, "<CR>", every=0)
    busy(claude, code, *["<CR>"] * 5)
    assert not answered(claude)
    assert not made(claude).exists()


def test_two_presses_grant(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, touch())
    press(claude, "<CR>", "<CR>")
    claude.wait_line("So be it.")
    assert made(claude).exists()


def test_the_second_press_comes_after_the_explanation(claude: Editor, api: ScriptedAPI) -> None:
    """Neovim is busy between the two: nobody has read what the first one explained."""
    asked(claude, api, touch())
    claude.guard(2000)
    time.sleep(2)
    tap(claude, "<CR>")
    claude.wait_screen("<CR> again keeps only Allow once")
    busy(claude, "started() " + LOOP.format(2.5), "<CR>")
    assert not answered(claude)
    assert not made(claude).exists()
    claude.guard()
    press(claude, "", "<CR>")
    claude.wait_line("So be it.")


def test_the_second_press_comes_after_a_slow_answer(claude: Editor, api: ScriptedAPI) -> None:
    """What an earlier answer has filled in is on the screen before `<CR>` sends it."""
    api.add(say(ask("t0", LANGUAGE)), say("Noted."), say(ask("t1", LANGUAGE)), say("So be it."))
    claude.keys("AHi<Esc><CR>")
    look(claude)
    claude.keys("dd")
    press(claude, "<CR>")
    claude.wait_line("Noted.")
    wait_idle(claude)
    claude.keys("GAAgain<Esc><CR>")
    claude.wait_screen("<CR> here takes it")
    claude.lua("require('winnow.registry').current().section:step(0)")
    claude.guard(2000)
    time.sleep(2)
    host = next(id for id, name in claude.sandbox.processes().items() if "winnow_host" in name)
    os.kill(host, signal.SIGSTOP)
    try:
        tap(claude, "0", "<CR>")
        time.sleep(2)
    finally:
        os.kill(host, signal.SIGCONT)
    claude.wait(lambda: claude.text().count("Lua") < 2, "the earlier answer")
    tap(claude, "0", "<CR>")
    time.sleep(0.5)
    assert "So be it." not in claude.text()
    claude.guard()
    press(claude, "", "<CR>")
    claude.wait_line("So be it.")


# --- the user's own work goes on --------------------------------------------------------------


def test_edits_make_another_press(claude: Editor, api: ScriptedAPI) -> None:
    """Fast work goes on: `<CR>` steps, `dd<CR>` at once decides; so does a macro."""
    asked(claude, api, ask("t1", CHOICE, FEATURES))
    claude.keys("dd<CR>")
    claude.wait(lambda: claude.line().startswith("Auth"), "the next question")
    claude.keys("dd<CR>")
    claude.wait(lambda: claude.line().startswith("━━"), "the review")
    time.sleep(PAUSE)
    claude.keys("<CR>")
    claude.wait_line("So be it.")
    assert "Memcached" in api.tool_result("t1")
    assert "Search" in api.tool_result("t1")


def test_a_macro_answers(claude: Editor, api: ScriptedAPI) -> None:
    claude.lua("vim.fn.setreg('q', 'dd\\r')")
    asked(claude, api, choose())
    claude.keys("@q")
    claude.wait_line("So be it.")
    assert "Memcached" in api.tool_result("t1")


def test_a_press_too_many_is_said(claude: Editor, api: ScriptedAPI) -> None:
    """The first one has only stepped, which says nothing."""
    claude.guard(1000)
    asked(claude, api, ask("t1", CHOICE, FEATURES))
    time.sleep(1)
    tap(claude, "dd", "<CR>")
    claude.wait(lambda: claude.line().startswith("Auth"), "the next question")
    tap(claude, "<CR>")
    claude.wait_screen("Two presses within 1 s are one: press again.")
    assert not answered(claude)


def test_a_press_whose_text_has_changed_is_said(claude: Editor, api: ScriptedAPI) -> None:
    """It waited to see whether it goes on, and the user has gone on with something else."""
    claude.guard(1000)
    asked(claude, api, choose())
    time.sleep(1)
    tap(claude, "<CR>", every=2)
    tap(claude, "<CR>", "dd")
    claude.wait_screen("The text has changed since you pressed that: press again.")
    assert not answered(claude)


def test_what_was_explained_is_said_again(claude: Editor, api: ScriptedAPI) -> None:
    """A press that comes too soon after it does not take the explanation away."""
    claude.guard(1000)
    asked(claude, api, choose())
    time.sleep(2)
    tap(claude, "<CR>")
    claude.wait_screen("2 left: <CR> again keeps only Redis")
    tap(claude, "<CR>")
    claude.wait_screen("Too soon: 2 left: <CR> again keeps only Redis")
    assert not answered(claude)
