"""Git worktrees for agents, with a real git: nothing of the user's is lost, ever."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from winnow import ports
from winnow.adapters.git.worktrees import GitWorktrees
from winnow.core.proposal.merge import diffstat

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


class Repository:
    """A repository with one commit, which the user has gone on working in."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "shop"
        self.top.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.email", "u@example.com")
        self.git("config", "user.name", "u")
        self.trees = GitWorktrees(folder / "trees")

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=folder or self.top, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, name: str, text: str, *, tree: ports.Tree | None = None) -> None:
        path = Path(tree.path if tree else self.top, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def read(self, name: str) -> str | None:
        path = self.top / name
        return path.read_bytes().decode() if path.exists() else None

    def commit(self, *, tree: ports.Tree | None = None) -> None:
        folder = Path(tree.path) if tree else None
        self.git("add", "--all", folder=folder)
        self.git("commit", "--quiet", "-m", "x", folder=folder)

    def state(self) -> tuple[str, str, str, str]:
        """What nobody but the user may change: branch, commit, index and stash."""
        shown = [("symbolic-ref", "HEAD"), ("rev-parse", "HEAD"), ("ls-files", "--stage")]
        refs = self.git("for-each-ref", "refs/stash", "refs/heads/main")
        one, two, three = (self.git(*command) for command in shown)
        return one, two, three, refs

    def make(self, name: str = "t1", *, uncommitted: bool = False) -> ports.Tree:
        return run(self.trees.create(str(self.top), name, uncommitted=uncommitted))

    def merge(
        self, tree: ports.Tree, wanted: dict[str, str | None] | None = None, gate: str = ""
    ) -> ports.Merged:
        change = run(self.trees.change(tree))
        every = dict.fromkeys(file.path for file in change.files)
        return run(self.trees.merge(tree, change.commit, every if wanted is None else wanted, gate))


LINES = "".join(f"line {number}\n" for number in range(1, 41))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    repository.write("a.txt", LINES)
    repository.write("sub/b.txt", "b\n")
    repository.write(".gitignore", ".env\nbuild/\n")
    repository.commit()
    return repository


def test_all_that_it_changes_comes_home(repo: Repository) -> None:
    """What was committed there and what was not: new, changed, deleted, in folders, executable."""
    tree = repo.make()
    repo.write("a.txt", LINES.replace("line 3\n", "line three\n"), tree=tree)
    repo.commit(tree=tree)
    repo.write("new/deep/c.txt", "c\n", tree=tree)
    Path(tree.path, "sub/b.txt").unlink()
    repo.write("run.sh", "#!/bin/sh\n", tree=tree)
    Path(tree.path, "run.sh").chmod(0o755)
    Path(tree.path, "picture").write_bytes(b"\x89\0\xff")
    before = repo.state()

    change = run(repo.trees.change(tree))
    assert [file.path for file in change.files] == [
        "a.txt",
        "new/deep/c.txt",
        "picture",
        "run.sh",
        "sub/b.txt",
    ]
    assert {file.path: file.what for file in change.files if file.what} == {
        "picture": "binary, 3 bytes",
        "run.sh": "new, executable, 10 bytes",
    }
    assert diffstat(change.files) == "5 files +3 −2"

    merged = repo.merge(tree)
    assert set(merged.done) == {file.path for file in change.files}
    assert repo.read("a.txt") == LINES.replace("line 3\n", "line three\n")
    assert repo.read("new/deep/c.txt") == "c\n"
    assert not (repo.top / "sub").exists()
    assert (repo.top / "run.sh").stat().st_mode & 0o111
    assert (repo.top / "picture").read_bytes() == b"\x89\0\xff"
    assert repo.state() == before


def test_it_is_measured_while_an_agent_works(repo: Repository) -> None:
    """Whatever is committed there, and whatever git does not know; and it locks nothing."""
    tree = repo.make()
    assert run(repo.trees.diffstat(tree)) == ""
    repo.write("new.txt", "one\n", tree=tree)
    assert run(repo.trees.diffstat(tree)) == "1 file +0 −0"
    repo.commit(tree=tree)
    repo.write("new.txt", "two\nthree\n", tree=tree)
    assert run(repo.trees.diffstat(tree)) == "1 file +2 −0"
    assert run(repo.trees.diffstat(msgspec.structs.replace(tree, path="/gone"))) == ""


def test_only_what_is_wanted_is_merged(repo: Repository) -> None:
    """Some files whole, of some a part, of some nothing."""
    tree = repo.make()
    repo.write("a.txt", LINES.replace("line 3\n", "3!\n").replace("line 30\n", "30!\n"), tree=tree)
    repo.write("c.txt", "c\n", tree=tree)
    repo.write("d.txt", "d\n", tree=tree)
    merged = repo.merge(tree, {"a.txt": LINES.replace("line 30\n", "30!\n"), "d.txt": None})
    assert set(merged.done) == {"a.txt", "d.txt"}
    assert repo.read("a.txt") == LINES.replace("line 30\n", "30!\n")
    assert repo.read("c.txt") is None


def test_what_the_user_did_meanwhile_stays(repo: Repository) -> None:
    """Staged, unstaged, untracked and committed work is merged with, and stays as it was."""
    tree = repo.make()
    repo.write("a.txt", LINES.replace("line 3\n", "3!\n"), tree=tree)
    repo.write("staged.txt", "staged\n")
    repo.git("add", "staged.txt")
    repo.write("staged.txt", "and more\n")
    repo.write("untracked.txt", "mine\n")
    repo.write("a.txt", LINES.replace("line 38\n", "mine\n"))
    before = repo.state()
    assert repo.merge(tree).done == ("a.txt",)
    assert repo.read("a.txt") == LINES.replace("line 3\n", "3!\n").replace("line 38\n", "mine\n")
    assert repo.read("staged.txt") == "and more\n"
    assert repo.read("untracked.txt") == "mine\n"
    assert repo.state() == before


def test_conflicts_write_nothing(repo: Repository) -> None:
    """They are told with both sides."""
    tree = repo.make()
    repo.write("a.txt", LINES.replace("line 3\n", "theirs\n"), tree=tree)
    repo.write("new.txt", "new\n", tree=tree)
    repo.write("a.txt", LINES.replace("line 3\n", "mine\n"))
    merged = repo.merge(tree)
    assert not merged.done
    assert list(merged.conflicts) == ["a.txt"]
    marked = merged.conflicts["a.txt"]
    assert marked.index("<<<<<<<") < marked.index("mine\n") < marked.index("theirs\n")
    assert repo.read("new.txt") is None
    assert repo.read("a.txt") == LINES.replace("line 3\n", "mine\n")


def test_the_gate_sees_the_merged_files(repo: Repository) -> None:
    """It runs on a copy: what fails there writes nothing here, and says what it wrote."""
    tree = repo.make()
    repo.write("new.txt", "new\n", tree=tree)
    repo.write("mine.txt", "mine\n")
    failed = repo.merge(tree, gate="cat new.txt mine.txt; touch litter; exit 3")
    assert failed == ports.Merged(
        failed="cat new.txt mine.txt; touch litter; exit 3 ended with 3:\nnew\nmine"
    )
    assert repo.read("new.txt") is None
    assert repo.merge(tree, gate="test -f new.txt && test -f mine.txt").done == ("new.txt",)
    assert repo.read("litter") is None
    assert len(repo.git("worktree", "list").splitlines()) == 2


def test_files_that_change_while_the_gate_runs_are_not_overwritten(repo: Repository) -> None:
    tree = repo.make()
    repo.write("a.txt", "theirs\n" + LINES, tree=tree)
    merged = repo.merge(tree, gate=f"echo mine > {repo.top}/a.txt")
    assert not merged.done
    assert "changed meanwhile" in merged.failed
    assert repo.read("a.txt") == "mine\n"


def test_it_may_start_from_what_is_not_committed(repo: Repository) -> None:
    """Then that is its base: it comes home as its own change alone."""
    repo.write("a.txt", "mine\n" + LINES)
    repo.write("untracked.txt", "mine\n")
    before = repo.state()
    tree = repo.make(uncommitted=True)
    assert Path(tree.path, "a.txt").read_text() == "mine\n" + LINES
    assert Path(tree.path, "untracked.txt").read_text() == "mine\n"
    assert run(repo.trees.change(tree)).files == ()
    repo.write("untracked.txt", "theirs\n", tree=tree)
    repo.write("a.txt", LINES)  # meanwhile the user takes their own line back
    assert repo.merge(tree).done == ("untracked.txt",)
    assert repo.read("a.txt") == LINES
    assert repo.read("untracked.txt") == "theirs\n"
    assert repo.state() == before


def test_ignored_files_come_along_where_asked(repo: Repository) -> None:
    """Only what `.worktreeinclude` names and git ignores; what is there already stays."""
    repo.write(".worktreeinclude", ".env\nuntracked.txt\n")
    repo.write(".env", "secret\n")
    repo.write("build/x", "x\n")
    repo.write("untracked.txt", "u\n")
    tree = repo.make()
    assert Path(tree.path, ".env").read_text() == "secret\n"
    assert not Path(tree.path, "build").exists()
    assert not Path(tree.path, "untracked.txt").exists()
    assert run(repo.trees.change(tree)).files == ()


def test_an_agent_works_in_the_folder_that_stands_for_its_own(repo: Repository) -> None:
    tree = run(repo.trees.create(str(repo.top / "sub"), "t1"))
    assert tree.cwd == f"{tree.path}/sub"
    other = run(repo.trees.create(str(repo.top), "t1"))
    assert other.path != tree.path
    assert other.branch != tree.branch


def test_nothing_that_is_removed_is_lost(repo: Repository) -> None:
    """Untracked, uncommitted, unmerged: all of it can be brought back."""
    tree = repo.make()
    repo.write("a.txt", LINES + "committed\n", tree=tree)
    repo.commit(tree=tree)
    repo.write("a.txt", LINES + "committed\nnot\n", tree=tree)
    repo.write("untracked.txt", "u\n", tree=tree)
    assert run(repo.trees.remove(tree))
    assert not Path(tree.path).exists()
    assert "winnow/t1" not in repo.git("branch", "--list")
    (kept,) = run(repo.trees.kept(str(repo.top)))
    assert kept.name == "t1"
    assert kept.at > 1e9
    restored = run(repo.trees.restore(str(repo.top), "t1"))
    assert Path(restored.path, "a.txt").read_text() == LINES + "committed\nnot\n"
    assert Path(restored.path, "untracked.txt").read_text() == "u\n"


def test_one_that_holds_nothing_leaves_nothing(repo: Repository) -> None:
    tree = repo.make()
    assert run(repo.trees.remove(tree)) == ""
    assert run(repo.trees.kept(str(repo.top))) == []
    assert run(repo.trees.remove(tree)) == ""  # once more does nothing


def test_what_was_kept_before_stays(repo: Repository) -> None:
    """A second worktree of the same name is kept beside it; the same again is kept once."""
    for text, name in (("one\n", "t1"), ("two\n", "t1-2"), ("two\n", "t1-2")):
        tree = repo.make()
        repo.write("a.txt", text, tree=tree)
        assert run(repo.trees.remove(tree)) == name
    assert {kept.name for kept in run(repo.trees.kept(str(repo.top)))} == {"t1", "t1-2"}
    restored = run(repo.trees.restore(str(repo.top), "t1"))
    assert Path(restored.path, "a.txt").read_text() == "one\n"


def test_one_is_brought_up_to_date(repo: Repository) -> None:
    """With all that stands in the user's files; its change counts from there, conflicts marked."""
    tree = repo.make()
    repo.write("a.txt", LINES + "theirs\n", tree=tree)
    repo.write("own.txt", "o\n", tree=tree)
    repo.write("a.txt", LINES + "ours\n")
    repo.write("new.txt", "n\n")
    before = repo.state()
    tree = run(repo.trees.update(tree))
    text = Path(tree.path, "a.txt").read_text()
    assert "<<<<<<<" in text
    assert "ours\n=======\ntheirs\n" in text
    assert Path(tree.path, "new.txt").read_text() == "n\n"
    assert {file.path for file in run(repo.trees.change(tree)).files} == {"a.txt", "own.txt"}
    assert repo.state() == before
    assert repo.read("a.txt") == LINES + "ours\n"


def test_one_that_was_deleted_by_hand_has_what_was_committed(repo: Repository) -> None:
    tree = repo.make()
    repo.write("c.txt", "c\n", tree=tree)
    repo.commit(tree=tree)
    subprocess.run(["rm", "-rf", tree.path], check=True)
    assert [file.path for file in run(repo.trees.change(tree)).files] == ["c.txt"]
    assert run(repo.trees.remove(tree))
    assert run(repo.trees.restore(str(repo.top), "t1")).branch == "winnow/t1"


def test_what_git_runs_by_itself_does_not_run(repo: Repository) -> None:
    """Hooks of the repository are the user's, for what the user does."""
    hook = repo.top / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {repo.top}/hooked\n")
    hook.chmod(0o755)
    tree = repo.make()
    repo.write("c.txt", "c\n", tree=tree)
    repo.merge(tree, gate="true")
    run(repo.trees.remove(tree))
    assert repo.read("hooked") is None


def test_where_there_is_no_repository_a_sentence_says_so(tmp_path: Path) -> None:
    """No repository, a bare one, one without a commit."""
    trees = GitWorktrees(tmp_path / "trees")
    with pytest.raises(ports.TreeError, match="is in no git repository"):
        run(trees.create(str(tmp_path), "t1"))
    subprocess.run(["git", "init", "--quiet", "--bare", "bare"], cwd=tmp_path, check=True)
    with pytest.raises(ports.TreeError, match="is in no git repository"):
        run(trees.create(str(tmp_path / "bare"), "t1"))
    empty = Repository(tmp_path)
    with pytest.raises(ports.TreeError, match="has no commit yet"):
        empty.make()
    empty.write("a.txt", "a\n")
    tree = empty.make(uncommitted=True)
    assert Path(tree.path, "a.txt").read_text() == "a\n"


def test_a_merge_under_way_stays_as_it_is(repo: Repository) -> None:
    """The user's own conflicts are theirs."""
    repo.git("checkout", "--quiet", "-b", "other")
    repo.write("a.txt", "other\n")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.write("a.txt", "main\n")
    repo.commit()
    subprocess.run(
        ["git", "merge", "--quiet", "other"], cwd=repo.top, capture_output=True, check=False
    )
    before = repo.state()
    tree = repo.make()
    repo.write("c.txt", "c\n", tree=tree)
    assert repo.merge(tree).done == ("c.txt",)
    assert repo.state() == before
    assert "<<<<<<<" in (repo.read("a.txt") or "")


def test_links_and_line_ends_are_what_they_were(repo: Repository) -> None:
    tree = repo.make()
    repo.write("crlf.txt", "a\r\nb", tree=tree)
    Path(tree.path, "link").symlink_to("a.txt")
    repo.write("ü 😀\n.txt", "name\n", tree=tree)
    repo.merge(tree)
    assert repo.read("crlf.txt") == "a\r\nb"
    assert (repo.top / "link").readlink() == Path("a.txt")
    assert repo.read("ü 😀\n.txt") == "name\n"


def test_a_full_or_read_only_place_is_a_sentence(repo: Repository, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    trees = GitWorktrees(tmp_path / "file")
    with pytest.raises(ports.TreeError, match="No worktree could be made for t1"):
        run(trees.create(str(repo.top), "t1"))
