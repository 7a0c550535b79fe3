"""Sections with a body between question and options, and what Neovim does beside them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from winnow import protocol as p
from winnow.app.view import spliced
from winnow.core.question import Option, Question
from winnow.core.section.form import Form, lines_of
from winnow.core.text.text import marker, prose

from tests.e2e.editor import Editor
from tests.e2e.steps import wait_idle

DIFF = [
    "--- src/app.py",
    "+++ src/app.py",
    "@@ -1,3 +1,3 @@",
    " kept = 1",
    "--- comment",
    "-old = 2",
    "+new = 2",
    "✓ no record",
]
WATCH = """
_G.told = {}
local host = require('winnow.host')
local notify = host.notify
host.notify = function(kind, event)
  table.insert(_G.told, vim.tbl_extend('force', event, { kind = kind }))
  return notify(kind, event)
end
"""


def section(info: str, body: list[str], fence: str = "```") -> list[str]:
    """The lines of a section with this body."""
    return [
        "━━ Patch: src/app.py⟦ab=1=h⟧",
        "Claude wants to edit a file.⟦ab=1=q⟧",
        f"{fence}{info}⟦ab=1=b⟧",
        *body,
        fence,
        "⟦ab=1=c⟧",
        "Allow once⟦ab=1=1⟧",
        "Always allow edits⟦ab=1=2⟧",
        "Deny — and say why⟦ab=1=3⟧",
        "━━⟦ab=0=f⟧",
    ]


def open_chat(editor: Editor) -> None:
    """Open a chat whose buffer `apply` is about from now on."""
    editor.resize(100, 40)
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.lua("_G.chat = vim.api.nvim_get_current_buf()")


def apply(editor: Editor, kind: str, **fields: object) -> None:
    """What the host may ask for."""
    editor.lua(
        """
        local effect = ...
        effect.chat = chat
        require('winnow.dispatch').apply({ effect })
        """,
        {"type": kind, **fields},
    )


def ask(editor: Editor, info: str, body: list[str], **fields: object) -> None:
    """Open a chat with a section that nobody but Neovim knows."""
    open_chat(editor)
    lines = section(info, body)
    more = {"previews": {}, "focus": True, "edited": [], **fields}
    apply(editor, "section", section="ab", lines=lines, **more)


def waits(editor: Editor, *kinds: str, mode: str = "") -> None:
    """Something of each kind waits in the chat."""
    pending = [
        {
            "section": "ab" if i == 0 else f"x{i}",
            "kind": kind,
            "title": "T",
            "agent": "",
            "since": 1,
        }
        for i, kind in enumerate(kinds)
    ]
    apply(editor, "status", state="waiting", pending=pending, cost=0, mode=mode, background=0)


def told(editor: Editor, kind: str) -> list[dict[str, Any]]:
    """The events of a kind that the host was told since `WATCH`."""
    return [event for event in editor.lua("return _G.told") if event["kind"] == kind]


def group(editor: Editor, name: str) -> Any:
    """The colour of a highlight group."""
    return editor.lua("return vim.api.nvim_get_hl(0, { name = ..., link = false }).fg", name)


# --- what a body looks like -------------------------------------------------------------------


def test_no_marker_is_shown(editor: Editor) -> None:
    """Those of the fences are hidden as all others are, in every mode and after edits."""
    ask(editor, "diff", DIFF)
    for keys in ("", "gg/^```diff<CR>", "A note", "<Esc>", "V", "<Esc>", "3G", "G?^```<CR>x", "u"):
        editor.keys(keys)
        assert "Patch: src/app.py" in "".join(editor.screen())
    assert not editor.was_shown("⟦")
    assert not editor.was_shown("ab=")
    assert not editor.was_shown(".1.b")


def test_what_looks_like_a_marker_in_a_body_is_shown(editor: Editor) -> None:
    """What will run must be seen as it is."""
    ask(editor, "sh", ["echo '<!-- v1.2.3-->' # <!-- winnow: -->"])
    editor.wait_screen("echo '<!-- v1.2.3-->' # <!-- winnow: -->")


def test_nothing_folds_in_a_body(editor: Editor) -> None:
    """What will run is seen in every window, even if it looks like a tool's output."""
    ask(editor, "sh", ["cat <<EOF", "▸ Bash true ✓", "│ rm -rf ~", "EOF"])
    editor.keys(":tab split<CR>")
    editor.wait_screen("│ rm -rf ~")


