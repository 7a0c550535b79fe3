"""What we use of the SDK and the CLI without being promised it: each fails here if that changes.

``private.py`` has the reasons. What it has of permission rules is tested in
``test_claude_modes.py``, of answers that are only text in ``test_claude_record.py``, and of unknown
sessions in ``test_claude_failures.py``.
"""

from __future__ import annotations

import ast
import asyncio
import json
import logging
import mmap
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import claude_agent_sdk
import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ProcessError
from claude_agent_sdk._internal import message_parser
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport
from winnow import health, ports
from winnow.adapters.claude import private, process, translate
from winnow.adapters.claude.agent import ClaudeAgent
from winnow.core import agent as a
from winnow.core import steering
from winnow.core.asking.trust import Given

from tests import api
from tests.app.stage import Stage, connected
from tests.app.test_claude_failures import delta, fake_cli, result, speaking_cli

ROOM = Path(private.__file__).parent
PACKAGE = Path(claude_agent_sdk.__file__).parent
UUID = "00000000-0000-4000-8000-000000000001"

# Notes how it was started, and answers whatever it is asked.
NOTING = """#!{python}
import json, os, pathlib, sys
note = json.dumps([sys.argv[1:], dict(os.environ)])
pathlib.Path(__file__ + ".started").write_text(note)
for line in sys.stdin:
    reply = {{"subtype": "success", "request_id": json.loads(line)["request_id"], "response": {{}}}}
    print(json.dumps({{"type": "control_response", "response": reply}}), flush=True)
"""


# --- the SDK ----------------------------------------------------------------------------------


def private_names(path: Path) -> Iterator[str]:
    """The names of others that a module has no right to."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.ImportFrom(module=str(module)) if module.startswith("claude_agent_sdk"):
                names = [*module.split("."), *(alias.name for alias in node.names)]
                yield from (name for name in names if name.startswith("_"))
            case ast.Attribute(attr=name, value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) if name.startswith("_") and not name.endswith("__"):
                yield name


def test_private_names_stand_in_one_module() -> None:
    """And this test knows them when it sees them."""
    found = {path.name: list(private_names(path)) for path in ROOM.glob("*.py")}
    assert "_internal" in found.pop("private.py")
    assert {name: names for name, names in found.items() if names} == {}


def test_our_names_don_t_meet_the_sdk_s(tmp_path: Path) -> None:
    """A newer one may have more of them; what is replaced is replaced on purpose."""
    options = ClaudeAgentOptions(cwd=tmp_path, cli_path="/bin/true")
    sdk = SubprocessCLITransport("", options)
    theirs = {*dir(SubprocessCLITransport), *vars(sdk)}
    ours = {*vars(private.Subprocess), *vars(process.Process)}
    replaced = {name for name in ours & theirs if not name.endswith("__")}
    replaced -= {"_abc_impl", "__module__"}
    assert replaced == {"close", "connect", "read_messages", "_build_command", "_handle_stderr"}
    assert vars(process.Process(options)).keys() - vars(sdk).keys() == {
        "_config",
        "_named",
        "_place",
        "_found",
        "_replies",
        "_elicit",
        "_servers",
        "_calls",
        "_code",
        "_aside",
        "started",
    }


async def test_the_cli_is_started_as_the_sdk_would(real: Stage) -> None:
    """With the same arguments and environment, so nothing is missed of what the SDK does there."""
    path, note = real.folder / "noting", real.folder / "noting.started"
    path.write_text(NOTING.format(python=sys.executable))
    path.chmod(0o755)
    agent = real.claude(cli_path=str(path))
    started = []
    for client in (agent._client, ClaudeSDKClient(agent._options)):
        await client.connect()
        started.append(json.loads(note.read_text()))
        await client.disconnect()
    await agent.close()
    (arguments, env), (expected, expected_env) = started
    assert arguments == expected
    assert arguments[arguments.index("--permission-prompt-tool") + 1] == "stdio"
    assert env == expected_env


async def test_stderr_need_not_be_text(tmp_path: Path) -> None:
    """What follows a bad byte is heard, too."""
    cli = fake_cli(tmp_path, r"printf 'caf\351\n' >&2", "echo more >&2")
    heard: asyncio.Queue[str] = asyncio.Queue()
    started = process.Process(ClaudeAgentOptions(cli_path=cli, stderr=heard.put_nowait))
    await started.connect()
    assert [message async for message in started.read_messages()] == []
    assert [await heard.get(), await heard.get()] == ["caf\ufffd", "more"]
    await started.close()


async def test_the_end_of_the_cli_is_seen(tmp_path: Path) -> None:
    """With its exit code, or its signal."""
    options = ClaudeAgentOptions(cli_path=fake_cli(tmp_path, "read line", "exit 3"))
    for ending, code in (("close", 3), ("kill", -15)):
        started = process.Process(options)
        assert (started.running, started.exit_code) == (False, None)
        await started.connect()
        assert (started.running, started.exit_code) == (True, None)
        if ending == "kill":
            started.kill()
        else:
            await started.end_input()
        with pytest.raises(ProcessError) as failure:
            async for _ in started.read_messages():
                pass
        assert failure.value.exit_code == started.exit_code == code
        await started.close()


def test_the_sdk_ends_nothing_when_python_exits() -> None:
    """Else an agent is lost while the host still keeps what Neovim said last."""
    ended = subprocess.run(
        [sys.executable, "-c", EXITS], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout == "exits\n"


async def test_no_message_is_taken_for_the_sdk_s_own(real: Stage) -> None:
    """The CLI may have messages of any name, one day."""
    kinds = [{"type": kind, "error": "no"} for kind in private.RESERVED]
    cli = speaking_cli(real.folder, *kinds, delta("Hello."), result())
    async with connected(real.claude(cli_path=cli), real.user) as agent:
        for turn in (1, 2):
            await agent.prompt("hi", UUID)
            assert (await real.user.turn(turn)).error == ""
    assert real.user.text == "Hello." * 2


def test_the_cli_that_comes_along() -> None:
    """The health check finds the one that the SDK runs, without importing it."""
    sdk = SubprocessCLITransport("", ClaudeAgentOptions())
    assert health.report()["cli"]["path"] == sdk._find_cli()


# --- a newer SDK ------------------------------------------------------------------------------


@dataclass
class BrandNew:
    """A message, or a block of one, that no SDK has yet."""

    content: str = "new"


async def test_a_newer_sdk_costs_nothing(
    real: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its messages and blocks are logged once and left out; everything else is shown."""
    parse = message_parser.parse_message

    def newer(data: dict[str, Any]) -> Any:
        found = parse(data)
        match data, found:
            case {"type": "brand_new"}, _:
                return BrandNew()
            case {
                "odd": True
            }, claude_agent_sdk.UserMessage() | claude_agent_sdk.AssistantMessage():
                cast(list[Any], found.content).insert(0, BrandNew())
        return found

    monkeypatch.setattr(message_parser, "parse_message", newer)
    translate._unknown.cache_clear()
    text = {"content": [{"type": "text", "text": "Hello."}], "model": "m"}
    done = {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "out"}]}
    cli = speaking_cli(
        real.folder,
        *[{"type": "brand_new"}] * 3,
        {"type": "assistant", "message": text, "odd": True},
        {"type": "user", "message": done, "odd": True},
        result(),
    )
    async with connected(real.claude(cli_path=cli), real.user) as agent:
        with caplog.at_level(logging.WARNING, "winnow"):
            for turn in (1, 2):
                await agent.prompt("hi", UUID)
                assert (await real.user.turn(turn)).error == ""
    assert real.user.text == "Hello." * 2
    assert [event.output for event in real.user.every(a.ToolFinished)] == ["out"] * 2
    assert [record.getMessage() for record in caplog.records] == [
        "a newer SDK has a BrandNew, which is not shown"
    ]


