"""Several chats, windows and questions at a time, and what stays the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api import ScriptedAPI, ToolUse, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, send, start, wait_idle, wait_section

MARKER = "⟦"
FRUIT = question("Which fruit?", "Apple", "Pear", "Plum", header="Fruit")
TREE = question("Which tree?", "Ash", "Elm", "Oak", header="Tree")


def answered(text: str, label: str) -> str:
    """What Claude reads when a question is answered with one option."""
    return f'answered: "{text}"="{label}".'


def chats(editor: Editor) -> list[str]:
    """The names of the chat files that windows of this tab show."""
    found: list[str] = editor.lua("""
      return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(function(win)
        return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
      end):filter(function(name) return name:find('/chats/') end):totable()
    """)
    return [Path(name).name for name in found]


# --- side by side -----------------------------------------------------------------------------


def test_two_chats_ask_at_the_same_time(claude: Editor, api: ScriptedAPI) -> None:
    """Each question is answered in its own chat, whichever is answered first."""
    claude.resize(160, 40)
    api.add(say("One.", ask("toolu_1", FRUIT)), say("Two.", ask("toolu_2", TREE)))
    start(claude, "first")
    wait_section(claude, "Question: Fruit")
    claude.keys("G:vertical Winnow new<CR>")
    send(claude, "second")
    wait_section(claude, "Question: Tree")
    assert len(chats(claude)) == 2
    api.add(say("A fine tree."), say("A fine fruit."))
    claude.keys("gg/^Ash<CR>dddd<CR>")
    assert answered("Which tree?", "Oak") in api.tool_result("toolu_2")
    claude.wait_line("A fine tree.")
    claude.keys("<C-w>p")
    assert "Question: Fruit" in claude.text()
    claude.keys("gg/^Apple<CR>jdddd<CR>")
    assert answered("Which fruit?", "Apple") in api.tool_result("toolu_1")
    claude.wait_line("A fine fruit.")
    assert "tree" not in claude.text()


def test_one_chat_in_two_windows(claude: Editor, api: ScriptedAPI) -> None:
    """Markers are hidden in both windows, and what is deleted in either counts."""
    claude.resize(120, 40)
    api.add(say(ask("toolu_1", FRUIT)), say("Noted."))
    start(claude)
    wait_section(claude, "Question: Fruit")
    claude.keys(":vsplit<CR>gg/^Apple<CR>dd<C-w>p")
    claude.wait(lambda: sum("Pear" in row for row in claude.screen()), "Pear")
    assert any(row.count("Pear — about Pear") == 2 for row in claude.screen())
    claude.keys("gg/^Plum<CR>dd<CR>")
    assert answered("Which fruit?", "Pear") in api.tool_result("toolu_1")
    assert not claude.was_shown(MARKER)


@pytest.mark.parametrize("first", ["answer", "cancel"])
def test_two_questions_in_one_message(claude: Editor, api: ScriptedAPI, first: str) -> None:
    """One question replaced the other, or got its answer (shabaraba/vibing.nvim#799)."""
    claude.resize(120, 40)
    api.add(say(ask("toolu_1", FRUIT), ask("toolu_2", TREE)), say("Noted."))
    start(claude)
    claude.wait_screen("1 more waiting")
    wait_section(claude, "Question: Fruit")
    assert "Which tree?" not in claude.text()
    claude.keys("gg/^Apple<CR>dddd<CR>" if first == "answer" else "<Esc><Esc>")
    wait_section(claude, "Question: Tree")
    assert "more waiting" not in "".join(claude.screen())
    claude.keys("gg/^Ash<CR>jdddd<CR>")
    claude.wait_line("Noted.")
    assert answered("Which tree?", "Ash") in api.tool_result("toolu_2")
    told = api.tool_result("toolu_1")
    if first == "answer":
        assert answered("Which fruit?", "Plum") in told
    else:
        assert "cancelled this question" in told


# --- permissions ------------------------------------------------------------------------------

COMMAND = """python3 -c 'open("made", "a").write("once")'"""


def permission(claude: Editor, api: ScriptedAPI) -> None:
    """A chat in which Claude wants to run `COMMAND`."""
    claude.resize(120, 40)
    api.add(say(ToolUse("Bash", {"command": COMMAND}, "toolu_1")), say("So be it."))
    start(claude)
    wait_section(claude, "Permission: Bash")


def made(claude: Editor) -> str:
    """What `COMMAND` has left behind."""
    path = claude.sandbox.project / "made"
    return path.read_text() if path.exists() else ""


def test_allow_once(claude: Editor, api: ScriptedAPI) -> None:
    """Two <CR>s run the command, once."""
    permission(claude, api)
    assert claude.line().startswith("Allow once")
    claude.keys("<CR>")
    claude.wait_screen("<CR> again keeps only Allow once")
    claude.keys("<CR>")
    claude.wait_line("So be it.")
    assert made(claude) == "once"
    assert f"✓ Allow once: Bash {COMMAND}" in claude.lines()


def test_deny_with_a_reason(claude: Editor, api: ScriptedAPI) -> None:
    """What stands after Deny is told to Claude, and the turn goes on."""
    permission(claude, api)
    claude.keys("gg/^Allow once<CR>d/^Deny<CR>A because it is late<Esc><CR>")
    claude.wait_line("So be it.")
    assert "denied this use of Bash: because it is late" in api.tool_result("toolu_1")
    assert made(claude) == ""
    assert f"✗ Denied: Bash {COMMAND} — because it is late" in claude.lines()


def test_always_allow(claude: Editor, api: ScriptedAPI) -> None:
    """The same command is not asked for a second time."""
    permission(claude, api)
    claude.keys("gg/^Allow once<CR>2ddj:.,/^Deny/d<CR><CR>")
    claude.wait_line("So be it.")
    api.add(say(ToolUse("Bash", {"command": COMMAND}, "toolu_2")), say("Again."))
    wait_idle(claude)
    send(claude, "once more")
    claude.wait_line("Again.")
    assert made(claude) == "onceonce"


# --- `:Winnow` --------------------------------------------------------------------------------


def test_a_directory_has_a_chat_of_its_own(editor: Editor) -> None:
    """`:Winnow` goes to the chat of the current directory, in the window that shows it."""
    editor.command("edit code")
    editor.keys(":Winnow<CR>")
    [here] = chats(editor)
    editor.keys("<C-w>p:Winnow<CR>")
    assert chats(editor) == [here]
    assert editor.lua("return vim.fn.expand('%:t')") == here
    (editor.sandbox.project / "inner").mkdir()
    editor.keys("<C-w>p:cd inner<CR>:Winnow<CR>")
    there = editor.lua("return vim.fn.expand('%:t')")
    assert there.endswith("-inner.md")
    assert sorted(chats(editor)) == sorted([here, there])
    editor.keys(":cd ..<CR>:Winnow<CR>")
    assert editor.lua("return vim.fn.expand('%:t')") == here


@pytest.mark.parametrize(
    ("command", "layout", "tabs"),
    [
        ("Winnow", "col", 1),
        ("vertical Winnow", "row", 1),
        ("horizontal Winnow", "col", 1),
        ("topleft Winnow", "col", 1),
        ("tab Winnow", "leaf", 2),
    ],
)
def test_modifiers_say_where(editor: Editor, command: str, layout: str, tabs: int) -> None:
    """The chat opens below in 80 columns, or where the command's modifiers say."""
    editor.command("edit code")
    editor.keys(f":{command}<CR>")
    assert editor.lua("return vim.fn.winlayout()[1]") == layout
    assert editor.lua("return vim.fn.tabpagenr('$')") == tabs
    assert draft(editor) == ""
    assert editor.lua("return vim.fn.line('.') == vim.fn.line('$')")  # frontmatter may come between


def test_new_makes_another_chat(editor: Editor) -> None:
    """`:Winnow new` never reuses a chat."""
    editor.keys(":Winnow<CR>:Winnow new<CR>:tab Winnow new<CR>")
    assert editor.lua("return #require('winnow.registry').all()") == 3
    assert editor.lua("return vim.fn.tabpagewinnr(1, '$')") == 1  # in the chat's window


def test_a_range_with_words_is_sent(claude: Editor, api: ScriptedAPI) -> None:
    """`:'<,'>Winnow words` sends the lines, where they are, and the words."""
    api.add(say("It adds."))
    claude.keys(":edit sum.py<CR>idef f(a):<CR>return a<CR>done<Esc>gg")
    claude.keys("Vj:Winnow explain this<CR>")
    claude.wait_line("It adds.")
    message = str(api.requests[0]["messages"])
    for part in ("sum.py:1-2", "```python\\ndef f(a):\\n    return a\\n```", "explain this"):
        assert part in message
    assert "done" not in message


def test_a_range_goes_into_the_draft(claude: Editor, api: ScriptedAPI) -> None:
    """`:'<,'>Winnow` adds the lines to what the draft holds, and sends nothing."""
    claude.keys(":Winnow<CR>iLook:<Esc>:vsplit notes<CR>ione ```<CR>two<Esc>ggV:Winnow<CR>")
    assert draft(claude) == "Look:\n\nnotes:1\n````\none ```\n````"
    assert api.requests == []


def test_an_unknown_subcommand(editor: Editor) -> None:
    """It is named, and nothing opens."""
    editor.keys(":Winnow nonsense<CR>")
    editor.wait_screen("there is no :Winnow nonsense")
    assert chats(editor) == []
    editor.command("messages clear")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Winnow st", ["stop"]),
        ("Winnow dem", ["demo"]),
        ("Winnow new ", ["++worktree", "++worktree="]),
        ("Winnow ask ", []),
        ("'<,'>Winnow st", ["stop"]),
    ],
)
def test_completion(editor: Editor, line: str, found: list[str]) -> None:
    """<Tab> completes the first word."""
    assert editor.lua("return vim.fn.getcompletion(..., 'cmdline')", line) == found


