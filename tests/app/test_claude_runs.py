"""The real Claude Code CLI in a run: which tools it has, and how they come through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from winnow import ports
from winnow import protocol as p
from winnow.adapters.claude.agent import ClaudeAgent
from winnow.core import agent as a
from winnow.core.run import prompts, query, tools
from winnow.core.text.text import strip_markers

from tests import api
from tests.app.fakes import CHAT
from tests.app.running import Running
from tests.app.stage import Stage, connected


def claude(real: Stage, role: tools.Role) -> ClaudeAgent:
    """One of a run."""
    spec = ports.AgentSpec(str(real.folder), role=role)
    env = real.server.env(real.folder / f"config-{role}")
    return ClaudeAgent(spec, real.user.ask, env=env, start_patience=40, patience=40)


def offered(request: dict[str, Any]) -> set[str]:
    """The tools that the model was told of."""
    return {tool["name"] for tool in request["tools"]}


async def test_the_orchestrator_only_reads(real: Stage) -> None:
    """Its calls come to us with their input, and what we say is their result."""
    call = api.ToolUse("mcp__winnow__create_tasks", {"tasks": []}, "toolu_a")
    other = api.ToolUse("mcp__winnow__list_tasks", {}, "toolu_b")
    real.server.add(api.say(call), api.say(other), api.say("Done."))
    user = real.user
    async with connected(claude(real, "orchestrator"), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert (request.tool, request.tool_use_id) == ("mcp__winnow__create_tasks", "toolu_a")
        reply.set_result(a.Deny("There is no task in it."))
        request, reply = await user.asked.get()
        reply.set_result(tools.result(request.input, "t1 ready: A"))
        await user.turn()
    assert real.server.tool_result("toolu_a") == "There is no task in it."
    assert real.server.tool_result("toolu_b") == "t1 ready: A"
    first = real.server.requests[0]
    ours = {f"mcp__winnow__{tool.name}" for tool in tools.of("orchestrator")}
    assert offered(first) - {"DeferredToolPlaceholder"} == {"Read", "Grep", "Glob", *ours}
    assert "[NEED_HUMAN: question]" in str(first["system"])


async def test_a_worker_asks_the_orchestrator_only(real: Stage) -> None:
    """It has its tools, but none that asks the user; and nothing of the rule."""
    input = {"question": "Which?", "options": ["A", "B"]}
    real.server.add(api.say(api.ToolUse("mcp__winnow__ask_orchestrator", input, "toolu_a")))
    user = real.user
    async with connected(claude(real, "worker"), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert tools.read(request.tool, request.input) == tools.AskOrchestrator(
            "Which?", ("A", "B")
        )
        reply.set_result(tools.result(request.input, "B, since it is there."))
        await user.turn()
    assert real.server.tool_result("toolu_a") == "B, since it is there."
    first = real.server.requests[0]
    assert {"Bash", "Edit", "Write", "mcp__winnow__ask_orchestrator"} <= offered(first)
    assert not offered(first) & {"AskUserQuestion", "mcp__winnow__question"}
    assert "NEED_HUMAN" not in str(first)
    assert prompts.WORKER.split("\n")[0] in str(first["system"])


class Real(Running):
    """A run whose agents are real."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage

    async def _make(self, spec: ports.AgentSpec, ask: ports.Ask) -> ports.Agent:
        spec = msgspec.structs.replace(spec, cwd=str(self._stage.folder))
        env = self._stage.server.env(self._stage.folder / "config")
        return ClaudeAgent(spec, ask, env=env, start_patience=40, patience=40)

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for it; the test's own time limit ends that."""
        while not holds():  # noqa: ASYNC110  nobody tells of all that tests wait for
            await asyncio.sleep(0.02)


def calls(name: str, id: str, **input: object) -> api.Message:
    return api.say(api.ToolUse(f"mcp__winnow__{name}", dict(input), id))


async def test_two_workers_ask_at_once_and_a_third_wants_a_permission(real: Stage) -> None:
    """All of it real but the model: each answer reaches its own, what is allowed runs."""
    server, target = real.server, real.folder / "made"
    tasks = [{"title": t, "prompt": f"Task {t}: do it."} for t in ("One", "Two", "Three")]
    server.on(
        "You lead a run",
        calls("create_tasks", "toolu_c", tasks=tasks),
        api.say("Made."),
        api.say("[NEED_HUMAN: Yours to say?]"),  # each question is a turn of its own
        api.say("[NEED_HUMAN: Yours to say?]"),
        *[api.say("I see.")] * 9,
    )
    for title in ("One", "Two"):
        server.on(
            f"Task {title}: do it.",
            calls("ask_orchestrator", f"toolu_{title}", question=f"What for {title}?"),
            api.say(f"{title} is done."),
        )
    bash = {"command": f"touch {target}", "description": "d"}
    server.on(
        "Task Three: do it.",
        api.say(api.ToolUse("Bash", bash, "toolu_b")),
        api.say("Three is done."),
    )
    room = Real(real)
    await room.lead()
    await room.until(lambda: room.editor.state == "idle")
    await room.send("Do all three")
    await room.until(lambda: len(room.run.pending()) == 2)
    first, second = (query.task for query in room.run.pending())
    await room.until(lambda: len(query.with_human(room.run.queries.values())) == 2)
    assert room.states["One"] == room.states["Two"] == "blocked(input)"
    answered: list[str] = []
    while len(answered) < 3:
        await room.until(lambda: room.editor.section is not None)
        head = strip_markers(room.shown().lines[0])
        if "Permission" in head:
            assert "· t3 Three" in head
            await room.do(p.Grant(CHAT, room.shown().section, "allow"))
        else:
            await room.write(f"Answer to {head.split()[2]}")
        answered.append(head.split()[1])
    await room.until(lambda: set(room.states.values()) == {"done"})
    titles = {task.id: task.title for task in room.run.tasks.values()}
    for task in (first, second):
        assert server.tool_result(f"toolu_{titles[task]}") == f"Answer to {task}"
    assert target.exists()
    assert sorted(answered) == ["Permission:", "Question:", "Question:"]
    await room.until(lambda: room.editor.state == "idle")
    assert {one.state for one in room.run.queries.values()} == {"delivered"}
    await room.chats.close()
