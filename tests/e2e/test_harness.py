"""The harness itself, with a plain Neovim."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.editor import Editor
from tests.e2e.neovim import BlockedError
from tests.e2e.rpc import GoneError, NeovimError
from tests.e2e.sandbox import Sandbox
from tests.e2e.terminal import Terminal, encode

CONCEAL = """
vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'PostgreSQL <!--hidden-->', 'MySQL <!--hidden-->' })
vim.wo.conceallevel, vim.wo.concealcursor = 3, 'nvic'
local ns = vim.api.nvim_create_namespace('test')
for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
  local marker = { end_col = #line, conceal = '' }
  vim.api.nvim_buf_set_extmark(0, ns, row - 1, line:find('<') - 1, marker)
end
vim.api.nvim_buf_set_extmark(0, ns, 0, 0, { virt_text = { { 'a hint', 'Error' } } })
"""


def test_keys_are_typed_and_done(editor: Editor) -> None:
    """After `keys` the buffer, the cursor and the mode are what the keys made of them."""
    for number in range(50):
        editor.keys(f"o{number}é")
        assert editor.mode() == "i"
        editor.keys("<Esc>")
        assert editor.line() == f"{number}é"
    editor.keys("ggdd3ddGkk0")
    assert editor.lines() == [f"{number}é" for number in range(3, 50)]
    assert editor.cursor() == (45, 0)


def test_many_keys_at_once(editor: Editor) -> None:
    """More keys than Neovim's input buffer holds are all typed, once."""
    editor.keys("i" + "0123456789<lt><CR>" * 1000 + "<Esc>")
    assert editor.lines() == ["0123456789<"] * 1000 + [""]


def test_typing_runs_what_it_schedules(editor: Editor) -> None:
    """What a mapping schedules, and what that schedules, is done when `keys` returns."""
    editor.lua("""
      local function later() vim.schedule(function() vim.g.done = vim.g.done + 1 end) end
      vim.keymap.set('n', 'Q', function() vim.g.done = 0; vim.schedule(later) end)
    """)
    for _ in range(50):
        editor.keys("Q")
        assert editor.request("nvim_get_var", "done") == 1


def test_screen_shows_what_a_user_sees(editor: Editor) -> None:
    """Concealed text is not on the screen, virtual text is."""
    editor.lua(CONCEAL)
    assert editor.screen()[:2] == ("PostgreSQL  a hint", "MySQL")
    assert editor.style("a hint")["foreground"] == editor.lua(
        "return vim.api.nvim_get_hl(0, { name = 'Error' }).fg"
    )
    assert not editor.was_shown("hidden")
    editor.command("set conceallevel=0")
    assert "<!--hidden-->" in editor.screen()[0]
    assert editor.was_shown("hidden")


def test_screen_follows_scrolling_splits_and_floats(editor: Editor) -> None:
    """The screen is right after scrolling in parts of it, over wide characters and floats."""
    editor.lua("for i = 1, 99 do vim.fn.append(i - 1, '漢字 ' .. i) end")
    editor.keys("gg<C-w>v3<C-e>")
    # Not by comparing with Neovim's own idea: this is what the rows must hold.
    assert editor.screen()[0].startswith("漢字 4")
    assert editor.screen()[0].endswith("漢字 1")
    editor.keys("<C-y>")
    assert editor.screen()[0].startswith("漢字 3")
    editor.lua("""
      local buffer = vim.api.nvim_create_buf(false, true)
      vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { 'a float' })
      vim.api.nvim_open_win(buffer, false,
        { relative = 'editor', row = 5, col = 5, width = 9, height = 1 })
    """)
    assert "a float" in editor.screen()[5]


def test_resize(editor: Editor) -> None:
    """The screen has the size that was asked for."""
    editor.resize(100, 30)
    assert editor.request("nvim_get_option_value", "columns", {}) == 100
    assert len(editor.screen()) == 30


@pytest.mark.parametrize("keys", ["f", "r", '"', "m", "<C-w>", "i<C-v>", ":echo 1 | echo 2<CR>"])
def test_waiting_for_a_key_hangs_nothing(editor: Editor, keys: str) -> None:
    """While Neovim waits for a key, requests fail and say so, and the mode and screen are known."""
    editor.keys(keys)
    assert editor.blocking()
    with pytest.raises(BlockedError, match="waits for a key"):
        editor.lines()
    assert editor.mode()
    assert editor.screen()
    editor.dismiss()
    assert editor.lines()


def test_quits_at_a_prompt(open_editor: Open) -> None:
    """Closing does not need Neovim to be idle."""
    open_editor().keys(":echo 1 | echo 2<CR>")


def test_operator_pending_does_not_block(editor: Editor) -> None:
    """Between the two keys of `dd` requests are served."""
    editor.keys("ia<CR>b<Esc>d")
    assert editor.mode() == "no"
    assert editor.lines() == ["a", "b"]
    editor.keys("d")
    assert editor.lines() == ["a"]


def test_a_timeout_tells_everything(editor: Editor) -> None:
    """A condition that does not come true is reported with all there is to know."""
    editor.keys("ihello<Esc>")
    editor.command("echomsg 'a message'")
    (editor.sandbox.state / "winnow.log").write_text("a log line")
    started = time.monotonic()
    with pytest.raises(AssertionError) as failure:
        editor.wait_line("nothing", timeout=0.3)
    assert time.monotonic() - started < 5
    for part in ("a line with 'nothing'", "│hello", "a message", "a log line", "--embed"):
        assert part in str(failure.value)


def test_errors_are_errors(editor: Editor) -> None:
    """A failing request raises, and errors that were shown fail the test."""
    with pytest.raises(NeovimError, match="no such thing"):
        editor.lua("error('no such thing')")
    editor.assert_no_errors()
    editor.lua("vim.schedule(function() error('shown') end)")
    editor.wait(editor.blocking, "the prompt")
    editor.keys("<CR>")
    with pytest.raises(AssertionError, match="shown"):
        editor.assert_no_errors()
    editor.command("messages clear")


def test_the_sandbox_is_closed(editor: Editor) -> None:
    """Nothing of the user's configuration, data or state is in reach."""
    for kind in ("config", "data", "state", "cache", "run"):
        path = Path(editor.lua("return vim.fn.stdpath(...)", kind))
        folders = (editor.sandbox.root, editor.sandbox.runtime)
        assert any(path.is_relative_to(folder) for folder in folders)
    assert editor.lua("return vim.uv.cwd()") == str(editor.sandbox.project)
    assert editor.lua("return vim.g.winnow.agent") == "scripted"


def test_restart_and_kill(editor: Editor) -> None:
    """The folders outlive Neovim, however it ends."""
    first = editor.process.pid
    editor.keys("ihello<Esc>:w note<CR>")
    editor.restart("note")
    assert editor.lines() == ["hello"]
    editor.kill()
    with pytest.raises(GoneError):
        editor.lines()
    editor.start("note")
    assert editor.lines() == ["hello"]
    assert editor.process.pid != first


def test_a_process_left_behind_is_found_and_killed(tmp_path: Path) -> None:
    """Even a daemon that left its session and its parent does not outlive the test unseen."""
    editor = Editor(Sandbox(tmp_path, {}))
    editor.lua("vim.fn.system('setsid sleep 987 >/dev/null 2>&1 &')")
    editor.wait(lambda: "sleep 987" in editor.sandbox.processes().values(), "the daemon")
    editor.quit()
    with pytest.raises(AssertionError, match="sleep 987"):
        editor.sandbox.close(timeout=0.2)
    editor.wait(lambda: not editor.sandbox.processes(), "its end")


def test_terminal_draws_what_a_user_sees(terminal: Terminal) -> None:
    """In a real terminal, too, keys work, concealed text is hidden, and colours are known."""
    terminal.lua(CONCEAL)
    terminal.wait_screen("a hint")
    terminal.keys("jA, the old one<Esc>")
    terminal.wait_screen("MySQL")
    terminal.wait_line("hidden-->, the old one")
    assert not terminal.was_shown("hidden")
    colour = terminal.lua("return vim.api.nvim_get_hl(0, { name = 'Error' }).fg")
    assert terminal.cell("a hint").fg == f"{colour:06x}"
    terminal.keys(":set conceallevel=0<CR>")
    terminal.wait_screen("<!--hidden-->")


@pytest.mark.parametrize("background", ["dark", "light"])
def test_terminal_tells_its_background(tmp_path: Path, background: str) -> None:
    """Neovim asks for the background colour and believes the answer."""
    terminal = Terminal(Sandbox(tmp_path, {}), background=background)
    try:
        terminal.wait(
            lambda: terminal.lua("return vim.o.background") == background, f"a {background} screen"
        )
        assert terminal.lua("return vim.o.termguicolors")
    finally:
        terminal.close()


def test_terminal_resizes(terminal: Terminal) -> None:
    """Neovim hears of the new size and uses it."""
    terminal.resize(120, 40)
    terminal.wait(lambda: terminal.lua("return vim.o.columns") == 120, "120 columns")
    terminal.keys("i" + "x" * 110)
    terminal.wait_screen("x" * 110)
    assert terminal.wait(lambda: "INSERT" in terminal.screen()[39], "the last line")


def test_terminal_keys() -> None:
    """Key names become what a terminal sends."""
    assert encode("dd<CR>i<lt>a><C-w>v<Esc>") == b"dd\ri<a>\x17v\x1b[27u"
