"""A buffer that is written anew: what is draft, section and transcript is found from the text.

Filters, formatters and language servers replace lines by the same ones, and with them go all marks.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import to_builtins
from winnow.protocol import Status

from tests.e2e.conftest import Desks, Share
from tests.e2e.desk import ScriptedDesk
from tests.e2e.editor import Editor
from tests.soaking import first

SAME = "local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false) "
# The same lines again, as others write them.
REWRITES = {
    "all lines": SAME + "vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)",
    "all lines but the first": SAME
    + "table.remove(lines, 1) vim.api.nvim_buf_set_lines(0, 1, -1, false, lines)",
    "one by one": SAME
    + "for i, line in ipairs(lines) do vim.api.nvim_buf_set_lines(0, i - 1, i, false, {line}) end",
    "from below": SAME
    + "for i = #lines, 1, -1 do vim.api.nvim_buf_set_lines(0, i - 1, i, false, {lines[i]}) end",
    "in hunks": SAME
    + "for i = 1, #lines, 4 do "
    + "vim.api.nvim_buf_set_lines(0, i - 1, math.min(i + 3, #lines), false,"
    + " vim.list_slice(lines, i, math.min(i + 3, #lines))) end",
    "gone, then there": SAME
    + "vim.api.nvim_buf_set_lines(0, 0, -1, false, {})"
    + " vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)",
    "twice as long, then half": SAME
    + "vim.api.nvim_buf_set_lines(0, 0, 0, false, lines)"
    + " vim.api.nvim_buf_set_lines(0, #lines, -1, false, {})",
    "as text": SAME + "vim.api.nvim_buf_set_text(0, 0, 0, #lines - 1, #lines[#lines], lines)",
    "by a language server": SAME
    + "vim.lsp.util.apply_text_edits({{newText = table.concat(lines, '\\n') .. '\\n', range = "
    + "{start = {line = 0, character = 0}, ['end'] = {line = #lines, character = 0}}}},"
    + " vim.api.nvim_get_current_buf(), 'utf-8')",
    "by a language server, line by line": SAME
    + "vim.lsp.util.apply_text_edits(vim.iter(ipairs(lines)):map(function(i, line) return "
    + "{newText = line .. '\\n', range = {start = {line = i - 1, character = 0},"
    + " ['end'] = {line = i, character = 0}}} end):totable(),"
    + " vim.api.nvim_get_current_buf(), 'utf-8')",
    "setline()": SAME + "vim.fn.setline(1, lines)",
    ":%!cat": "vim.cmd('silent %!cat')",
    ":%d, :0put": "vim.cmd('silent %d | silent 0put | silent $d')",
    ":%s": "vim.cmd([[silent %s/^.*$/&/]])",
    ":g/^/m0, twice": "vim.cmd('silent g/^/m0') vim.cmd('silent g/^/m0')",
    ":%d, u": "vim.cmd('silent %d') vim.cmd('silent undo')",
    ":%!cat, u": "vim.cmd('silent %!cat') vim.cmd('silent undo')",
    "trailing blanks": "vim.cmd([[silent %s/$/ /]]) vim.cmd([[silent %s/ $//]])",
    ":%>, :%<": "vim.cmd('silent %>') vim.cmd('silent %<')",
    ":%!cat, twice": "vim.cmd('silent %!cat') vim.cmd('silent %!cat')",
}
# What the draft holds; some of it looks like what is no draft.
DRAFTS = {
    "a draft": ["about the draft"],
    "a quoted chat": [
        *("## You", "", "hi⟦zz=1=1⟧", "", "## Claude", "", "▸ Bash make …"),
        *("", "## You", "no"),
    ],
}
# What is in the chat beside the draft, what comes then, and what the user does.
QUESTION = [
    "━━ Fruit⟦ab=1=h⟧",
    "Which fruit?⟦ab=1=q⟧",
    "```sh ⟦ab=1=b⟧",
    "## You",
    "```",
    "⟦ab=1=c⟧",
    "Apple⟦ab=1=1⟧",
    "Pear⟦ab=1=2⟧",
    "✎ Something else:⟦ab=1=e⟧",
    "━━⟦ab=0=f⟧",
]
Effect = dict[str, Any]
SECTION: Effect = {"type": "section", "section": "ab", "lines": QUESTION}
SECTION |= {"previews": {}, "focus": False, "edited": []}
HEADLESS = "gg/^━━ Fruit<CR>dd"  # the user deletes the head
WRITE: Effect = {"type": "write", "text": "One thing. The", "fresh": True}
TOOL: Effect = {"type": "tool", "id": "t", "line": "▸ Bash make …", "output": []}
DONE: Effect = {"type": "tool", "id": "t", "line": "▸ Bash make ✓", "output": ["│ made"]}
GONE: Effect = {"type": "tool", "id": "t", "line": "", "output": []}
AGAIN: Effect = {**TOOL, "id": "u"}
FREEZE: Effect = {"type": "freeze", "section": "ab", "lines": ["✓ Selected: Pear"]}
STATES: dict[str, tuple[list[Effect], str, list[Effect], str]] = {
    "idle": ([WRITE], "", [], "G<CR>"),
    "streaming": ([WRITE], "", [{**WRITE, "text": " end.", "fresh": False}], "G<CR>"),
    "a tool runs": ([WRITE, TOOL], "", [DONE, WRITE], "G<CR>"),
    "two tools run": ([WRITE, TOOL, AGAIN], "", [{**DONE, "id": "u"}, DONE], "G<CR>"),
    "a tool is asked for": ([WRITE, TOOL], "", [GONE, SECTION], "gg/^Apple<CR>dd<CR>"),
    "a question": ([WRITE, SECTION], "", [], "gg/^Apple<CR>dd<CR>"),
    "a question, answered": ([WRITE, SECTION], "", [FREEZE], "G<CR>"),
    "a question without head": ([WRITE, SECTION], HEADLESS, [], "gg/^Apple<CR>dd<CR>"),
    "a question without foot": ([WRITE, SECTION], "gg/^━━⟦<CR>dd", [], "gg/^Apple<CR>dd<CR>"),
    "own words in a question": (
        [WRITE, SECTION],
        "gg/^━━⟦<CR>Omine<Esc>",
        [FREEZE],
        "G<CR>",
    ),
}
WATCH = """
_G.told = {}
require('winnow.host').notify = function(kind, event)
  if kind == 'send' or kind == 'confirm' then
    table.insert(_G.told, { kind, event.text or event.lines })
  end
  return true
