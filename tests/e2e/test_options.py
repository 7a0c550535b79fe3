"""An option can be told from prose at a glance, however wide the window is."""

from __future__ import annotations

import random

import pytest

from tests.api import Json, question
from tests.e2e.desk import ScriptedDesk, go, section
from tests.e2e.editor import Editor
from tests.e2e.grid import Frame

COUNT = 50  # options of a section, for those that are looked at on the screen
MANY = 1000
WORDS = [
    *("a", "store", "schema", "relational", "document-based", "PostgreSQL", "C++", "e.g.", "I/O"),
    *("(recommended)", "eventually-consistent", "src/shop/cart.py", "backwards_compatible"),
    *("数据库", "データベース", "schnell,", "«vite»", "ready?", "done!", "key: value"),
]
LONG = "東京の首都圏で使われているデータベースであり、とても長い説明文がこのように続きます"
UNBROKEN = [
    "x",
    "sha256",
    "数据库",
    "👩🏽",
    "🇪🇺",
    "ê̂",
    "n\u0303o",
    "/usr/local",
    "?q=",
    "https://a.b/",
]


BLANK = """
  local win, buf = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local open = require('winnow.registry').current().section
  local marker = require('winnow.section.marker')
  local first = open:rows()
  local options, blank = {}, {}
  for i, line in ipairs(open:lines()) do
    local at = marker.of(line, open.id)
    if at and tonumber(at.slot) then
      local start, stop = unpack(marker.spans(line, open.id)[1])
      table.insert(options, {
        row = first + i,
        before = #line:sub(1, start):gsub('%s+$', ''),
        after = line:find('%S', stop + 1),
        last = #line,
        size = vim.fn.strdisplaywidth(line) + 2,
      })
    end
  end
  for _, width in ipairs(...) do
    vim.api.nvim_win_set_width(win, width)
    for _, option in ipairs(options) do
      local function row(column)
        return math.ceil(vim.fn.virtcol({ option.row, column }) / width)
      end
      if option.size > width then
        local below = option.after and row(option.after) - 1 or row(option.last)
        if below > row(option.before) then
          table.insert(blank, ('%d columns: %s'):format(width, vim.fn.getline(option.row)))
        end
      end
    end
  end
  return { #options, blank }
"""


def options(seed: int, count: int = COUNT) -> Json:
    """A question with options of all lengths, some of which end in a sentence's end."""
    rng = random.Random(seed)

    def text(most: int) -> str:
        words = " ".join(rng.choices(WORDS, k=rng.randint(1, most)))
        return words + rng.choice(["", "", ".", "?", "!", ")", "…", "。", ":", ", etc."])

    asked = question("Which?", header="Pick", multiple=True)

    def unbroken() -> str:
        return "".join(rng.choices(rng.sample(UNBROKEN, 2), k=rng.randint(5, 60)))

    asked["options"] = [
        {
            "label": rng.choice([f"{number} {text(4)}", f"{number}{unbroken()}"]),
            "description": rng.choice(["", text(30), unbroken(), f"{text(3)} {LONG[seed:]}"]),
        }
        for number in range(count)
    ]
    return asked


def drawn(editor: Editor) -> Frame:
    """The rows of the options, from the first to the line for own words."""
    rows = editor.screen()
    first = next(n for n, row in enumerate(rows) if row.startswith("• 0"))
    last = next(n for n, row in enumerate(rows) if row.startswith("✎ Something else:"))
    return rows[first:last]


def test_no_option_has_a_row_for_its_marker(desk: ScriptedDesk) -> None:
    """A thousand of them, in windows of 40 to 200 columns: as Neovim lays them out.

    In some of these widths, which each time are others.
    """
    with desk.asked(options(random.randrange(1000), MANY)) as editor:
        editor.resize(300, 40)
        editor.command("vnew | wincmd p")
        for start in range(40, 201, 7):
            count, blank = editor.lua(BLANK, random.sample(range(start, start + 7), 2))
            assert count == MANY
            assert not blank, "\n".join(blank[:10])
        editor.command("only")
        editor.resize(100, 40)