@pytest.mark.fresh("session")
@pytest.mark.parametrize("background", ["dark", "light"])
def test_a_diff_has_colours(editor: Editor, background: str) -> None:
    """By the first character of each line; a removed comment names no file."""
    editor.command(f"set background={background}")
    ask(editor, "diff", DIFF)
    editor.wait_screen("━━ Patch")
    assert editor.style("+++ src")["foreground"] == group(editor, "WinnowFile")
    assert editor.style("--- src")["foreground"] == group(editor, "WinnowFile")
    assert editor.style("@@ -1")["foreground"] == group(editor, "WinnowHunk")
    assert editor.style("+new")["foreground"] == group(editor, "WinnowAdded")
    assert editor.style("-old")["foreground"] == group(editor, "WinnowRemoved")
    assert editor.style("--- comment")["foreground"] == group(editor, "WinnowRemoved")
    plain = {"foreground": group(editor, "Normal")}
    assert editor.style("kept") in ({}, plain)
    assert editor.style("Allow once")["foreground"] == group(editor, "WinnowLabel")
    assert editor.style("✓ no record")["foreground"] != group(editor, "WinnowDecided")
    assert editor.style("```diff")["foreground"] == group(editor, "WinnowHint")
    assert editor.style("## You")["bold"]
    editor.keys("gg/^-old<CR>r+")
    assert editor.style("+old")["foreground"] == group(editor, "WinnowAdded")


def test_colours_follow_edits(editor: Editor) -> None:
    """Lines typed into a diff have them, too; those of a closed section or another body don't."""
    ask(editor, "diff", DIFF)
    editor.keys("gg/^+new<CR>o+typed<Esc>")
    assert editor.style("+typed")["foreground"] == group(editor, "WinnowAdded")
    editor.keys("u")
    apply(editor, "freeze", section="ab", lines=["```diff", "-old = 2", "+new = 2", "```"])
    assert editor.style("+new").get("foreground") != group(editor, "WinnowAdded")


def test_only_diffs_have_colours(editor: Editor) -> None:
    """A list in a plan is none."""
    ask(editor, "markdown", ["- step", "+ other"])
    editor.wait_screen("- step")
    assert editor.style("+ other").get("foreground") != group(editor, "WinnowAdded")


# --- where it is ------------------------------------------------------------------------------


def test_the_cursor_goes_past_the_body(editor: Editor) -> None:
    """To the first option, whatever the number of the body; to the foot for 0."""
    ask(editor, "diff", DIFF)
    assert editor.line().startswith("Allow once")
    apply(editor, "move", section="ab", question=0)
    assert editor.line().startswith("━━⟦")


@pytest.mark.parametrize("heading", ["## Steps", "## Claude is asked", "## Claude", "## You"])
def test_a_heading_in_a_body_ends_no_section(editor: Editor, heading: str) -> None:
    """`:e!` finds all of the section again."""
    ask(editor, "markdown", ["# Plan", "", heading, "", "1. Do it."])
    found = editor.lua("""
      vim.cmd('edit!') -- seen before the host says that it knows of no such section
      local section = require('winnow.registry').current().section
      return { section.id, section:lines() }
    """)
    assert found[0] == "ab"
    assert "Patch" in found[1][0]
    assert heading in found[1]


def test_an_edit_counts_when_the_text_is_read_anew_at_once(editor: Editor) -> None:
    """`:e!` right after `dd`, before Neovim has waited for a key."""
    ask(editor, "diff", DIFF)
    editor.lua(WATCH)
    editor.lua("""
      vim.fn.search('^-old')
      vim.cmd('normal! dd')
      vim.cmd('edit!')
    """)
    told = editor.lua("return _G.told")
    (edit,) = [event for event in told if event["kind"] == "edit"]
    removed = section("diff", DIFF).index("-old = 2")
    assert (edit["first"], edit["after"], edit["lines"]) == (removed, removed + 1, [])


