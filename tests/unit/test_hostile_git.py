"""A repository whose own settings and programs want to be run: winnow's git runs none of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from winnow.adapters.git import settings
from winnow.adapters.git.worktrees import GitWorktrees
from winnow.adapters.past.pasts import Pasts

ROOT = Path(__file__).parents[2]
GIT = str(shutil.which("git"))
HOOKS = ("post-checkout", "reference-transaction", "post-index-change", "pre-commit")
DRIVERS = {
    "core.fsmonitor": "fsmonitor",
    "core.pager": "pager",
    "diff.external": "external",
    "diff.evil.textconv": "textconv",
    "filter.evil.clean": "clean",
    "filter.evil.smudge": "smudge",
    "filter.e=v.clean": "clean",
    "filter.e=v.smudge": "smudge",
    "filter.e=v.process": "process",
    "merge.evil.driver": "merge",
    "gpg.program": "gpg",
}


class Trap:
    """A repository that leaves a mark for everything of it that is run."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "shop"
        self.ran = folder / "ran"
        self.ran.mkdir()
        (self.top / ".bin").mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        for name in ("a", "b"):
            (self.top / name).write_text("one\ntwo\nthree\n")
        (self.top / ".gitattributes").write_text(
            "a filter=evil diff=evil merge=evil\nb filter=e=v\n"
        )
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "x")
        for hook in HOOKS:
            self.program(self.top / ".git/hooks" / hook, hook)
        for program in ("git", "rg", "sh"):
            self.program(self.top / ".bin" / program, f"program {program}")
        for name, mark in DRIVERS.items():
            self.git("config", name, str(self.program(folder / mark, mark)))
        self.git("config", "commit.gpgsign", "true")

    def git(self, *arguments: str, below: str = "") -> None:
        command = [GIT, "-c", "user.name=u", "-c", "user.email=u@u", *arguments]
        subprocess.run(command, cwd=self.top / below, check=True, capture_output=True)

    def nest(self) -> None:
        """Have a repository inside, which names programs of its own."""
        self.git("init", "--quiet", "inner")
        inner = self.top / "inner"
        (inner / ".gitattributes").write_text("* filter=evil diff=evil\n")
        (inner / "file").write_text("one\n")
        self.git("add", "--all", below="inner")
        self.git("commit", "--quiet", "-m", "x", below="inner")
        self.git("add", "inner")
        self.git("commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", "inner")
        for name in ("filter.evil.clean", "filter.evil.smudge", "diff.external"):
            program = self.program(self.top.parent / f"inner-{name}", f"inner {name}")
            self.git("config", name, str(program), below="inner")
        for name, value in (("submodule.recurse", "true"), ("diff.submodule", "diff")):
            self.git("config", name, value)
        for mark in self.ran.iterdir():  # by what was made just now
            mark.unlink()
        self.change()

    def change(self) -> None:
        """Change the one inside so that git has to compare: the file has its size as before."""
        file = self.top / "inner/file"
        file.write_text("one\n" if file.read_text() == "two\n" else "two\n")

    def program(self, path: Path, mark: str) -> Path:
        path.write_text(f"#!/bin/sh\ntouch '{self.ran}/{mark}'\nexec cat\n")
        path.chmod(0o755)
        return path

    def sprung(self) -> set[str]:
        return {mark.name for mark in self.ran.iterdir()}


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    trap = Trap(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([".bin", "", os.environ["PATH"]]))
    return trap


def test_git_runs_nothing_of_a_repository(trap: Trap, tmp_path: Path) -> None:
    """A review, a worktree and a merge go on without; and a repository in a folder is none."""

    async def work() -> None:
        past = await Pasts(tmp_path / "past")(str(trap.top), "chat")
        before = await past.now()
        trees = GitWorktrees(tmp_path / "trees")
        tree = await trees.create(str(trap.top), "task")
        for name in ("a", "b"):
            (trap.top / name).write_text("zero\none\ntwo\nthree\n")
            (Path(tree.path) / name).write_text("one\ntwo\nthree\nfour\n")
        changes = await past.changes(before, await past.now(), [])
        assert {Path(file.path).name for file in changes.files} == {"a", "b"}
        assert await trees.diffstat(tree) == "2 files +2 −0"
        change = await trees.change(tree)
        merged = await trees.merge(tree, change.commit, {"a": None, "b": None})
        assert merged.done == ("a", "b")
        await trees.remove(tree)

    asyncio.run(work())
    assert (trap.top / "a").read_text() == "zero\none\ntwo\nthree\nfour\n"
    assert trap.sprung() == set()


def test_git_runs_nothing_of_a_repository_inside_one(trap: Trap, tmp_path: Path) -> None:
    """What is changed in it is none of ours, also where a file can't be added."""
    trap.nest()

    async def work() -> None:
        past = await Pasts(tmp_path / "past")(str(trap.top), "chat")
        before = await past.now()
        trees = GitWorktrees(tmp_path / "trees")
        trap.change()
        tree = await trees.create(str(trap.top), "task", uncommitted=True)
        shutil.copytree(trap.top / "inner", Path(tree.path, "inner"), dirs_exist_ok=True)
        (Path(tree.path) / "c").write_text("c\n")
        assert await trees.diffstat(tree) == "1 file +0 −0"
        change = await trees.change(tree)
        assert [file.path for file in change.files] == ["c"]
        assert (await trees.merge(tree, change.commit, {"c": None})).done == ("c",)
        (trap.top / ".gitattributes").write_text("d working-tree-encoding=UTF-16\n")
        (trap.top / "d").write_bytes(b"\0\1\2")
        changes = await past.changes(before, await past.now(), [])
        assert {Path(file.path).name for file in changes.files} == {"c", ".gitattributes"}
        await trees.remove(tree)

    asyncio.run(work())
    assert trap.sprung() == set()