# --- the CLI ----------------------------------------------------------------------------------


async def asked_of_the_api(stage: Stage, *, whole: bool = True) -> dict[str, Any]:
    """The request that a first prompt makes."""
    (stage.folder / "CLAUDE.md").write_text("The rules of this shop.")
    stage.server.add(api.say("Hello."))
    env = stage.server.env(stage.folder / "config")
    spec = ports.AgentSpec(str(stage.folder), given=Given(whole))
    agent = ClaudeAgent(spec, stage.user.ask, env=env, start_patience=40)
    async with connected(agent, stage.user):
        await agent.prompt("hi", UUID)
        await stage.user.turn()
    return stage.server.requests[-1]


EXITS = """
from winnow.adapters.claude import agent
from claude_agent_sdk._internal.transport import subprocess_cli

class Child:
    def send_signal(self, number):
        print("ended")

subprocess_cli._ACTIVE_CHILDREN.add(Child())
print("exits")
"""


@pytest.fixture(params=["with", "without"])
def switch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Takes something away in every other run; gives whether it is there."""

    def there(things: dict[str, Any]) -> bool:
        if request.param == "without":
            for name in list(things):
                monkeypatch.delitem(things, name)
        return bool(things)

    return there


async def test_the_tool_to_ask_with_is_loaded(real: Stage, switch: Any) -> None:
    """Claude needs not search for it."""
    there = switch(private.ALWAYS_LOAD)
    tools = [tool["name"] for tool in (await asked_of_the_api(real))["tools"]]
    assert ("mcp__winnow__question" in tools) is there


async def test_options_may_have_previews(real: Stage, switch: Any) -> None:
    """In Markdown, which a buffer shows."""
    there = switch(private.PREVIEWS)
    tools = {tool["name"]: tool for tool in (await asked_of_the_api(real))["tools"]}
    description = tools["AskUserQuestion"]["description"]
    assert ("Preview content is rendered as markdown" in description) is there


async def test_a_project_s_prompts_come_without_its_settings(real: Stage, switch: Any) -> None:
    """CLAUDE.md acts only through Claude."""
    there = switch(private.PARTLY)
    request = await asked_of_the_api(real, whole=False)
    assert ("The rules of this shop." in json.dumps(request)) is there


async def test_nothing_is_done_by_the_clock_without_settings(real: Stage, switch: Any) -> None:
    """Claude Code then has no command for it, either."""
    there = switch(private.PARTLY)
    env = real.server.env(real.folder / "config")
    spec = ports.AgentSpec(str(real.folder), given=Given(False))
    agent = ClaudeAgent(spec, real.user.ask, env=env, start_patience=40)
    async with connected(agent, real.user):
        info = await agent._client.get_server_info()
    assert info
    assert ("loop" not in [command["name"] for command in info["commands"]]) is there


async def test_settings_that_change_are_told_and_kept_out(real: Stage) -> None:
    """A hook that comes in mid-session does not run."""
    settings = real.folder / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    look = api.ToolUse("Read", {"file_path": str(settings)}, "toolu_a")
    real.server.add(api.say("One."), api.say(look), api.say("Two."))
    user = real.user
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", UUID)
        await user.turn()
        hook = {"type": "command", "command": f"touch {real.folder}/hooked"}
        settings.write_text(json.dumps({"hooks": {"PostToolUse": [{"hooks": [hook]}]}}))
        async with user._changed:
            await user._changed.wait_for(lambda: user.every(a.SettingsChanged))
        await agent.prompt("read", UUID[:-1] + "2")
        await user.turn(2)
    assert user.text.endswith("Two.")
    assert not (real.folder / "hooked").exists()


BASH = {"command": "touch made; sleep 1", "description": "d"}


async def test_a_prompt_goes_into_the_turn(real: Stage) -> None:
    """With the next result of a tool; then the CLI tells that it is taken, and no turn follows."""
    real.server.add(api.say("One.", api.ToolUse("Bash", BASH, "toolu_a")), api.say("Two."))
    user, second = real.user, UUID[:-1] + "2"
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", UUID)
        request, reply = await user.asked.get()
        await agent.prompt("steer", second)
        reply.set_result(a.Allow(request.input))
        ended = await user.turn()
    assert ended.answered == [UUID, second]
    assert [taken.id for taken in user.every(steering.Taken)] == [UUID, second]
    assert user.events.index(steering.Taken(second)) < user.events.index(a.Text("Two."))
    said = json.dumps(real.server.requests[-1]["messages"][-1])
    assert "The user sent a new message while you were working:\\nsteer\\n" in said


async def test_prompts_that_wait_together_are_glued(real: Stage) -> None:
    """Which is why the second of them waits here. One day this may be needless."""
    real.server.add(api.say("One.", api.Gate()), api.say("Two."))
    user = real.user
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", UUID)
        await asyncio.to_thread(real.server.request, 0)
        for number in (2, 3):
            await agent.prompt(f"message {number}", f"{UUID[:-1]}{number}")
        await asyncio.sleep(0.3)
        real.server.release()
        await user.turn(2)
    assert real.server.requests[-1]["messages"][-1]["content"][0]["text"] == "message 2\nmessage 3"


async def test_a_stopped_turn_takes_no_more_prompts(real: Stage) -> None:
    """The CLI names those that it had not taken; else each would get a turn."""
    real.server.add(api.say("One.", api.Gate()), api.say("Two."))
    user, second = real.user, UUID[:-1] + "2"
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", UUID)
        await asyncio.to_thread(real.server.request, 0)
        await agent.prompt("strawberry", second)
        await agent.interrupt()
        ended = await user.turn()
        assert ended.stopped
        assert user.every(steering.Withdrawn) == [steering.Withdrawn([second])]
        real.server.release()
        await agent.prompt("again", UUID[:-1] + "3")
        await user.turn(2)
    assert "strawberry" not in json.dumps(real.server.requests[-1]["messages"])


def test_the_cli_knows_these_names() -> None:
    """Variables that it no longer reads would do nothing, silently."""
    names = [*private._OUTER_SESSION, *private.PREVIEWS, *private.PARTLY, "ConfigChange"]
    with (
        (PACKAGE / "_bundled" / "claude").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as cli,
    ):
        assert [name for name in names if cli.find(name.encode()) < 0] == []