# What is known of the open section, what stands there, and what the host was told of it.
KNOWN = """
local section = require('winnow.registry').get(chat).section
if section then
  local lines, marked = section:lines()
  local whole, found = section.chat:lines(section:rows()), {}
  for i, line in ipairs(whole) do
    local marker = require('winnow.section.marker').of(line, section.id)
    table.insert(found, marker and { at = i, marker = marker } or nil)
  end
  return { lines, marked, whole, found }
end
"""
EDITS = [
    *("dd", "3dd", "x", "J", ">>", "p", "yyp", "V3jd", "gUU", "cctyped<Esc>", "A x<Esc>"),
    *("otwo<CR>lines<Esc>", "Oabove<Esc>", "u", "3u", "<C-r>", ":g/2/d<CR>", ":%s/a/b/e<CR>"),
    *(":sil! m+2<CR>", ":sil! m0<CR>", ":t.<CR>", ":.,$!sort<CR>", ":s/e/E/e<CR>", "Godraft<Esc>"),
    *(":earlier 2<CR>", ":e!<CR>", ":sil! %g/^-/m$<CR>", ":%s/k/K/g<Esc>", "qaddq2@a"),
]


def test_any_edit_is_told_as_the_text_has_it(editor: Editor) -> None:
    """What is known of the lines is what stands there, and what the host has made of it."""
    ask(editor, "diff", [*DIFF, *(f" line {n}" for n in range(30))])
    host = first = section("diff", [*DIFF, *(f" line {n}" for n in range(30))])
    editor.lua(WATCH)
    editor.command("set inccommand=split")
    chance, heard = Random(3), 0
    for number in range(150):
        keys = f":{chance.randint(1, len(host) + 8)}<CR>{chance.choice(EDITS)}"
        editor.keys(keys)
        for event in told(editor, "edit"):
            edit = {name: event[name] for name in ("first", "after", "size") if name in event}
            after = spliced(host, p.Edit(1, "ab", event["lines"], **edit))
            assert after is not None, (number, keys, event)
            host, heard = after, heard + 1
        editor.lua("_G.told = {}")
        if (known := editor.lua(KNOWN)) is None:
            apply(editor, "section", section="ab", lines=first, previews={}, edited=[])
            host = first
        else:
            lines, marked, whole, found = known
            assert (lines, marked) == (whole, found), (number, keys)
            assert [*host, ""] == lines or host == lines, (number, keys)
    assert heard > 40
    editor.assert_no_errors()


def test_nobody_looks_at_what_was_read_anew(editor: Editor) -> None:
    """A section that was drawn before `:e!`, and is closed after it, has no place any more."""
    ask(editor, "diff", DIFF)
    editor.lua("""
      vim.cmd('redraw!') -- it is looked at when Neovim waits for the user
      vim.cmd('edit!')
      local effect = { type = 'freeze', chat = chat, section = 'ab', lines = { 'gone' } }
      require('winnow.dispatch').apply({ effect })
    """)
    editor.settle()
    editor.assert_no_errors()
    assert "gone" in editor.lines()


def test_ten_thousand_lines(editor: Editor) -> None:
    """Opening, drawing and editing a long patch takes no time that is felt."""
    open_chat(editor)
    body = [f"{' -+'[i % 3]}line {i} of a `long` *diff*" for i in range(10_000)]
    opened, drawn = editor.lua(
        """
        local began = os.clock()
        local effect = { type = 'section', chat = chat, section = 'ab', previews = {}, edited = {} }
        effect.lines, effect.focus = ..., true
        require('winnow.dispatch').apply({ effect })
        local opened = os.clock()
        vim.cmd.redraw()
        return { (opened - began) * 1e3, (os.clock() - opened) * 1e3 }
        """,
        section("diff", body),
    )
    assert opened + drawn < 250
    edited = editor.lua("""
      local section = require('winnow.registry').current().section
      local began = os.clock()
      for _ = 1, 10 do
        vim.api.nvim_buf_set_lines(chat, 3000, 3001, true, {})
        section:lines()
        section:decorate()
        vim.cmd.redraw()
      end
      return (os.clock() - began) * 100
    """)
    assert edited < 60


SCRAPS = ["⟦", "⟧", "ab=1", "=1=2", "=1", "ab", *"-<>=1qab: .!"]
SCRAPS.append("⟦ab=1=2⟧")


