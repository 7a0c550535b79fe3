"""A run in a real Neovim: a script plays its agents."""

from __future__ import annotations

from pathlib import Path

import winnow

from tests.e2e.conftest import Open
from tests.e2e.editor import Editor
from tests.e2e.steps import wait_section

SCENARIO = Path(winnow.__file__).parent / "scenarios" / "run.json"


def begun(open_editor: Open) -> Editor:
    """A run in which one worker has asked for a permission, and another a question."""
    editor = open_editor(agent="scripted", scenario=str(SCENARIO))
    editor.keys(":Winnow run Give the shop a cart<CR>")
    wait_section(editor, "Permission: Bash · t2 Tests")
    editor.wait(lambda: "1 more waiting" in "\n".join(editor.screen()), "a question behind it")
    return editor


def test_a_question_is_answered_by_deleting(open_editor: Open) -> None:
    """The permission of one worker, then the question of another; and the timeline of it all."""
    editor = begun(open_editor)
    editor.keys(":Winnow allow<CR>")
    wait_section(editor, "Question: t1 Schema")
    editor.keys("/PostgreSQL<CR>dd")
    editor.keys("<CR>")
    editor.wait_line("✓ Selected: SQLite")
    editor.wait_line("▸ t1 “Schema” is done.")
    editor.wait_line("All is done: schema, tests and docs.")
    editor.keys(":Winnow log run<CR>")
    editor.wait_line("run finished: Schema, tests and docs are there.")
    assert "→ answered by you" in editor.text()
    editor.assert_no_errors()


def test_a_killed_neovim_asks_it_again(open_editor: Open) -> None:
    """And goes on with the answer. What a script says then it has said before."""
    editor = begun(open_editor)
    (chat,) = editor.sandbox.data.rglob("*.md")
    editor.kill()
    editor.start(str(chat))
    wait_section(editor, "Question: t1 Schema")
    editor.keys("GoSQLite, as before<Esc><CR>")
    editor.wait_line("✓ Answered: t1 (q2)")
    editor.keys(":Winnow log run<CR>")
    editor.wait_line("t1 resumed after human query q2")
    editor.assert_no_errors()
