"""What a Claude Code CLI does that is broken, or newer than we are."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import claude_agent_sdk
import pytest
from msgspec.structs import replace
from winnow import ports
from winnow.adapters.claude import failures
from winnow.core import agent as a
from winnow.core.usage.plan import Limited

from tests import api
from tests.app.stage import QUESTION, Stage, connected

FAKE = """#!{python}
import json, os, pathlib, sys
for name in sorted(os.environ):
    print(name + "=" + os.environ[name], file=sys.stderr, flush=True)
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "control_response":
        print(line, file=sys.stderr, flush=True)
    if said["type"] == "control_request":
        reply = {{"subtype": "success", "request_id": said["request_id"], "response": {{}}}}
        print(json.dumps({{"type": "control_response", "response": reply}}), flush=True)
    elif said["type"] == "user":
        sys.stdout.buffer.write(pathlib.Path(__file__ + ".json").read_bytes() + b"\\n")
        sys.stdout.flush()
"""


def speaking_cli(folder: Path, *messages: dict[str, Any]) -> str:
    """A CLI that answers every prompt with these messages."""
    path = folder / "fake-claude"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    lines = [json.dumps({"uuid": "u", "session_id": "s", **message}) for message in messages]
    path.with_name("fake-claude.json").write_text("\n".join(lines))
    return str(path)


def asks(input: Any) -> dict[str, Any]:
    """The CLI wants to know whether a tool may run."""
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": input, "tool_use_id": "t"}
    return {"type": "control_request", "request_id": "r1", "request": request}


def delta(text: str, parent: str | None = None) -> dict[str, Any]:
    event = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}
    return {"type": "stream_event", "event": event, "parent_tool_use_id": parent}


def result(**fields: Any) -> dict[str, Any]:
    times = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1}
    return {"type": "result", "subtype": "success", "is_error": False, **times, **fields}


async def test_messages_that_nobody_knows_are_skipped(real: Stage) -> None:
    """Also known ones that lack a field; a rejected rate limit is told with its reset."""
    limit = {"status": "rejected", "resetsAt": 1_900_000_000}
    cli = speaking_cli(
        real.folder,
        delta("one "),
        {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}},
        {"type": "rate_limit_event", "rate_limit_info": limit},
        {"type": "brand_new"},
        {"type": "system", "subtype": "brand_new"},
        {"type": "system", "subtype": "task_progress"},
        {"type": "assistant", "message": {"content": [{"type": "brand_new"}], "model": "m"}},
        {"type": "assistant", "message": {}},
        delta("from below", parent="toolu_a"),
        delta("two"),
        {"type": "result"},
    )
    user = real.user
    async with connected(real.claude(cli_path=cli), user) as agent:
        await agent.prompt("hi", "uuid-1")
        assert await user.turn() == a.TurnEnded()
        assert user.text == "one two"
        assert [event.window.full for event in user.every(Limited)] == [False, True]


def calls(input: Any, name: str = "Bash") -> dict[str, Any]:
    block = {"type": "tool_use", "id": "toolu_a", "name": name, "input": input}
    return {"type": "assistant", "message": {"content": [block], "model": "m"}}


DEEP = '{"type": "assistant", "message": ' + '{"a": ' * 5000 + "1" + "}" * 5001
ODD: list[Any] = ["text", 5, None, [1], True]


def garble(path: Path) -> None:
    """Put lines that are no messages before the messages, and bytes that are no text into one."""
    bad = [b'{"type": "assis', DEEP.encode(), b"\xff\xfe", b"{}", b"[]", b'"text"', b"{\xff"]
    good = path.read_bytes().replace(b"\\ufffd", b"one \xff\xc3\x28 two")
    path.write_bytes(b"\n".join([*bad, good]))


async def test_a_message_that_is_odd_costs_only_itself(real: Stage) -> None:
    """Whatever is wrong with it: bytes, braces, types."""
    finished = {"type": "tool_result", "tool_use_id": "toolu_a"}
    cli = speaking_cli(
        real.folder,
        *[calls(input, name) for input in ODD for name in ("Bash", "ExitPlanMode", "Agent")],
        *[{"type": "stream_event", "event": odd} for odd in ODD],
        *[{"type": "user", "message": {"content": [{**finished, "content": o}]}} for o in ODD],
        *[{"type": "user", "message": {"content": [{**finished, "content": [o]}]}} for o in ODD],
        *[{"type": kind, "message": o} for o in ODD for kind in ("assistant", "user")],
        *[{"type": "rate_limit_event", "rate_limit_info": odd} for odd in ODD],
        *[{"type": "system", "subtype": odd} for odd in ODD],
        *[{"type": odd} for odd in ODD],
        delta("�"),
        result(origin=5, user_message_uuids=None),
    )
    garble(Path(cli + ".json"))
    user = real.user
    async with connected(real.claude(cli_path=cli), user) as agent:
        await agent.prompt("hi", "uuid-1")
        assert replace(await user.turn(), seconds=0) == a.TurnEnded()
        assert user.text == "one �\ufffd( two"
        started = [event.input for event in user.every(a.ToolStarted)]
        assert started == [{"input": odd} for odd in ODD for _ in range(3)]
        await agent.prompt("again", "uuid-2")
        await user.turn(2)


@pytest.mark.parametrize("input", ODD)
async def test_a_tool_whose_input_is_no_object_is_denied(real: Stage, input: Any) -> None:
    """The CLI gets an answer, and nobody is asked."""
    log: asyncio.Queue[str] = asyncio.Queue()
    cli = speaking_cli(real.folder, asks(input), result())
    async with connected(real.claude(cli_path=cli, log=log.put_nowait), real.user) as agent:
        await agent.prompt("hi", "uuid-1")
        await real.user.turn()
        while '"deny"' not in await log.get():
            pass
        assert real.user.asked.empty()


async def test_the_real_cli_lives_with_such_an_input(real: Stage) -> None:
    """It tells the model, and the turn goes on."""
    user = real.user
    async with connected(real.claude(), user) as agent:
        for number, input in enumerate(ODD, 1):
            call = api.ToolUse("Bash", input, f"toolu_{number}")
            real.server.add(api.say(call), api.say(f"Sorry {number}."))
            await agent.prompt("hi", f"uuid-{number}")
            assert (await user.turn(number)).error == "", input
            assert user.text.endswith(f"Sorry {number}."), input


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"subtype": "error_max_turns", "terminal_reason": "max_turns"},
            "The turn was cut at its limit of steps.",
        ),
        (
            {"subtype": "error_during_execution", "errors": ["Out of luck"]},
            "Claude Code failed (Out of luck); `:Winnow log` has the details.",
        ),
        (
            {"terminal_reason": "api_error", "result": "API Error: Connection error."},
            "Claude could not be reached (API Error: Connection error); check the network.",
        ),
        (
            {"api_error_status": 529, "result": "API Error: 529 Overloaded. Try it. Or that."},
            "Claude is overloaded or broken (API Error: 529 Overloaded); wait a moment.",
        ),
    ],
)
async def test_a_failed_turn_says_what_to_do(
    real: Stage, fields: dict[str, Any], sentence: str
) -> None:
    """One sentence each."""
    cli = speaking_cli(real.folder, result(**{"is_error": True, **fields}))
    user = real.user
    async with connected(real.claude(cli_path=cli), user) as agent:
        await agent.prompt("hi", "uuid-1")
        assert (await user.turn()).error == sentence


async def test_a_background_turn_answers_no_prompt(real: Stage) -> None:
    """Its result names its origin, so that a waiting prompt is not taken for answered."""
    woken = result(origin={"kind": "task-notification"}, num_turns=0)
    cli = speaking_cli(real.folder, woken)
    user = real.user
    async with connected(real.claude(cli_path=cli), user) as agent:
        await agent.prompt("hi", "uuid-1")
        assert (await user.turn()).answered == ["task-notification"]
        assert user.every(a.Notice) == []


async def test_the_session_around_neovim_is_not_joined(
    real: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a Claude Code terminal exports is dropped; credentials and settings pass."""
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SSE_PORT", "4711")
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    monkeypatch.setenv("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "9000")
    log: list[str] = []
    cli = speaking_cli(real.folder, result())
    async with connected(real.claude(cli_path=cli, log=log.append), real.user) as agent:
        await agent.prompt("hi", "uuid-1")
        await real.user.turn()
    assert "CLAUDE_CODE_SSE_PORT=" in log
    assert "CLAUDE_CODE_ENTRYPOINT=sdk-py" in log
    assert "CLAUDE_CODE_MAX_OUTPUT_TOKENS=9000" in log
    assert "ANTHROPIC_API_KEY=scripted" in log
    assert not any(line.startswith("CLAUDECODE=") for line in log)


def fake_cli(folder: Path, *lines: str) -> str:
    """A shell script in place of the CLI."""
    path = folder / "fake-claude"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (['echo "Invalid API key" >&2', "exit 1"], " (Invalid API key); "),
        (["read line", 'echo "Old session" >&2', "exit 3"], "exit code 3 (Old session); "),
        (["echo nonsense", "read line", "exit 0"], "ended with exit code 0; "),
        (["echo '{nonsense'", "exec cat >/dev/null"], "did not answer within 2 s"),
        (["exec sleep 600"], "did not answer within 2 s"),
    ],
)
async def test_a_cli_that_does_not_start_is_explained(
    real: Stage, lines: list[str], sentence: str
) -> None:
    """In one sentence, soon, and with no process left."""
    agent = real.claude(cli_path=fake_cli(real.folder, *lines), start_patience=1)
    with pytest.raises(ports.AgentError) as failure:
        await agent.connect()
    assert sentence in failure.value.sentence
    await agent.close()
    assert agent._process.started
    assert not agent._process.running


