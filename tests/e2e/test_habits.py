"""What Vim users do anywhere: move from part to part, list them, take code, open files."""

from __future__ import annotations

import json

import pytest

from tests.api import Gate, ScriptedAPI, question, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, send, start, wait_idle
from tests.e2e.test_resume import write_chat

TEXT = """
first

## Claude

Look at src/app.py:2, and at `src/none.py`.

```python
def one():
    return 1
```

## You

second

## Claude

    indented

~~~~sh
echo "```"
~~~~

## You
"""


AT_ONCE = """
  local chat = require('winnow.registry').current()
  local lines = { '│ -old', '│ +new' }
  require('winnow.chat.transcript').tool(chat, 'r', '▸ Rewind: 1 file put back ✓ a', lines)
"""


@pytest.fixture
def chat(editor: Editor) -> Editor:
    """A chat with two turns, read from its file; the cursor stands in the draft."""
    project = editor.sandbox.project
    (project / "src").mkdir()
    (project / "src" / "app.py").write_text("one\ntwo\nthree\n")
    folder = editor.sandbox.data / "winnow" / "chats"
    path = write_chat(folder, f"cwd: {project}", text=TEXT)
    editor.keys(f":edit {path}<CR>:cd /<CR>G")
    wait_idle(editor)  # who answers is written into the frontmatter, so every line moves
    return editor


def here(editor: Editor) -> str:
    return editor.lines()[editor.cursor()[0] - 1]


def test_from_message_to_message(chat: Editor) -> None:
    """With counts, as a motion, and back with CTRL-O; beyond the last one nothing moves."""
    lines = chat.lines()
    claude = [at for at, line in enumerate(lines, 1) if line == "## Claude"]
    chat.keys("[[[[")
    assert chat.cursor()[0] == claude[1]
    chat.keys("2[[")
    assert chat.cursor()[0] == claude[0]
    chat.keys("3]]")
    assert chat.cursor()[0] == len(lines) - lines[::-1].index("## You")
    chat.keys("9]]")
    assert here(chat) == "## You"
    chat.keys("<C-o>")
    assert chat.cursor()[0] == claude[0]
    chat.keys('V]]k"ay')
    assert chat.lua("return vim.fn.getreg('a', 1, true)[1]") == "## Claude"


def test_a_list_of_the_messages(chat: Editor) -> None:
    chat.keys("gO")
    assert chat.lines() == [
        "You    first",
        "Claude Look at src/app.py:2, and at `src/none.py`.",
        "You    second",
        "Claude indented",
        "You    ",
    ]
    chat.keys("2G<CR>")
    assert here(chat) == "## Claude"


def test_closed_folds_are_an_overview(chat: Editor) -> None:
    """One line for each turn, with how it begins; the newest and the draft stay."""
    before = chat.screen()
    chat.keys("zmgg")
    rows = [row.strip() for row in chat.screen()]
    at = rows.index("## You first")
    assert rows[at : at + 4] == ["## You first", "## You", "", "second"]
    assert "indented" in rows
    chat.keys("zRG")
    assert not any("first" in row and "##" in row for row in chat.screen())
    assert before[-3:] == chat.screen()[-3:]


CLOSED = """
  local closed = {}
  for row = 1, vim.fn.line('$') do
    closed[row] = vim.fn.foldclosed(row)
  end
  return closed
"""


def test_a_turn_has_a_fold_when_it_is_not_the_newest(editor: Editor) -> None:
    """Tool output in it stays folded by itself, and a question is never in one that is closed."""
    editor.sandbox.scenario.write_text(
        json.dumps(
            {
                "turns": [
                    [
                        {"type": "say", "text": "Hello."},
                        {
                            "type": "tool",
                            "name": "Bash",
                            "input": {"command": "ls"},
                            "output": "one\ntwo\nthree",
                        },
                        {"type": "say", "text": "There."},
                    ],
                    [
                        {"type": "ask", "questions": [question("Which?", "Apple", "Pear")]},
                    ],
                ]
            }
        )
    )
    start(editor)
    editor.wait_line("There.")
    wait_idle(editor)
    level = "return vim.fn.foldlevel(vim.fn.search(..., 'nw'))"
    assert editor.lua(level, "^There") == 0
    assert editor.lua(level, "^│ two") == 1
    assert editor.lua("return vim.fn.foldclosed(vim.fn.search('^│ two', 'nw'))") > 0
    assert editor.lua("return vim.fn.foldclosed(vim.fn.search('^There', 'nw'))") == -1
    editor.keys("zMG")
    send(editor, "more")
    editor.wait_line("Apple")
    editor.keys("/^Pear<CR>dd/^Apple<CR><CR>")
    wait_idle(editor)
    editor.wait(lambda: editor.lua(level, "^There") == 1, "a fold")
    assert editor.lua(level, "^│ two") == 2
    assert editor.lua("return vim.fn.foldclosed(vim.fn.search('^│ two', 'nw'))") > 0
    before = editor.lua(CLOSED)
    editor.keys("zmgg")
    assert any(row.startswith("## You Hi │ 1 tool") for row in editor.screen())
    assert editor.lua(CLOSED) != before
    editor.keys("zr")
    assert editor.lua(CLOSED) == before
    editor.lua(AT_ONCE)
    assert editor.lua("return vim.fn.foldclosed(vim.fn.search('^│ -old', 'nw'))") > 0
    editor.keys("zR")
    assert set(editor.lua(CLOSED)) == {-1}