end
"""


@pytest.fixture
def chat(share: Share, desks: Desks) -> Editor:
    """An editor whose host is told nothing."""
    editor = share(desks(ScriptedDesk), size=(100, 60))
    editor.lua(WATCH)
    return editor


def told(editor: Editor, state: str, draft: list[str], rewrite: str) -> tuple[Any, list[str]]:
    """What the host is told in this state, and the chat afterwards."""
    before, keys, then, answer = STATES[state]
    editor.command("silent! %bwipeout!")
    editor.keys(":Winnow new<CR>")
    editor.lua("_G.told = {}")
    apply(editor, to_builtins(Status(0, "idle")))
    editor.keys("AHi<Esc><CR>gg")  # reading above, so that a section takes a <CR> at once
    apply(editor, *before)
    editor.keys(keys)
    editor.lua("vim.api.nvim_buf_set_lines(0, -2, -1, false, ...)", draft)
    editor.command("let &undolevels = &undolevels")  # what follows is a step of its own
    editor.lua(rewrite)
    editor.keys("gg")
    apply(editor, *then)
    editor.keys(answer)
    return editor.lua("return _G.told"), editor.lines()


def apply(editor: Editor, *effects: Effect) -> None:
    """What the host has to say."""
    editor.lua(
        """
        for _, effect in ipairs(...) do
          effect.chat = vim.api.nvim_get_current_buf()
          require('winnow.dispatch').apply({ effect })
        end
        """,
        effects,
    )


@pytest.mark.parametrize("draft", first(2, DRAFTS))
@pytest.mark.parametrize("state", first(3, STATES))
def test_nothing_depends_on_marks(chat: Editor, state: str, draft: str) -> None:
    """Whatever writes the buffer anew, and whenever: as if nothing had."""
    expected = told(chat, state, DRAFTS[draft], "")
    for name, rewrite in REWRITES.items():
        assert told(chat, state, DRAFTS[draft], rewrite) == expected, name


@pytest.mark.parametrize(
    "rewrite",
    [
        "local kept = vim.iter(lines):filter(function(l) return l ~= '## You' end):totable()"
        " vim.api.nvim_buf_set_lines(0, 0, -1, false, kept)",
        "vim.cmd('silent %!grep -v You')",
        "vim.cmd('silent %!grep Claude')",
        "vim.cmd('silent g/^## You/d')",
        "vim.api.nvim_buf_set_lines(0, 0, -1, false, {})",
    ],
)
def test_what_claude_said_is_not_sent(chat: Editor, rewrite: str) -> None:
    """Where no heading is left, only what stood below it is the draft, or nothing."""
    sent, lines = told(chat, "idle", [], SAME + rewrite)
    assert sent == [["send", "Hi"]]
    apply(chat, {**WRITE, "text": "More."})
    assert chat.lines()[-3:] == ["More.", "", "## You"] or "\n## You\n" in chat.text()
    assert lines.count("One thing. The") <= 1


QUOTED = ["see", "## You", "and that", "", "## Claude", "", "said", "", "## You", "so"]


def test_a_quoted_chat_in_the_draft_is_read_again(chat: Editor) -> None:
    """`:e!` finds the draft's heading above what looks like one."""
    told(chat, "a question, answered", ["kept"], "")
    chat.lua("vim.api.nvim_buf_set_lines(0, -2, -1, false, ...)", QUOTED)
    chat.command("silent write")
    chat.command("edit!")
    quoted = chat.lua("return require('winnow.registry').current():draft()")
    assert quoted == "\n".join(QUOTED)


