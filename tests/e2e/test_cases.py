"""What has gone wrong with questions, markers, undo and keys in tools like this one.

Each docstring names the failure and where it happened to people. The edit matrix, the chats' and
the streams' tests hold more of the same kind.
"""

from __future__ import annotations

import pytest

from tests.api import question
from tests.e2e.desk import ClaudeDesk, ScriptedDesk, section, type_keys
from tests.soaking import first

DATABASE = question("Which database?", "PostgreSQL", "MongoDB", "MySQL", header="Database")
CACHE = question("Which cache?", "use redis", "use memcached", "no cache", header="Cache")


def labels(lines: list[str]) -> list[str]:
    """The options that are left."""
    return [line.partition(" — ")[0] for line in lines if " — " in line]


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        ("d", "d", ["MongoDB", "MySQL"]),
        ("2d", "d", ["MySQL"]),
        ("V", "d", ["MongoDB", "MySQL"]),
        ("Vj", "d", ["MySQL"]),
    ],
)
def test_text_that_comes_between_two_keys(
    desk: ScriptedDesk, before: str, after: str, left: list[str]
) -> None:
    """A line inserted above made `dd` take the question as well (neovim/neovim#6166)."""
    with desk.asked(DATABASE) as editor:
        editor.keys(before)
        editor.lua("""
          local chat = vim.api.nvim_get_current_buf()
          local late = { type = 'write', chat = chat, text = 'Late\\ntext.', fresh = true }
          require('winnow.dispatch').apply({ late })
        """)
        editor.keys(after)
        assert labels(section(editor)) == left
        assert any("Which database" in line for line in section(editor))


@pytest.mark.parametrize(
    ("keys", "answer"), [("dddd", "MySQL"), ("2dd", "MySQL"), ("2jddkdd", "PostgreSQL")]
)
def test_a_deleted_line_takes_its_mark_along(
    claude_desk: ClaudeDesk, keys: str, answer: str
) -> None:
    """A deleted option's mark slid to the next line, and both counted (neovim/neovim#14873)."""
    with claude_desk.asked(DATABASE) as editor:
        type_keys(editor, keys)
        assert f'="{answer}".' in claude_desk.delivered(editor)


def test_undo_makes_a_mark_valid_again(claude_desk: ClaudeDesk) -> None:
    """A mark that had become invalid stayed so after `u` (neovim/neovim#29509)."""
    with claude_desk.asked(DATABASE) as editor:
        type_keys(editor, "ddujdd.")
        assert '="PostgreSQL".' in claude_desk.delivered(editor)


@pytest.mark.parametrize(
    "text",
    first(
        3,
        [
            "Which one? ",
            " Which?",
            "Which?\nsecond line",
            "**Bold?**",
            "a\ttab?",
            "cafe\u0301?",
            "a  b?",
        ],
    ),
)
def test_the_answer_s_key_is_the_question_s_text(claude_desk: ClaudeDesk, text: str) -> None:
    """One space off, and nothing was answered, the model read (anthropics/claude-code#30320)."""
    with claude_desk.asked(question(text, "A", "B")) as editor:
        type_keys(editor, "dd")
        told = claude_desk.delivered(editor)
        assert f'"{claude_desk.questions[0]["question"]}"="B"' in told


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ("Vjj:s/ /-/g<CR>", [1, 2, 3]),
        (":%s/^/> /<CR>", [1, 2, 3]),
        ("0x", None),
        ("$d0", None),
        ("<C-v>jjlx", None),
        ("ccuse redis<Esc>", [1, 2, 3]),
        ("gUU", [1, 2, 3]),
        (">>", [1, 2, 3]),
        (":%!cat<CR>", [1, 2, 3]),
        (":g/redis/d<CR>", [2, 3]),
    ],
)
def test_a_mangled_option_is_neither_dropped_nor_swapped(
    desk: ScriptedDesk, keys: str, left: list[int] | None
) -> None:
    """Edits of whole lines hit hidden ids, and the line was lost or new (stevearc/oil.nvim#272)."""
    with desk.asked(CACHE) as editor:
        editor.keys(keys)
        before = section(editor)
        options = [number for number in (1, 2, 3) if f"=1={number}⟧" in "".join(before).lower()]
        editor.keys("gg/Which<CR>")
        type_keys(editor, "")
        assert section(editor) == before
        if left is None:
            assert "u brings it back" in editor.messages()
        else:
            assert f"{len(left)} left" in editor.messages()
            assert set(options) <= set(left)


