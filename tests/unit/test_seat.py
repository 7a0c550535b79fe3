"""The worktree of a chat, with a real git: found again, made anew, and never lost."""

from __future__ import annotations

import errno
import shutil
import subprocess
from pathlib import Path

import pytest
from winnow import ports

from tests.unit.test_worktrees import LINES, Repository, run


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    repository.write("a.txt", LINES)
    repository.write("sub/b.txt", "b\n")
    repository.commit()
    return repository


def ensured(
    repo: Repository, branch: str = "", name: str = "fix", below: str = ""
) -> ports.Ensured:
    """The worktree of a chat in this folder of the project."""
    cwd = repo.top.parent / "trees" / f"shop-{name}" / below
    return run(repo.trees.ensure(str(repo.top / below), str(cwd), branch))


def refs(repo: Repository) -> list[str]:
    """All that is named, but for the user's own branch."""
    return [
        ref for ref in repo.git("for-each-ref", "--format=%(refname)").split() if "main" not in ref
    ]


def test_it_is_made_and_found_again(repo: Repository) -> None:
    """In the folder that stands for the project's, which need not be its top, nor be in git."""
    before = repo.state()
    made = ensured(repo, below="sub").tree
    assert (made.branch, made.cwd) == ("winnow/fix", f"{made.path}/sub")
    assert Path(made.cwd, "b.txt").read_text() == "b\n"
    repo.write("a.txt", "changed\n", tree=made)
    assert ensured(repo, made.branch, below="sub") == ports.Ensured(made)
    (repo.top / "new").mkdir()
    assert Path(ensured(repo, name="other", below="new").tree.cwd).is_dir()
    assert Path(made.path, "a.txt").read_text() == "changed\n"
    assert repo.state() == before


def test_what_is_merged_is_not_asked_about_again(repo: Repository) -> None:
    """What was left out is, and so is what is new; a chat that was opened again knows that."""
    tree = ensured(repo).tree
    repo.write("a.txt", LINES.replace("line 2\n", "two\n"), tree=tree)
    repo.write("c.txt", "c\n", tree=tree)
    assert repo.merge(tree, {"c.txt": None}).done == ("c.txt",)
    tree = ensured(repo, tree.branch).tree
    assert [file.path for file in run(repo.trees.change(tree)).files] == ["a.txt"]
    repo.write("c.txt", "more\n", tree=tree)
    repo.commit(tree=tree)
    assert repo.merge(tree).done == ("a.txt", "c.txt")
    assert repo.read("c.txt") == "more\n"
    assert not run(repo.trees.change(ensured(repo, tree.branch).tree)).files


def test_names_that_are_taken(repo: Repository) -> None:
    """By a branch, or by a folder, whosever they are: nothing of it is touched."""
    repo.git("branch", "winnow/fix")
    (repo.top.parent / "trees/shop-other").mkdir(parents=True)
    for name, what in (("fix", "a branch winnow/fix"), ("other", "a folder ")):
        with pytest.raises(ports.TreeError, match=f"There is {what}.* already: .*takes another"):
            ensured(repo, name=name)
    assert refs(repo) == ["refs/heads/winnow/fix"]


def test_where_none_can_be(repo: Repository, tmp_path: Path) -> None:
    """Outside git, in a project that is gone, and for a folder that stands for none."""
    place = str(tmp_path / "trees/shop-fix")
    for project, why in (
        (tmp_path, "is in no git repository"),
        (tmp_path / "gone", "is no folder"),
    ):
        with pytest.raises(ports.TreeError, match=why):
            run(repo.trees.ensure(str(project), place, ""))
    with pytest.raises(ports.TreeError, match="stands for no folder"):
        run(repo.trees.ensure(str(repo.top / "sub"), place, ""))


