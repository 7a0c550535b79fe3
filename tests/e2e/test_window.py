"""Where the text stands in its window, and what is said of a chat's state."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.api import Failure, Gate, Message, ScriptedAPI, Text, ToolUse, question, say
from tests.e2e.conftest import Open
from tests.e2e.desk import ScriptedDesk
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, send, start, wait_idle, wait_section
from tests.soaking import first

STATUS = "return require('winnow').statusline()"


def bottom(editor: Editor) -> list[str]:
    """The rows of the window, from the first to the last one that is not beyond the text's end."""
    return [row for row in editor.screen()[: editor.rows - 2] if row != "~"]


@pytest.mark.fresh("chat")
def test_a_paragraph_taller_than_the_window(claude: Editor, api: ScriptedAPI) -> None:
    """While it streams its end is at the bottom, above the draft, and nothing is empty."""
    words = [f"word{number} " for number in range(600)]
    api.add(Message([Text(chunks=words), Gate(), Text(chunks=["over."])]))
    start(claude)
    claude.wait_line("word599")
    claude.wait_screen("word599")
    assert len(bottom(claude)) == claude.rows - 2
    assert any("word500" in row for row in claude.screen())
    api.release()
    claude.wait_line("over.")
    wait_idle(claude)
    time.sleep(0.3)  # a pause is when it is looked for what the draft mentions
    assert len(bottom(claude)) == claude.rows - 2


WRITE = """
  local chat = require('winnow.registry').current()
  require('winnow.chat.transcript').write(chat, ..., true)
"""


def test_a_section_with_previews_opens_in_sight(editor: Editor) -> None:
    """All of it where there is room: what is drawn in it takes rows, too."""
    editor.resize(96, 34)
    start(editor)
    wait_section(editor, "Question 1/2")
    editor.wait_screen("━━ ○○")
    assert any(row.startswith("━━ Question 1/2") for row in editor.screen())


