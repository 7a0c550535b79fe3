"""What was never on the screen is not granted in passing; the start of it is there when asked."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.conftest import Desks, Open, Share
from tests.e2e.desk import ClaudeDesk
from tests.e2e.editor import Editor
from tests.e2e.steps import wait_section
from tests.soaking import first

HIDDEN = f"ls{' ' * 6000}; touch ran_it{' ' * 6000}"
FILLER = [f"true {number:03} {'x' * 20}" for number in range(200)]
LONG = "true " + "y" * 6_000
UNSEEN = "not on the s"  # a narrow window shows no more


@pytest.fixture
def claude(share: Share, desks: Desks, api: ScriptedAPI) -> Editor:
    """An empty chat."""
    editor = share(desks(ClaudeDesk), "nothing")
    editor.keys(":Winnow<CR>")
    return editor


def asked(claude: Editor, api: ScriptedAPI, *calls: ToolUse) -> None:
    api.add(say(*calls), say("So be it."))
    claude.keys("AHi<Esc><CR>")
    wait_section(claude, "Permission: Bash")


def bash(command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command}, "t1")


def ran(claude: Editor) -> Path:
    return claude.sandbox.project / "ran_it"


def screen(claude: Editor) -> str:
    return "\n".join(claude.screen())


def looked(claude: Editor) -> int:
    """How many lines of it were not on the screen yet."""
    count: int = claude.lua("""
      return #require('winnow.section.seen').missing(require('winnow.registry').current().section)
    """)
    return count


def short_way(claude: Editor) -> None:
    """Go to the option that allows, and press `<CR>` twice."""
    claude.keys("G?^Allow once<CR><CR>")
    claude.settle()
    claude.keys("<CR>")


def turn_pages(claude: Editor) -> None:
    """Press `<CR>` until all was on the screen."""

    def place() -> object:
        claude.screen()
        return claude.lua("""
          local section = require('winnow.registry').current().section
          return vim.inspect(require('winnow.section.seen').missing(section)[1])
        """)

    def turned(before: object) -> bool:
        return place() != before

    while (now := place()) != "nil":
        claude.keys("<CR>")
        claude.wait(partial(turned, now), "another page")


@pytest.mark.parametrize("cols", [80, 40])
def test_blanks_push_nothing_out_of_sight(claude: Editor, api: ScriptedAPI, cols: int) -> None:
    claude.resize(cols, 24)
    asked(claude, api, bash(HIDDEN))
    claude.wait_screen("touch ran_it")
    assert "ls‹6000 blanks›; touch ran_it" in claude.text()
    assert "characters in 1 line" in claude.text()
    claude.keys("<CR><CR>")
    claude.wait_line("So be it.")
    assert ran(claude).exists()


@pytest.mark.parametrize("at", [0, 100, 200], ids=["first", "middle", "last"])
@pytest.mark.parametrize("cols", first(1, [80, 40]))
def test_a_long_command_begins_on_the_screen(
    claude: Editor, api: ScriptedAPI, at: int, cols: int
) -> None:
    """And what lies below it has to be on the screen, too, before `<CR><CR>` grants it."""
    claude.resize(cols, 24)
    lines = [*FILLER[:at], "touch ran_it", *FILLER[at:]]
    asked(claude, api, bash("\n".join(lines)))
    claude.wait_screen(lines[0])
    assert "characters in 201 lines:" in screen(claude)
    assert claude.screen()[0].startswith("━━ Permission: Bash")
    short_way(claude)
    claude.wait_screen(UNSEEN)
    assert not ran(claude).exists()
    assert looked(claude) > 100
    turn_pages(claude)
    assert claude.was_shown("touch ran_it")
    assert not ran(claude).exists()
    short_way(claude)
    claude.wait_line("So be it.")
    assert ran(claude).exists()


@pytest.mark.parametrize("wrap", first(1, ["wrap", "nowrap"]))
def test_a_long_line_is_seen_to_its_end(claude: Editor, api: ScriptedAPI, wrap: str) -> None:
    claude.command(f"setlocal {wrap}")
    asked(claude, api, bash(f"{LONG}; touch ran_it; {LONG}"))
    claude.wait_screen("yyyyy")
    short_way(claude)
    claude.wait_screen(f"1 line was {UNSEEN}")
    assert not ran(claude).exists()
    turn_pages(claude)
    assert claude.was_shown("touch ran_it")
    assert not ran(claude).exists()
    short_way(claude)
    claude.wait_line("So be it.")
    assert ran(claude).exists()


def test_what_lies_under_the_mark_of_a_cut_line_is_not_seen(
    claude: Editor, api: ScriptedAPI
) -> None:
    """A line whose first rows are scrolled away begins with `<<<`, which hides three characters."""
    line = "y" * 6_000
    asked(claude, api, bash(line))
    claude.command("setlocal wrap")  # whatever the test before has left
    claude.wait_screen("yyyyy")

    def seen(cut: int) -> int:
        """How many bytes behind 40 seen rows count as well, when so many rows are cut off."""
        claude.lua(
            """
            local line, cut = ...
            local row = vim.fn.search('^' .. line .. '$', 'cw')
            vim.api.nvim_win_set_cursor(0, { row, 45 * vim.o.columns })
            vim.fn.winrestview({ topline = row, skipcol = cut * vim.o.columns })
            require('winnow.registry').current().section.seen[line] = 40 * vim.o.columns
            vim.cmd('redraw!')
            """,
            line,
            cut,
        )
        claude.settle()
        found: int = claude.lua(
            "return require('winnow.registry').current().section.seen[...]", line
        )
        return found - 40 * claude.cols

    assert seen(40) == 0
    claude.wait(lambda: seen(39) > 0, "a row that counts")


def test_the_explicit_way_says_what_was_not_seen(claude: Editor, api: ScriptedAPI) -> None:
    """With all other options deleted, one more `<CR>` allows it unseen."""
    asked(claude, api, bash("\n".join([*FILLER, "touch ran_it"])))
    claude.keys(":g/^Always\\|until this\\|^Deny/d<CR>/^Allow once<CR><CR>")
    claude.wait_screen("<CR> again allows it unseen")
    assert not ran(claude).exists()
    claude.keys("<CR>")
    claude.wait_line("So be it.")
    assert ran(claude).exists()


def test_deny_needs_no_reading(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, bash("\n".join([*FILLER, "touch ran_it"])))
    claude.keys("G?^Deny<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert not ran(claude).exists()


def test_from_elsewhere_what_was_not_seen_is_said(claude: Editor, api: ScriptedAPI) -> None:
    """In a window that isn't the current one, and for a chat that no window shows."""
    api.add(say(bash("\n".join([*FILLER, "touch ran_it"]))), say("So be it."))
    claude.keys("AHi<Esc><CR>:tabnew<CR>")
    claude.wait(lambda: "Claude waits" in claude.messages(), "an announcement")
    claude.keys(":Winnow allow<CR>")
    claude.wait_screen(UNSEEN)
    assert not ran(claude).exists()
    claude.keys("<C-l>:Winnow next<CR>")
    claude.wait_screen("━━ Permission: Bash")
    assert FILLER[0] in screen(claude)
    claude.keys(":tabnext<CR>:Winnow allow<CR>")
    claude.wait(ran(claude).exists, "what it asked for")


