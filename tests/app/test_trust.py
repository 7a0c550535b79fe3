"""Before an agent is started it is clear what it gets of its project."""

from __future__ import annotations

import json

import pytest
from winnow import protocol as p
from winnow.app.chats import Chats
from winnow.app.trust import UNDECIDED
from winnow.core import agent as a
from winnow.core.asking.trust import Given
from winnow.core.project import Project, Source

from tests.app.fakes import CHAT, Room

A, B = "env A=1 (.claude/settings.json)", "env B=2 (.claude/settings.json)"
TWO = {"env": {"A": "1", "B": "2"}}


def project(settings: object, *, trusted: bool = False) -> Project:
    sources = (Source(".claude/settings.json", json.dumps(settings)),)
    return Project("/shop", sources, trusted=trusted)


@pytest.fixture
def shop() -> Room:
    """A chat in a project with two entries."""
    room = Room()
    room.projects.project = project(TWO)
    return room


async def confirm(room: Room, option: str, *deleted: str) -> None:
    """Keep this option of the open section, and not these lines."""
    section = room.shown()
    other = {"Trust": "Go on", "Go on": "Trust"}[option]
    lines = [li for li in section.lines if not li.startswith((other, *deleted))]
    await room.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))


async def test_nothing_connects_before_it_is_wanted(shop: Room) -> None:
    """Then the section comes; the draft goes out when it is answered."""
    await shop.open()
    assert (shop.agents, shop.editor.state, shop.editor.section) == ([], "asleep", None)
    await shop.do(p.Queue(CHAT))
    assert (shop.agents, shop.editor.state) == ([], "waiting")
    assert not shop.editor.taking
    await confirm(shop, "Trust")
    assert shop.agent.spec.given == Given()
    assert shop.editor.taking
    assert shop.decided.roots == {"/shop": {A: "kept", B: "kept"}}


async def test_a_project_without_entries_connects(shop: Room) -> None:
    shop.projects.project = project({"model": "opus"})
    await shop.open()
    assert shop.agent.spec.given == Given()


async def test_what_is_deleted_is_remembered(shop: Room) -> None:
    await shop.open()
    await shop.do(p.Queue(CHAT))
    await confirm(shop, "Trust", "env A")
    assert shop.agent.spec.given == Given(False, {"env": {"B": "2"}})
    assert shop.decided.roots == {"/shop": {A: "dropped", B: "kept"}}


async def test_a_cancelled_section_decides_nothing(shop: Room) -> None:
    """The draft stays one, and the next try asks again; talking back is no answer, either."""
    await shop.open()
    for end in ("cancel", "discuss", "stop"):
        await shop.do(p.Queue(CHAT))
        section = shop.shown()
        if end == "discuss":
            await shop.do(p.Discuss(CHAT, section.section, section.lines, "Why?"))
        elif end == "cancel":
            await shop.cancel()
        else:
            await shop.do(p.Grant(CHAT, section.section, "allow"))
            assert shop.shown()
            await shop.cancel()
        assert (shop.agents, shop.editor.taking) == ([], False)
        assert UNDECIDED in shop.editor.text
        assert shop.decided.roots == {}


async def test_a_section_of_another_neovim_is_no_answer(shop: Room) -> None:
    """What a restart left behind becomes a record that asks nothing; a message asks again."""
    await shop.open()
    await shop.do(p.Queue(CHAT))
    left = shop.shown().section
    shop.chats = Chats(shop.world)
    await shop.open(sections=[left])
    (frozen,) = shop.editor.every(p.Freeze)
    assert frozen.lines == ["✗ No longer open: shop"]
    await shop.do(p.Reopen(CHAT, left))
    assert (shop.agents, shop.editor.section) == ([], None)
    await shop.do(p.Queue(CHAT))
    assert "env A=1" in "\n".join(shop.shown().lines)