# --- what stays the user's own ----------------------------------------------------------------


def test_other_buffers_keep_their_window_options(editor: Editor) -> None:
    """What a chat needs of its window is set for the chat only."""
    names = ["conceallevel", "concealcursor", "wrap", "linebreak", "foldmethod", "foldtext"]
    options = "return vim.iter(...):map(function(name) return vim.wo[name] end):totable()"
    editor.command("set nowrap concealcursor=n | edit code")
    mine = editor.lua(options, names)
    editor.keys(":tab Winnow<CR>")
    assert editor.lua(options, names) != mine
    assert editor.lua("return vim.wo.statusline .. vim.wo.winbar") == ""
    editor.keys(":edit code<CR>")
    assert editor.lua(options, names) == mine
    editor.keys(":vsplit other<CR>")
    assert editor.lua(options, names) == mine
    editor.keys(":buffer chats/<CR>")
    assert editor.lua("return vim.wo.conceallevel") == 2


def test_markers_stay_hidden_whatever_is_set(claude: Editor, api: ScriptedAPI) -> None:
    """`:set conceallevel=0` in a chat does not bare its markers."""
    api.add(say(ask("toolu_1", FRUIT)))
    start(claude)
    wait_section(claude, "Question: Fruit")
    for command in ("set conceallevel=0", "setlocal concealcursor=", "windo set conceallevel=1"):
        claude.command(command)
        claude.screen()
    assert MARKER in claude.text()
    assert not claude.was_shown(MARKER)


