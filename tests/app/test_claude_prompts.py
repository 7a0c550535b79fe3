"""What a project says to Claude reaches it, also where the rest of the project stays out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from winnow import ports
from winnow.adapters.claude.agent import ClaudeAgent
from winnow.adapters.claude.projects import DiskProjects
from winnow.core import agent as a
from winnow.core.asking import trust

from tests import api
from tests.app.stage import Stage, connected
from tests.soaking import first

LAYOUTS = [
    ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"],
    ["../CLAUDE.md", "../.claude/CLAUDE.md", "../CLAUDE.local.md"],
    ["../.claude/rules/a/b.md", ".claude/rules/r.md", "AGENTS.md"],
    ["AGENTS.md", ".claude/AGENTS.md", "../AGENTS.md"],
    ["../AGENTS.md", "CLAUDE.local.md"],
    ["../CLAUDE.md", "AGENTS.md"],
]


async def heard(stage: Stage, shop: Path, given: trust.Given) -> set[str]:
    """Which of the project's files Claude has read after the first message."""
    stage.server.add(api.say("Hello."))
    env = stage.server.env(stage.folder / "config")
    agent = ClaudeAgent(
        ports.AgentSpec(str(shop), given=given), stage.user.ask, env=env, start_patience=40
    )
    turns = len(stage.user.every(a.TurnEnded))
    async with connected(agent, stage.user):
        await agent.prompt("hi", "00000000-0000-4000-8000-000000000001")
        await stage.user.turn(turns + 1)
    return set(re.findall("<<(.*?)>>", json.dumps(stage.server.requests[-1])))


@pytest.mark.parametrize("layout", first(2, LAYOUTS), ids=" ".join)
async def test_it_is_the_same_with_and_without_settings(real: Stage, layout: list[str]) -> None:
    """For a folder below the root of its repository."""
    shop = real.folder / "repo" / "shop"
    (shop.parent / ".git").mkdir(parents=True)
    for name in layout:
        file = shop / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"<<{name}>>")
    settings = shop / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"env": {"A": "B"}}')
    env = {"CLAUDE_CONFIG_DIR": str(real.folder / "config")}
    project = await DiskProjects(env, real.folder).read(str(shop))
    without = trust.given(project, {})
    assert not without.whole
    everything = await heard(real, shop, trust.Given())
    assert everything
    assert await heard(real, shop, without) == everything
