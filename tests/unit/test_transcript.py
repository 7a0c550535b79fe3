"""A transcript is what happened, whoever looks at it, and when."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from winnow.core.folder import Folder
from winnow.core.transcript.entries import (
    Called,
    Ended,
    Entry,
    Held,
    Noted,
    Paused,
    Recorded,
    Retried,
    Returned,
    Said,
    Thought,
    Told,
)
from winnow.core.transcript.rendering import CallLine, Renderer, Words, tool_line
from winnow.core.transcript.transcript import Transcript

BASH = Called("t1", "Bash", {"command": "make"})
READ = Called("t2", "Read", {"file_path": "/a"})
ALL: list[Entry] = [
    Told("Do it"),
    Thought("hm"),
    Said("Well"),
    Paused(),
    BASH,
    Held("t1"),
    Recorded(["✓ Allowed once"]),
    Returned("t1", "out", failed=True),
    Noted("Mind."),
    Retried("Again.", 8.0),
    Ended(error="It broke."),
]


def test_entries_can_be_kept() -> None:
    """Each one of them comes back as it was."""
    assert {type(entry) for entry in ALL} == set(get_args(Entry))
    kept = [msgspec.json.encode(entry) for entry in ALL]
    assert [msgspec.json.decode(line, type=Entry) for line in kept] == ALL
    assert list(Transcript(ALL)) == ALL


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([], ""),
        ([Said("one "), Said("two\n"), Said("\n\n"), Said("three\n")], "one two\n\n\nthree"),
        ([Said("one"), Paused(), Said("\n\ntwo")], "one\n\ntwo"),
        ([Said("\n "), Said("one")], " one"),
        ([Said("x ⟦a"), Said("b=1=1⟧")], "x ‹ab=1=1⟧"),
        ([Said("x <"), Ended()], "x <"),
        ([Said("▸ Bash rm"), Said("\n## You\n")], " ▸ Bash rm\n ## You"),
        ([Thought("a\nb"), Said("c")], "✻ Thinking\n│ a\n│ b\n\nc"),
        ([Thought("a"), BASH, READ], "✻ Thinking\n│ a\n▸ Bash make …\n▸ Read /a …"),
        ([Said("│ a table"), BASH], "│ a table\n\n▸ Bash make …"),
        ([BASH, READ, Returned("t1", "o\np")], "▸ Bash make ✓\n│ o\n│ p\n▸ Read /a …"),
        ([BASH, Returned("t1", "", failed=True), Said("so")], "▸ Bash make ✗\n\nso"),
        ([BASH, Held("t1"), Recorded(["✓", "~~Deny~~"]), BASH], "✓\n~~Deny~~\n\n▸ Bash make …"),
        (
            [BASH, Held("t1"), Recorded(["✗"]), Returned("t1", "no", True)],
            "✗\n\n▸ Bash make ✗\n│ no",
        ),
        ([Said("a"), Returned("t9", "unknown"), Said("b")], "ab"),
        ([BASH, Said("a\n"), Returned("t1"), Said("b")], "▸ Bash make ✓\n\na\nb"),
        ([Told("Hi"), Said("Hello"), Ended()], "## You\n\nHi\n\n## Claude\n\nHello"),
        (
            [Told("One"), Told("Two"), Said("Hello")],
            "## You\n\nOne\n\n## You\n\nTwo\n\n## Claude\n\nHello",
        ),
        ([Noted("Mind."), Ended(stopped=True)], "⚠ Mind.\n\n■ Stopped."),
        ([Said("a"), Ended(error="No.")], "a\n\n⚠ No."),
        ([Said("a"), Retried("1 of 10."), Retried("2 of 10.")], "a\n\n⚠ 2 of 10."),
        ([Said("a"), Retried("1 of 10."), Said("b")], "a\n\nb"),
        ([Retried("1 of 10."), Ended(error="No.")], "⚠ No."),
    ],
)
def test_it_reads_as_in_a_chat(entries: list[Entry], text: str) -> None:
    """Paragraphs apart, calls below each other, and nothing that could be the host's own."""
    assert Transcript(entries).text == text


def test_a_result_in_the_middle_of_a_sentence_splits_it_only_if_it_is_new() -> None:
    """A subagent's call ends while the agent speaks: its line stands, or comes below."""
    said: list[Words | CallLine] = []
    renderer = Renderer()
    for entry in (BASH, READ, Held("t2"), Said("a"), Returned("t1"), Said("b"), Returned("t2")):
        said += renderer.render(entry)
    said += renderer.render(Said("c"))
    assert said[3:] == [
        Words("a", True),
        CallLine("t1", "▸ Bash make ✓"),
        Words("b", False),
        CallLine("t2", "▸ Read /a ✓"),
        Words("c", True),
    ]


DEEP = "/".join(["folder"] * 20) + "/name.py"


@pytest.mark.parametrize(
    ("tool", "input", "line"),
    [
        ("Read", {"file_path": "/h/shop/src/a.py"}, "Read src/a.py"),
        ("Edit", {"file_path": "/h/shop2/a.py"}, "Edit ~/shop2/a.py"),
        ("Write", {"file_path": "/h/shop/~/a"}, "Write ./~/a"),
        ("Read", {"file_path": "/h/shop/../b"}, "Read /h/shop/../b"),
        ("Read", {"file_path": "/h/shop//etc/b"}, "Read /h/shop//etc/b"),
        ("Read", {"file_path": "/h/shop"}, "Read ~/shop"),
        ("Read", {"file_path": "/h"}, "Read /h"),
        ("Read", {"file_path": "/etc/a"}, "Read /etc/a"),
        ("Read", {"file_path": "b/a"}, "Read b/a"),
        ("Read", {"file_path": 7}, "Read"),
        ("NotebookEdit", {"notebook_path": "/h/shop/a.ipynb"}, "NotebookEdit a.ipynb"),
        ("mcp__x__show", {"path": "/h/shop/a", "why": "so"}, "x: show a"),
        ("mcp__x__say", {"text": "/h/shop/a"}, "x: say /h/shop/a"),
        ("Read", {"file_path": f"/h/shop/{DEEP}"}, f"Read {DEEP}"),
        ("Bash", {"command": "cat /h/shop/a"}, "Bash cat /h/shop/a"),
        ("Bash", {"command": "x" * 101}, f"Bash {'x' * 99}…"),
    ],
)
def test_a_call_names_files_from_where_the_chat_is(
    tool: str, input: dict[str, object], line: str
) -> None:
    """Whole, so that the line is enough to open them; a command stays as it runs."""
    folder = Folder("/h/shop", "/h")
    assert tool_line(tool, input, folder) == line
    assert tool_line(tool, input, folder, state="done") == f"▸ {line} ✓"


@pytest.mark.parametrize("folder", [Folder(), Folder("/", "/"), Folder("", "/h/")])
def test_a_place_that_tells_nothing_leaves_paths_as_they_are(folder: Folder) -> None:
    """The root of all files is not worth naming them from."""
    assert folder.name("/etc/a") == "/etc/a"
    assert folder.name("/h/a") == ("~/a" if folder.home == "/h/" else "/h/a")