async def test_a_mode_changed_while_one_decides_loses_nothing(shop: Room) -> None:
    """The section stays open as it is, and is what counts; the agent has the mode."""
    await shop.open()
    await shop.do(p.Queue(CHAT))
    section = shop.shown()
    await shop.do(p.SetMode(CHAT, "acceptEdits"))
    assert shop.shown() is section
    await confirm(shop, "Trust", "env A")
    assert shop.decided.roots == {"/shop": {A: "dropped", B: "kept"}}
    assert shop.agent.spec.mode == "acceptEdits"


@pytest.mark.parametrize("then", [p.SetMode(CHAT, "acceptEdits"), p.Close(CHAT), p.Stop(CHAT)])
async def test_what_comes_right_after_a_decision_loses_nothing(shop: Room, then: p.Event) -> None:
    """Before anybody else could hear of it."""
    await shop.open()
    await shop.do(p.Queue(CHAT))
    section = shop.shown()
    lines = [line for line in section.lines if not line.startswith("Go on")]
    await shop.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1), then)
    assert shop.decided.roots == {"/shop": {A: "kept", B: "kept"}}
    if isinstance(then, p.SetMode):
        assert shop.agent.spec.mode == "acceptEdits"
        assert len(shop.editor.every(p.Section)) == 1


async def test_what_changes_while_one_decides_is_asked_too(shop: Room) -> None:
    await shop.open()
    await shop.do(p.Queue(CHAT))
    shop.projects.project = project({"env": {"A": "1", "B": "3"}})
    await confirm(shop, "Trust")
    assert shop.agents == []
    shown = "\n".join(shop.shown().lines)
    assert "env B=3" in shown
    assert "env A=1" not in shown
    await confirm(shop, "Go on")
    assert shop.agent.spec.given == Given(False, {"env": {"A": "1"}})


async def test_a_change_in_mid_session_starts_the_agent_anew(shop: Room) -> None:
    """Before the next message, not in the turn; its session goes on."""
    shop.decided.roots = {"/shop": {A: "kept", B: "kept"}}
    await shop.open()
    await shop.send("Hi")
    first = shop.agent
    await shop.hear(a.Started("s1"), a.SettingsChanged(), a.Text("So."))
    assert (shop.editor.state, first.closed) == ("working", False)
    await shop.hear(a.TurnEnded())
    assert (shop.editor.state, first.closed) == ("asleep", False)
    await shop.do(p.Queue(CHAT))
    assert first.closed
    assert (shop.agent.spec.session, shop.editor.taking) == ("s1", True)


async def test_revoked_trust_asks_again(shop: Room) -> None:
    shop.decided.roots = {"/shop": {A: "kept", B: "kept"}}
    await shop.open()
    await shop.do(p.Trust("/shop"))
    (rules,) = shop.editor.every(p.Rules)
    assert rules.lines == ["trust: /shop", "", "```text", f"✓ {A}", f"✓ {B}", "```"]
    await shop.do(p.Trust("/shop", revoke=True), p.Queue(CHAT))
    assert "env A=1" in "\n".join(shop.shown().lines)


async def test_what_claude_code_trusts_counts_unless_something_was_refused(shop: Room) -> None:
    shop.projects.project = project(TWO, trusted=True)
    await shop.open()
    assert shop.agent.spec.given == Given()
    assert "shop is trusted in Claude Code, so 2 settings of it may act" in shop.editor.text
    shop.decided.roots = {"/shop": {A: "dropped"}}
    await shop.do(p.Close(CHAT))
    await shop.open()
    assert shop.editor.state == "asleep"


async def test_where_nobody_is_asked_nothing_undecided_acts(shop: Room) -> None:
    """Neither in a replay, nor without a screen."""
    shop.decided.roots = {"/shop": {A: "kept"}}
    await shop.do(p.Open(CHAT, "/chat.md", "/", headless=True))
    assert shop.agent.spec.given == Given(False, {"env": {"A": "1"}})
    shop.replay()
    await shop.open()
    assert shop.agent.spec.given == Given(False, {"env": {"A": "1"}})


