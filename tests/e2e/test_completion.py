"""What completes what is typed in a chat: Neovim's own completion, asking our server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.steps import draft, wait_idle
from tests.e2e.test_context import project

WORDS = "return vim.tbl_map(function(item) return item.word end, vim.fn.complete_info().items)"
ATTACHED = "return #vim.lsp.get_clients({ bufnr = 0, name = 'winnow' })"


def ready(editor: Editor) -> None:
    """A chat whose completion is there."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.wait(lambda: editor.lua(ATTACHED) == 1, "the server")


def menu(editor: Editor, *some: str) -> list[str]:
    """The words of the menu, once it has these."""

    def look() -> Any:
        words = editor.lua(WORDS)
        return words if all(word in words for word in some) else None

    return list(editor.wait(look, f"{some} in the menu"))


def test_neovim_completes_mentions_and_paths(editor: Editor) -> None:
    """By characters in their order, with blanks in names; <CR> in the menu is Neovim's."""
    project(editor, {"src/cart.py": "a", "src/x y.py": "b", "other.md": "c"})
    ready(editor)
    editor.keys("iSee @<C-x><C-o>")
    words = menu(editor, "@buffer", "@diff", "@src/cart.py", '@"src/x y.py"', "@src/")
    assert words.index("@buffer") < words.index("@src/")
    editor.keys("<C-e>crt<C-x><C-o>")
    assert menu(editor, "@src/cart.py") == ["@src/cart.py"]
    editor.keys("<C-y> and<CR>more")
    assert draft(editor) == "See @src/cart.py and\nmore"
    editor.keys("<Esc>ccSee @xy<C-x><C-o>")
    editor.wait(lambda: draft(editor).endswith('\nSee @"src/x y.py"'), "the name with a blank")
    editor.keys("<Esc>")


# As plugins ask that apply the edit themselves; the cursor is before the last character.
ENDS = """
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local client = vim.lsp.get_clients({ bufnr = 0, name = 'winnow' })[1]
  local found = client.request_sync('textDocument/completion', {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = row - 1, character = col },
  }, 5000, 0)
  return vim.tbl_map(function(item)
    return item.textEdit.range['end'].character - col
  end, found.result.items)
"""


def test_a_quote_that_was_closed_already_is_not_closed_twice(editor: Editor) -> None:
    """As plugins close it that write pairs; one that stands around all is the user's."""
    project(editor, {"src/x y.py": "b"})
    ready(editor)
    editor.keys('iSee @"y.py"<Esc>')
    assert editor.lua(ENDS) == [1]
    editor.keys('S"See @y.py"<Esc>')
    assert editor.lua(ENDS) == [0]


def test_a_menu_that_opens_by_itself_takes_no_word(editor: Editor) -> None:
    """What is typed stays as it is, whatever 'completeopt' says; <CR> is a new line."""
    editor.configure(completion_auto=True)
    ready(editor)
    editor.keys("iSee @")
    menu(editor, "@buffer", "@diff")
    editor.keys("<CR>more<Esc>")
    assert draft(editor) == "See @\nmore"


OFFERED = """
  return vim.iter(require('winnow.context.offers').of(0)):any(function(command)
    return command.name == 'brew'
  end)
"""


def test_commands_and_models_are_claude_s_own(claude: Editor) -> None:
    """With their hints; a slash elsewhere is a slash."""
    skill = "---\nname: brew\ndescription: Makes tea\nargument-hint: '[kind]'\n---\nBrew.\n"
    home = claude.sandbox.env["CLAUDE_CONFIG_DIR"]
    path = Path(home, "skills", "brew", "SKILL.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(skill)
    ready(claude)
    claude.wait(lambda: claude.lua(OFFERED), "the skill, which no chat before this one had")
    claude.keys("i/bre<C-x><C-o>")
    menu(claude, "/brew")
    found = claude.lua("return vim.fn.complete_info().items")
    assert [item["abbr"] for item in found] == ["/brew [kind]"]
    assert [item["kind"] for item in found] == ["Keyword"]  # others write `()` behind a function
    claude.keys("<C-e><Esc>ggzo/^model<CR>$a<BS><BS><BS><BS><BS><BS><BS><C-x><C-o>")
    menu(claude, "opus", "haiku")
    claude.keys("<C-e><Esc>/^mode:<CR>WCa<C-x><C-o>")
    words = menu(claude, "dontAsk", "acceptEdits")
    assert words.index("acceptEdits") < words.index("dontAsk")
    claude.keys("<C-e><Esc>")
    claude.command("messages clear")


SERVER = """
  local id = vim.lsp.start({ name = 'other', cmd = function(told)
    return {
      request = function(method, _, reply)
        reply(nil, method == 'initialize' and { capabilities = {} } or vim.NIL)
        return true, 1
      end,
      notify = function() return true end,
      is_closing = function() return false end,
      terminate = function() told.on_exit(0, 0) end,
    }
  end })
  vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0, {
    { lnum = 1, col = 0, message = 'no such name', severity = 1, source = 'lint' },
  })
"""
ACTION = """
  local which = ...
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action) return action.title == which end,
  })
"""


@pytest.mark.fresh("session")
def test_actions_write_into_the_draft(editor: Editor) -> None:
    """Of a buffer that has a server; nothing is sent."""
    project(editor, {"cart.py": "one\ntwo\nthree\n"})
    ready(editor)
    editor.keys(":leftabove vsplit cart.py<CR>")
    editor.lua(SERVER)
    attached = "return #vim.lsp.get_clients({ bufnr = 0, name = 'winnow-actions' })"
    editor.wait(lambda: editor.lua(attached) == 1, "our server beside it")
    editor.keys("2G")
    editor.lua(ACTION, "Winnow: fix this diagnostic")
    editor.wait(lambda: "no such name [lint]" in editor.text(), "the words")
    assert draft(editor).startswith("cart.py:2\n```python\ntwo\n```\n\nFix this:")
    assert editor.lua("return require('winnow.registry').current().queued") is False