def test_code_in_three_keys(chat: Editor) -> None:
    """The last block from the draft, another one where the cursor is."""
    chat.keys("yic")
    assert chat.lua("return vim.fn.getreg('\"')") == 'echo "```"\n'
    chat.keys("gg/return<CR>yic")
    assert chat.lua("return vim.fn.getreg('\"')") == "def one():\n    return 1\n"
    chat.keys("yac")
    assert chat.lua("return vim.fn.getreg('\"')") == "```python\ndef one():\n    return 1\n```\n"
    chat.keys("vic<Esc>")
    assert chat.lua('return { vim.fn.line("\'<"), vim.fn.line("\'>") }') == [
        chat.lines().index("def one():") + 1,
        chat.lines().index("    return 1") + 1,
    ]
    before = chat.cursor()
    chat.lua("vim.keymap.set('n', 'gy', '<Plug>(winnow-yank-code)')")
    chat.keys('G"zgy')
    assert chat.lua("return vim.fn.getreg('z')") == 'echo "```"\n'
    assert chat.cursor() != before


def test_no_code_is_no_change(editor: Editor) -> None:
    editor.keys(":Winnow<CR>iwords<Esc>yicdic")
    assert draft(editor) == "words"


@pytest.mark.parametrize("key", ["gf", "gF", "<CR>"])
def test_a_file_opens_from_the_chats_directory(chat: Editor, key: str) -> None:
    """Beside the chat, at its line, wherever Neovim stands."""
    chat.keys(f"gg/src.app<CR>{key}")
    name = str(chat.sandbox.project / "src" / "app.py")
    chat.wait(lambda: chat.lua("return vim.api.nvim_buf_get_name(0)") == name, "the file")
    assert here(chat) == "two"
    assert chat.lua("return #vim.api.nvim_tabpage_list_wins(0)") == 2


def test_no_file_is_said(chat: Editor) -> None:
    chat.keys("gg/src.none<CR>gf")
    chat.wait_screen("There is no file src/none.py in")
    chat.keys("}gf")
    chat.wait_screen("There is no file name under the cursor.")
    assert chat.lua("return #vim.api.nvim_tabpage_list_wins(0)") == 1


def test_what_neovim_refuses_is_said_in_its_own_words(chat: Editor) -> None:
    chat.command("set winheight=20 winminheight=20 winwidth=60 winminwidth=60")
    chat.keys("gg/src.app<CR>gf")
    chat.wait_screen("E36: Not enough room")
    assert "stack traceback" not in chat.messages()
    chat.command("messages clear")
    chat.command("set winminheight& winheight& winminwidth& winwidth&")


def test_ctrl_c_stops_at_once(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say("One, two, ", Gate()))
    start(claude)
    claude.wait_line("One, two,")
    claude.keys("Gothe draft<Esc>")
    # Ends the command, and nothing else. By itself: in Insert mode it drops what was typed ahead.
    claude.keys("<C-w><C-c>")
    claude.keys("<C-c>")
    claude.wait_line("■ Stopped.")
    api.release()
    wait_idle(claude)
    claude.keys("<C-c>")
    assert draft(claude) == "the draft"
    assert claude.lua("return vim.fn.maparg('<C-c>', 'n')") == ""


def test_ctrl_c_of_the_users_stays(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say("One, two, ", Gate()))
    claude.lua("vim.keymap.set('n', '<C-c>', '<Cmd>let g:mine = 1<CR>')")
    start(claude)
    claude.wait_line("One, two,")
    assert claude.lua("return vim.fn.maparg('<C-c>', 'n')") == "<Cmd>let g:mine = 1<CR>"
    api.release()