async def test_who_comes_later_is_asked_then(shop: Room) -> None:
    """Before the next message; until then the agent has what was trusted before."""
    await shop.do(p.Open(CHAT, "/chat.md", "/", headless=True))
    assert shop.agent.spec.given == Given(False)
    await shop.do(p.Watched(headless=False), p.Queue(CHAT))
    await confirm(shop, "Trust", "env A")
    assert shop.agent.spec.given == Given(False, {"env": {"B": "2"}})


async def test_a_store_that_is_full_costs_only_the_memory(shop: Room) -> None:
    shop.decided.full = True
    await shop.open()
    await shop.do(p.Queue(CHAT))
    await confirm(shop, "Trust", "env A")
    assert shop.agent.spec.given == Given(False, {"env": {"B": "2"}})
    assert "The disk is full." in [say.text for say in shop.editor.every(p.Say)]


async def test_scripted_agents_ask_nothing(shop: Room) -> None:
    await shop.do(p.Open(CHAT, "/chat.md", "/", agent="scripted"))
    assert shop.agents


async def test_what_is_allowed_for_the_project_is_kept(shop: Room) -> None:
    """The agent has it for the session."""
    shop.projects.project = project({})
    await shop.open()
    rule = {"toolName": "Bash", "ruleContent": "ls"}
    update = {"type": "addRules", "rules": [rule], "behavior": "allow"}
    update["destination"] = "localSettings"
    request = a.Request("Bash", {"command": "ls"}, suggestions=[update])
    asked = shop.agent.ask(request)
    await shop.settle()
    await shop.do(p.Grant(CHAT, shop.shown().section, "always"))
    assert asked.result() == a.Allow({"command": "ls"}, [{**update, "destination": "session"}])
    assert list(shop.decided.roots["/shop"].values()) == ["granted"]
    await shop.do(p.Close(CHAT))
    await shop.open()
    assert shop.agent.spec.given == Given(True, {"permissions": {"allow": ["Bash(ls)"]}})


# --- modes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claimed", "configured", "stored", "first"),
    [
        ("acceptEdits", "", "", ""),
        ("acceptEdits", "plan", "", "plan"),
        ("acceptEdits", "", "acceptEdits", "acceptEdits"),
        ("acceptEdits", "", "dontAsk", ""),
        ("acceptEdits", "acceptEdits", "", "acceptEdits"),
        ("bypassPermissions", "", "bypassPermissions", ""),
        ("auto", "default", "plan", "default"),
        ("plan", "", "", "plan"),
        ("default", "acceptEdits", "", "default"),
        ("", "acceptEdits", "", "acceptEdits"),
        ("", "", "default", "default"),
        ("", "", "acceptEdits", ""),
    ],
)
async def test_the_first_mode(claimed: str, configured: str, stored: str, first: str) -> None:
    """A raised one comes from the user, never from the text."""
    room = Room()
    room.decided.modes = {"/chat.md": stored}
    opened = p.Open(CHAT, "/chat.md", "/", mode=claimed, configured=configured)
    await room.do(opened)
    assert room.agent.spec.mode == first
    assert room.editor.status
    assert room.editor.status.mode == first
    told = first or "default"
    await room.hear(a.Mode(told))
    assert ("which was not set here" in room.editor.text) is (claimed not in ("", told))
    assert room.editor.status.mode == told


async def test_a_mode_that_the_user_sets_is_remembered() -> None:
    """By command, whether connected or not, and by a plan's approval; not what is refused."""
    room = Room()
    await room.open()
    await room.do(p.SetMode(CHAT, "plan"))
    assert room.decided.modes == {"/chat.md": "plan"}
    await room.do(p.SetMode(CHAT, "auto"))  # which this agent refuses
    assert room.decided.modes == {"/chat.md": "plan"}
    asked = room.agent.ask(a.Request("ExitPlanMode", {"plan": "# Go"}))
    await room.settle()
    section = room.shown()
    lines = [li for li in section.lines if not li.startswith(("Approve, ask", "Keep"))]
    await room.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))
    assert isinstance(asked.result(), a.Allow)
    assert room.decided.modes == {"/chat.md": "acceptEdits"}