def test_nothing_that_an_agent_says_is_concealed(editor: Editor) -> None:
    """In a section only the markers are, whatever stands before them; in the transcript nothing."""
    random = Random(7)
    texts = ["".join(random.choices(SCRAPS, k=random.randint(1, 7))) for _ in range(4000)]
    lines = [
        line
        for number, text in enumerate(texts)
        for line in lines_of(Form("ab", (Question("Q", "", (Option(text, texts[number - 1]),)),)))
        if line.slot == 1
    ]
    marked = [line.text + marker("ab", 1, 1) for line in lines]
    found = editor.lua(
        """
        local marker = require('winnow.section.marker')
        local function spans(id)
          return function(line)
            return marker.spans(line, id)
          end
        end
        local sections, prose = ...
        return { vim.tbl_map(spans('ab'), sections), vim.tbl_map(spans(), prose) }
        """,
        marked,
        [prose(text) for text in texts],
    )
    for line, text, spans in zip(lines, marked, found[0], strict=True):
        assert spans == [[len(line.text.encode()), len(text.encode())]], text
    for text, spans in zip(texts, found[1], strict=True):
        assert spans == [], text


def test_what_looks_like_a_tool_s_line_is_none(editor: Editor) -> None:
    """A table or a tree that Claude draws has no colour and no fold, a tool's output has both."""
    open_chat(editor)
    for text in ("▸ Read x ✓\n│ mine", "│ table │\n│ row │", "✓ Selected: mine", "⚠ mine"):
        apply(editor, "write", text=prose(text), fresh=True)
    apply(editor, "tool", id="t", line="▸ Bash make ✓", output=["│ theirs", "│ more"])
    apply(editor, "write", text="⚠ theirs", fresh=True)
    assert "▸ Read x ✓\n│ mine" in editor.text()
    for line in ("│ mine", "│ row", "✓ Selected", "⚠ mine"):
        assert editor.style(line).get("foreground") is None, line
    assert editor.style("▸ Bash").get("foreground") == group(editor, "WinnowTool")
    assert editor.style("⚠ theirs").get("foreground") == group(editor, "WinnowNotice")
    folded = "return vim.fn.foldclosed(vim.fn.search(..., 'nw')) > 0"
    assert editor.lua(folded, "^│ theirs")
    assert not editor.lua(folded, "^│ mine")
    editor.lua("require('winnow.registry').current():save()")
    editor.command("edit!")
    assert editor.lua(folded, "^│ theirs")
    assert not editor.lua(folded, "^│ mine")
    editor.keys("zR")
    assert editor.style("│ theirs").get("foreground") == group(editor, "WinnowOutput")
    assert editor.style("│ mine").get("foreground") is None


# --- a tool's line ----------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["", "3k"], ids=["in the draft", "above its heading"])
def test_no_row_stays_empty(editor: Editor, keys: str) -> None:
    """When output folds, also below a paragraph of which only the end is in sight."""
    open_chat(editor)
    editor.keys(keys)
    for number, text in enumerate(("line\n" * 60, "word " * 1000), 1):
        apply(editor, "write", text=text, fresh=True)
        assert "~" not in editor.screen()
        for output in (1, 60):
            line = f"▸ Bash {number} {output} ✓"
            apply(editor, "tool", id=line, line=line, output=["│ out"] * output)
            assert "~" not in editor.screen()


def test_a_tool_s_line_goes_and_comes_again(editor: Editor) -> None:
    """As if it had not stood there; below the section's record it stands as a new line."""
    open_chat(editor)
    apply(editor, "write", text="Now then.", fresh=True)
    before = editor.lines()
    apply(editor, "tool", id="t", line="▸ Bash make …", output=["│ first"])
    assert "▸ Bash make …" in editor.lines()
    apply(editor, "tool", id="t", line="", output=[])
    assert editor.lines() == before
    apply(editor, "tool", id="t", line="", output=[])
    assert editor.lines() == before
    apply(editor, "write", text="Later.", fresh=True)
    apply(editor, "tool", id="t", line="▸ Bash make …", output=[])
    apply(editor, "tool", id="t", line="▸ Bash make ✓", output=[])
    text = editor.text()
    assert "Now then.\n\nLater.\n\n▸ Bash make ✓\n\n## You" in text
    editor.keys("u")
    assert editor.text() == text


