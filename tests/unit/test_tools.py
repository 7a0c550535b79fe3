"""What is shown of a tool call: what it is about, what came of it, and how its output reads."""

from __future__ import annotations

import time
from typing import Any

import pytest
from winnow.core.folder import Folder
from winnow.core.text import terminal
from winnow.core.text.duration import duration
from winnow.core.transcript.entries import Called, Ended, Entry, Returned
from winnow.core.transcript.tools import Came, about, came, title
from winnow.core.transcript.transcript import Transcript

FOLDER = Folder("/h/shop", "/h")


@pytest.mark.parametrize(
    ("tool", "input", "line"),
    [
        ("Grep", {"pattern": "todo", "path": "/h/shop/src"}, "Grep todo in src"),
        ("Grep", {"pattern": "todo"}, "Grep todo"),
        ("Grep", {"pattern": "todo", "path": "/h/shop/"}, "Grep todo"),
        ("Skill", {"skill": "commit", "args": "-m x"}, "Skill commit -m x"),
        ("LSP", {"operation": "hover", "filePath": "/h/shop/a.py", "line": 3}, "LSP hover a.py:3"),
        ("CronCreate", {"prompt": "look", "cron": "* 9"}, "CronCreate * 9 look"),
        ("Monitor", {"command": "tail -f x", "description": "watch x"}, "Monitor watch x"),
        ("TodoWrite", {"todos": [{}, {}]}, "TodoWrite 2 items"),
        ("TodoWrite", {"todos": "none"}, "TodoWrite "),
        ("ReportFindings", {"findings": [{}]}, "ReportFindings 1 finding"),
        ("TaskUpdate", {"taskId": "3", "status": "completed"}, "TaskUpdate #3 completed"),
        ("TaskStop", {"task_id": "b1"}, "TaskStop b1"),
        ("TaskList", {}, "TaskList "),
        ("mcp__github__get_issue", {"repo": "a/b"}, "github: get_issue a/b"),
        ("mcp__a_b__c__d", {}, "a_b: c__d "),
        ("New\nTool", {"x": 1, "y": "z\0"}, "New ⏎ Tool z␀"),
    ],
)
def test_what_a_call_is_about(tool: str, input: dict[str, Any], line: str) -> None:
    """The argument that matters, by tool; of tools that nobody knows, the first text."""
    assert f"{title(tool)} {about(tool, input, FOLDER)}" == line


