"""Subagents and work in the background, as Claude Code tells of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from winnow.core import agent as a
from winnow.core.tasks import events as t
from winnow.core.tasks.tasks import Tasks

from tests.api import ToolUse, say
from tests.app.stage import Stage, connected

UUID = "00000000-0000-4000-8000-00000000000{}"
SERVER = "(setsid sleep 31{n} &); echo up; exec sleep 32{n}"


def agent_call(id: str, prompt: str, *, background: bool = False) -> ToolUse:
    fields = {"description": f"do {id}", "prompt": prompt, "subagent_type": "general-purpose"}
    return ToolUse("Agent", {**fields, "run_in_background": background}, id)


def bash(id: str, command: str, **more: object) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": f"do {id}", **more}, id)


async def until(stage: Stage, tasks: Tasks, what: str) -> None:
    """Wait until a task of this name has ended."""
    async with stage.user._changed:
        await stage.user._changed.wait_for(
            lambda: any(task.end for task in learn(stage, tasks) if task.what == what)
        )


def learn(stage: Stage, tasks: Tasks) -> Tasks:
    tasks.__init__()  # type: ignore[misc]
    for event in stage.user.events:
        if isinstance(event, a.Side):
            tasks.hear(event, 0.0)
    return tasks


def running(word: str) -> list[str]:
    """Processes with this word in their command."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line.strip() == word:
            found.append(line)
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="nobody can be found without /proc")
async def test_a_stopped_task_takes_all_that_it_has_started_with_it(real: Stage) -> None:
    """Also what Claude Code itself leaves behind: a process with a session of its own."""
    command = SERVER.format(n=7)
    real.server.add(say(bash("t1", command, run_in_background=True)), say("ok"), say("ok"))
    agent = real.claude(mode="bypassPermissions", env={"IS_SANDBOX": "1"})
    async with connected(agent, real.user):
        await agent.prompt("Go", UUID.format(1))
        await real.user.turn()
        (began,) = [one for one in real.user.every(t.Began) if one.call == "t1"]
        assert (began.kind, began.background) == (t.COMMAND, True)
        assert [one.id for one in real.user.every(t.Launched)] == [began.id]
        while await agent.controls.task_output(began.id) != "up\n":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        while not running("sleep 317"):  # noqa: ASYNC110  its parent does not wait for it
            await asyncio.sleep(0.05)
        assert await agent.controls.stop_task(began.id) == 1
        tasks = Tasks()
        await until(real, tasks, "do t1")
        assert [task.end for task in tasks] == ["stopped"]
        assert not running("sleep 317")
        assert not running("sleep 327")
        assert real.user.every(t.InBackground)[-1].tasks == ()


async def test_a_subagent_is_told_of_at_any_depth(real: Stage) -> None:
    """What it says comes aside, by the call that started it; its report ends it."""
    real.server.on("MAIN", say(agent_call("t1", "MIDDLE")), say("all done"))
    real.server.on("MIDDLE", say("I pass it on", agent_call("t2", "DEEP")), say("passed"))
    real.server.on("DEEP", say("deep words", bash("t3", "echo found")), say("report"))
    agent = real.claude(mode="bypassPermissions", env={"IS_SANDBOX": "1"})
    async with connected(agent, real.user):
        await agent.prompt("MAIN", UUID.format(1))
        await real.user.turn()
    assert real.user.text == "all done"
    middle, deep = (one for one in real.user.every(t.Began) if one.kind == t.AGENT)
    assert (middle.call, middle.background, middle.parent) == ("t1", False, "")
    assert (deep.call, deep.parent, deep.type) == ("t2", middle.id, "general-purpose")
    assert deep.prompt == "DEEP"
    said = {
        call: [one.event for one in real.user.every(t.FromSubagent) if one.call == call]
        for call in ("t1", "t2")
    }
    assert a.Text("I pass it on") in said["t1"]
    assert a.Text("deep words") in said["t2"]
    assert a.ToolFinished("t3", "found") in said["t2"]
    tasks = learn(real, Tasks())
    assert [(task.end, task.summary) for task in tasks] == [("done", "passed"), ("done", "report")]
    assert not tasks.untold


async def test_a_running_call_goes_on_in_the_background(real: Stage) -> None:
    """A command only when it has run for some seconds, a subagent at once."""
    real.server.on("MAIN", say(agent_call("t1", "SLOWLY")), say("went on"), say("heard"))
    real.server.on("SLOWLY", say(bash("t2", "sleep 0.1; until [ -e stop ]; do sleep 0.1; done")))
    agent = real.claude(mode="bypassPermissions", env={"IS_SANDBOX": "1"})
    async with connected(agent, real.user):
        await agent.prompt("MAIN", UUID.format(1))
        async with real.user._changed:
            await real.user._changed.wait_for(lambda: real.user.every(t.Began))
        assert not await agent.controls.background("nothing")
        assert await agent.controls.background("t1")
        await real.user.turn()
        (launched,) = real.user.every(t.Launched)
        assert launched.call == "t1"
        assert [one.id for one in learn(real, Tasks()).background] == [launched.id]
        (real.folder / "stop").touch()
        tasks = Tasks()
        await until(real, tasks, "do t1")
        assert [task.end for task in tasks if task.is_agent] == ["done"]