@pytest.mark.parametrize(("gone", "left"), [("a", "b"), ("b", "a")])
def test_one_of_two_tools_goes(editor: Editor, gone: str, left: str) -> None:
    """The other keeps its place and its mark."""
    open_chat(editor)
    apply(editor, "write", text="Now then.", fresh=True)
    for name in "ab":
        apply(editor, "tool", id=name, line=f"▸ Bash {name} …", output=[])
    apply(editor, "tool", id=gone, line="", output=[])
    apply(editor, "tool", id=left, line=f"▸ Bash {left} ✓", output=[])
    assert f"Now then.\n\n▸ Bash {left} ✓\n\n## You" in editor.text()


def test_a_tool_between_paragraphs_goes(editor: Editor) -> None:
    """One blank line stays."""
    open_chat(editor)
    apply(editor, "write", text="Before.", fresh=True)
    apply(editor, "tool", id="t", line="▸ Bash make …", output=[])
    apply(editor, "write", text="After.", fresh=True)
    apply(editor, "tool", id="t", line="", output=[])
    assert "Before.\n\nAfter.\n\n## You" in editor.text()


# --- from anywhere ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "choice", "reason"),
    [
        (":Winnow allow<CR>", "allow", ""),
        (":Winnow always<CR>", "always", ""),
        (":Winnow deny<CR>", "deny", ""),
        (":Winnow deny not now <CR>", "deny", "not now"),
        ("<Plug>(winnow-allow)", "allow", ""),
        ("<Plug>(winnow-always)", "always", ""),
        ("<Plug>(winnow-deny)not now<CR>", "deny", "not now"),
        ("<Plug>(winnow-deny)<CR>", "deny", ""),
    ],
)
def test_an_answer_from_anywhere(editor: Editor, keys: str, choice: str, reason: str) -> None:
    """It says what stands in the section, and focus stays where it is."""
    ask(editor, "diff", DIFF)
    editor.lua(WATCH)
    editor.keys("gg/^ kept<CR>dd")
    waits(editor, "patch")
    editor.keys(":new<CR>")
    if keys.startswith("<Plug>"):
        plug, _, rest = keys.partition(")")
        editor.command(f"nmap gz {plug})")
        keys = f"gz{rest}"
    editor.keys(keys)
    [event] = told(editor, "grant")
    assert (event["section"], event["choice"], event["reason"]) == ("ab", choice, reason)
    assert event["lines"][2:4] == ["```diff⟦ab=1=b⟧", DIFF[0]]
    assert " kept = 1" not in event["lines"]
    assert editor.lines() == [""]


def test_a_denial_that_is_left(editor: Editor) -> None:
    """<Esc> at the question for a reason denies nothing."""
    ask(editor, "diff", DIFF)
    editor.lua(WATCH)
    waits(editor, "patch")
    editor.command("nmap gz <Plug>(winnow-deny)")
    editor.keys("gzno<Esc>")
    assert not told(editor, "grant")


def test_a_section_that_is_not_open_yet(editor: Editor) -> None:
    """It is answered without lines."""
    open_chat(editor)
    editor.lua(WATCH)
    waits(editor, "permission")
    editor.keys(":Winnow allow<CR>")
    [event] = told(editor, "grant")
    assert event["lines"] == []


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        ([], "Nothing waits for you."),
        (["question"], "A question waits: answer in the chat; <CR> here goes there."),
        (["patch", "plan"], "2 things wait: answer in the chat; <CR> here goes there."),
    ],
)
def test_what_can_not_be_answered_from_anywhere(
    editor: Editor, kinds: list[str], sentence: str
) -> None:
    """The inbox shows it instead."""
    open_chat(editor)
    editor.lua(WATCH)
    waits(editor, *kinds)
    for command in ("allow", "always", "deny because"):
        editor.keys(f":messages clear<CR>:Winnow {command}<CR>")
        assert sentence in editor.messages()
        assert editor.lua("return vim.bo.filetype == 'winnowlist'") is bool(kinds)
    assert not told(editor, "grant")


# --- modes ------------------------------------------------------------------------------------


def test_the_mode_is_changed(editor: Editor) -> None:
    """<Tab> completes it; an unknown one is refused with those there are."""
    open_chat(editor)
    editor.lua(WATCH)
    editor.keys(":Winnow mode acc<Tab><CR>")
    editor.keys(":Winnow mode<CR>")
    assert [event["mode"] for event in told(editor, "setmode")] == ["acceptEdits", ""]
    editor.resize(160, 40)
    editor.keys(":Winnow mode yolo<CR>")
    assert "there is no mode yolo: it is one of default, acceptEdits, plan" in editor.messages()
    assert len(told(editor, "setmode")) == 2