PATCH = [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": [" a", "-b", "+c"]}]
# As CLI 2.1.332 says it.
RESULTS: list[tuple[str, str, Any, Came]] = [
    ("Bash", "a\nb", {"stdout": "a\nb", "interrupted": False}, Came("", "a\nb")),
    ("Bash", "run", {"stdout": "", "backgroundTaskId": "b1"}, Came("in the background", "run")),
    ("Bash", "<persisted-output>\nx", {"stdout": "1\n2", "stderr": "e"}, Came("", "1\n2\ne")),
    (
        "Read",
        "1\tone\n2\t",
        {"type": "text", "file": {"numLines": 2, "startLine": 1, "totalLines": 2}},
        Came("", "1\tone"),
    ),
    (
        "Read",
        "2\ttwo",
        {"type": "text", "file": {"numLines": 1, "startLine": 2, "totalLines": 4}},
        Came("lines 2–2 of 4", "2\ttwo"),
    ),
    (
        "Read",
        "[image: image/png]",
        {
            "type": "image",
            "file": {
                "originalSize": 2048,
                "dimensions": {"originalWidth": 3, "originalHeight": 4},
            },
        },
        Came("3×4 · 2.0 KB", ""),
    ),
    (
        "Edit",
        "updated",
        {"structuredPatch": PATCH},
        Came("+1 −1", "@@ -1,2 +1,3 @@\n a\n-b\n+c"),
    ),
    ("Write", "made", {"type": "create", "content": "x\ny\n"}, Came("new, +2", "")),
    (
        "Grep",
        "o",
        {"mode": "count", "numMatches": 2, "numFiles": 1},
        Came("2 matches in 1 file", "o"),
    ),
    ("Grep", "o", {"mode": "files_with_matches", "numFiles": 3}, Came("3 files", "o")),
    ("Glob", "o", {"numFiles": 100, "truncated": True}, Came("100 files and more", "o")),
    ("WebFetch", "o", {"code": 200, "codeText": "OK", "bytes": 1500}, Came("200 OK · 1.5 KB", "o")),
    (
        "Agent",
        "[Subagent hand-back] said",
        {
            "status": "completed",
            "totalToolUseCount": 1,
            "totalTokens": 1234,
            "content": [{"type": "text", "text": "said"}],
        },
        Came("1 tool · 1,234 tokens", "said"),
    ),
    ("Agent", "o", {"status": "async_launched"}, Came("in the background", "o")),
    ("ToolSearch", "x", {"matches": ["WebFetch"]}, Came("1 tool", "WebFetch")),
    (
        "ReportFindings",
        "o",
        {"findings": [{"file": "a.py", "line": 3, "summary": "off by one"}, {"summary": "so"}]},
        Came("", "a.py:3: off by one\nso"),
    ),
    ("TaskUpdate", "o", {"statusChange": {"from": "a", "to": "b"}}, Came("a → b", "o")),
    ("Bash", "(Bash completed with no output)", {"stdout": ""}, Came("", "")),
    # What another version may say.
    ("Read", "o", {"type": "text", "file": None}, Came("", "o")),
    ("Edit", "o", {"structuredPatch": [{}]}, Came("", "o")),
    ("Agent", "o", {"status": "completed"}, Came("", "o")),
    ("Bash", "o", "Error: no", Came("", "o")),
    ("Unknown", "o", [1], Came("", "o")),
]


@pytest.mark.parametrize(("tool", "output", "result", "shown"), RESULTS)
def test_what_came_of_it(tool: str, output: str, result: Any, shown: Came) -> None:
    """What the tool says of itself, and nothing where it says something else."""
    assert came(tool, output, result) == shown


def test_what_failed_says_how() -> None:
    """The exit code stands in the line, and what was written beneath; tags are no text."""
    assert came("Bash", "Exit code 3\nno\nway", None, failed=True) == Came("exit 3", "no\nway")
    assert came("Bash", "Exit code 1", "Error", failed=True) == Came("exit 1", "")
    error = "<tool_use_error>Error: No such tool</tool_use_error>"
    assert came("Glob", error, None, failed=True) == Came("", "No such tool")


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[K", ["red green"]),
        ("10%\r50%\r100%\r\ndone\r", ["100%", "done"]),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", ["ab"]),
        ("\x1b[2J\x1b[1;1Hat\x1b(B", ["at"]),
        ("N\bNA\bAME", ["NAME"]),
        ("a\x00b\u2028c\u202ed", ["a␀b‹U+2028›c‹U+202E›d"]),
        ("half \ud83d", ["half ‹U+D83D›"]),
        ("\x1b[3", [""]),
        ("\n\n", []),
        ("  x\n\ny\n\n", ["  x", "", "y"]),
        ("x" * 5000, ["x" * 2000 + "… (5,000 characters)"]),
    ],
)
def test_an_output_reads_as_in_a_terminal(output: str, lines: list[str]) -> None:
    """Its last state, without colours; what can't be seen is shown."""
    assert terminal.lines(output) == lines


def test_an_endless_output_costs_little() -> None:
    """Both ends are shown, what failed being told by the last lines; the rest is not looked at."""
    began = time.process_time()
    shown = terminal.lines("\x1b[1mline\x1b[0m\n" * 4_000_000)
    terminal.lines("x" * 50_000_000)
    terminal.lines("50%\r" * 10_000_000)
    assert time.process_time() - began < 5
    assert len(shown) == 2001
    assert shown[1500] == "… 3,998,000 more lines"
    assert set(shown[:1500] + shown[1501:]) == {"line"}


BASH = Called("t1", "Bash", {"command": "make"})


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        (
            [BASH, Returned("t1", "no", True, "exit 2", 61.0)],
            "▸ Bash make ✗ exit 2 · 1 min 1 s\n│ no",
        ),
        ([BASH, Returned("t1", "", seconds=2.9)], "▸ Bash make ✓"),
        ([BASH, Returned("t1", "", seconds=3.1)], "▸ Bash make ✓ 3 s"),
        ([Ended(tools=7, seconds=42, cost=0.034)], "∎ 7 tools · 42 s · $0.03"),
        ([Ended(tools=1, seconds=5000)], "∎ 1 tool · 1 h 23 min"),
        ([Ended(seconds=9, cost=1)], ""),
        ([Ended(stopped=True, tools=2, seconds=9)], "■ Stopped."),
    ],
)
def test_a_line_says_what_it_took(entries: list[Entry], text: str) -> None:
    """Where that is worth it."""
    assert Transcript(entries).text == text


def test_durations() -> None:
    """Two units at most."""
    assert [duration(s) for s in (2.4, 59.6, 3599, 7260)] == [
        "2 s",
        "60 s",
        "59 min 59 s",
        "2 h 1 min",
    ]