async def test_a_cli_that_was_too_slow_is_started_again(real: Stage) -> None:
    """Once; what was too slow is ended."""
    real.server.add(api.say("Hello."))
    bundled = Path(claude_agent_sdk.__file__).with_name("_bundled") / "claude"
    once = real.folder / "once"
    cli = fake_cli(
        real.folder,
        f'[ -e {once} ] && exec {bundled} "$@"',
        f"echo $$ > {once}; exec sleep 600",
    )

    def log(line: str) -> None:
        if "starting it again" in line:
            agent._start_patience = 40  # a busy machine is no failure

    agent = real.claude(cli_path=cli, start_patience=1, log=log)
    async with connected(agent, real.user):
        with pytest.raises(ProcessLookupError):
            os.kill(int(once.read_text()), 0)
        await agent.prompt("hi", "uuid-1")
        await real.user.turn()
    assert real.user.text == "Hello."


async def test_a_missing_cli_is_explained(real: Stage) -> None:
    """The sentence names the path and how to install it."""
    agent = real.claude(cli_path="/nowhere/claude")
    with pytest.raises(ports.AgentError, match="no Claude Code at /nowhere/claude"):
        await agent.connect()
    await agent.close()


async def test_a_folder_that_is_gone_is_explained(real: Stage) -> None:
    """It is the folder's fault, not the CLI's."""
    real.folder /= "gone"
    agent = real.claude()
    with pytest.raises(ports.AgentError, match=f"not exist: {real.folder}; create it again"):
        await agent.connect()
    await agent.close()