def test_a_window_of_another_size_is_full(editor: Editor) -> None:
    """Of text that follows, or of a section with text above; also once what was said is gone."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.lua(WRITE, "\n\n".join(["some words " * 60] * 9))
    for cols, rows in [(60, 16), (100, 16), (100, 30), (160, 40), (40, 12)]:
        editor.resize(cols, rows)
        assert len(bottom(editor)) == rows - 2
    editor.lua("require('winnow.registry').current():set_state('working')")
    editor.wait_screen("working…")
    editor.lua("require('winnow.registry').current():set_state('idle')")
    assert len(bottom(editor)) == editor.rows - 2
    assert not any("working…" in row for row in editor.screen())
    editor.keys("zt")
    editor.lua("require('winnow.registry').current():set_state('connecting')")
    assert len(bottom(editor)) < editor.rows - 2  # as the user wants it
    editor.lua("require('winnow.registry').current():set_state('idle')")
    editor.resize(80, 60)
    send(editor, "Hi")
    wait_section(editor, "Question 1/2")
    editor.resize(80, 26)
    assert any(row.startswith("━━ ○○") for row in editor.screen())
    editor.keys("Go" + "<CR>" * 30 + "<Esc>?Search<CR>zt")
    editor.resize(60, 32)
    assert any(row.startswith("━━ Question 1/2") for row in editor.screen())
    editor.resize(80, 60)
    assert len(bottom(editor)) == editor.rows - 2


@pytest.mark.fresh("chat")
@pytest.mark.parametrize("mode", first(1, ["", "i"]))
def test_text_stays_at_the_bottom_when_output_folds(
    claude: Editor, api: ScriptedAPI, mode: str
) -> None:
    """What was said before a long output is on the screen again when that is folded."""
    read = claude.sandbox.project / "long"
    read.write_text("line\n" * 1000)
    said = "".join(f"said {number}\n" for number in range(40))
    call = ToolUse("Read", {"file_path": str(read)}, "t1")
    api.add(say(said, Gate(), call), say("And so on."))
    start(claude)
    claude.wait_line("said 39")
    claude.keys(mode)
    api.release()
    claude.wait_line("And so on.")
    wait_idle(claude)
    assert len(bottom(claude)) == claude.rows - 2
    assert any("said 39" in row for row in claude.screen())
    assert claude.screen()[claude.rows - 3].startswith("i writes here")


@pytest.mark.fresh("chat")
def test_a_reader_above_is_not_moved_by_a_fold(claude: Editor, api: ScriptedAPI) -> None:
    """Only who is in the draft follows."""
    read = claude.sandbox.project / "long"
    read.write_text("line\n" * 1000)
    call = ToolUse("Read", {"file_path": str(read)}, "t1")
    api.add(Message([Text(text="above\n" * 60 + "below"), Gate(), call]), say("And so on."))
    start(claude)
    claude.wait_line("below")
    claude.keys("20Gzt")
    view = claude.lua("return vim.fn.winsaveview()")
    api.release()
    claude.wait_line("And so on.")
    wait_idle(claude)
    assert claude.lua("return vim.fn.winsaveview()") == view


def test_previews_move_no_option(desk: ScriptedDesk) -> None:
    """Long or short or none: all lines stay where they are while the cursor goes by."""
    fruit = question("Which fruit?", "Apple", "Pear", "Plum", header="Fruit")
    for option, preview in zip(
        fruit["options"], ["```sh\none\n```", "one\ntwo\nthree\nfour"], strict=False
    ):
        option["preview"] = preview
    colour = question("Which colour?", "Red", "Blue", header="Colour")
    with desk.asked(fruit, colour) as editor:
        names = ("Apple", "Pear", "Plum", "Red", "Blue", "━━ Question 2/2")
        before = None
        for shown in ("┊ one", "┊ four", None, None):
            if shown:
                editor.wait_screen(shown)
            screen = editor.screen()
            assert not any("```" in row for row in screen)
            places = [next(i for i, row in enumerate(screen) if n in row) for n in names]
            assert places == (before or places)
            before = places
            editor.keys("j")
        editor.keys("/Blue<CR>")
        screen = editor.screen()
        assert [next(i for i, row in enumerate(screen) if n in row) for n in names] == before


def test_a_preview_stays_when_the_cursor_is_elsewhere(desk: ScriptedDesk) -> None:
    """The one that was looked at last, if that option is left; else the first one's."""
    fruit = question("Which fruit?", "Apple", "Pear", "Plum", header="Fruit")
    for option in fruit["options"][:2]:
        option["preview"] = f"like {option['label']}"
    with desk.asked(fruit, question("Which colour?", "Red", "Blue", header="Colour")) as editor:
        editor.keys("j")
        editor.wait_screen("┊ like Pear")
        editor.keys("/Blue<CR>")
        assert "┊ like Pear" in "\n".join(editor.screen())
        editor.keys("gg/^Pear<CR>dd/Blue<CR>")
        editor.wait_screen("┊ like Apple")
        editor.keys("gg/^Apple<CR>dd/Blue<CR>")
        editor.wait(lambda: "┊" not in "\n".join(editor.screen()), "no preview")


def test_a_float_stays_while_text_comes(editor: Editor) -> None:
    """Which moves the cursor together with the draft; the user's own key closes it."""
    editor.keys(":Winnow<CR>ione<CR>two<Esc>:Winnow trust<CR>")
    editor.wait_screen("It brings no settings")
    editor.lua("""
      local chat = require('winnow.registry').current()
      require('winnow.chat.transcript').write(chat, 'some text\\nand more', true)
    """)
    editor.wait_screen("and more")
    editor.keys("")
    assert any("It brings no settings" in row for row in editor.screen())
    editor.keys("h")
    editor.wait(lambda: "It brings no settings" not in str(editor.screen()), "the end of the float")


@pytest.mark.fresh("chat")
def test_connecting_is_said_at_once(editor: Editor) -> None:
    """In the statusline and beside the draft, before the host says anything; then it goes away."""
    editor.command("set statusline=<%{v:lua.require'winnow'.statusline()}> laststatus=2")
    editor.keys(":Winnow<CR>")
    editor.wait(lambda: editor.was_shown("## You  connecting…"), "the state beside the draft")
    editor.wait(lambda: editor.was_shown("<connecting>"), "the statusline")
    both = [frame for frame in editor.frames() if any("<connecting>" in row for row in frame)]
    assert any("## You  connecting…" in row for row in both[0])
    wait_idle(editor)
    editor.wait_screen("<idle>")


