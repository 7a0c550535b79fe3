"""Which files of a folder, and of those above it, count as a project's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from winnow.adapters.claude.projects import DiskProjects
from winnow.core import project
from winnow.core.asking import trust


class Disk:
    """A home with a project in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.shop = self.home / "src/shop"
        self.shop.mkdir(parents=True)
        self.env: dict[str, str] = {}

    def write(self, path: str, text: str = "{}") -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    async def read(self, cwd: str = "src/shop") -> project.Project:
        return await DiskProjects(self.env, self.home).read(str(self.home / cwd))

    async def names(self, cwd: str = "src/shop") -> list[str]:
        sources = (await self.read(cwd)).sources
        return [source.name.replace(str(self.home), "~") for source in sources]


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


async def test_an_empty_folder_has_nothing(disk: Disk) -> None:
    found = await disk.read()
    assert found == project.Project(str(disk.shop))
    assert found.name == "shop"
    assert (await disk.read("gone")).sources == ()


async def test_all_that_claude_code_reads(disk: Disk) -> None:
    """Local settings come last, since they count more."""
    for path in (
        ".claude/settings.local.json",
        ".claude/settings.json",
        ".claude/agents/a/b.md",
        ".claude/commands/c.md",
        ".claude/skills/pie/SKILL.md",
        ".claude/skills/pie/cream.md",
        ".claude/skills/pie/.claude-plugin/plugin.json",
        ".claude/output-styles/o.md",
        ".claude/workflows/w.js",
        ".claude/scheduled_tasks.json",
        ".claude/rules/r.md",
        ".mcp.json",
        "CLAUDE.md",
        "sub/.claude/skills/s/SKILL.md",
        "sub/.claude/settings.json",
    ):
        disk.write(f"src/shop/{path}")
    names = await disk.names()
    assert names[-2:] == [".claude/settings.json", ".claude/settings.local.json"]
    assert set(names[:-2]) == {
        ".mcp.json",
        ".claude/agents/a/b.md",
        ".claude/commands/c.md",
        ".claude/skills/pie/SKILL.md",
        ".claude/skills/pie/.claude-plugin/plugin.json",
        ".claude/output-styles/o.md",
        ".claude/workflows/w.js",
        ".claude/scheduled_tasks.json",
        "sub/.claude/skills/s/SKILL.md",
    }


async def test_folders_above_count_and_the_users_own_does_not(disk: Disk) -> None:
    (disk.shop / ".git").mkdir()
    for path in (
        ".claude/skills/mine/SKILL.md",
        ".claude/settings.json",
        "src/.mcp.json",
        "src/.claude/agents/up.md",
        "src/.claude/settings.json",
        "src/shop/a/.claude/settings.json",
    ):
        disk.write(path)
    assert await disk.names("src/shop/a") == [
        "~/src/.mcp.json",
        "~/src/.claude/agents/up.md",
        "a/.claude/settings.json",
    ]
    assert (await disk.read("src/shop/a")).root == str(disk.shop)
    assert ".claude/settings.json" not in await disk.names(".")
    disk.env["CLAUDE_CONFIG_DIR"] = str(disk.home / "src/.claude")
    assert "~/src/.claude/agents/up.md" not in await disk.names("src/shop/a")


async def test_prompts_are_those_that_come_only_with_the_rest(disk: Disk) -> None:
    """Of the folders above, and the user's own notes; the user's memory comes by itself."""
    for path in (
        ".claude/CLAUDE.md",
        "CLAUDE.md",
        "src/CLAUDE.local.md",
        "src/.claude/CLAUDE.md",
        "src/shop/CLAUDE.md",
        "src/shop/.claude/CLAUDE.md",
        "src/shop/CLAUDE.local.md",
    ):
        disk.write(path, path)
    found = await disk.read()
    assert [source.text for source in found.prompts] == [
        "CLAUDE.md",
        "src/.claude/CLAUDE.md",
        "src/CLAUDE.local.md",
        "src/shop/CLAUDE.local.md",
    ]
    assert found.sources == ()


async def test_rules_above_are_prompts(disk: Disk) -> None:
    """But those for certain files, which Claude Code reads with such a file."""
    disk.write("src/.claude/rules/a/b.md", "Be kind.")
    disk.write("src/.claude/rules/paths.md", "---\npaths: '*.py'\n---\nIndent.")
    disk.write("src/.claude/rules/notes.txt", "Nobody reads it.")
    disk.write("src/shop/.claude/rules/own.md", "It reads this anyway.")
    assert [source.text for source in (await disk.read()).prompts] == ["Be kind."]


async def test_agents_md_counts_where_there_is_no_claude_md(disk: Disk) -> None:
    """In none of the folders; that of the user is no project's."""
    for path in ("src/AGENTS.md", "src/shop/.claude/AGENTS.md", ".claude/CLAUDE.md"):
        disk.write(path, path)
    found = [source.text for source in (await disk.read()).prompts]
    assert found == ["src/AGENTS.md", "src/shop/.claude/AGENTS.md"]
    disk.write("src/shop/CLAUDE.md", "Mine.")  # which it reads in any case
    assert (await disk.read()).prompts == ()


async def test_links_are_followed(disk: Disk) -> None:
    """Also in circles; a project that is reached through one has one root."""
    disk.write("else/skills/pie/SKILL.md", "---\nhooks: x\n---\n")
    (disk.shop / ".claude").symlink_to(disk.home / "else")
    (disk.home / "else/skills/again").symlink_to(disk.home / "else/skills")
    (disk.shop / ".mcp.json").symlink_to(disk.home / "gone")
    found = await disk.read()
    assert [source.name for source in found.sources] == [".mcp.json", ".claude/skills/pie/SKILL.md"]
    (disk.home / "link").symlink_to(disk.shop)
    assert await disk.read("link") == found


