"""A task in a worktree of its own, in a real repository: what it changes comes home as wanted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from winnow import protocol as p
from winnow.core.asking.trust import Given
from winnow.core.project import Project, Source
from winnow.core.run import events as e
from winnow.core.run.events import Limits
from winnow.core.run.run import replay
from winnow.core.run.task import Merge
from winnow.core.text.text import strip_markers

from tests.app.fakes import CHAT
from tests.app.running import OLD, RUN, RunningInGit

NEW = OLD.replace("3\n", "three\n", 1).replace("\n30\n", "\nthirty\n")
LIMITS = Limits(max_workers=9, worker=e.WorkerOptions(worktree=True))


class Shop(RunningInGit):
    """A run in a repository."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "shop", folder / "shop", folder / "trees")

    async def start(self, *titles: str, limits: Limits = LIMITS) -> None:
        """These tasks are at work."""
        await self.begin(limits=limits)
        tasks = [{"title": title, "prompt": f"Do {title}"} for title in titles]
        await self.call("create_tasks", tasks=tasks)
        await self.end()
        await self.until(lambda: all(self.at_work(title) for title in titles))

    def at_work(self, title: str) -> bool:
        found = [agent for agent in self.agents if agent.spec.about == title]
        return bool(found and found[-1].prompts)

    def tree(self, title: str) -> Path:
        """Its worktree."""
        return Path(self.worker(title).spec.cwd)

    async def asked(self, title: str, **files: str) -> p.Section:
        """It writes these files and is through; what the user is asked then."""
        for name, text in files.items():
            (self.tree(title) / f"{name}.txt").write_text(text)
        before = len(self.editor.every(p.Section))
        await self.done(title, "It is done.")
        await self.until(lambda: len(self.editor.every(p.Section)) > before)
        return self.shown()

    async def decide(self, option: str, note: str = "", without: str = "") -> None:
        """Keep this option only; and leave out the hunk that has this text."""
        section = self.shown()
        options = ("Merge what is left", "Drop it", "Send it back")
        lines = [
            line + (note and f" {note}")
            for line in cut(list(section.lines), without)
            if line.startswith(option) or not line.startswith(options)
        ]
        await self.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))

    def read(self, name: str = "cart") -> str:
        """A file of the user's."""
        return (self.top / f"{name}.txt").read_text()

    def over(self, title: str = "Cart") -> bool:
        """Its worktree is gone."""
        return self.run.tasks[self.task(title)].tree is None


def cut(lines: list[str], text: str) -> list[str]:
    """Without the hunk that has this text."""
    if not text:
        return lines
    at = next(row for row, line in enumerate(lines) if line == text)
    first = max(row for row in range(at) if lines[row].startswith("@@"))
    ends = (row for row in range(at, len(lines)) if lines[row].startswith(("@@", "```")))
    return [*lines[:first], *lines[next(ends) :]]


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """A repository; what happens in it is on record."""
    shop = Shop(tmp_path)
    shop.found()
    yield shop
    assert shop.editor.disturbing == []
    assert replay(RUN, shop.store.events) == shop.run
    await shop.chats.close()
    await shop.settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_is_left_of_a_change_is_merged(shop: Shop) -> None:
    """The hunk that was deleted stays out; the worktree is gone, and kept; others go on then."""
    await shop.start("Cart")
    await shop.call("create_tasks", tasks=[{"title": "Docs", "prompt": "x", "waits_for": ["t1"]}])
    assert shop.tree("Cart") != shop.top
    section = await shop.asked("Cart", cart=NEW, new="new\n")
    assert section.lines[0].startswith("━━ Patch: Cart · t1")
    assert "Worker t1 Cart wants to merge 2 files +3 −2" in "\n".join(section.lines)
    assert shop.run.tasks["t2"].reason == "waits for t1, which is not merged"
    assert (shop.read(), (shop.top / "new.txt").exists()) == (OLD, False)
    await shop.decide("Merge", without="+thirty")
    await shop.until(shop.over)
    assert shop.read() == OLD.replace("3\n", "three\n", 1)
    assert shop.read("new") == "new\n"
    assert not shop.tree("Cart").exists()
    assert [kept.name for kept in await shop.trees.kept(str(shop.top))] == [f"{RUN}-t1"]
    assert shop.states == {"Cart": "done", "Docs": "running"}
    await shop.end()
    assert "The change of t1 “Cart” is merged: cart.txt, new.txt." in "".join(shop.boss.prompts)
    assert p.Reload() in shop.editor.effects
    assert shop.happened.count("Merged") == 1