@pytest.mark.fresh("chat")
@pytest.mark.parametrize("cols", first(1, [40, 120]))
def test_the_state_is_not_cut(claude: Editor, api: ScriptedAPI, cols: int) -> None:
    """Beside the heading, or below it where the window is too narrow."""
    claude.resize(cols, 24)
    api.add(say("Begun.", Gate(), " Done."))
    start(claude)
    claude.wait_line("Begun.")
    claude.wait_screen("ends the turn")
    send(claude, "next")
    claude.wait_screen("queued")
    claude.resize(160, 24)
    claude.wait_screen("## You  working…  :Winnow stop ends the turn · 1 queued")
    claude.resize(80, 24)
    api.add(say("Two."))
    api.release()
    claude.wait_line("Two.")


TOOL = """
  local line, seconds = ...
  local tool = { type = 'tool', chat = vim.api.nvim_get_current_buf(), id = 'retry', output = {} }
  require('winnow.dispatch').apply({
    vim.tbl_extend('error', tool, { line = line, seconds = seconds }),
  })
"""


def test_retries_are_one_line_that_goes_away(
    open_editor: Open, api: ScriptedAPI, tmp_path: Path
) -> None:
    """It says how often and when; once Claude answers, nothing is left to warn of."""
    env = {**api.env(tmp_path / "claude"), "CLAUDE_CODE_MAX_RETRIES": "5"}
    claude = open_editor(agent="claude", env=env)
    api.add(*[Failure(500, "api_error", "Broken") for _ in range(2)])
    api.add(say("Here I am."))
    start(claude)
    claude.wait(lambda: claude.was_shown(", 2 of "), "a second try")
    frame = next(frame for frame in claude.frames() if any(", 2 of " in row for row in frame))
    (row,) = [row for row in frame if "trying again" in row]
    assert re.search(r"failed \(500\); trying again, 2 of \d+… \d+ s", row)
    claude.wait_line("Here I am.")
    wait_idle(claude)
    assert "⚠" not in claude.text()


@pytest.mark.parametrize("cols", [40, 120])
def test_the_seconds_of_a_retry_count_down(editor: Editor, cols: int) -> None:
    """Drawn behind the line, whose text stays, as does what there is to undo."""
    editor.resize(cols, 24)
    editor.keys(":Winnow<CR>idraft<Esc>")
    wait_idle(editor)
    editor.lua(TOOL, "⚠ Again, 2 of 10…", 4.0)
    editor.wait(lambda: editor.was_shown("10… 1 s"), "the last second")
    editor.wait(lambda: "⚠ Again, 2 of 10…" in editor.screen(), "no more seconds")
    rows = "\n".join(row for frame in editor.frames() for row in frame)
    seconds = [int(number) for number in re.findall(r"⚠ Again, 2 of 10… (\d) s", rows)]
    assert seconds == sorted(seconds, reverse=True)
    assert len(set(seconds)) > 1
    assert "⚠ Again, 2 of 10…" in editor.lines()
    editor.keys("u")
    assert draft(editor) == ""
    editor.lua(TOOL, "⚠ Again, 3 of 10…", 60.0)
    editor.wait_screen("⚠ Again, 3 of 10… 60 s")
    editor.lua(TOOL, "⚠ Again, 4 of 10…", 0.0)
    assert "⚠ Again, 4 of 10…" in editor.screen()
    editor.lua(TOOL, "", 0.0)
    assert "Again" not in editor.text()


def test_the_folded_frontmatter_comes_back(editor: Editor) -> None:
    """`dd` takes it whole, as of any fold, and `u` brings it back; else the next save does."""
    editor.keys(":Winnow<CR>iHi<Esc>")
    wait_idle(editor)
    before = editor.text()
    assert before.startswith("---\nwinnow: 1\n")
    editor.keys("ggdd")
    assert "winnow: 1" not in editor.text()
    editor.keys("u")
    assert editor.text() == before
    for keys in ("dd", "zRdd", "zR/^---<CR>dd"):
        editor.keys(f"gg{keys}G:w<CR>")
        assert editor.text() == before
        assert keys != "dd" or editor.lua("return vim.fn.foldclosedend(1)") > 1
    path = Path(editor.lua("return vim.api.nvim_buf_get_name(0)"))
    assert path.read_text() == before + "\n"
    editor.keys("ggd6jG<CR>")
    wait_section(editor, "Question 1/2")
    assert editor.text().startswith("---\nwinnow: 1\n")
    assert editor.text().count("session: ") == 1