def test_no_row_is_blank(desk: ScriptedDesk) -> None:
    """As it is drawn."""
    with desk.asked(options(0)) as editor:
        editor.command("set laststatus=0")
        for columns in (40, 41, 47, 53, 59, 80, 120, 200):
            editor.resize(columns, 600)
            editor.keys("gg")
            rows = drawn(editor)
            assert sum(row.startswith("•") for row in rows) == COUNT
            assert all(row.strip() for row in rows), "\n".join(rows)
            assert all(row.startswith(("• ", "  ")) for row in rows), "\n".join(rows)
        editor.resize(100, 40)
        editor.command("set laststatus=2")


END = {"label": "Use the store that is here", "description": "It is fast, and we know it."}


@pytest.mark.parametrize(
    ("keys", "note"),
    [
        ("A only EU<Esc>", "only EU"),
        ("Aonly EU<Esc>", "only EU"),
        ("A Not soon.<Esc>", "Not soon."),
        ("$x", ""),
        ("$xAbut why<Esc>", "but why"),
        ("yypddk", ""),
        ("ddpA last<Esc>k", "last"),
        ("gUU", ""),
    ],
)
def test_a_note_stands_behind_the_end_of_the_sentence(
    desk: ScriptedDesk, keys: str, note: str
) -> None:
    """The marker is before that end, which is no note."""
    asked = question("Which?", "Redis", "SQLite")
    asked["options"][0] = END
    with desk.asked(asked) as editor:
        assert section(editor)[3].endswith("⟧.")
        editor.keys(keys + ":g/SQLite/d<CR>gg/\\cuse the<CR>")
        go(editor)
        said = f"Pick: {END['label']}" + (f" (your note: {note})" if note else "")
        assert desk.delivered(editor) == said


OLD = """---
winnow: 1
---

## You

Ask

## Claude

✗ Cancelled: Sure? · <CR> here asks again<!--winnow:zz.0.r-->

━━ Question: Fruit<!--winnow:ab.1.h-->
Which fruit?<!--winnow:ab.1.q-->

Apple — red, and sweet.<!--winnow:ab.1.1-->
Pear<!--winnow:ab.1.2--> a note
✎ Something else:<!--winnow:ab.1.e-->
━━<!--winnow:ab.0.f-->

## You

"""


def test_a_chat_of_an_older_version_is_read(editor: Editor) -> None:
    """Its markers are made those of this one, outside of undo, and the host knows them."""
    path = editor.sandbox.data / "winnow" / "chats" / "20200101-000000-project.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(OLD)
    editor.keys(f":edit {path}<CR>")
    editor.wait_line("A question stood here that is not on record any more.")
    assert "✗ Cancelled: Sure? · <CR> here asks again⟦zz=0=r⟧" in editor.lines()
    editor.keys("gg/asks again<CR><CR>")
    editor.wait_screen("not on record any more")
    editor.keys("u")
    assert "<!--" not in editor.text()
    assert not editor.was_shown("⟦")


def test_the_column_stays_when_a_line_goes(desk: ScriptedDesk) -> None:
    """The mark of a deleted option is drawn on no other one, be it for a moment."""
    with desk.asked(question("Which?", "Redis", "SQLite", "DuckDB", "Valkey")) as editor:
        editor.keys("gg/SQLite<CR>dd")
        editor.settle()
        editor.keys("j")
        assert editor.line().startswith("Valkey")
        assert editor.cursor()[1] == 0


def test_a_text_that_was_read_anew(desk: ScriptedDesk) -> None:
    """Its previews are there, and what is deleted counts, also when `u` has taken `:e!` back."""
    asked = question("Which?", "Redis", "SQLite", "DuckDB")
    asked["options"][0]["preview"] = "port: 6379"
    with desk.asked(asked) as editor:
        editor.keys(":write<CR>:edit!<CR>")
        editor.wait_screen("┊ port: 6379")
        editor.keys("ugg/SQLite<CR>dd")
        editor.wait_screen("keep one of 2")
