"""Keeping only the option under the cursor: ``<CR><CR>`` and ``<Plug>(winnow-keep)`` agree."""

from __future__ import annotations

import pytest

from tests.api import question
from tests.e2e.desk import GO, ScriptedDesk, go, section
from tests.e2e.editor import Editor

DATABASE = question("Which database?", "PostgreSQL", "MongoDB", "MySQL", header="Database")
CACHE = question("Cache?", "use redis", "no cache", header="Cache")

BROKEN = "5li<CR><Esc>"


def keep(editor: Editor, way: str) -> None:
    """Press the keys of one way."""
    editor.lua("vim.keymap.set('n', '<F5>', '<Plug>(winnow-keep)')")
    if way == GO * 2:
        go(editor, last=False)
        go(editor)
    else:
        editor.keys(way)


@pytest.mark.parametrize("way", [GO * 2, "<F5>"])
@pytest.mark.parametrize(
    "before",
    ["", BROKEN, f"{BROKEN}k", f"j{BROKEN}kk", f"2j{BROKEN}3k"],
    ids=["whole", "on its end", "on its start", "another", "the last"],
)
def test_an_option_stays_however_the_lines_are_broken(
    desk: ScriptedDesk, before: str, way: str
) -> None:
    """Which lines are whose is for one side to say."""
    with desk.asked(DATABASE) as editor:
        editor.keys(before)
        keep(editor, way)
        assert desk.delivered(editor) == "Database: PostgreSQL", editor.report()


@pytest.mark.parametrize("way", [GO * 2, "<F5>"])
def test_one_u_brings_all_the_others_back(desk: ScriptedDesk, way: str) -> None:
    """With a question that is still to be answered, the section stays."""
    with desk.asked(DATABASE, CACHE) as editor:
        editor.keys(f"j{BROKEN}kk")
        before = section(editor)
        keep(editor, way)
        editor.wait(lambda: len(section(editor)) == len(before) - 3, "one option left")
        editor.wait(lambda: "use redis" in editor.line(), "the next question")
        editor.keys("u")
        editor.wait(lambda: section(editor) == before, "all that was there")


@pytest.mark.parametrize("where", ["k", "G"], ids=["the question", "the draft"])
def test_nothing_goes_where_no_option_is(desk: ScriptedDesk, where: str) -> None:
    """On the question, and outside of the section."""
    with desk.asked(DATABASE) as editor:
        editor.keys(where)
        keep(editor, "<F5>")
        editor.keys("gg/^Mongo<CR>")
        keep(editor, "<F5>")
        assert desk.delivered(editor) == "Database: MongoDB"


OFFER = "3 left: <CR> again keeps only PostgreSQL"


def foot(editor: Editor) -> str:
    """The last rule on the screen."""
    return next((row for row in reversed(editor.screen()) if row.startswith("━━ ")), "")


@pytest.mark.parametrize("key", ["j", "0", ":<Esc>"])
def test_the_foot_says_what_a_second_press_does(desk: ScriptedDesk, key: str) -> None:
    """Until another key takes that back: there may be no message line."""
    with desk.asked(DATABASE) as editor:
        editor.command("set cmdheight=0")
        before = foot(editor)
        go(editor, last=False)
        editor.wait(lambda: OFFER in foot(editor), "the foot to say it")
        editor.keys(key)
        editor.wait(lambda: foot(editor) == before, "the verdict again")
        editor.command("set cmdheight=1")
        editor.keys("gg/^MySQL<CR>")
        keep(editor, "<F5>")
        assert desk.delivered(editor) == "Database: MySQL"


def test_a_second_press_does_what_the_foot_said(desk: ScriptedDesk) -> None:
    with desk.asked(DATABASE, CACHE) as editor:
        go(editor, last=False)
        editor.wait(lambda: OFFER in foot(editor), "the foot to say it")
        go(editor, last=False)
        editor.wait(lambda: "Database → PostgreSQL" in foot(editor), "what was done")
        editor.keys("gg/^no cache<CR>")
        keep(editor, "<F5>")
        editor.wait(lambda: "Cache → no cache" in foot(editor), "the other answer")
        go(editor)
        assert desk.delivered(editor) == "Database: PostgreSQL; Cache: no cache"


def test_after_another_key_it_is_a_first_press_again(desk: ScriptedDesk) -> None:
    """On the same option, with the same text: what the foot does not say is not done."""
    with desk.asked(DATABASE) as editor:
        for _ in range(2):
            go(editor, last=False)
            editor.wait(lambda: OFFER in foot(editor), "the foot to say it")
            editor.keys("jk")
            editor.wait(lambda: OFFER not in foot(editor), "the verdict again")
        go(editor, last=False)
        editor.wait(lambda: OFFER in foot(editor), "the foot to say it")
        go(editor)
        assert desk.delivered(editor) == "Database: PostgreSQL"
