"""What Claude Code is asked for beside talking, with the real CLI: models, servers, rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from winnow import ports
from winnow.adapters.claude import settings_files
from winnow.adapters.claude.sessions import ClaudeSessions
from winnow.core.controls import EFFORTS, Rule
from winnow.core.transcript import history
from winnow.core.transcript.entries import Said, Told

from tests import api
from tests.app.stage import Stage, connected
from tests.app.test_claude_modes import settings

UUID = "00000000-0000-4000-8000-00000000000{}"


async def test_model_and_effort_change_in_mid_session(real: Stage) -> None:
    """Each is what the next request asks for."""
    real.server.add(api.say("One."), api.say("Two."))
    async with connected(real.claude(), real.user) as agent:
        assert agent.controls is not None
        models = {model.name: model for model in await agent.controls.models()}
        assert models["default"].efforts == EFFORTS
        await agent.prompt("hi", UUID.format(1))
        await real.user.turn()
        await agent.controls.set_model("haiku")
        await agent.controls.set_flag("effort", "low")
        await agent.controls.set_flag("fast", "on")
        await agent.prompt("hi", UUID.format(2))
        await real.user.turn(2)
    asked = [(one["model"], one["output_config"]["effort"]) for one in real.server.requests]
    assert asked[0] != asked[1]
    assert "haiku" in asked[1][0]
    assert asked[1][1] == "low"


async def test_a_server_is_switched_off_and_on_again(real: Stage) -> None:
    """One that does not start says so when it is switched on."""
    config = {"mcpServers": {"broken": {"command": "/nowhere/broken"}}}
    (real.folder / "config").mkdir()
    (real.folder / "config" / ".claude.json").write_text(json.dumps(config))
    async with connected(real.claude(), real.user) as agent:
        controls = agent.controls
        assert controls is not None
        await controls.switch("broken", on=False)
        [off] = [one.state for one in await controls.servers() if one.name == "broken"]

        with pytest.raises(ports.AgentError, match="switch broken on"):
            await controls.switch("broken", on=True)
        [on] = [one.state for one in await controls.servers() if one.name == "broken"]
    assert (off, on) == ("disabled", "failed")


async def test_a_rule_is_taken_out_of_its_file(
    real: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the next session does without it; one that stands nowhere changes nothing."""
    settings(real)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(real.folder / "config"))
    async with connected(real.claude(), real.user) as agent:
        assert agent.controls is not None
        rules = {rule.rule: rule for rule in await agent.controls.rules()}
        wanted = [rules["Bash(npm test:*)"], rules["Bash(touch no)"]]
        assert {rule.kept for rule in wanted} == {"persistent"}
        lost = Rule("allow", "Bash(lost)", "userSettings", "", "persistent")
        with pytest.raises(ports.AgentError, match="does not stand in"):
            await agent.controls.revoke([*wanted, lost])
        await agent.controls.revoke(wanted)
    async with connected(real.claude(), real.user) as agent:
        assert agent.controls is not None
        left = {rule.rule for rule in await agent.controls.rules()}
    assert {"WebFetch", "Bash(touch ok)"} <= left
    assert not {rule.rule for rule in wanted} & left


def test_a_settings_file_that_is_none_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    path = tmp_path / ".claude" / "settings.json"
    rule = Rule("allow", "Edit", "projectSettings", "", "persistent", str(tmp_path))
    for text in (
        "",
        "// a comment\n{}",
        "[]",
        '{"permissions": []}',
        '{"permissions": {"allow": 3}}',
    ):
        path.write_text(text)
        with pytest.raises(settings_files.NotRevoked):
            settings_files.revoke([rule])
        assert path.read_text() == text


async def test_its_sessions_are_read_renamed_forked_and_put_away(
    real: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own functions; a fork ends where it was cut, and goes on from there."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(real.folder / "config"))
    real.server.add(api.say("One."), api.say("Two."), api.say("Other."))
    async with connected(real.claude(), real.user) as agent:
        for number, text in enumerate(("first", "second"), 1):
            await agent.prompt(text, UUID.format(number))
            await real.user.turn(number)
    books = ClaudeSessions(tmp_path / "trash")
    [session] = await books.of(str(real.folder))
    assert (session.first, session.foreign) == ("first", False)
    past = await books.messages(session.id)
    told = [it.text for it in history.entries(past) if isinstance(it, (Told, Said))]
    assert told == ["first", "One.", "second", "Two."]
    await books.rename(session.id, "A / name\nof two lines")
    found = await books.find(session.id)
    assert found is not None
    assert "A / name" in found.title
    cut = history.before(past, "second", 1)
    assert cut is not None
    fork = await books.fork(session.id, cut.last, "Branch")
    async with connected(real.claude(session=fork), real.user) as agent:
        await agent.prompt("third", UUID.format(3))
        await real.user.turn(3)
    said = str(real.server.requests[-1]["messages"])
    assert "first" in said
    assert "second" not in said
    await books.discard(session.id, "A name")
    assert await books.find(session.id) is None
    [kept] = await books.trashed()
    assert (kept.name, kept.title) == (session.id, "A name")
    await books.bring_back(session.id)
    assert await books.find(session.id) is not None
    with pytest.raises(ports.LibraryError):
        await books.rename("not-an-id", "x")