async def test_no_link_of_a_project_brings_what_is_not_its_own(disk: Disk) -> None:
    """A file of the user's is no prompt; one that lies elsewhere in the project is."""
    disk.write(".ssh/id_rsa", "Secret.")
    disk.write("src/shop/doc/told.md", "Speak of apples.")
    (disk.shop / "CLAUDE.local.md").symlink_to(disk.home / ".ssh/id_rsa")
    (disk.shop / "AGENTS.md").symlink_to("doc/told.md")
    (disk.shop / ".claude").symlink_to(disk.home / ".ssh")
    assert (await disk.read()).prompts == ()
    (disk.shop / "CLAUDE.local.md").unlink()
    assert [source.text for source in (await disk.read()).prompts] == ["Speak of apples."]


async def test_what_cant_be_read_is_said(disk: Disk) -> None:
    (disk.shop / ".mcp.json").mkdir()
    (disk.shop / ".claude").mkdir()
    (disk.shop / ".claude/settings.json").write_bytes(b" " * (5 << 20))
    os.mkfifo(disk.shop / ".claude/settings.local.json")
    skill = disk.write("src/shop/.claude/skills/pie/SKILL.md", "")
    skill.write_bytes("---\nhooks: x\n---\n".encode("utf-16"))
    for number in range(2001):
        disk.write(f"src/shop/.claude/commands/{number}.md", "")
    found = await disk.read()
    said = {entry.text for entry in project.entries(found.sources)}
    assert said == {
        "unreadable: .mcp.json",
        "unreadable: .claude/settings.json",
        "unreadable: .claude/settings.local.json",
        "unreadable: .claude/commands",
        "unreadable: .claude/skills/pie/SKILL.md",
    }


@pytest.mark.parametrize("odd", ["pipe", "endless", "nul"])
async def test_an_odd_worktree_keeps_nobody_waiting(disk: Disk, odd: str) -> None:
    """It is read only where that has an end."""
    git = disk.shop / ".git"
    if odd == "pipe":
        os.mkfifo(git)
    else:
        git.write_text("gitdir: a\0b" if odd == "nul" else "gitdir: else\n")
        (disk.shop / "else").mkdir()
        (disk.shop / "else/commondir").symlink_to("/dev/zero")
    disk.write("src/shop/.claude/settings.json")
    assert await disk.names() == [".claude/settings.json"]


async def test_what_claude_code_can_read_is_shown(disk: Disk) -> None:
    """It takes what is no UTF-8 for a replacement character, and goes on."""
    hook = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "rm x"}]}]}, "a": "\xff"}'
    (disk.shop / ".claude").mkdir()
    (disk.shop / ".claude/settings.json").write_bytes(hook.encode("latin-1"))
    (entry, _) = project.entries((await disk.read()).sources)
    assert entry.text == "hook Stop: rm x (.claude/settings.json)"


async def test_what_was_not_looked_at_does_not_act(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a project with more files than one can look at, no file is given as it is."""
    monkeypatch.setattr("winnow.adapters.claude.projects._LOOKED_AT", 5)
    for number in range(6):
        disk.write(f"src/shop/data/{number}", "")
    disk.write("src/shop/src/pkg/.claude/skills/pie/SKILL.md", "---\nhooks: x\n---\n")
    found = await disk.read()
    assert not found.whole
    assert not trust.given(found, {}).whole


@pytest.mark.parametrize(
    ("books", "trusted"),
    [
        ({"hasTrustDialogAccepted": True}, True),
        ({"hasTrustDialogAccepted": "yes"}, False),
        ({}, False),
        ([], False),
        (None, False),
    ],
)
async def test_trust_of_claude_code(disk: Disk, books: object, trusted: bool) -> None:
    """Only of this very folder, or of the repository that it is in."""
    (disk.shop / ".git").mkdir()
    disk.write(".claude.json", json.dumps({"projects": {str(disk.shop): books}}))
    assert (await disk.read()).trusted is trusted
    disk.write("src/shop/a/x")
    assert (await disk.read("src/shop/a")).trusted is trusted
    assert not (await disk.read("src")).trusted
    disk.env["CLAUDE_CONFIG_DIR"] = str(disk.home / "config")
    assert not (await disk.read()).trusted
    disk.write("config/.claude.json", "[" * 100_000)
    assert not (await disk.read()).trusted


async def test_a_worktree_inherits_settings_but_no_trust(disk: Disk) -> None:
    """Anybody can write a file that says where it belongs to."""
    disk.write("src/shop/.git", f"gitdir: {disk.home}/main/.git/worktrees/shop\n")
    disk.write("main/.git/worktrees/shop/commondir", "../..\n")
    disk.write("main/.claude/settings.local.json")
    disk.write("main/.claude/settings.json")
    disk.write("main/.claude/agents/a.md")
    main = str(disk.home / "main")
    accepted = {"hasTrustDialogAccepted": True}
    disk.write(".claude.json", json.dumps({"projects": {main: accepted}}))
    found = await disk.read()
    assert (found.root, found.trusted) == (str(disk.shop), False)
    assert await disk.names() == [
        "~/main/.claude/agents/a.md",
        "~/main/.claude/settings.local.json",
    ]
    disk.write("src/shop/.git", "gitdir: \0")
    assert await disk.names() == []
