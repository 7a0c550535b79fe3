"""Back to before a message: files as a patch to cut down, the conversation as a branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, send, start, wait_idle, wait_section

OLD = "".join(f"line {number}\n" for number in range(1, 31))
NEW = OLD.replace("line 3\n", "line three\n").replace("line 20\n", "line twenty\n")
HALF = OLD.replace("line 20\n", "line twenty\n")


@pytest.fixture
def project(claude: Editor, api: ScriptedAPI) -> Path:
    """Two turns, of which the second has changed a file and made one."""
    folder = claude.sandbox.project
    (folder / "f.txt").write_text(OLD)
    api.add(
        say("One."),
        say(ToolUse("Read", {"file_path": str(folder / "f.txt")}, "t1")),
        say(
            ToolUse("Write", {"file_path": str(folder / "f.txt"), "content": NEW}, "t2"),
            ToolUse("Write", {"file_path": str(folder / "made.txt"), "content": "made\n"}, "t3"),
        ),
        say("Two."),
    )
    claude.keys(":Winnow<CR>:Winnow mode acceptEdits<CR>")
    start(claude)
    wait_idle(claude)
    send(claude, "Second.")
    claude.wait_line("Two.")
    wait_idle(claude)
    assert (folder / "f.txt").read_text() == NEW
    return folder


def test_a_message_is_rewound_but_for_what_is_kept_back(
    claude: Editor, api: ScriptedAPI, project: Path
) -> None:
    """A deleted hunk stays as it is; the branch has the message as its draft, to be sent anew."""
    claude.resize(80, 60)
    claude.keys("gg/Second<CR>:Winnow rewind<CR>")
    wait_section(claude, "Rewind: Second.")
    claude.keys("gg/^@@ -17<CR>d/^```<CR>")
    claude.wait_screen("2 of 3 hunks")
    claude.keys("gg/^Files and<CR><CR>")
    claude.wait_screen("again keeps only Files and conversation")
    claude.keys("<CR><CR>")
    claude.wait_line("fork: ")
    assert (project / "f.txt").read_text() == HALF
    assert not (project / "made.txt").exists()
    assert draft(claude) == "Second."
    assert "Two." not in claude.text()
    claude.keys(":b #<CR>")
    claude.wait_line("▸ Rewind: 2 files put back ✓ f.txt, made.txt")
    assert "│ -made" in claude.lines()