def test_two_escapes(desk: ScriptedDesk) -> None:
    """A reflexive <Esc> threw away more than the question (microsoft/vscode#319557)."""
    with desk.asked(DATABASE) as editor:
        editor.keys("<Esc><Esc>")
        editor.wait(lambda: not section(editor), "no section")
        editor.wait_line("asks again")
        assert editor.mode() == "n"


@pytest.mark.parametrize(
    ("keys", "own"),
    [("3ddOneither, use sqlite<Esc>", "neither, use sqlite"), ("2kSsqlite<Esc>", "sqlite")],
)
def test_own_words_beside_previews(claude_desk: ClaudeDesk, keys: str, own: str) -> None:
    """With previews there was no way to answer something else (anthropics/claude-code#90605)."""
    options = [{**option, "preview": "```\nE\n```"} for option in DATABASE["options"]]
    with claude_desk.asked({**DATABASE, "options": options}) as editor:
        type_keys(editor, keys)
        assert f'="{own}"' in claude_desk.delivered(editor)


def test_a_preview_goes_with_its_option(desk: ScriptedDesk) -> None:
    """With a preview the description was not shown (anthropics/claude-code#45384)."""
    options = [{**option, "preview": f"# {option['label']}!"} for option in DATABASE["options"]]
    with desk.asked({**DATABASE, "options": options}) as editor:
        editor.wait_screen("PostgreSQL!")
        assert any("PostgreSQL — about PostgreSQL" in row for row in editor.screen())
        editor.keys("dd")
        editor.wait_screen("MongoDB!")
        assert not any("PostgreSQL!" in row for row in editor.screen())
        type_keys(editor, "dd")
        assert desk.delivered(editor) == "Database: MySQL"


@pytest.mark.parametrize(
    "keys",
    [
        ":vsplit<CR>",
        ":tab split<CR>",
        "/mongo",
        "i",
        "A note",
        ":setlocal conceallevel=0<CR>",
        ":enew<CR>:buffer #<CR>",
        ":lua vim.api.nvim_open_win(0, true, {split='left'})<CR>",
    ],
)
def test_ids_stay_hidden_in_every_window(desk: ScriptedDesk, keys: str) -> None:
    """Concealing is a window's own, so hidden ids showed in others (stevearc/oil.nvim#287)."""
    with desk.asked(DATABASE) as editor:  # which looks for markers on the screen in the end
        editor.keys(keys)
        editor.screen()


def test_a_pasted_option_is_text_for_the_model(claude_desk: ClaudeDesk) -> None:
    """A yanked line carries its hidden id along (stevearc/oil.nvim#584)."""
    with claude_desk.asked(DATABASE) as editor:
        editor.keys('"ayy')
        type_keys(editor, "2dd")
        claude_desk.delivered(editor)
        editor.keys('G"ap<CR>')
        editor.wait_line("(script is empty)")
        message = str(claude_desk.api.requests[-1]["messages"][-1])
        assert "PostgreSQL — about PostgreSQL" in message
        assert "⟦" not in message


def test_the_clipboard_holds_no_ids(desk: ScriptedDesk) -> None:
    """What is yanked for another program is what can be seen (stevearc/oil.nvim#584)."""
    with desk.asked(DATABASE) as editor:
        editor.lua("""
          vim.g.clipped = {}
          local function copy(lines) vim.g.clipped = lines end
          local function paste() return vim.g.clipped end
          vim.g.clipboard = {
            name = 'test',
            copy = { ['+'] = copy, ['*'] = copy },
            paste = { ['+'] = paste, ['*'] = paste },
          }
        """)
        for keys in ('"+yj', ":set clipboard=unnamedplus<CR>yj"):
            editor.keys(keys)
            assert editor.lua("return vim.g.clipped")[:2] == [
                "PostgreSQL — about PostgreSQL",
                "MongoDB — about MongoDB",
            ]
            editor.lua("vim.g.clipped = {}")
        editor.keys("ddp")
        editor.wait_screen("keep one of 3")
        editor.keys(":set clipboard=<CR>yyP:new<CR>p")
        assert editor.line() == "PostgreSQL — about PostgreSQL"
        editor.keys(":bwipeout!<CR>")
