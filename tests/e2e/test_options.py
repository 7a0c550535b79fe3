"""An option can be told from prose at a glance, however wide the window is."""

from __future__ import annotations

import random

import pytest

from tests.api import Json, question
from tests.e2e.desk import ScriptedDesk, go, section
from tests.e2e.editor import Editor
from tests.e2e.grid import Frame

COUNT = 50  # options of a section
WORDS = [
    *("a", "store", "schema", "relational", "document-based", "PostgreSQL", "C++", "e.g.", "I/O"),
    *("(recommended)", "eventually-consistent", "src/shop/cart.py", "backwards_compatible"),
    *("数据库", "データベース", "schnell,", "«vite»", "ready?", "done!", "key: value"),
]
LONG = "東京の首都圏で使われているデータベースであり、とても長い説明文がこのように続きます"


def options(seed: int) -> Json:
    """A question with options of all lengths, some of which end in a sentence's end."""
    rng = random.Random(seed)

    def text(most: int) -> str:
        words = " ".join(rng.choices(WORDS, k=rng.randint(1, most)))
        return words + rng.choice(["", "", ".", "?", "!", ")", "…", "。", ":", ", etc."])

    asked = question("Which?", header="Pick", multiple=True)
    asked["options"] = [
        {
            "label": f"{number} {text(4)}",
            "description": rng.choice(["", text(30), text(30), f"{text(3)} {LONG[seed:]}"]),
        }
        for number in range(COUNT)
    ]
    return asked


def drawn(editor: Editor) -> Frame:
    """The rows of the options, from the first to the line for own words."""
    rows = editor.screen()
    first = next(n for n, row in enumerate(rows) if row.startswith("• 0 "))
    last = next(n for n, row in enumerate(rows) if row.startswith("✎ Something else:"))
    return rows[first:last]


@pytest.mark.parametrize("seed", range(3))
def test_no_row_is_blank(desk: ScriptedDesk, seed: int) -> None:
    """A thousand options and more, in windows of 40 to 200 columns."""
    with desk.asked(options(seed)) as editor:
        editor.command("set laststatus=0")
        for columns in (*range(40, 60), 72, 80, 99, 100, 120, 140, 160, 200):
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
