"""A chat in a git worktree of its own, in a real repository."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from winnow import protocol as p
from winnow.adapters.library import DiskLibrary
from winnow.core.asking.trust import Given
from winnow.core.text.text import strip_markers

from tests.app.fakes import CHAT
from tests.app.running import OLD, RunningInGit
from tests.app.test_merges import NEW, cut, project

BRANCH = "winnow/fix"


class Shop(RunningInGit):
    """A chat in a worktree of a repository with one commit; the project's settings are trusted."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "trees/shop-fix"
        super().__init__(folder / "shop", self.tree, folder / "trees")

    async def enter(self, branch: str = "", session: str = "", **more: list[str]) -> None:
        """Open the chat."""
        self.editor.status = self.editor.section = None
        of = p.Worktree(str(self.top), branch)
        await self.do(p.Open(CHAT, "/chat.md", self.cwd, session=session, worktree=of, **more))  # type: ignore[arg-type]

    async def work(self, text: str = NEW) -> None:
        """The agent has said something, and has changed the file."""
        await self.enter()
        await self.until(lambda: self.agents)
        await self.send("Hi")
        (self.tree / "cart.txt").write_text(text)

    async def asked(self) -> p.Section:
        """`:Winnow merge`, and the section that comes of it."""
        before = len(self.editor.every(p.Section))
        await self.do(p.Merge(CHAT))
        await self.until(lambda: len(self.editor.every(p.Section)) > before)
        return self.shown()

    async def decide(self, option: str, note: str = "", without: str = "") -> None:
        """Keep this option only; and leave out the hunk that has this text."""
        section, options = self.shown(), ("Merge what is left", "Send it back")
        lines = [
            line + (note and f" {note}") * line.startswith(option)
            for line in cut(list(section.lines), without)
            if not line.startswith(tuple(other for other in options if other != option))
        ]
        await self.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))

    def says(self, text: str) -> bool:
        """Whether the chat does, or the message line."""
        told = [one.text for one in self.editor.every(p.Say)]
        told += [one.text for one in self.editor.every(p.Notify)]
        return text in self.editor.text or any(text in one for one in told)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    shop = Shop(tmp_path)
    shop.found()
    yield shop
    await shop.chats.close()


async def test_its_agent_works_there(shop: Shop) -> None:
    """The frontmatter says on which branch; the user's files are theirs."""
    await shop.work()
    assert shop.agent.spec.cwd == str(shop.tree)
    assert p.Meta(CHAT, {"branch": BRANCH}) in shop.editor.every(p.Meta)
    assert (shop.top / "cart.txt").read_text() == OLD


async def test_its_change_comes_home(shop: Shop) -> None:
    """As one patch, without what was deleted of it; that is what is asked about the next time."""
    await shop.work()
    section = await shop.asked()
    said = strip_markers("\n".join(section.lines))
    assert "Claude has changed in winnow/fix: 1 file +2 −2." in said
    assert "Drop it" not in said
    await shop.decide("Merge what is left", "as agreed", without="+thirty")
    await shop.until(lambda: shop.says("Merged into"))
    assert (shop.top / "cart.txt").read_text() == OLD.replace("3\n", "three\n", 1)
    assert shop.editor.every(p.Reload)
    again = "\n".join((await shop.asked()).lines)
    assert "+thirty" in again
    assert "+three" not in again
    left = shop.shown()
    await shop.cancel()
    await shop.asked()
    await shop.decide("Merge what is left")
    await shop.until(lambda: shop.editor.text.count("Merged into") > 1)
    assert (shop.top / "cart.txt").read_text() == NEW
    await shop.do(p.Reopen(CHAT, left.section))
    await shop.decide("Merge what is left")
    await shop.until(lambda: shop.says("nothing to merge"))
    assert (shop.tree / "cart.txt").read_text() == NEW


async def test_where_there_is_nothing_to_merge_a_sentence_says_so(shop: Shop) -> None:
    await shop.work(OLD)
    await shop.do(p.Merge(CHAT))
    await shop.until(lambda: shop.says("nothing to merge"))
    await shop.do(p.Close(CHAT), p.Open(CHAT, "/other.md", str(shop.top)), p.Merge(CHAT))
    assert shop.says(":Winnow new ++worktree opens one")