def test_one_that_is_gone_is_made_anew(repo: Repository) -> None:
    """With all that there is of it, and a sentence that says what that was."""
    repo.write(".gitignore", ".env\n")
    repo.write(".worktreeinclude", ".env\n")
    repo.write(".env", "secret\n")
    repo.commit()
    tree = ensured(repo).tree
    repo.write("c.txt", "c\n", tree=tree)
    repo.commit(tree=tree)
    shutil.rmtree(tree.path)
    anew = ensured(repo, tree.branch)
    assert Path(tree.path, ".env").exists()
    assert anew == ports.Ensured(tree, anew.said)
    assert "with what was committed on its branch" in anew.said
    assert Path(tree.path, "c.txt").exists()
    repo.write("d.txt", "d\n", tree=tree)
    assert run(repo.trees.remove(tree))  # is kept
    anew = ensured(repo, tree.branch)
    assert "with all that was kept of it" in anew.said
    assert {file.path for file in run(repo.trees.change(anew.tree)).files} == {"c.txt", "d.txt"}
    shutil.rmtree(tree.path)
    repo.git("worktree", "prune")
    for ref in refs(repo):
        repo.git("update-ref", "-d", ref)
    anew = ensured(repo, tree.branch)
    assert "both begin anew with the last commit" in anew.said
    assert not run(repo.trees.change(anew.tree)).files


def test_one_that_git_has_forgotten_is_put_aside(repo: Repository) -> None:
    """Its disk was away when git tidied up."""
    tree = ensured(repo).tree
    repo.write("c.txt", "c\n", tree=tree)
    shutil.rmtree(repo.top / ".git/worktrees")
    said = ensured(repo, tree.branch).said
    assert f"that is in {tree.path}-old now." in said
    assert Path(f"{tree.path}-old", "c.txt").read_text() == "c\n"
    assert ensured(repo, tree.branch) == ports.Ensured(tree)


def test_a_branch_that_is_gone_costs_nothing(repo: Repository) -> None:
    """Its files are there."""
    tree = ensured(repo).tree
    repo.write("c.txt", "c\n", tree=tree)
    repo.git("update-ref", "-d", "refs/heads/winnow/fix")
    assert ensured(repo, tree.branch) == ports.Ensured(tree)
    assert repo.merge(tree).done == ("c.txt",)


def test_what_can_not_be_made_whole_leaves_nothing(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full; when it no longer is, the name is free."""
    repo.write(".gitignore", ".env\n")
    repo.write(".worktreeinclude", ".env\n")
    repo.write(".env", "secret\n")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copy2", full)
        with pytest.raises(ports.TreeError, match="No space left"):
            ensured(repo)
    assert (refs(repo), list((repo.top.parent / "trees").iterdir())) == ([], [])
    assert repo.git("worktree", "list").count("\n") == 0
    assert Path(ensured(repo).tree.path, ".env").read_text() == "secret\n"


def test_only_one_that_holds_nothing_may_go(repo: Repository) -> None:
    """A change is something, and so is a commit, even when all of its change has come home."""
    tree = ensured(repo).tree
    assert not run(repo.trees.holds(tree))
    repo.write("c.txt", "c\n", tree=tree)
    assert run(repo.trees.holds(tree)) == "1 file +0 −0"
    repo.commit(tree=tree)
    repo.merge(tree)
    tree = ensured(repo, tree.branch).tree
    assert run(repo.trees.holds(tree)) == "1 commit"
    repo.git("branch", "mine", tree.branch)
    assert not run(repo.trees.holds(tree))
    assert not run(repo.trees.remove(tree))
    assert refs(repo) == ["refs/heads/mine"]


def test_submodules_are_left_alone(repo: Repository, tmp_path: Path) -> None:
    """They are empty in it, and no change of it."""
    other = tmp_path / "other"
    other.mkdir()
    lib = Repository(other)
    lib.write("l.txt", "l\n")
    lib.commit()
    allow = ("-c", "protocol.file.allow=always")
    repo.git(*allow, "submodule", "--quiet", "add", str(lib.top), "lib")
    repo.commit()
    tree = ensured(repo).tree
    assert not run(repo.trees.holds(tree))
    repo.write("c.txt", "c\n", tree=tree)
    assert repo.merge(tree).done == ("c.txt",)
    assert repo.read("lib/l.txt") == "l\n"
    subprocess.run(["rm", f"{tree.path}/c.txt"], check=True)
    run(repo.trees.remove(tree))
    assert repo.read("lib/l.txt") == "l\n"
