"""What an answer names, as the quickfix list."""

from __future__ import annotations

import pytest

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle

LISTED = """
  return vim.tbl_map(function(item)
    local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ':t')
    return ('%s:%d:%d %s'):format(name, item.lnum, item.col, item.text)
  end, vim.fn.getqflist())
"""
ANSWER = """\
See a.py:2, (`b c.py:3:1`), [the loop](src/d.py#L4) and a.py:2 again; a.py too.
Neither none.py:1 nor word, a.py:x nor http://a.py:1/."""
FINDING = {"file": "src/d.py", "line": 1, "summary": "never closed", "failure_scenario": "so"}


@pytest.fixture
def told(claude: Editor, api: ScriptedAPI) -> Editor:
    """A chat with two answers; the first one has findings."""
    project = claude.sandbox.project
    (project / "src").mkdir(exist_ok=True)
    for name in ("a.py", "b c.py", "src/d.py"):
        (project / name).write_text("1\n2\n3\n4\n")
    findings = ToolUse("ReportFindings", {"findings": [FINDING], "level": "low"}, "toolu_1")
    api.add(say("Looking at a.py.", findings), say(ANSWER), say("Nothing in particular."))
    start(claude)
    claude.wait_line("Neither none.py")
    wait_idle(claude)
    send(claude, "and?")
    claude.wait_line("Nothing in particular.")
    wait_idle(claude)
    return claude


def test_the_references_of_an_answer_are_a_quickfix_list(told: Editor) -> None:
    """Of the one under the cursor, each file and line once; of what tools put out, findings."""
    told.keys("G:Winnow refs<CR>")
    assert told.lua(LISTED) == []
    told.keys("gg/^Neither<CR>:Winnow refs<CR>")
    first = ANSWER.split("\n", maxsplit=1)[0]
    assert told.lua(LISTED) == [
        "a.py:1:0 Looking at a.py.",
        "d.py:1:0 src/d.py:1: never closed",
        f"a.py:2:0 {first}",
        f"b c.py:3:1 {first}",
        f"d.py:4:0 {first}",
    ]
    assert told.lua("return vim.bo.buftype") == "quickfix"
    told.keys("5G<CR>")
    assert told.cursor()[0] == 4
    assert told.lua("return vim.fn.expand('%:t')") == "d.py"