async def test_an_unknown_session_is_explained(real: Stage) -> None:
    """The CLI says so when it starts."""
    agent = real.claude(session="12345678-1234-1234-1234-123456789abc")
    with pytest.raises(ports.SessionGone, match="no session 12345678"):
        await agent.connect()
    await agent.close()


async def test_a_cli_that_dies_in_a_turn_is_explained(real: Stage) -> None:
    """What waits is withdrawn, and the events end with the error."""
    real.server.add(api.say("Hm.", api.ask("toolu_a", QUESTION)))
    agent, user = real.claude(), real.user
    await agent.connect()
    listening = asyncio.create_task(user.listen(agent))
    await agent.prompt("hi", "uuid-1")
    await user.asked.get()
    agent._process.kill()
    with pytest.raises(ports.AgentError, match="Claude Code ended with exit code 143"):
        await listening
    with pytest.raises(ports.AgentError):
        await agent.prompt("again", "uuid-2")
    await agent.close()
    assert user.cancelled == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"error_status": 529, "error": "overloaded"}, "529"),
        ({"error_status": None, "error": "rate_limit"}, "rate_limit"),
        ({"error_status": None, "error": "unknown"}, "no connection"),
    ],
)
def test_why_it_tries_again(data: dict[str, Any], words: str) -> None:
    assert f"({words})" in failures.retry(data).sentence
