"""The editor's tools: which calls are understood, and how what came of one reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from winnow.core.agent import Request
from winnow.core.asking import ways
from winnow.core.editor import tools as t
from winnow.core.editor.told import LONGEST, Spot, Told, outcome, worded, would
from winnow.core.folder import Folder
from winnow.core.question import Malformed
from winnow.core.section.form import Form
from winnow.core.transcript.tools import about, came, title

FOLDER = Folder("/p", "/h")


def test_each_is_described() -> None:
    """Without references; required is what has no default."""
    of = {one.name: one for one in t.of(t.NAMES)}
    assert tuple(of) == t.NAMES == (*t.READING, *t.ASKING)
    assert all(one.description for one in of.values())
    assert "$" not in json.dumps([one.schema for one in of.values()])
    assert of["rename"].schema["required"] == ["path", "line", "symbol", "new_name"]
    assert of["buffers"].schema["properties"] == {}
    assert [one.name for one in t.of(["jump", "buffers", "nothing"])] == ["buffers", "jump"]


@pytest.mark.parametrize(
    ("name", "input", "call"),
    [
        ("buffers", {"tool": "jump", "x": 1}, t.Buffers()),
        (
            "definition",
            {"path": "a", "line": "3", "symbol": "漢"},
            t.Definition("a", 3, "漢"),
        ),
        (
            "fill_quickfix",
            {"title": "T", "entries": [{"path": "a"}]},
            t.FillQuickfix("T", (t.Item("a"),)),
        ),
    ],
)
def test_a_call_is_read(name: str, input: dict[str, Any], call: t.Call) -> None:
    assert t.read(name, input) == call


@pytest.mark.parametrize(
    ("name", "input"),
    [
        ("definition", {"path": "a", "line": 0, "symbol": "x"}),
        ("definition", {"path": "a", "line": 1 << 40, "symbol": "x"}),
        ("definition", {"path": "a", "line": 1, "symbol": ""}),
        ("definition", {"path": ["a"], "line": 1, "symbol": "x"}),
        ("rename", {"path": "a", "line": 1, "symbol": "x", "new_name": "x"}),
        ("symbols", {"query": " "}),
        ("read_buffer", {"path": "a", "first": 9, "last": 3}),
        ("run_test", {"line": 3}),
        ("fill_quickfix", {"title": "T", "entries": []}),
        ("fill_quickfix", {"title": "T", "entries": [{"path": "a"}] * (t.MOST + 1)}),
    ],
)
def test_what_makes_no_sense_is_said(name: str, input: dict[str, Any]) -> None:
    assert isinstance(t.read(name, input), Malformed)


WRONG = Spot("/p/a.py", 3, "bad\n  word [lint]", "error")
PLACES = [Spot("/p/a.py", 3, "total = 1"), Spot("/usr/lib.py", 7)]


@pytest.mark.parametrize(
    ("call", "told", "text"),
    [
        (t.Diagnostics(), Told(), "no problems"),
        (
            t.Diagnostics(),
            Told(spots=[WRONG, Spot("/p/b.py", 1, "hm", "warning")], total=2, note="Old."),
            "1 error, 1 warning:\na.py:3: error: bad word [lint]\nb.py:1: warning: hm\nOld.",
        ),
        (
            t.Diagnostics(),
            Told(spots=[WRONG], total=1200),
            "1,200 problems:\na.py:3: error: bad word [lint]\n… and 1,199 more",
        ),
        (
            t.Buffers(),
            Told(spots=[Spot("/p/a.py", 1, "", "in sight"), Spot("[No Name 3]", 2)], total=2),
            "2 buffers:\na.py · 1 line · in sight\n[No Name 3] · 2 lines",
        ),
        (t.ReadBuffer("a.py"), Told(lines=["x", ""], total=2), "2 lines:\n1\tx\n2\t"),
        (
            t.ReadBuffer("a.py", 5),
            Told(lines=["\ud800"], first=5, total=9, note="It goes on."),
            "lines 5–5 of 9 lines:\n5\t?\nIt goes on.",
        ),
        (
            t.References("a.py", 3, "total"),
            Told(spots=PLACES, total=2),
            "2 places:\na.py:3: total = 1\n/usr/lib.py:7",
        ),
        (t.Definition("a.py", 3, "total"), Told(note="hung does not answer."), None),
        (
            t.Symbols("a.py"),
            Told(spots=[Spot("/p/a.py", 1, "Cart", "class"), Spot("/p/a.py", 2, "f", "m", 1)]),
            "0 symbols:\n1: class Cart\n  2: m f",
        ),
        (
            t.Symbols(query="Ca"),
            Told(spots=[Spot("/p/a.py", 1, "Cart", "class")], total=1),
            "1 symbol:\na.py:1: class Cart",
        ),
        (
            t.Quickfix(),
            Told(spots=[Spot(text="make: error"), Spot("/p/a.py", 3, "x")], total=2, title="make"),
            "2 entries of “make”:\nmake: error\na.py:3: x",
        ),
        (
            t.Rename("a.py", 3, "a", "b"),
            Told(spots=[Spot("/p/a.py", 2, kind="not saved")], total=1),
            "2 places in 1 file renamed:\na.py: 2 places, not saved",
        ),
        (t.Jump("a.py", 3), Told(), "the user is there now"),
        (t.RunTest(), Told(title="make t", lines=["ok"]), "passed: make t:\nok"),
        (t.RunTest(), Told(title=":TestNearest"), "begun: :TestNearest"),
        (t.RunTest(), Told(title="make t", code=2, note="Cut."), "exit 2: make t\nCut."),
    ],
)
def test_how_it_reads(call: t.Call, told: Told, text: str | None) -> None:
    """A line that sums it up, then all of it, by names from the project's folder."""
    assert worded(call, told, FOLDER) == (text or "0 places\nhung does not answer.")


