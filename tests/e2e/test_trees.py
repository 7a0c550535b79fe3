"""A chat in a git worktree of its own, from its first key to the trash."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.conftest import Open
from tests.e2e.test_merges import NEW, OLD, git

STATUSLINE = "return require('winnow').statusline()"
CWD = "return require('winnow.registry').current().cwd"


def test_a_chat_in_a_worktree(open_editor: Open) -> None:
    """It is made, told apart, merged, opened again and deleted; nothing of it is lost."""
    editor = open_editor(agent="scripted")
    project = editor.sandbox.project
    editor.keys(":Winnow new ++worktree=fix<CR>")
    editor.wait_screen("is of a git repository")
    file = project / "cart.txt"
    file.write_text(OLD)
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "x")
    editor.keys(":Winnow new ++worktree=a/b<CR>")
    editor.wait_screen("is no name for a worktree")
    editor.keys(":Winnow new ++w<Tab>=fix<CR>iHi<Esc><CR>")
    editor.wait_line("branch: winnow/fix")
    editor.wait(lambda: editor.lua(STATUSLINE).startswith("winnow/fix "), "the statusline has it")
    editor.resize(26, 24)
    assert "/" not in editor.lua(STATUSLINE)  # only what there is room for
    editor.resize(80, 24)
    tree = Path(editor.lua(CWD))
    assert tree.name == f"{project.name}-fix"
    assert f"cwd: {project}" in editor.text()
    editor.wait_line("━━ ")
    editor.keys("G:Winnow stop<CR>")
    editor.wait(lambda: "idle" in editor.lua(STATUSLINE), "it is idle")
    (tree / "cart.txt").write_text(NEW)
    editor.keys(":Winnow merge<CR>")
    editor.wait_line("━━ Patch: winnow/fix")
    editor.keys("gg/^━━ Patch<CR>zt/thirty<CR>?^@@<CR>d/^```<CR>/Send it back<CR>dd")
    editor.wait_screen("Merge what is left (1 of 2 hunks)")
    editor.keys("<CR>")
    editor.wait(lambda: "Merged into" in editor.text(), "it is merged")
    assert file.read_text() == OLD.replace("3\n", "three\n", 1)
    editor.keys(":w<CR>:bwipeout<CR>:Winnow chats<CR>")
    editor.wait_line(f"Hi · {project.name} · winnow/fix")
    editor.keys("gg/winnow.fix<CR><CR>")
    editor.wait_line("branch: winnow/fix")
    assert editor.lua(CWD) == str(tree)
    editor.keys(":Winnow chats<CR>")
    editor.wait_line("winnow/fix")
    editor.keys("gg/winnow.fix<CR>dd:w<CR>")
    editor.wait_screen("Kept winnow/fix (1 file +1 −1): ")
    assert (tree / "cart.txt").read_text() == NEW