def test_from_another_window_what_was_not_seen_is_said(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, bash("\n".join([*FILLER, "touch ran_it"])))
    claude.keys(":new<CR>:Winnow allow<CR>")
    claude.wait_screen(UNSEEN)
    assert not ran(claude).exists()
    claude.keys("<C-w>p")
    turn_pages(claude)
    claude.keys("<C-w>p:Winnow allow<CR>")
    claude.wait(ran(claude).exists, "what it asked for")


def test_a_fold_hides_nothing(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, bash("\n".join([*FILLER[:8], "touch ran_it", *FILLER[8:12]])))
    assert looked(claude) == 0
    claude.keys("gg/^true 000<CR>")
    claude.lua("""
      local section = require('winnow.registry').current().section
      section.seen = require('winnow.section.seen').none(section:lines())
    """)
    claude.keys("V11jzf<C-l>")
    claude.screen()
    assert looked(claude) == 12
    claude.keys("zo")
    claude.screen()
    claude.wait(lambda: looked(claude) == 0, "all of it")
    claude.keys("/^Deny<CR><CR><CR>")
    claude.wait_line("So be it.")


def test_an_edited_long_line_is_new(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, bash(f"{LONG * 2}; touch ran_it"))  # more than the screen holds
    claude.keys("gg/^true<CR>:s/true/false/<CR>")
    short_way(claude)
    claude.wait_screen(UNSEEN)
    assert not ran(claude).exists()