async def test_without_a_change_nobody_is_asked(shop: Shop) -> None:
    await shop.start("Cart")
    tree = shop.tree("Cart")
    await shop.done("Cart", "There was nothing to do.")
    await shop.until(shop.over)
    assert not tree.exists()
    assert shop.editor.every(p.Section) == []
    assert isinstance(shop.store.events[-1], e.TreeRemoved)


async def test_what_is_sent_back_is_done_again(shop: Shop) -> None:
    """In the same worktree and session, with the user's words; then it is asked again."""
    await shop.start("Cart")
    await shop.asked("Cart", cart=NEW)
    await shop.decide("Send it back", "only the first")
    await shop.until(lambda: shop.states["Cart"] == "running")
    await shop.until(lambda: shop.at_work("Cart"))
    worker = shop.worker("Cart")
    assert "The user did not merge this: only the first" in shop.told(worker)
    await shop.end()
    assert "The user wrote to t1 “Cart” itself" in "".join(shop.boss.prompts)
    await shop.asked("Cart", cart=OLD.replace("3\n", "three\n", 1))
    await shop.decide("Merge")
    await shop.until(shop.over)
    assert shop.read() == OLD.replace("3\n", "three\n", 1)


async def test_a_gate_that_fails_merges_nothing(shop: Shop) -> None:
    """What it wrote is shown; what was left out stays so; fixed, it is merged."""
    gate = "grep -q three cart.txt && test -e ok.txt || { echo no ok here; exit 3; }"
    limits = Limits(gate=gate, worker=e.WorkerOptions(worktree=True))
    await shop.start("Cart", limits=limits)
    first = await shop.asked("Cart", cart=NEW)
    await shop.decide("Merge", without="+thirty")
    await shop.until(lambda: shop.editor.section not in (None, first))
    shown = strip_markers("\n".join(shop.shown().lines))
    assert "It was not merged, since this failed:" in shown
    assert "no ok here" in shown
    assert "+thirty" not in shown
    assert shop.read() == OLD
    (shop.top / "ok.txt").write_text("")
    await shop.decide("Merge")
    await shop.until(shop.over)
    assert shop.read() == OLD.replace("3\n", "three\n", 1)


async def test_conflicts_are_shown_and_can_go_back(shop: Shop) -> None:
    """The worker gets the user's state into its worktree, marked where both have changed."""
    await shop.start("Cart")
    first = await shop.asked("Cart", cart=NEW)
    (shop.top / "cart.txt").write_text(OLD.replace("3\n", "drei\n", 1))
    await shop.decide("Merge")
    await shop.until(lambda: shop.editor.section not in (None, first))
    shown = strip_markers("\n".join(shop.shown().lines))
    assert "your files have changed in the same places" in shown
    assert "drei" in shown
    assert "<<<<<<<" in shown
    assert shop.read() == OLD.replace("3\n", "drei\n", 1)
    await shop.decide("Send it back")
    await shop.until(lambda: "<<<<<<<" in "".join(shop.worker("Cart").prompts))
    assert "<<<<<<<" in (shop.tree("Cart") / "cart.txt").read_text()
    await shop.asked("Cart", cart=NEW.replace("three", "drei three"))
    await shop.decide("Merge")
    await shop.until(shop.over)
    assert shop.read() == NEW.replace("three", "drei three")


