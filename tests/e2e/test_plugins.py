"""What other plugins do in a chat's buffer and windows, done here without them."""

from __future__ import annotations

import pytest

from tests.api import Gate, ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, start, wait_section
from tests.e2e.test_resume import write_chat

# As those do that render Markdown: over a ruler, and over a fence what stands on it.
RENDER = """
  local namespace = vim.api.nvim_create_namespace('renders Markdown')
  for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local text = line == '---' and ('─'):rep(200) or line:match('^```(.+)')
    if text then
      vim.api.nvim_buf_set_extmark(0, namespace, row - 1, 0, {
        virt_text = { { text .. ('█'):rep(200) } },
        virt_text_pos = 'overlay',
      })
    end
  end
"""


def test_what_renders_markdown_hides_and_shows_nothing_of_ours(
    claude: Editor, api: ScriptedAPI
) -> None:
    """The first line says who answers, and no marker comes to light on a fence."""
    api.add(say(ToolUse("Bash", {"command": "touch here"}, "t1")), say("Done."))
    start(claude)
    wait_section(claude, "Permission: Bash")
    claude.lua(RENDER)
    assert "```sh" in [row.rstrip() for row in claude.screen()]
    assert not any("⟦" in row for row in claude.screen())
    claude.keys("gg")
    first = claude.screen()[0].rstrip()
    assert first.startswith("Claude · ")
    assert first.endswith("mode default")


# As those do that show something when Neovim starts; and a message of it, which floats.
START = """
  vim.cmd.enew()
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.buflisted = 'nofile', 'wipe', false
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'Welcome', '', 'e  New file' })
  local note = vim.api.nvim_create_buf(false, true)
  local place = { relative = 'editor', row = 1, col = 1, width = 9, height = 1 }
  vim.api.nvim_open_win(note, false, place)
"""


@pytest.mark.parametrize(("beside", "windows"), [("", 1), ("topleft new | wincmd p", 3)])
def test_a_start_screen_makes_room(editor: Editor, beside: str, windows: int) -> None:
    """Alone it goes with its window; beside another window it may be one to stay."""
    editor.lua(START)
    editor.command(beside)
    editor.keys(":Winnow<CR>")
    count = """
      return #vim.tbl_filter(function(win)
        return vim.api.nvim_win_get_config(win).relative == ''
      end, vim.api.nvim_tabpage_list_wins(0))
    """
    assert editor.lua(count) == windows
    assert editor.lua("return vim.bo.filetype") == "winnow"
    assert editor.lua("return vim.o.number == vim.go.number")
    editor.command("silent! fclose! | only")


# As those do that animate scrolling: back to where it was, and from there step by step.
ANIMATE = """
  local was, at = nil, 0
  vim.api.nvim_create_autocmd('WinScrolled', { callback = function()
    local view = vim.fn.winsaveview()
    local still = vim.b.minianimate_disable == true or vim.b.snacks_scroll == false
    if was and was ~= view.topline and not still then
      vim.fn.winrestview({ topline = was, lnum = was })
      vim.defer_fn(function() vim.fn.winrestview({ topline = view.topline }) end, 200)
    end
    was = view.topline
  end })
"""


@pytest.mark.fresh("session")
def test_what_animates_scrolling_leaves_the_cursor(claude: Editor, api: ScriptedAPI) -> None:
    """The text goes on meanwhile; the section comes under the cursor all the same."""
    text = "\n\n".join(f"Paragraph {number}." for number in range(40))
    api.add(say(text, ToolUse("Bash", {"command": "touch here"}, "t1")), say("Done."))
    claude.lua(ANIMATE)
    start(claude)
    wait_section(claude, "Permission: Bash")
    assert claude.line().startswith("Allow once")


# As those do that conceal in their own way, from an autocommand.
CONCEAL = """
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'InsertEnter', 'ModeChanged', 'TextChanged' }, {
    callback = function()
      for _, win in ipairs(vim.fn.win_findbuf(vim.fn.bufnr())) do
        vim.api.nvim_set_option_value('concealcursor', '', { scope = 'local', win = win })
        vim.api.nvim_set_option_value('conceallevel', 0, { scope = 'local', win = win })
      end
    end,
  })
"""


@pytest.mark.fresh("session")
def test_a_marker_stays_hidden(claude: Editor, api: ScriptedAPI) -> None:
    """In the line of the cursor, in both modes, and in another window of the chat."""
    api.add(say(ToolUse("Bash", {"command": "touch here"}, "t1")), say("Done."))
    claude.lua(CONCEAL)
    start(claude)
    wait_section(claude, "Permission: Bash")
    claude.keys(":split<CR>")
    for key in ("j", "k", "A", " x", "<Esc>"):
        claude.keys(key)
        assert not any("⟦" in row for row in claude.screen()), key


DRAWS = """
  vim.g.drawn = 0
  vim.api.nvim_create_autocmd('TextChanged', {
    pattern = '*.md',
    callback = function(event)
      local same = event.buf == vim.api.nvim_get_current_buf()
      vim.g.drawn = same and vim.api.nvim_buf_line_count(event.buf) or -1
    end,
  })
"""


@pytest.mark.fresh("session")
@pytest.mark.parametrize("keys", [":new<CR>", ":new<CR>itext"])
def test_what_draws_on_a_text_hears_of_it(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """Also while one is elsewhere, where nothing else happens by that."""
    api.add(say("One.", Gate(), "\n\nTwo.\n\nThree."))
    start(claude)
    claude.wait_line("One.")
    claude.lua(DRAWS)
    claude.keys(keys)
    where = "return { vim.fn.mode(), vim.fn.getcurpos(), vim.api.nvim_get_current_win() }"
    at = claude.lua(where)
    api.release()
    lines = """
      local chat = require('winnow.registry').all()[1]
      local count = vim.api.nvim_buf_line_count(chat.buf)
      return chat.state == 'idle' and vim.g.drawn == count
    """
    claude.wait(lambda: claude.lua(lines), "others that have heard of all lines")
    assert claude.lua(where) == at


@pytest.mark.parametrize("way", ["runtime plugin/winnow.lua", "call feedkeys('gl', 'xt')"])
def test_what_is_loaded_late_reads_the_chats_that_are_open(editor: Editor, way: str) -> None:
    """As with a session that was restored before; a key that loads it may change no text."""
    path = write_chat(editor.sandbox.data / "winnow" / "chats", text="Words.")
    editor.command("unlet g:loaded_winnow | autocmd! winnow | delcommand Winnow")
    editor.command(f"edit {path}")
    assert editor.lua("return require('winnow.registry').current()") is None
    editor.command("nnoremap <expr> gl execute('runtime plugin/winnow.lua')[1:] .. ':Winnow<CR>'")
    editor.command(way)
    editor.wait(lambda: editor.lua("return require('winnow.registry').current() ~= nil"), "a chat")
    assert draft(editor) == "Words."
    editor.command("nunmap gl")
