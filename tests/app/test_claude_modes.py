"""Permissions with the real Claude Code CLI on a scripted API: modes, rules, plans and notes."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest
from winnow import ports
from winnow.core import agent as a
from winnow.core.asking import question_tool

from tests import api
from tests.app.stage import QUESTION, Stage, connected, picked
from tests.soaking import soak

SANDBOX = {"IS_SANDBOX": "1"}  # lets root use bypassPermissions
PLAN = "# Plan\n1. look\n"


def bash(id: str, command: str = "touch made") -> api.ToolUse:
    return api.ToolUse("Bash", {"command": command, "description": "d"}, id)


def subagent(id: str) -> api.ToolUse:
    task = {
        "description": "find the tests",
        "prompt": "work",
        "subagent_type": "Explore",
        "run_in_background": False,
    }
    return api.ToolUse("Agent", task, id)


def settings(stage: Stage) -> None:
    """Rules in each of the files that Claude Code reads."""
    for path, rules in (
        ("config/settings.json", {"allow": ["Bash(npm test:*)"], "ask": ["WebFetch"]}),
        (".claude/settings.json", {"deny": ["Read(./.env)"]}),
        (".claude/settings.local.json", {"allow": ["Bash(touch ok)"], "deny": ["Bash(touch no)"]}),
    ):
        (stage.folder / path).parent.mkdir(exist_ok=True)
        (stage.folder / path).write_text(json.dumps({"permissions": rules}))


# --- requests ---------------------------------------------------------------------------------


async def test_a_subagent_says_what_it_is_for(real: Stage) -> None:
    """The request tells its purpose and the path that is blocked; its tool's result comes, too."""
    user = real.user
    real.server.add(
        api.say("Start.", subagent("toolu_a")),
        api.say("from below", bash("toolu_sub")),
        api.say("from below"),
        api.say("End."),
    )
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert request.agent_id
        assert (request.tool_use_id, request.agent) == ("toolu_sub", "Explore: find the tests")
        assert request.blocked == "made"
        assert "addRules" in [update["type"] for update in request.suggestions]
        before = len(user.every(a.Pause))
        reply.set_result(a.Allow(request.input))
        await user.turn()
        assert user.text == "Start.End."
        assert [event.id for event in user.every(a.ToolStarted)] == ["toolu_a"]
        assert [event.id for event in user.every(a.ToolFinished)] == ["toolu_sub", "toolu_a"]
        # One after the Agent call's result, one after the last message.
        assert len(user.every(a.Pause)) == before + 2


async def test_subagents_of_one_kind_are_told_apart(real: Stage) -> None:
    """Also when they are for the same."""
    user = real.user
    real.server.add(
        api.say(subagent("toolu_a"), subagent("toolu_b")),
        *(api.say(bash(f"toolu_{n}")) for n in range(2)),
        *(api.say("Done.") for _ in range(4)),
    )
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        asked = [await user.asked.get() for _ in range(2)]
        names = {request.agent for request, _ in asked}
        assert names == {"Explore: find the tests", "Explore 2: find the tests"}
        for request, reply in asked:
            reply.set_result(a.Allow(request.input))
        await user.turn()


async def test_a_server_that_fails_is_named_once(real: Stage) -> None:
    config = {"mcpServers": {"broken": {"command": "/nowhere/broken"}}}
    (real.folder / "config").mkdir()
    (real.folder / "config" / ".claude.json").write_text(json.dumps(config))
    async with connected(real.claude(), real.user) as agent:
        for number in (1, 2):
            real.server.add(api.say("Hello."))
            await agent.prompt("hi", f"uuid-{number}")
            await real.user.turn(number)
    told = [event.sentence for event in real.user.every(a.Notice)]
    assert [sentence.partition(":")[0] for sentence in told] == ["The MCP server “broken” failed"]


