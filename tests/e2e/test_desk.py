"""Who shares an editor with other tests does not notice it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api import ScriptedAPI, ask, question, say
from tests.e2e.desk import ClaudeDesk, Desk, ScriptedDesk
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle, wait_section

TOUCH = """
  vim.o.ignorecase = true
  vim.g.mine = 1
  vim.keymap.set('n', 'x', 'dd')
  vim.fn.setreg('a', 'mine')
  vim.api.nvim_create_autocmd('User', { callback = function() end })
  require('winnow.host').notify = function() end
"""
TOUCHED = """
  local lone = vim.iter(vim.api.nvim_get_autocmds({ event = 'User' })):filter(function(one)
    return not one.group
  end)
  return {
    vim.o.ignorecase,
    vim.g.mine == 1,
    vim.fn.maparg('x', 'n') ~= '',
    vim.fn.getreg('a') ~= '',
    #lone:totable() > 0,
    debug.getinfo(require('winnow.host').notify).short_src:find('host.lua') == nil,
    #vim.fn.getbufinfo({ bufloaded = 1 }) > 1 or vim.api.nvim_buf_get_name(0) ~= '',
    #require('winnow.registry').all() > 0,
    #vim.api.nvim_list_tabpages() > 1,
    vim.o.columns ~= 80,
    vim.g.winnow.mode ~= nil,
  }
"""


@pytest.fixture
def at(tmp_path: Path, api: ScriptedAPI) -> Iterator[ScriptedDesk]:
    desk = ScriptedDesk(tmp_path, api)
    yield desk
    desk.close()


def chat(editor: Editor) -> str:
    """The file of the chat."""
    path: str = editor.request("nvim_buf_get_name", 0)
    return path


def test_an_editor_is_as_new(at: ScriptedDesk) -> None:
    """Whatever a test has set, written, opened or replaced, the next one does not find it."""
    with at.take(size=(100, 30)) as editor:
        process, project = editor.process.pid, editor.sandbox.project
        new = editor.lua(TOUCHED)
        (project / "made").touch()
        editor.configure(mode="plan")
        editor.keys(":Winnow<CR>ikept?<Esc>:tabnew<CR>:echomsg 'mine'<CR>")
        editor.lua(TOUCH)
        assert (new, editor.lua(TOUCHED)) == ([False] * 9 + [True, False], [True] * 11)
    with at.take() as editor:
        assert editor.process.pid == process
        assert editor.lua(TOUCHED) == [False] * 11
        assert editor.messages() == ""
        assert editor.sandbox.project != project
        assert editor.lua("return vim.fn.getcwd()") == str(editor.sandbox.project)
        editor.keys(":Winnow<CR>")
        assert "kept?" not in editor.text()


def test_after_a_failure_comes_another_editor(at: ScriptedDesk) -> None:
    with at.take() as editor:
        process = editor.process
    with pytest.raises(AssertionError, match="no chat"), at.take():
        raise AssertionError("no chat")
    with at.take() as editor:
        assert process.returncode is not None
        assert editor.process.pid != process.pid


def test_an_error_that_was_shown_is_a_failure(at: ScriptedDesk) -> None:
    with pytest.raises(AssertionError, match="E492"), at.take() as editor:
        editor.keys(":nonsense<CR>")


def test_a_session_of_its_own_leaves_the_shared_one_be(at: ScriptedDesk) -> None:
    with at.take() as editor:
        process = editor.process.pid
    with at.take("session") as alone:
        assert alone.process.pid != process
    assert alone.process.returncode == 0
    with at.take() as editor:
        assert editor.process.pid == process


@pytest.mark.soak
def test_a_chat_goes_on_as_an_empty_one(tmp_path: Path, api: ScriptedAPI) -> None:
    """In the same session of Claude, of whose past nothing is to be seen; others get another.

    What it asked, and nobody answered, is over.
    """
    seen = []
    desk = ClaudeDesk(tmp_path, api)
    for user in ("a", "a", "b"):
        with desk.take("nothing", user) as editor:
            assert "secret" not in editor.text()
            api.add(say("The secret."))
            start(editor, "Tell me")
            editor.wait_line("The secret.")
            wait_idle(editor)
            assert len(api.requests) == 1
            assert str(api.requests[0]["messages"]).count("Tell me") == 1
            assert "secret" not in str(api.requests[0]["messages"])
            seen.append(chat(editor))
            api.add(say(ask("t1", question("Which secret?", "A", "B"))))
            editor.keys("G")
            send(editor, "Ask me")
            wait_section(editor, "Question")
    desk.close()
    assert seen[0] == seen[1] != seen[2]


def test_a_chat_that_waits_does_not_go_on(at: Desk) -> None:
    with at.take("nothing", "a") as editor:
        start(editor)
        editor.wait_line("━━ Question")
        before = chat(editor)
    with at.take("nothing", "a") as editor:
        assert chat(editor) != before
        assert "━━ Question" not in editor.text()