LUA = """
vim.opt.runtimepath:prepend(arg[1])
local cwd, ended = arg[2], 0
local function done() ended = ended + 1 end
require('winnow.context.diff').prepare(cwd, done)
require('winnow.lsp.files').of(cwd, done)
require('winnow.lsp.files').of(cwd .. '/.bin', done)
vim.wait(9000, function() return ended == 3 end, 10)
print(vim.json.encode(require('winnow.context.diff').of(cwd).lines))
"""


def mentioned(trap: Trap, tmp_path: Path) -> str:
    """What Neovim finds for mentions there."""
    script = tmp_path / "script.lua"
    script.write_text(LUA)
    nvim = Path(sys.executable).with_name("nvim")
    ran = subprocess.run(
        [nvim if nvim.exists() else "nvim", "--clean", "-l", script, ROOT, trap.top],
        cwd=trap.top,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout + ran.stderr


def test_neither_does_that_of_neovim(trap: Trap, tmp_path: Path) -> None:
    """For `@diff`, and for the names that mentions are completed with."""
    (trap.top / "a").write_text("zero\n")
    (trap.top / "b").write_text("zero\n")
    assert mentioned(trap, tmp_path).count("+zero") == 2
    assert trap.sprung() == set()


def test_nor_that_of_a_repository_inside_one(trap: Trap, tmp_path: Path) -> None:
    """Neither by what is changed there, nor by another commit of it."""
    trap.nest()
    assert mentioned(trap, tmp_path).strip() == "[]"
    (trap.top / "inner/new").write_text("new\n")
    trap.git("-c", "filter.evil.clean=cat", "add", "new", below="inner")
    trap.git("commit", "--quiet", "-m", "y", below="inner")
    for mark in trap.ran.iterdir():
        mark.unlink()
    assert mentioned(trap, tmp_path).count("Subproject commit") == 2
    assert trap.sprung() == set()


def test_neovim_has_no_git_fetch_what_is_missing(trap: Trap, tmp_path: Path) -> None:
    """The repository says how, which may be by a program."""
    told = subprocess.check_output([GIT, "rev-parse", "HEAD:a"], cwd=trap.top, text=True)
    (trap.top / ".git/objects" / told[:2] / told[2:].strip()).unlink()
    trap.git("config", "core.repositoryFormatVersion", "1")
    trap.git("config", "extensions.partialClone", "origin")
    trap.git("config", "remote.origin.promisor", "true")
    trap.git("config", "remote.origin.url", str(tmp_path))
    trap.git("config", "remote.origin.uploadpack", str(trap.program(tmp_path / "up", "fetch")))
    (trap.top / "a").write_text("zero\n")
    mentioned(trap, tmp_path)
    assert trap.sprung() == set()


@pytest.mark.parametrize("where", ["", "common", "common ", "file", "file ", "file\udcff", "below"])
def test_settings_are_found_wherever_git_finds_them(tmp_path: Path, where: str) -> None:
    """Also those of another folder, whatever it is called, and above what is no repository."""
    top = tmp_path / "shop"
    subprocess.run([GIT, "init", "--quiet", str(top)], check=True)
    subprocess.run([GIT, "config", "filter.evil.clean", "evil"], cwd=top, check=True)
    cwd = top / "below" if where == "below" else top
    (cwd / ".git").mkdir(parents=True, exist_ok=True)
    if where.startswith(("common", "file")):
        (top / ".git").rename(top / where)
    if where.startswith("file"):
        (top / ".git").write_bytes(b"gitdir: " + os.fsencode(where) + b"\n")
    elif where.startswith("common"):
        (top / ".git").mkdir()
        (top / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (top / ".git/commondir").write_text(f"../{where}\n")
    found = subprocess.check_output([GIT, "config", "filter.evil.clean"], cwd=cwd, text=True)
    assert found == "evil\n"
    assert settings.suspicious(cwd)


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ("filter.lfs.clean\ngit-lfs clean -- %f", True),
        ("filter.lfs.smudge\ngit-lfs smudge --skip -- %f", True),
        ('filter.git-crypt.smudge\n"git-crypt" smudge', True),
        ("filter.lfs.clean\ngit-lfs clean -- %f; evil", False),
        ("filter.lfs.clean\n./git-lfs clean", False),
        ("filter.lfs.clean\nevil", False),
    ],
)
def test_two_tools_that_every_repository_names(row: str, kept: bool) -> None:
    """Without them, files would be something else than they are."""
    assert (settings.harmless(["local", row])["GIT_CONFIG_COUNT"] == "0") == kept
    assert settings.harmless(["global", row])["GIT_CONFIG_COUNT"] == "0"


@pytest.mark.parametrize(
    ("row", "fetches"),
    [
        ("remote.origin.url\nhttps://example.com/x.git", True),
        ("remote.origin.url\next::sh -c evil", False),
        ("remote.origin.uploadpack\nevil", False),
        ("url.ext::sh -c evil.insteadof\nhttps://", False),
        ("core.sshcommand\nevil", False),
    ],
)
def test_what_is_missing_is_fetched_by_no_program_of_theirs(row: str, fetches: bool) -> None:
    assert ("GIT_ALLOW_PROTOCOL" not in settings.harmless(["local", row])) == fetches