def test_what_a_call_does_is_told_as_far_as_there_is_room(editor: Editor) -> None:
    editor.resize(60, 24)
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.lua("""
      local chat = require('winnow.registry').current()
      require('winnow.chat.transcript').tool(chat, 't', '▸ Agent look at it …', {})
      local call = { id = 't', since = os.time() - 3, text = ('some words · '):rep(9) }
      local long = '▸ Bash ' .. ('ab '):rep(16) .. '…'
      require('winnow.chat.transcript').tool(chat, 'u', long, {})
      local other = { id = 'u', since = os.time() - 63, text = 'some words' }
      require('winnow.chat.transcript').tool(chat, 'v', '▸ Bash v …', {})
      chat.tools.v.since = vim.uv.now() - 40000 -- the host has heard of it only now
      local late = { id = 'v', since = os.time(), text = '' }
      require('winnow.chat.running').show(chat, { call, other, late })
    """)
    late = re.compile(r"▸ Bash v … 4\d s")
    editor.wait(lambda: any(map(late.fullmatch, editor.screen())), "since its line says so")
    told = re.compile(r"▸ Agent look at it … \d s · some words · .*…")
    editor.wait(lambda: any(map(told.fullmatch, editor.screen())), "what it does, and that is cut")
    whole = re.compile(r"\s*1 min \d+ s")
    editor.wait(lambda: any(map(whole.fullmatch, editor.screen())), "since when, in the next row")


def test_what_is_written_in_no_window_is_folded_as_it_stands(editor: Editor) -> None:
    """Neovim keeps a hidden buffer's folds by their lines' numbers."""
    editor.keys(":Winnow<CR>iHi<Esc>:w<CR>:enew<CR>")
    chat = "require('winnow.registry').all()[1]"
    editor.wait(lambda: editor.lua(f"return {chat}.state == 'idle'"), "an idle chat")
    editor.lua(f"require('winnow.chat.transcript').meta({chat}, {{ branch = 'main' }})")
    editor.keys(":Winnow<CR>")
    end = editor.lines().index("---", 1) + 1
    assert editor.lua("return vim.fn.foldclosedend(1)") == end
    tool = f"require('winnow.chat.transcript').tool({chat}, ...)"
    editor.lua(tool, "t1", "▸ Bash one …", [])
    editor.lua(tool, "t2", "▸ Bash two ✓", ["│ said"])
    editor.keys(":enew<CR>")
    editor.lua(tool, "t1", "▸ Bash one ✗", ["│ why"])
    editor.keys(":Winnow<CR>")
    row = editor.lines().index("▸ Bash two ✓") + 1
    assert editor.lua(f"return vim.fn.foldclosed({row + 1})") == row


@pytest.mark.parametrize("cols", [42, 60])
def test_wrapped_rows_hang_under_their_text(editor: Editor, cols: int) -> None:
    """Those of heads, of tools' lines, of records and of quotes, as those of options."""
    editor.resize(cols, 60)
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    words = "some words " * 9 + "end"
    lines = [f"{sign} Tool {words}" for sign in ("━━", "▸", "✓", "✗", "⚠", "│", ">", "> >")]
    lines += [f"{sign}{words}" for sign in "+-"]  # of a diff
    lines.append(f"1▎Tool {words}")  # of a message that waits
    editor.lua(
        "require('winnow.chat.transcript').write(require('winnow.registry').current(), ..., true)",
        "\n\n".join(lines),
    )
    screen = list(editor.screen())
    for line in lines:
        indent = line.index("Tool") if "Tool" in line else 1
        first = next(row for row, text in enumerate(screen) if text.startswith(line[: indent + 4]))
        rows = screen[first + 1 : screen.index("", first)]
        assert rows
        assert {len(row) - len(row.lstrip()) for row in rows} == {indent}, line


@pytest.mark.parametrize("columns", [99, 100])
def test_a_window_opens_where_it_has_room(editor: Editor, columns: int) -> None:
    """At the right, unless both windows would be too narrow for their lines."""
    editor.resize(columns, 24)
    editor.keys("itext<Esc>:Winnow decisions<CR>")
    wide = editor.lua("return vim.api.nvim_win_get_width(0)")
    assert wide == (99 if columns == 99 else 50)
    editor.keys(":quit<CR>")
    editor.resize(80, 24)