@pytest.mark.parametrize(("keys", "sent"), [("<CR>", 0), ("n", 0), ("<Esc>", 0), ("y", 1)])
def test_a_mode_without_questions_is_asked_about(editor: Editor, keys: str, sent: int) -> None:
    """And not by accident."""
    open_chat(editor)
    editor.lua(WATCH)
    editor.keys(":Winnow mode bypassPermissions<CR>")
    editor.wait_screen("Claude will run everything without asking, questions excepted. Go on?")
    editor.keys(keys)
    assert len(told(editor, "setmode")) == sent


@pytest.mark.parametrize(
    ("mode", "shown"), [("", "waiting 1"), ("default", "waiting 1"), ("plan", "waiting plan 1")]
)
def test_the_statusline_has_the_mode(editor: Editor, mode: str, shown: str) -> None:
    """Unless it is the usual one."""
    open_chat(editor)
    waits(editor, "plan", mode=mode)
    assert editor.lua("return require('winnow').statusline()") == shown


def test_rules_are_shown(editor: Editor) -> None:
    """In a float, which the next move closes."""
    open_chat(editor)
    apply(editor, "rules", lines=["Mode: plan", "", "- allow Bash(make)"])
    editor.wait_screen("allow Bash(make)")
    assert editor.lua("return vim.api.nvim_get_current_buf() == chat")
    editor.keys("k")
    editor.wait(lambda: "Bash(make)" not in "".join(editor.screen()), "no float")


# --- beside the chat --------------------------------------------------------------------------


def source(editor: Editor) -> Path:
    """A file of the project, with 100 lines."""
    path = editor.sandbox.project / "app.py"
    path.write_text("".join(f"line {number}\n" for number in range(1, 101)))
    return path


@pytest.mark.parametrize(("line", "there"), [(42, 42), (1000, 100), (0, 1)])
def test_a_file_is_visited(editor: Editor, line: int, there: int) -> None:
    """Beside the chat, at its line."""
    path = source(editor)
    ask(editor, "diff", DIFF)
    for _ in range(2):  # the second time in the window that shows it already
        apply(editor, "visit", path=str(path), line=line)
        assert editor.line() == f"line {there}"
        assert editor.lua("return #vim.api.nvim_list_wins()") == 2
        editor.keys("<C-w>p")
        assert editor.line().startswith("Allow once")


def test_no_visit_once_the_user_has_left(editor: Editor) -> None:
    """The cursor is not taken from another buffer."""
    path = source(editor)
    ask(editor, "diff", DIFF)
    editor.keys(":new<CR>")
    apply(editor, "visit", path=str(path), line=1)
    assert editor.lines() == [""]


def test_both_sides_of_a_patch(editor: Editor) -> None:
    """A tab with two buffers in diff mode, which end with it."""
    ask(editor, "diff", DIFF)
    editor.lua(WATCH)
    editor.keys(":Winnow diff<CR>")
    [event] = told(editor, "compare")
    assert event["section"] == "ab"
    assert "+new = 2" in event["lines"]
    old = [f"line {number}" for number in range(1, 31)]
    new = [*old[:19], "changed", *old[20:]]
    for _ in range(2):
        apply(editor, "sides", path="/src/app.py", old=old, new=new)
        assert editor.lines() == new
        assert editor.cursor()[0] == 20
        wins = editor.lua("""
          return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(function(win)
            local buf = vim.api.nvim_win_get_buf(win)
            return { vim.wo[win].diff, vim.bo[buf].filetype, vim.bo[buf].modifiable,
              vim.api.nvim_buf_get_name(buf):gsub('%d+', 'N') }
          end):totable()
        """)
        assert [win[:3] for win in wins] == [[True, "python", False]] * 2
        assert [win[3] for win in wins] == [
            "winnow://old/N/src/app.py",
            "winnow://new/N/src/app.py",
        ]
    editor.keys(":tabclose<CR>:tabclose<CR>")
    assert editor.lua("return vim.fn.getcompletion('winnow://', 'buffer')") == []
    assert editor.line().startswith("Allow once")


def test_no_sides_without_a_section(editor: Editor) -> None:
    """It is said."""
    open_chat(editor)
    editor.keys(":Winnow diff<CR>")
    assert "there is no open section to compare" in editor.messages()