def test_own_mappings_work(claude: Editor, api: ScriptedAPI) -> None:
    """A user's own <Esc> works outside the section, and <CR> in every other buffer."""
    claude.lua("""
      vim.g.escaped, vim.g.entered = 0, 0
      vim.keymap.set('n', '<Esc>', function() vim.g.escaped = vim.g.escaped + 1 end)
      vim.keymap.set('n', '<CR>', function() vim.g.entered = vim.g.entered + 1 end)
    """)
    api.add(say(ask("toolu_1", FRUIT)))
    start(claude)
    wait_section(claude, "Question: Fruit")
    claude.keys("G<Esc>gg<Esc>:split other<CR><Esc><CR>")
    assert claude.lua("return { vim.g.escaped, vim.g.entered }") == [3, 1]
    claude.keys("<C-w>p")
    assert "Question: Fruit" in claude.text()
    claude.keys("gg/^Apple<CR><Esc><Esc>")
    claude.wait_gone("Question: Fruit")
    claude.keys("<Esc>")
    assert claude.lua("return vim.g.escaped") == 4


def test_a_preview_floats(claude: Editor, api: ScriptedAPI) -> None:
    """`K` on an option shows its preview beside the section."""
    fruit = {
        **FRUIT,
        "options": [{**o, "preview": f"# {o['label']} pie"} for o in FRUIT["options"]],
    }
    api.add(say(ask("toolu_1", fruit)))
    start(claude)
    wait_section(claude, "Question: Fruit")
    claude.keys("gg/^Pear<CR>K")
    claude.wait_screen("Pear pie")
    claude.keys("j")
    claude.wait(lambda: not any("Pear pie" in row for row in claude.screen()), "no preview")