KEYS = {"]]": "nxo", "[[": "nxo", "gO": "n", "gf": "n", "gF": "n", "ic": "xo"}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("local", [False, True])
def test_the_users_own_keys_stay(editor: Editor, key: str, local: bool) -> None:
    """Also those that are set for chats only, and after `:e!`."""
    options = "{ buffer = true }" if local else "{}"
    code = f"vim.keymap.set('{KEYS[key][-1]}', '{key}', '<Cmd>let g:mine = 1<CR>', {options})"
    if local:
        editor.lua(f"""
          vim.api.nvim_create_autocmd('FileType', {{
            pattern = 'winnow',
            once = true,
            callback = function() {code} end,
          }})
        """)
    else:
        editor.lua(code)
    editor.keys(":Winnow<CR>:silent w<CR>:silent e!<CR>")
    editor.keys(key if KEYS[key][-1] == "n" else f"y{key}")
    editor.wait(lambda: editor.lua("return vim.g.mine") == 1, "what the user has on it")


# --- which chat ---------------------------------------------------------------------------------


def path_of(editor: Editor) -> str:
    name: str = editor.lua("return vim.api.nvim_buf_get_name(0)")
    return name


def cwd_of(editor: Editor) -> str:
    cwd: str = editor.lua("return require('winnow.registry').current().cwd")
    return cwd


def files_of(editor: Editor) -> list[str]:
    return [path.name for path in (editor.sandbox.data / "winnow" / "chats").glob("*.md*")]


def test_a_project_has_one_chat(editor: Editor) -> None:
    """From each of its folders; the option says what a project is."""
    project = editor.sandbox.project
    (project / ".git").mkdir()
    (project / "src" / "deep").mkdir(parents=True)
    editor.keys(":Winnow<CR>Akept<Esc>:w<CR>")
    first = path_of(editor)
    assert cwd_of(editor) == str(project)
    editor.keys(f":only | enew | cd {project}/src/deep<CR>:Winnow<CR>")
    assert path_of(editor) == first
    editor.lua("vim.g.winnow = vim.tbl_extend('force', vim.g.winnow, { root_markers = {} })")
    editor.keys(f":only | enew | cd {project}/src/deep<CR>:Winnow<CR>")
    assert cwd_of(editor) == str(project / "src" / "deep")


def test_a_home_under_version_control_is_no_project(editor: Editor) -> None:
    project = editor.sandbox.project
    (project / ".git").mkdir()
    (project / "notes").mkdir()
    editor.lua("vim.env.HOME = ...", str(project))
    editor.keys(":cd notes<CR>:Winnow<CR>")
    assert cwd_of(editor) == str(project / "notes")


def test_new_takes_the_chats_directory_and_window(editor: Editor) -> None:
    """Wherever Neovim stands, 'autochdir' included."""
    project = str(editor.sandbox.project)
    editor.keys(":set autochdir<CR>:Winnow<CR>Akept<Esc>:w<CR>")
    editor.keys(":enew<CR>:buffer #<CR>")
    first = path_of(editor)
    assert "/winnow/chats" in editor.lua("return vim.fn.getcwd()")
    editor.keys(":Winnow new<CR>")
    assert cwd_of(editor) == project
    assert path_of(editor) != first
    assert editor.lua("return #vim.api.nvim_tabpage_list_wins(0)") == 1
    editor.keys("Atwo<Esc>:w<CR>:enew<CR>:bwipeout #<CR>:set noautochdir | cd /<CR>:Winnow new<CR>")
    assert cwd_of(editor) == "/"


@pytest.mark.fresh("session")
def test_a_chat_in_which_nothing_was_said_leaves_no_file(editor: Editor) -> None:
    """Not even after a word was typed and deleted; and it is not the one that opens."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.keys(":enew<CR>:Winnow<CR>")
    assert files_of(editor) == []
    editor.keys("Aword<Esc>:silent w<CR>")
    first = path_of(editor)
    assert len(files_of(editor)) == 1
    editor.keys(":Winnow new<CR>Aother<Esc>:silent w<CR>")
    assert len(files_of(editor)) == 2
    editor.keys("cc<Esc>")
    editor.restart()
    assert files_of(editor) == [first.rpartition("/")[2]]
    editor.keys(":Winnow<CR>")
    assert path_of(editor) == first
    assert draft(editor) == "word"


def test_an_empty_chat_is_one_after_reading_it_anew(editor: Editor) -> None:
    """There is no file to read it from, and yet `:e!` and a session's file find it."""
    project = str(editor.sandbox.project)
    editor.keys(":Winnow<CR>:cd /<CR>:e!<CR>")
    assert "## You" in editor.lines()
    assert cwd_of(editor) == project
    path = path_of(editor)
    editor.keys(f":bwipeout!<CR>:cd {project}<CR>:edit {path}<CR>GAhello<Esc>:silent w<CR>")
    assert draft(editor) == "hello"
    assert len(files_of(editor)) == 1