async def test_a_command_without_an_answer_says_what_it_did(real: Stage) -> None:
    """And one with an answer says only that."""
    user = real.user
    real.server.add(api.say("Hello."))
    async with connected(real.claude(), user) as agent:
        for number, text in enumerate(("hi", "/clear", "/cost", "/clear"), 1):
            await agent.prompt(text, f"00000000-0000-4000-8000-00000000000{number}")
            await user.turn(number)
    told = [event.sentence for event in user.every(a.Notice)]
    assert ["has forgotten" in sentence for sentence in told] == [True, True]


async def test_the_main_agent_has_no_purpose(real: Stage) -> None:
    """A request of its own tells the tool call only."""
    user = real.user
    real.server.add(api.say(bash("toolu_a")))
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, _ = await user.asked.get()
        assert (request.agent_id, request.agent, request.reason) == ("", "", "")
        assert request.blocked == "made"


@pytest.mark.parametrize("edited", [False, True])
async def test_a_plan_is_shown_and_can_be_edited(real: Stage, edited: bool) -> None:
    """The CLI asks with an empty input; the model is told of an edit only if there was one."""
    user = real.user
    real.server.add(api.say(api.ToolUse("ExitPlanMode", {"plan": PLAN}, "toolu_p")))
    async with connected(real.claude(mode="plan"), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert (request.tool, request.input) == ("ExitPlanMode", {"plan": PLAN})
        changed = {"plan": "# Mine\n"} if edited else {}
        reply.set_result(a.Allow({**request.input, **changed}))
        await user.turn()
        told = real.server.tool_result("toolu_p")
        assert told.startswith("User has approved")
        assert ("edited by user" in told, "# Mine" in told) == (edited, edited)
        assert user.every(a.Mode) == [a.Mode("plan"), a.Mode("default")]


async def test_a_plan_can_be_approved_into_a_mode(real: Stage) -> None:
    """A mode among the updates is the one that holds afterwards."""
    user = real.user
    real.server.add(api.say(api.ToolUse("ExitPlanMode", {"plan": PLAN}, "toolu_p")))
    update = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    async with connected(real.claude(mode="plan"), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        reply.set_result(a.Allow(request.input, [update]))
        await user.turn()
        assert user.every(a.Mode) == [a.Mode("plan"), a.Mode("acceptEdits")]


# --- notes ------------------------------------------------------------------------------------


async def test_a_note_comes_with_the_result(real: Stage) -> None:
    """Of every tool that asks, also if it fails; a call without a note gets none."""
    user, file = real.user, real.folder / "file"
    file.write_text("old\n")
    edit = {"file_path": str(file), "old_string": "old", "new_string": "new"}
    calls = [
        bash("toolu_ok", "touch ok"),
        bash("toolu_failed", "mkdir ok"),
        bash("toolu_silent", "touch silent"),
        api.ToolUse("Write", {"file_path": str(file) + "2", "content": "x\n"}, "toolu_write"),
        api.ToolUse("Read", {"file_path": str(file)}, "toolu_read"),
        api.ToolUse("Edit", edit, "toolu_edit"),
        api.ask("toolu_ask", QUESTION),
        api.ToolUse("EnterPlanMode", {}, "toolu_enter"),
        api.ToolUse("ExitPlanMode", {"plan": PLAN}, "toolu_plan"),
    ]
    real.server.add(*map(api.say, calls), api.say("End."))

    async def allow() -> None:
        while True:
            request, reply = await user.asked.get()
            silent = request.tool_use_id == "toolu_silent"
            note = "" if silent else f"note for {request.tool_use_id}"
            reply.set_result(a.Allow(request.input, note=note))

    async with connected(real.claude(), user) as agent:
        allowing = asyncio.create_task(allow())
        await agent.prompt("hi", "uuid-1")
        await user.turn()
        allowing.cancel()
    assert [event.id for event in user.every(a.ToolFinished) if event.failed] == ["toolu_failed"]
    noted = {"toolu_ok", "toolu_failed", "toolu_write", "toolu_edit", "toolu_ask", "toolu_plan"}
    for call, following in zip(calls, real.server.requests[1:], strict=True):
        note = f"note for {call.id}" in json.dumps(following["messages"])
        assert (call.id, note) == (call.id, call.id in noted)
    last = json.dumps(real.server.requests[-1]["messages"])
    assert last.count("hook additional context: ") == len(noted)


async def test_a_subagent_reads_the_note_for_its_call(real: Stage) -> None:
    """It arrives in the subagent's conversation."""
    user = real.user
    real.server.add(api.say(subagent("toolu_a")), api.say(bash("toolu_sub")), api.say("below"))
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        reply.set_result(a.Allow(request.input, note="mind the gap"))
        await user.turn()
    main, first, second, end = [json.dumps(body["messages"]) for body in real.server.requests]
    assert "mind the gap" in second
    assert "mind the gap" not in main + first + end


# --- modes ------------------------------------------------------------------------------------


async def test_the_mode_is_told_once(real: Stage) -> None:
    """Every turn says it, but only a change is an event."""
    user = real.user
    real.server.add(api.say("one"), api.say("two"))
    async with connected(real.claude(mode="acceptEdits"), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.turn()
        await agent.prompt("hi", "uuid-2")
        await user.turn(2)
        assert user.every(a.Mode) == [a.Mode("acceptEdits")]
        said = [event for event in user.events if not isinstance(event, a.Side)]
        assert isinstance(said[0], a.Started)


async def test_the_mode_changes_in_the_middle_of_a_turn(real: Stage) -> None:
    """While a question waits; what comes next is allowed by it."""
    user = real.user
    real.server.add(api.say(api.ask("toolu_q", QUESTION)), api.say(bash("toolu_b")))
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        await agent.set_mode("acceptEdits")
        reply.set_result(picked(request))
        await user.turn()
        assert user.every(a.Mode) == [a.Mode("default"), a.Mode("acceptEdits")]
        assert user.asked.empty()
    assert (real.folder / "made").exists()


async def test_a_mode_that_is_set_is_always_told(real: Stage) -> None:
    """Before the first prompt, too, and if nothing changes; nothing comes for a wrong one."""
    user = real.user
    real.server.add(api.say("one"))
    async with connected(real.claude(), user) as agent:
        await agent.set_mode("plan")
        await agent.set_mode("plan")
        with pytest.raises(ports.AgentError, match="did not change the mode to bogus"):
            await agent.set_mode("bogus")
        with pytest.raises(ports.AgentError, match=r"bypassPermissions .*; it stays as it was"):
            await agent.set_mode("bypassPermissions")
        await agent.prompt("hi", "uuid-1")
        assert (await user.turn()).error == ""
        assert user.every(a.Mode) == [a.Mode("plan")] * 2


async def test_a_question_comes_though_permissions_are_bypassed(real: Stage) -> None:
    """Nothing else is asked."""
    user = real.user
    real.server.add(api.say(bash("toolu_b")), api.say(api.ask("toolu_q", QUESTION)))
    async with connected(real.claude(mode="bypassPermissions", env=SANDBOX), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert request.tool == "AskUserQuestion"
        assert (real.folder / "made").exists()
        reply.set_result(picked(request))
        await user.turn()
        assert real.server.tool_result("toolu_q").startswith("Your questions have been answered")
        assert user.every(a.Mode) == [a.Mode("bypassPermissions")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may not")
async def test_root_is_told_why_it_can_t_bypass(real: Stage) -> None:
    """The CLI ends at its start, and the sentence says how to go on."""
    agent = real.claude(mode="bypassPermissions", env={"IS_SANDBOX": ""})
    with pytest.raises(ports.AgentError) as failure:
        await agent.connect()
    assert failure.value.sentence == (
        "Claude Code does not allow the mode bypassPermissions for root, except in a sandbox "
        "(IS_SANDBOX=1); `:Winnow mode default` goes on."
    )
    await agent.close()


async def test_what_is_denied_without_asking_is_told(real: Stage) -> None:
    """By the mode dontAsk and by a rule, each with its reason; what the user denies is not."""
    user = real.user
    settings(real)
    real.server.add(
        api.say(bash("toolu_rule", "touch no")),
        api.say(bash("toolu_user")),
        api.say("one"),
        api.say(bash("toolu_mode")),
        api.say("two"),
    )
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert request.tool_use_id == "toolu_user"
        reply.set_result(a.Deny("no"))
        await user.turn()
        await agent.set_mode("dontAsk")
        await agent.prompt("hi", "uuid-2")
        await user.turn(2)
        assert [notice.sentence for notice in user.every(a.Notice)] == [
            "Permission to use Bash with command touch no has been denied; "
            "a permission rule says so.",
            "Permission to use Bash has been denied because Claude Code is running in don't ask "
            "mode; `:Winnow mode default` asks again.",
        ]
        assert user.asked.empty()


@pytest.mark.parametrize(
    "mode", ["plan", "bypassPermissions", *soak("acceptEdits", "auto", "dontAsk")]
)
async def test_the_question_tool_asks_in_every_mode(real: Stage, mode: str) -> None:
    """Also where nothing else is asked, and it says which subagent it is."""
    user = real.user
    asked = {"questions": [{"id": "q", "prompt": "Sure?", "options": []}]}
    below = mode not in ("plan", "auto")  # these judge a subagent by a model that is not here
    real.server.add(
        *([api.say(subagent("toolu_a"))] if below else []),
        api.say(api.ToolUse(question_tool.TOOL, asked, "toolu_q")),
        api.say("from below"),
        api.say("End."),
    )
    async with connected(real.claude(mode=mode, env=SANDBOX), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert request.tool_use_id == "toolu_q"
        assert request.agent == ("Explore: find the tests" if below else "")
        reply.set_result(a.Allow({**request.input, question_tool.RESULT: {"answers": [1]}}))
        await user.turn()
        assert user.asked.empty()
        assert real.server.tool_result("toolu_q") == '{"answers": [1]}'


# --- rules ------------------------------------------------------------------------------------


async def test_rules_are_listed_and_hold(real: Stage) -> None:
    """Those of the user, the project and the session, whose folders come last."""
    user = real.user
    settings(real)
    real.server.add(api.say(bash("toolu_ok", "touch ok")), api.say(bash("toolu_b", "mkdir made")))
    rule = {"toolName": "Bash", "ruleContent": "mkdir *"}
    updates: list[dict[str, Any]] = [
        {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"},
        {"type": "addDirectories", "directories": ["/var/tmp"], "destination": "session"},
    ]
    async with connected(real.claude(), user) as agent:
        assert agent.controls is not None
        listed = [
            rule.line for rule in await agent.controls.rules()
        ]  # also before the first prompt
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert request.tool_use_id == "toolu_b"  # the other one was allowed by a rule
        reply.set_result(a.Allow(request.input, updates))
        await user.turn()
        assert (real.folder / "ok").exists()
        assert listed == [
            "allow Bash(npm test:*) · all your projects (settings.json of Claude Code)",
            "allow Bash(touch ok) · this project, for you (.claude/settings.local.json)",
            "ask WebFetch · all your projects (settings.json of Claude Code)",
            "deny Read(./.env) · this project, for everybody (.claude/settings.json)",
            "deny Bash(touch no) · this project, for you (.claude/settings.local.json)",
        ]
        new = [rule.line for rule in await agent.controls.rules() if rule.line not in listed]
        assert new == ["allow Bash(mkdir *) · this session", "folder /var/tmp · this session"]


async def test_a_dead_cli_tells_no_rules(real: Stage) -> None:
    """And takes no mode; both say so in a sentence."""
    agent = real.claude()
    await agent.connect()
    agent._process.kill()
    with pytest.raises(ports.AgentError):
        async for _ in agent.events():
            pass
    with pytest.raises(ports.AgentError, match="could not list its rules"):
        await agent.controls.rules()
    with pytest.raises(ports.AgentError, match="did not change the mode to plan"):
        await agent.set_mode("plan")
    await agent.close()
