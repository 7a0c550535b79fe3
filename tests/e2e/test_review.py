"""The review of what Claude and its commands have changed, by its lines."""

from __future__ import annotations

import subprocess

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import start, wait_idle

LINES = "".join(f"line {number}\n" for number in range(1, 31))


def bash(id: str, command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": id}, id)


def test_what_changed_is_undone_talked_about_and_accepted(claude: Editor, api: ScriptedAPI) -> None:
    """By Claude's tools and its commands; what the user writes meanwhile and since stays theirs."""
    claude.configure(mode="bypassPermissions")
    project = claude.sandbox.project
    file, made = project / "app.py", project / "made.py"
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    file.write_text(LINES)
    command = "sed -i 's/^line 3$/three/; s/^line 20$/twenty/' app.py; echo one > made.py"
    wait = "until [ -e go ]; do sleep 0.1; done; rm go"
    api.on("Go on", say(bash("t1", command)), say(bash("t2", wait)), say("Done."), say("I see."))
    start(claude, "Go on")
    claude.wait(made.exists, "what the command makes")
    claude.keys(":e app.py<CR>Gomine<Esc>:w<CR>")  # in the middle of the turn
    (project / "go").touch()
    claude.keys(":Winnow<CR>")
    claude.wait_line("Done.")
    wait_idle(claude)

    claude.keys(":Winnow review<CR>")
    claude.wait_line("Since this session began: 2 files +3 −2")
    text = claude.text()
    assert "diff app.py · +2 −2\n@@ -1,6 +1,6 @@\n line 1" in text
    assert "diff made.py · new, +1 −0" in text
    assert "+mine" not in text
    claude.keys("/^@@<CR>dd/twenty<CR>AWhy not 20?<Esc>/^diff made<CR>zcdd:w<CR>")
    claude.wait(lambda: not made.exists(), "the file to go")
    claude.wait_line("Since this session began: 1 file +1 −1")
    assert file.read_text() == LINES.replace("line 20\n", "twenty\n") + "mine\n"
    claude.keys("/twenty<CR><CR>")
    claude.wait(lambda: claude.lua("return vim.fn.expand('%:t')") == "app.py", "its place")
    assert claude.cursor()[0] == 20
    claude.keys("u")  # of one step
    assert "three" in claude.lines()
    claude.keys("<C-r>:Winnow<CR>")
    claude.wait_line("I see.")
    assert (
        "app.py:20\n```diff\n+twenty\n```\nWhy not 20?\n\nI have undone some of your changes: "
        in claude.text()
    )
    wait_idle(claude)

    claude.keys(":Winnow review session<CR>onsense<Esc>:w<CR>")
    claude.wait_screen("“nsense” begins with neither")
    claude.keys("u:sbuffer app.py<CR>Gounsaved<Esc>:wincmd p<CR>ggjdd:w<CR>")
    claude.wait_screen("app.py has unsaved edits in Neovim: write it first.")
    claude.keys(":sbuffer app.py<CR>u:wincmd p<CR>u:w<CR>/twenty<CR>:Winnow review accept here<CR>")
    claude.wait_line("Nothing has changed since this session began.")
    claude.keys(":Winnow review accept<CR>")
    claude.wait_line("Nothing has changed since what you accepted last.")
    assert "twenty" in file.read_text()


def test_outside_git_it_is_what_tools_wrote(claude: Editor, api: ScriptedAPI) -> None:
    claude.configure(mode="bypassPermissions")
    project = claude.sandbox.project
    file, made = project / "app.py", project / "made.py"
    file.write_text(LINES)
    edit = {"file_path": str(file), "old_string": "line 3\n", "new_string": "three\n"}
    write = {"file_path": str(made), "content": "one\n"}
    calls = [ToolUse("Edit", edit, "t2"), ToolUse("Write", write, "t3")]
    read = ToolUse("Read", {"file_path": str(file)}, "t1")
    api.on("Go on", say(read), say(*calls), say(bash("t4", "touch other")), say("Done."))
    start(claude, "Go on")
    claude.wait_line("Done.")
    wait_idle(claude)
    claude.keys(":Winnow review<CR>")
    claude.wait_line("diff made.py · new, +1 −0")
    assert "2 files +2 −1" in claude.lines()[0]
    claude.keys(":g/^diff/d<CR>:w<CR>")
    claude.wait(lambda: not made.exists() and file.read_text() == LINES, "the files as they were")