def test_what_a_program_writes_has_to_be_looked_at(claude: Editor, api: ScriptedAPI) -> None:
    """Unlike what the user writes, it is seen only where it is on the screen."""
    asked(claude, api, bash("\n".join([*FILLER[:60], "touch ran_it"])))
    turn_pages(claude)
    claude.keys("gg:%s/true 040/false/<CR>gg")
    claude.screen()
    assert looked(claude) == 0
    row = next(row for row, line in enumerate(claude.lines()) if line.startswith("true 050"))
    claude.request("nvim_buf_set_lines", 0, row, row + 1, True, ["echo evil"])
    claude.screen()
    assert looked(claude) == 1
    claude.keys(":Winnow allow<CR>")
    claude.wait_screen(UNSEEN)
    assert not ran(claude).exists()
    claude.keys("<C-l>/evil<CR>")
    claude.screen()
    claude.wait(lambda: looked(claude) == 0, "all of it")
    claude.keys(":Winnow allow<CR>")
    claude.wait_line("So be it.")


FLOATS = {
    "over all": "row = 0, col = 0, width = 80, height = 22",
    "with a border": "row = 0, col = 0, width = 60, height = 19, border = 'single'",
    "over a line's middle": "row = 0, col = 20, width = 5, height = 22",
}


@pytest.mark.parametrize("place", first(1, FLOATS.values()), ids=FLOATS)
def test_what_lies_under_a_float_is_not_seen(claude: Editor, api: ScriptedAPI, place: str) -> None:
    """Until that closes, or moves away."""
    claude.lua(f"""
      local options = {{ relative = 'editor', {place} }}
      Float = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, options)
    """)
    asked(claude, api, bash(f"true {'x' * 50}; touch ran_it"))
    claude.screen()
    assert looked(claude) > 0
    claude.keys(":Winnow allow<CR>")
    claude.wait_screen(UNSEEN)
    assert not ran(claude).exists()
    claude.lua("vim.api.nvim_win_close(Float, true)")
    claude.screen()
    claude.wait(lambda: looked(claude) == 0, "all of it")
    short_way(claude)
    claude.wait_line("So be it.")
    assert ran(claude).exists()


def test_what_hides_nothing_is_in_nobodys_way(claude: Editor, api: ScriptedAPI) -> None:
    """A notice in a corner."""
    claude.lua("""
      local options = { relative = 'editor', row = 0, col = 60, width = 20, height = 20 }
      Float = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, options)
    """)
    asked(claude, api, bash("touch ran_it"))
    claude.screen()
    assert looked(claude) == 0
    claude.lua("vim.api.nvim_win_close(Float, true)")
    short_way(claude)
    claude.wait_line("So be it.")


def test_a_tool_that_takes_nothing_is_seen_all_the_same(open_editor: Open, tmp_path: Path) -> None:
    """Its name is what there is to see."""
    scenario = tmp_path / "scenario.json"
    then = [{"type": "say", "text": "It ran."}]
    call = {"type": "permit", "name": "mcp__a__b", "input": {}, "output": "", "allowed": then}
    scenario.write_text(json.dumps({"turns": [[call]]}))
    editor = open_editor(agent="scripted", scenario=str(scenario))
    editor.keys(":Winnow<CR>AHi<Esc><CR>:enew<CR>")
    editor.wait(lambda: "Claude waits" in editor.messages(), "an announcement")
    editor.keys(":Winnow allow<CR>")
    editor.wait_screen(UNSEEN)
    editor.keys("<C-l>:Winnow next<CR>")
    editor.wait_screen("wants to use mcp__a__b")
    editor.wait(lambda: looked(editor) == 0, "all of it")
    editor.keys(":Winnow allow<CR>")
    editor.wait_line("It ran.")