async def test_a_conflict_goes_to_the_agent(shop: Shop) -> None:
    """Nothing is merged; what the user wants done is told, and both sides are marked for it."""
    await shop.work()
    (shop.top / "cart.txt").write_text(OLD.replace("3\n", "drei\n", 1))
    await shop.asked()
    before = len(shop.editor.every(p.Section))
    await shop.decide("Merge what is left")
    await shop.until(lambda: len(shop.editor.every(p.Section)) > before)
    assert "+drei" not in "\n".join(shop.shown().lines)
    assert "<<<<<<< in the project" in "\n".join(shop.shown().lines)
    await shop.hear()
    await shop.decide("Send it back", "keep drei")
    cart = shop.tree / "cart.txt"
    await shop.until(lambda: cart.exists() and "<<<<<<<" in cart.read_text())
    assert (shop.top / "cart.txt").read_text() == OLD.replace("3\n", "drei\n", 1)


async def test_what_is_asked_outlives_the_host(shop: Shop) -> None:
    """And is merged then, though the agent that has made it is gone."""
    await shop.work()
    section = await shop.asked()
    await shop.chats.close()
    shop.chats = type(shop.chats)(shop.world)
    await shop.enter(BRANCH, sections=[section.section], lines=list(section.lines))
    await shop.until(lambda: shop.editor.status and shop.editor.status.pending)
    lines = [line for line in section.lines if not line.startswith("Send it back")]
    await shop.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))
    await shop.until(lambda: shop.says("Merged into"))
    assert (shop.top / "cart.txt").read_text() == NEW


async def test_one_that_was_deleted_is_made_anew(shop: Shop) -> None:
    """When the chat is opened again and goes on; the chat says so."""
    await shop.work()
    await shop.chats.close()
    shop.chats = type(shop.chats)(shop.world)
    shutil.rmtree(shop.tree)
    await shop.enter(BRANCH, "s")
    await shop.do(p.Queue(CHAT))
    await shop.until(lambda: shop.says("was gone: it is made anew"))
    assert (shop.tree / "cart.txt").read_text() == OLD


async def test_a_name_that_is_taken(shop: Shop) -> None:
    """No agent starts anywhere else; what was written stays a draft."""
    shop.git("branch", BRANCH)
    await shop.enter()
    await shop.until(lambda: shop.says("There is a branch winnow/fix already"))
    assert not shop.agents
    assert shop.editor.status
    assert shop.editor.status.state == "failed"


async def test_one_in_which_nothing_was_said_leaves_nothing(shop: Shop) -> None:
    await shop.enter()
    await shop.until(lambda: shop.agents)
    await shop.do(p.Close(CHAT))
    await shop.until(lambda: "winnow" not in shop.git("for-each-ref"))
    assert not shop.tree.exists()


@pytest.mark.parametrize("text", [OLD, NEW])
async def test_a_chat_is_deleted(shop: Shop, text: str) -> None:
    """Its worktree goes, too; with a change it stays, and the user is told where."""
    await shop.work(text)
    await shop.do(p.Close(CHAT))
    await shop.do(p.LeaveTree("/chat.md", str(shop.tree), str(shop.top), BRANCH))
    if text == NEW:
        await shop.until(lambda: shop.says(f"Kept {BRANCH} (1 file +2 −2): {shop.tree}"))
    else:
        await shop.until(lambda: BRANCH not in shop.git("for-each-ref"))
    assert shop.tree.exists() == (text == NEW)


async def test_what_was_decided_about_the_project_holds(shop: Shop) -> None:
    """Its settings are the same ones in a worktree, which has another name."""
    shop.projects.project = project(shop.top, {"A": "1"})
    shop.projects.others["trees"] = project(shop.tree, {"A": "1"})
    shop.decided.roots[str(shop.top)] = {"env A=1 (.claude/settings.json)": "kept"}
    await shop.work()
    assert shop.agent.spec.given == Given()
    assert shop.editor.every(p.Section) == []


async def test_one_that_another_chat_works_in_stays(shop: Shop, tmp_path: Path) -> None:
    """A branch of a chat is in the same worktree."""
    await shop.work(OLD)
    chats = tmp_path / "chats"
    chats.mkdir()
    (chats / "other.md").write_text(f"---\nwinnow: 1\nworktree: {shop.tree}\n---\n")
    library = DiskLibrary(chats, tmp_path / "trash", tmp_path / "locks")
    shop.chats._library._world = shop.world._replace(library=library)
    leave = p.LeaveTree("/chat.md", str(shop.tree), str(shop.top), BRANCH)
    await shop.do(p.Close(CHAT), leave)
    await shop.until(lambda: not shop.chats._background.tasks)
    assert shop.tree.exists()
    (chats / "other.md").unlink()
    await shop.do(leave)
    await shop.until(lambda: not shop.tree.exists())