async def test_what_is_dropped_is_kept_all_the_same(shop: Shop) -> None:
    await shop.start("Cart")
    await shop.asked("Cart", cart=NEW)
    await shop.decide("Drop it")
    await shop.until(shop.over)
    assert shop.read() == OLD
    assert [kept.name for kept in await shop.trees.kept(str(shop.top))] == [f"{RUN}-t1"]
    tree = await shop.trees.restore(str(shop.top), f"{RUN}-t1")
    assert (Path(tree.path) / "cart.txt").read_text() == NEW


async def test_a_closed_section_merges_nothing_and_comes_again(shop: Shop) -> None:
    """Its record asks again; the orchestrator is told, and may finish."""
    await shop.start("Cart")
    section = await shop.asked("Cart", cart=NEW)
    assert "not over" in getattr(await shop.call("finish", summary="x"), "message", "")
    await shop.do(p.Cancel(CHAT, section.section, section.lines))
    assert shop.editor.section is None
    assert shop.tree("Cart").exists()
    assert shop.run.tasks["t1"].merge == Merge(
        shop.run.tasks["t1"].merge.commit if shop.run.tasks["t1"].merge else "",
        "1 file +2 −2",
        "aside",
        "The user does not merge it for now.",
    )
    await shop.do(p.Reopen(CHAT, section.section))
    await shop.decide("Merge")
    await shop.until(shop.over)
    assert shop.read() == NEW


async def test_a_worktree_gets_of_the_project_what_the_user_has_allowed(shop: Shop) -> None:
    """What only the worktree's own settings say is left out, and nobody is asked for each."""
    env = {"A": "1", "B": "2"}
    entry = "env A=1 (.claude/settings.json)"
    shop.projects.project = project(shop.top, {"A": "1"})
    shop.projects.others["trees"] = project(shop.top.parent / "trees", env)
    shop.decided.roots[str(shop.top)] = {entry: "kept"}
    await shop.start("Cart")
    given = shop.worker("Cart").spec.given
    assert (given.whole, given.settings) == (False, {"env": {"A": "1"}})
    assert shop.boss.spec.given == Given()
    assert shop.editor.every(p.Section) == []


def project(root: Path, env: dict[str, str]) -> Project:
    """One whose settings set these variables."""
    source = Source(".claude/settings.json", json.dumps({"env": env}))
    return Project(str(root), (source,))


async def test_a_cancelled_task_leaves_what_it_has_changed(shop: Shop) -> None:
    """And says where; without a change, nothing is left."""
    await shop.start("Cart", "Docs")
    trees = [shop.tree("Cart"), shop.tree("Docs")]
    (trees[0] / "cart.txt").write_text(NEW)
    for task in ("t1", "t2"):
        await shop.call("cancel_task", task=task)
    await shop.until(lambda: shop.over("Docs"))
    await shop.until(lambda: [one for one in shop.editor.every(p.Say) if "stays in" in one.text])
    said = [one.text for one in shop.editor.every(p.Say)][-1]
    assert said.startswith("t1 was cancelled: its change (1 file +2 −2) stays in ")
    assert [tree.exists() for tree in trees] == [True, False]