def test_nothing_is_endless() -> None:
    long = worded(t.References("a", 1, "x"), Told(spots=[Spot("/p/a", 1, "x" * 10_000)]), FOLDER)
    assert len(long) < LONGEST + 50
    line = worded(t.ReadBuffer("a"), Told(lines=["x" * 10_000], total=1), FOLDER)
    assert line.endswith("x…")
    assert len(line) < 3000
    many = Told(spots=[Spot(f"/p/{n}", 1) for n in range(90)], total=90)
    wish, *files = would(t.Rename("a", 1, "x", "y"), many, FOLDER)
    assert wish == "wants to rename x to y: 90 places in 90 files."
    assert files[-1] == "… and 70 more files"


@pytest.mark.parametrize(
    ("name", "input", "line"),
    [
        ("diagnostics", {"path": "/p/a.py"}, "Diagnostics a.py"),
        ("diagnostics", {}, "Diagnostics "),
        ("definition", {"path": "a.py", "line": 3, "symbol": "x"}, "Definition a.py:3 x"),
        ("rename", {"path": "a", "line": 1, "symbol": "x", "new_name": "y"}, "Rename a:1 x → y"),
        ("fill_quickfix", {"title": "To\ndo", "entries": 3}, "Quickfix To ⏎ do"),
        ("symbols", {"query": "Cart"}, "Symbols Cart"),
        ("run_test", {"path": 3, "line": "x"}, "Test "),
    ],
)
def test_a_call_on_one_line(name: str, input: dict[str, Any], line: str) -> None:
    tool = f"{t.PREFIX}{name}"
    assert f"{title(tool)} {about(tool, input, FOLDER)}" == line


def test_what_came_of_it_stands_on_that_line() -> None:
    shown = came(f"{t.PREFIX}references", "2 places:\na.py:3: x")
    assert (shown.outcome, shown.output) == ("2 places", "a.py:3: x")
    assert outcome("no problems") == ("no problems", "")


def test_the_section_says_what_would_happen() -> None:
    """Also which files change; its title is short."""
    wishes = ("wants to rename x to y: 2 places in 1 file.", "a.py: 2 places")
    request = Request(f"{t.PREFIX}rename", {"new_name": "y"}, would=wishes)
    form = ways.of(request.tool, request.input).read("s", request, lambda _: None)
    assert isinstance(form, Form)
    (question,) = form.questions
    assert question.header == "Rename"
    assert question.question.split("\n")[:2] == [f"Claude {wishes[0]}", wishes[1]]
    assert [one.label for one in question.options] == ["Allow once", "Deny"]
