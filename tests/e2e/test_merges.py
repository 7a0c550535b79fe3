"""Tasks in worktrees of their own: what they change is merged from a section, hunk by hunk."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Open
from tests.e2e.editor import Editor
from tests.e2e.test_board import board, wait_board

OLD = "".join(f"{number}\n" for number in range(40))
NEW = OLD.replace("3\n", "three\n", 1).replace("\n30\n", "\nthirty\n")
SMALL = OLD[:10]  # whose change is seen at once
WORKS = {"type": "permit", "name": "Bash", "input": {"command": "edit"}, "output": "edited"}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """One task, whose worker waits for a permission: then the test does its work for it."""
    call = {"title": "Cart", "prompt": "Change the cart."}
    lead: list[Any] = [{"type": "call", "name": "create_tasks", "input": {"tasks": [call]}}]
    work: list[Any] = [WORKS, {"type": "say", "text": "The cart is changed."}]
    turns = {"turns": [lead, [{"type": "say", "text": "I see."}]]}
    workers = {"workers": {"Cart": {"turns": [work]}}}
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({**turns, **workers}))
    return path


def git(folder: Path, *arguments: str) -> str:
    """Run git there."""
    run = ["git", "-c", "user.name=u", "-c", "user.email=u@example.com", *arguments]
    return subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True).stdout


def begin(editor: Editor, command: str, old: str = OLD, new: str = NEW) -> Path:
    """A run in a repository, whose task has changed two places of a file; returns that file."""
    file = editor.sandbox.project / "cart.txt"
    file.write_text(old)
    git(file.parent, "init", "--quiet")
    git(file.parent, "add", "--all")
    git(file.parent, "commit", "--quiet", "-m", "x")
    editor.keys(f":Winnow {command}<CR>")
    work(editor, new)
    return file


def work(editor: Editor, text: str) -> None:
    """The worker writes this into its worktree, and is through."""
    editor.wait_line("━━ Permission: Bash")
    listed = git(editor.sandbox.project, "worktree", "list", "--porcelain")
    (tree,) = [line[9:] for line in listed.split("\n") if "/worktrees/" in line]
    Path(tree, "cart.txt").write_text(text)
    editor.keys("gg/^Deny<CR>dd")
    editor.wait_screen("━━ Allow once")
    editor.keys("<CR>")
    editor.wait_line("━━ Patch: Cart · t1")


def choose(editor: Editor, option: str, note: str = "") -> None:
    """Read all of the section, delete the other options, and answer."""
    editor.keys("gg/^━━ Patch<CR>zt")
    editor.wait_screen("━━ Patch")
    editor.keys("G")
    editor.wait_screen("Send it back")
    for other in {"Merge what is left", "Drop it", "Send it back"} - {option}:
        editor.keys(f"gg/^{other}<CR>dd")
    editor.keys(f"gg/^{option}<CR>zz" + (f"A {note}<Esc>" if note else ""))
    editor.wait_screen(f"━━ {option}")
    editor.keys("<CR>")


def test_hunks_that_are_deleted_stay_out(open_editor: Open, scenario: Path) -> None:
    """`dd` on a hunk's head, `<CR>`: the rest is on disk, and in a buffer that shows the file."""
    editor = open_editor(agent="scripted", scenario=str(scenario))
    editor.resize(160, 40)  # so that three windows show enough
    file = begin(editor, "run ++worktree Change the cart")
    editor.keys(f":split {file}<CR>:wincmd p<CR>:Winnow board<CR>")
    wait_board(editor, "? t1 Cart · asks you: Shall its change be merged?", "1 file +2 −2")
    editor.keys(":wincmd p<CR>:Winnow next<CR>")
    editor.keys("G?thirty<CR>?^@@<CR>d/^```<CR>")
    editor.keys("/^.*Merge what<CR>jdd")
    assert "Drop it" not in editor.text()
    editor.keys("dd")
    editor.wait_screen("Merge what is left (1 of 2 hunks)")
    editor.keys("<CR>")
    editor.wait(lambda: "t1 “Cart” is merged: cart.txt" in editor.text(), "it is merged")
    assert file.read_text() == OLD.replace("3\n", "three\n", 1)
    wait_board(editor, "✓ t1 Cart · done, merged: The cart is changed.")
    shown = f"return vim.api.nvim_buf_get_lines(vim.fn.bufnr('{file}'), 3, 4, false)[1]"
    editor.wait(lambda: editor.lua(shown) == "three", "the buffer shows it")
    listed = git(file.parent, "worktree", "list")
    assert listed.count("\n") == 1
    assert git(file.parent, "status", "--porcelain") == " M cart.txt\n"


def test_a_gate_and_conflicts_stand_in_the_way(open_editor: Open, scenario: Path) -> None:
    """Each is shown, and nothing is written; sent back, the worker has both sides."""
    three = SMALL.replace("3", "three")
    editor = open_editor(
        agent="scripted", scenario=str(scenario), run_worktree=True, run_gate="cat ok"
    )
    file = begin(editor, "run Change the cart", SMALL, three)
    choose(editor, "Merge what is left")
    editor.wait(lambda: "cat ok ended with 1" in editor.text(), "the gate failed")
    assert file.read_text() == SMALL
    file.write_text(SMALL.replace("3", "drei"))
    (file.parent / "ok").touch()
    choose(editor, "Merge what is left")
    editor.wait(lambda: "<<<<<<<" in editor.text(), "the conflict is shown")
    assert "drei" in editor.text()
    assert "three" not in file.read_text()
    choose(editor, "Send it back", "take both")
    work(editor, SMALL.replace("3", "drei three"))
    choose(editor, "Merge what is left")
    editor.wait(lambda: "t1 “Cart” is merged: cart.txt" in editor.text(), "it is merged")
    assert file.read_text() == SMALL.replace("3", "drei three")
    editor.keys(":Winnow board<CR>")
    wait_board(editor, "✓ t1 Cart · done, merged")
    assert len(board(editor)) == 2


def test_what_was_dropped_is_brought_back(open_editor: Open, scenario: Path) -> None:
    """It is listed, and `<CR>` on it makes a worktree of it again."""
    editor = open_editor(agent="scripted", scenario=str(scenario))
    file = begin(editor, "run ++worktree Change the cart")
    choose(editor, "Drop it")
    editor.wait(lambda: "has dropped what t1" in editor.text(), "it is dropped")
    kept = git(file.parent, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/winnow").strip()
    assert file.read_text() == OLD
    editor.keys(":Winnow restore<CR>")
    editor.wait_line(f"{kept} · ")
    editor.keys("<CR>")
    editor.wait(lambda: f"{kept} is back in" in editor.messages(), "where it is")
    listed = git(file.parent, "worktree", "list", "--porcelain")
    (tree,) = [line[9:] for line in listed.split("\n") if "/worktrees/" in line]
    assert Path(tree, "cart.txt").read_text() == NEW