@pytest.mark.parametrize("when", ["asked", "accepted", "merged"])
async def test_after_a_restart_it_goes_on(shop: Shop, when: str) -> None:
    """The section as the user left it; a merge that was under way is done, and none twice."""
    await shop.start("Cart")
    section = await shop.asked("Cart", cart=NEW)
    if when == "asked":
        edited = cut(section.lines, "+thirty")
        await shop.do(p.Edit(CHAT, section.section, edited))
    else:
        await shop.decide("Merge")
    if when == "merged":
        await shop.until(shop.over)
    markers = [section.section] if when == "asked" else []
    await shop.do(p.Close(CHAT))
    await shop.settle()
    assert when != "accepted" or shop.read() in (OLD, NEW)
    shop.editor.state = ""
    before = len(shop.agents)
    await shop.lead(session="boss")
    if when == "asked":
        await shop.until(lambda: shop.editor.section)
        assert (shop.shown().section, "+thirty" in shop.shown().lines) == (markers[0], False)
        await shop.decide("Merge")
    await shop.until(shop.over)
    assert shop.read() == (NEW.replace("thirty", "30") if when == "asked" else NEW)
    assert shop.happened.count("Merged") == 1
    assert not [agent for agent in shop.agents[before:] if agent.spec.role == "worker"]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("no git", "is in no git repository"),
        ("no commit", "has no commit yet"),
        ("bare", "is in no git repository with files"),
    ],
)
async def test_without_a_repository_the_task_fails(tmp_path: Path, trouble: str, said: str) -> None:
    """With a sentence that says why, and the orchestrator is told."""
    shop = Shop(tmp_path)
    shop.top.mkdir()
    if trouble != "no git":
        shop.git("init", "--quiet", *(["--bare"] if trouble == "bare" else []))
    await shop.begin(limits=LIMITS)
    await shop.call("create_tasks", tasks=[{"title": "Cart", "prompt": "x"}])
    await shop.end()
    await shop.until(lambda: shop.states["Cart"] == "failed")
    assert said in shop.run.tasks["t1"].reason
    assert said in shop.told(shop.boss)
    await shop.chats.close()


async def test_it_may_begin_with_what_is_not_committed(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.top.mkdir()
    shop.git("init", "--quiet")
    (shop.top / "cart.txt").write_text("draft\n")
    limits = Limits(uncommitted=True, worker=e.WorkerOptions(worktree=True))
    await shop.start("Cart", limits=limits)
    assert (shop.tree("Cart") / "cart.txt").read_text() == "draft\n"
    await shop.chats.close()


# --- with nobody to ask ---------------------------------------------------------------------------


async def unasked(shop: Shop, how: str, gate: str = "") -> None:
    """Cart and Docs change the same line, one after the other."""
    limits = msgspec.structs.replace(LIMITS, merge=how, gate=gate)
    await shop.start("Cart", "Docs", limits=limits)
    for title, text in (("Cart", NEW), ("Docs", OLD.replace("3\n", "III\n", 1))):
        (shop.tree(title) / "cart.txt").write_text(text)
        await shop.done(title, "It is done.")
        await shop.until(lambda: not any(task.merging for task in shop.run.tasks.values()))
    assert shop.editor.every(p.Section) == []


async def test_unasked_it_is_merged_once(shop: Shop) -> None:
    """What can't be stays on its branch, and the orchestrator is told."""
    await unasked(shop, "all")
    await shop.until(shop.over)
    assert shop.read() == NEW
    docs = shop.run.tasks["t2"]
    assert docs.tree is not None
    assert docs.merge is not None
    assert docs.merge.state == "aside"
    assert f"It stays on the branch {docs.tree.branch}" in docs.merge.reason
    await shop.end()
    await shop.end()
    await shop.end()
    assert "is not merged, and won't be in this run" in "".join(shop.boss.prompts)


@pytest.mark.parametrize(("how", "gate"), [("none", ""), ("all", "false")])
async def test_unasked_nothing_is_merged(shop: Shop, how: str, gate: str) -> None:
    """Not wanted, or the gate fails."""
    await unasked(shop, how, gate)
    assert shop.read() == OLD
    assert not shop.over("Cart")
    assert not shop.over("Docs")


async def test_the_board_shows_what_is_changed_so_far(shop: Shop) -> None:
    """While its worker works."""
    await shop.start("Cart")
    (shop.tree("Cart") / "cart.txt").write_text(NEW)
    shop.chat._crew.pulse.look()
    await shop.until(lambda: shop.chat.live[RUN, "t1"].diff == "1 file +2 −2")
