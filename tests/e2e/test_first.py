"""What somebody sees who has just come."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.api import ScriptedAPI, say
from tests.e2e.editor import Editor
from tests.e2e.sandbox import REPOSITORY
from tests.e2e.steps import draft, wait_idle, wait_section
from tests.e2e.terminal import Terminal

GHOST = "i writes here, <Esc> and <CR> send"


@pytest.mark.parametrize("cols", [40, 120])
def test_the_first_screen(claude: Editor, cols: int) -> None:
    """One line says who answers, where and how; another one how to write, while nothing is."""
    claude.resize(cols, 24)
    claude.keys(":Winnow<CR>")
    first, *_ = claude.screen()
    assert first.startswith("Claude · ")
    assert first.endswith(f"{claude.sandbox.project.name} · mode default")
    claude.wait_screen(GHOST)
    assert not any("session:" in row or "winnow: 1" in row for row in claude.screen())
    claude.keys("ix")
    assert not any(GHOST in row for row in claude.screen())
    claude.keys("<BS>")
    assert any(GHOST in row for row in claude.screen())
    claude.keys("<Esc>u")
    assert any(GHOST in row for row in claude.screen())
    wait_idle(claude)
    assert claude.screen()[0] == first  # with what the host has written there since
    claude.keys("ggzo")
    claude.wait_screen("model: default")
    claude.resize(80, 24)


def test_what_comes_back_has_no_ghost(claude: Editor, api: ScriptedAPI) -> None:
    """A draft that the host fills, in whichever window."""
    claude.keys(":Winnow<CR>:split<CR>:enew<CR>")
    wait_chat = "return require('winnow.registry').all()[1].state == 'idle'"
    claude.wait(lambda: claude.lua(wait_chat), "an idle chat")
    claude.wait_screen(GHOST)
    claude.lua("require('winnow.registry').all()[1]:refill('Come back.', {})")
    claude.wait_screen("Come back.")
    assert not any("send" in row for row in claude.screen())


def test_the_demo_says_so_and_begins(editor: Editor) -> None:
    """By itself, when it is asked for; a chat that turns out to be one says what to do."""
    editor.keys(":Winnow<CR>")
    assert editor.screen()[0].startswith("Demo: a script answers, not Claude")
    wait_idle(editor)
    assert editor.screen()[0].startswith("Demo: a script answers, not Claude")
    editor.wait_screen("i, any text, <Esc>, <CR> start the tour")
    editor.resize(42, 24)
    editor.command("set number")
    editor.wait(
        lambda: "tour" in [row.strip() for row in editor.screen()],
        "a hint in two rows",
    )
    assert editor.screen()[0].endswith(" not Claude")  # and no part of a word
    editor.resize(30, 24)
    editor.wait(lambda: editor.screen()[0].endswith("…"), "a line that is cut")
    editor.command("set nonumber")
    editor.resize(80, 24)
    editor.keys(":Winnow demo<CR>")
    wait_section(editor, "Question 1/2")
    assert draft(editor) == ""
    editor.wait_screen("Which database should we use?")


def test_words_are_a_message(claude: Editor, api: ScriptedAPI) -> None:
    """Behind `:Winnow`; a single one that is no command may be a slip."""
    api.add(say("Well met."))
    claude.keys(":Winnow hello there<CR>")
    claude.wait_line("Well met.")
    assert "hello there" in str(api.requests[0]["messages"])
    claude.keys(":Winnow alow<CR>")
    assert "there is no :Winnow alow" in claude.messages()
    assert draft(claude) == ""


def test_the_help_is_found_after_a_clone(tmp_path: Path, terminal: Terminal) -> None:
    """No package manager has made its tags; where they can't be made, nothing is said."""
    clone = tmp_path / "clone"
    for name in ("plugin", "lua", "doc"):
        shutil.copytree(REPOSITORY / name, clone / name, ignore=lambda *_: ["tags"])
    (clone / "doc").chmod(0o755)
    terminal.lua("vim.opt.runtimepath:prepend(...); vim.g.loaded_winnow = nil", str(clone))
    terminal.command(f"source {clone}/plugin/winnow.lua")
    assert (clone / "doc" / "tags").exists()
    terminal.keys(":help winnow<CR>")
    terminal.wait(lambda: terminal.lua("return vim.bo.filetype") == "help", "the help")