@pytest.mark.parametrize("keys", ["dd", "Atyped<Esc>", "ccmine<Esc>"])
def test_a_tool_s_line_that_is_the_user_s_now_stays(chat: Editor, keys: str) -> None:
    """No update is written over another line."""
    told(chat, "idle", ["draft"], "")
    apply(chat, WRITE, TOOL)
    chat.keys("gg/^▸ Bash<CR>" + keys)
    before = chat.lines()
    apply(chat, DONE, GONE)
    assert chat.lines() == before


def test_a_hundred_thousand_lines(chat: Editor) -> None:
    """Written anew, they are looked through once, and what is typed then costs nothing of that."""
    told(chat, "idle", ["draft"], "")
    chat.lua("""
      local said = vim.fn['repeat']({ 'said' }, 100000)
      require('winnow.dispatch').apply({
        { type = 'write', chat = vim.api.nvim_get_current_buf(), text = table.concat(said, '\\n') },
      })
      vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.api.nvim_buf_get_lines(0, 0, -1, false))
    """)
    assert chat.lua("return require('winnow.registry').current():draft()") == ""
    chat.keys("Go typed<Esc>")
    reads = chat.lua("""
      local get, reads = vim.api.nvim_buf_get_lines, 0
      vim.api.nvim_buf_get_lines = function(...)
        local lines = get(...)
        reads = reads + #lines
        return lines
      end
      local draft = require('winnow.registry').current():draft()
      vim.api.nvim_buf_get_lines = get
      return { reads, draft }
    """)
    assert reads[0] < 100, reads
    assert reads[1] == "typed"
