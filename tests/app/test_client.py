"""Claude Code as a function: how it is started, what comes through, and each way it can fail."""

from __future__ import annotations

import asyncio
import json
import signal
import tempfile
import tracemalloc
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from winnow.adapters.claude import client as clients
from winnow.adapters.claude import private
from winnow.adapters.claude.client import Client
from winnow.core.structured import Unfit, fitting
from winnow.ports import QueryError
from winnow.ports import query as errors

from tests import api
from tests.app.playing import Player, left, line, result, speech, text
from tests.app.stage import Stage

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
GOOD = result({"n": 1})


async def asked(player: Player, folder: Path, **more: Any) -> Any:
    """The answer of a new client."""
    return await Client("key", str(folder), cli_path=str(player.path)).query(
        "Be brief.", "How many?", SCHEMA, **more
    )


# --- which one --------------------------------------------------------------------------------


def executable(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_path_comes_first(tmp_path: Path) -> None:
    named = executable(tmp_path / "bin" / "claude")
    executable(tmp_path / ".local/bin/claude")
    assert clients.find({"PATH": str(tmp_path / "bin")}, tmp_path) == named


def test_then_the_home_and_the_system_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is found when those before it are gone."""
    monkeypatch.setattr(clients, "_ANYWHERE", (f"{tmp_path}/l/claude", f"{tmp_path}/u/claude"))
    order = [
        ".local/bin/claude",
        ".npm-global/bin/claude",
        "node_modules/.bin/claude",
        ".yarn/bin/claude",
        ".claude/local/claude",
        "l/claude",
        "u/claude",
    ]
    places = [executable(tmp_path / place) for place in order]
    for place in places:
        assert clients.find({"PATH": ""}, tmp_path) == place
        Path(place).unlink()
    monkeypatch.setattr(private, "bundled", lambda: True)
    assert clients.find({"PATH": ""}, tmp_path) == ""


def test_the_system_is_searched_in_two_folders() -> None:
    assert clients._ANYWHERE == ("/usr/local/bin/claude", "/usr/bin/claude")


def test_what_can_t_be_executed_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".local/bin").mkdir(parents=True)
    (tmp_path / ".local/bin/claude").write_text("")
    second = executable(tmp_path / ".yarn/bin/claude")
    assert clients.find({"PATH": ""}, tmp_path) == second


def test_nowhere_is_an_error_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_ANYWHERE", ())
    monkeypatch.setattr(private, "bundled", lambda: False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(errors.CliNotFound, match="no Claude Code"):
        Client("key", str(tmp_path))


# --- how it is started ------------------------------------------------------------------------


async def test_how_it_is_started(tmp_path: Path) -> None:
    """Its arguments, environment, folder and words."""
    player = Player(tmp_path / "cli", [GOOD])
    cwd = tmp_path / "project"
    cwd.mkdir()
    client = Client("key", str(cwd), cli_path=str(player.path), model="claude-opus-4-6")
    assert await client.query("Be brief.", "How many?", SCHEMA) == {"n": 1}
    (start,) = player.starts
    assert start.cwd == str(cwd)
    assert start.prompt == "How many?"
    assert (start.value("--append-system-prompt-file"), start.system) == (start.file, "Be brief.")
    assert "Be brief." not in " ".join(start.argv)
    assert Path(start.file).parent == Path(tempfile.gettempdir())
    assert json.loads(start.value("--json-schema")) == SCHEMA
    assert start.value("--model") == "claude-opus-4-6"
    assert start.value("--output-format") == "stream-json"
    assert start.value("--input-format") == "stream-json"  # what `-p` is for a person
    assert start.value("--tools") == "Read,Glob,Grep"
    assert start.value("--permission-mode") == "default"
    assert {"--verbose", "--include-partial-messages"} <= set(start.argv)
    assert not any("dangerously" in arg or "bypass" in arg for arg in start.argv)
    given = {
        "ANTHROPIC_API_KEY": "key",
        "CLAUDE_CODE_EFFORT_LEVEL": "high",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0",
        "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY": "1",
    }
    assert given.items() <= start.env.items()
    assert left(player) == []


async def test_without_a_key_the_login_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "inherited")
    player = Player(tmp_path / "cli", [GOOD])
    await Client("", str(tmp_path), cli_path=str(player.path)).query("s", "p", SCHEMA)
    assert player.starts[0].env["ANTHROPIC_API_KEY"] == "inherited"


async def test_the_first_makes_a_session_and_the_others_resume_it(tmp_path: Path) -> None:
    """One in which nothing was said is made again, by another name: it may be taken."""
    player = Player(tmp_path / "cli", [{"exit": 3}], [GOOD])
    client = Client("key", str(tmp_path), cli_path=str(player.path))
    with pytest.raises(errors.Exited):
        await client.query("s", "p", SCHEMA)
    for _ in range(3):
        await client.query("s", "p", SCHEMA)
    starts = player.starts
    first, second = (start.value("--session-id") for start in starts[:2])
    assert first != second
    assert [start.value("--resume") for start in starts[2:]] == [second] * 2
    assert (UUID(first).version, UUID(second).version) == (4, 4)
    assert client.session == second
    assert not any("--session-id" in arg for start in starts[2:] for arg in start.argv)
    assert not any("--resume" in arg for start in starts[:2] for arg in start.argv)


async def test_what_queries_cost_is_summed(tmp_path: Path) -> None:
    """A session that is resumed tells all of it, unless Claude Code has forgotten."""
    totals = [result({"n": 1}, total_cost_usd=total) for total in (0.25, 0.75, 0.5)]
    player = Player(tmp_path / "cli", *[[total] for total in totals])
    client = Client("key", str(tmp_path), cli_path=str(player.path))
    for cost in (0.25, 0.75, 1.25):
        await client.query("s", "p", SCHEMA)
        assert client.cost == cost


@pytest.mark.parametrize("prompt", ["/help", "@/etc/passwd", "-p", "", "x" * (1 << 20)])
async def test_a_prompt_is_only_words(tmp_path: Path, prompt: str) -> None:
    player = Player(tmp_path / "cli", [GOOD])
    await Client("key", str(tmp_path), cli_path=str(player.path)).query("s", prompt, SCHEMA)
    assert player.starts[0].prompt == prompt


# --- what comes through -----------------------------------------------------------------------


async def test_only_messages_come_through(tmp_path: Path) -> None:
    """Of the model and of the user; in order."""
    player = Player(
        tmp_path / "cli",
        [
            line({"type": "system", "subtype": "init"}),
            speech(text("I look.")),
            line({"type": "stream_event", "event": {"type": "message_start"}}),
            speech({"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a"}}),
            speech({"type": "tool_result", "tool_use_id": "t", "content": "A"}, kind="user"),
            speech(text("I see.")),
            line({"type": "brand_new"}),
            GOOD,
        ],
    )
    events: list[Mapping[str, Any]] = []
    assert await asked(player, tmp_path, on_event=events.append) == {"n": 1}
    kinds = [(event["type"], event["message"]["content"][0]["type"]) for event in events]
    assert kinds == [
        ("assistant", "text"),
        ("assistant", "tool_use"),
        ("user", "tool_result"),
        ("assistant", "text"),
    ]


async def test_none_of_5000_is_dropped_and_none_is_kept(tmp_path: Path) -> None:
    """Whoever listens may be slow."""
    many = {**speech(text("NUMBER " + "x" * 2000)), "many": 5000}
    player = Player(tmp_path / "cli", [many, GOOD])
    numbers: list[int] = []
    sizes: list[int] = []

    def heard(event: Mapping[str, Any]) -> None:
        numbers.append(int(event["message"]["content"][0]["text"].split()[0]))
        if len(numbers) in (1000, 5000):
            sizes.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        assert await asked(player, tmp_path, on_event=heard) == {"n": 1}
    finally:
        tracemalloc.stop()
    assert numbers == list(range(5000))
    assert sizes[1] - sizes[0] < 2 << 20


async def test_the_first_message_comes_at_once(tmp_path: Path) -> None:
    """While Claude Code still runs."""
    player = Player(tmp_path / "cli", [speech(text("NOW")), {"hang": 1}])
    first = asyncio.get_running_loop().create_future()
    client = Client("key", str(tmp_path), cli_path=str(player.path))
    query = asyncio.create_task(client.query("s", "p", SCHEMA, first.set_result))
    assert (await first)["type"] == "assistant"
    assert not query.done()
    await client.cancel()
    with pytest.raises(errors.Cancelled):
        await query


# --- each way to fail -------------------------------------------------------------------------

BAD_LINE = {"line": '{"type": "assis'}
FAILURES: list[tuple[list[dict[str, Any]], type[QueryError], str]] = [
    ([{"error": "out of luck"}, {"exit": 3}], errors.Exited, "exit code 3 (out of luck)"),
    ([{"exit": 0}], errors.Exited, "ended"),
    ([speech(text("a")), {"kill": signal.SIGKILL}], errors.Exited, "exit code"),
    ([BAD_LINE, GOOD], errors.BrokenStream, "no message"),
    ([{"line": "what?"}, GOOD], errors.BrokenStream, "no message"),
    ([{"line": "[1]"}, GOOD], errors.BrokenStream, "no message"),
    ([result(subtype="error_max_turns", is_error=True)], errors.TurnsSpent, "limit of steps"),
    ([result(subtype="error_during_execution", is_error=True)], errors.Failed, "failed"),
    ([result(subtype="error_max_budget_usd", is_error=True)], errors.BudgetSpent, "budget"),
    (
        [result({"n": 1}, subtype="error_max_structured_output_retries")],
        errors.RetriesSpent,
        "several tries",
    ),
    ([result(subtype="error_of_tomorrow", is_error=True)], errors.Failed, "failed"),
    ([result({"n": 1}, is_error=True, result="No credit")], errors.Failed, "No credit"),
    ([result(result="Here you are")], errors.NoOutput, "no answer"),
    ([result({"n": "one"})], errors.WrongOutput, "n: 'one' is not of type 'integer'"),
    ([result({"n": 1, "m": 2})], errors.WrongOutput, "m"),
    ([result('{"n": 1')], errors.WrongOutput, "form"),
]


@pytest.mark.parametrize(("play", "kind", "words"), FAILURES)
async def test_each_failure_is_an_exception_of_its_own(
    tmp_path: Path, play: list[dict[str, Any]], kind: type[QueryError], words: str
) -> None:
    """With a sentence for the user; and the system prompt's file is gone."""
    player = Player(tmp_path / "cli", play)
    with pytest.raises(QueryError) as raised:
        await asked(player, tmp_path)
    assert type(raised.value) is kind
    assert words in raised.value.sentence
    assert left(player) == []


async def test_the_exit_code_is_told(tmp_path: Path) -> None:
    player = Player(tmp_path / "cli", [{"exit": 7}])
    with pytest.raises(errors.Exited) as raised:
        await asked(player, tmp_path)
    assert raised.value.code == 7


async def test_an_end_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever would write to it then, says only that it can't."""
    connect = clients._Stream.connect

    async def late(process: clients._Stream) -> None:
        await connect(process)
        assert process.process
        await process.process.wait()

    monkeypatch.setattr(clients._Stream, "connect", late)
    cli = tmp_path / "claude"
    cli.write_text("#!/bin/sh\nexit 7\n")
    cli.chmod(0o755)
    with pytest.raises(errors.Exited) as raised:
        await Client("key", str(tmp_path), cli_path=str(cli)).query("s", "p", SCHEMA)
    assert raised.value.code == 7


async def test_what_is_not_there_or_can_t_be_run(tmp_path: Path) -> None:
    with pytest.raises(errors.CliNotFound, match="no Claude Code at"):
        await Client("key", str(tmp_path), cli_path="/nowhere/claude").query("s", "p", SCHEMA)
    odd = tmp_path / "claude"
    odd.write_text("#!/nowhere/python\n")
    odd.chmod(0o755)
    with pytest.raises((errors.NotStarted, errors.Exited)):
        await Client("key", str(tmp_path), cli_path=str(odd)).query("s", "p", SCHEMA)
    player = Player(tmp_path / "cli", [GOOD])
    gone = Client("key", str(tmp_path / "gone"), cli_path=str(player.path))
    with pytest.raises(errors.NotStarted, match="gone"):
        await gone.query("s", "p", SCHEMA)


async def test_cancelled_and_asked_again(tmp_path: Path) -> None:
    """By the caller, or with the task; what has begun is gone on with."""
    player = Player(tmp_path / "cli", [speech(text("a")), {"hang": 1}], [{"hang": 1}], [GOOD])
    client = Client("key", str(tmp_path), cli_path=str(player.path))
    heard = asyncio.Event()
    query = asyncio.create_task(client.query("s", "p", SCHEMA, lambda _: heard.set()))
    await heard.wait()
    await client.cancel()
    with pytest.raises(errors.Cancelled):
        await query
    query = asyncio.create_task(client.query("s", "p", SCHEMA))
    while not (len(player.starts) == 2 and player.starts[1].stdin):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    query.cancel()
    with pytest.raises(asyncio.CancelledError):
        await query
    assert left(player) == []
    await client.cancel()  # nothing runs
    assert await client.query("s", "p", SCHEMA) == {"n": 1}
    assert player.starts[2].value("--resume") == client.session


async def test_a_cancellation_that_gets_lost_below_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one does that comes together with a message (`MemoryObjectReceiveStream` of anyio)."""
    result = Client._result

    async def lossy(*args: Any) -> Any:
        with suppress(asyncio.CancelledError):
            return await result(*args)
        return await asyncio.sleep(60)

    monkeypatch.setattr(Client, "_result", lossy)
    player = Player(tmp_path / "cli", [speech(text("a")), {"hang": 1}])
    client = Client("key", str(tmp_path), cli_path=str(player.path))
    heard = asyncio.Event()
    query = asyncio.create_task(client.query("s", "p", SCHEMA, lambda _: heard.set()))
    await heard.wait()
    await asyncio.wait_for(client.cancel(), 30)
    with pytest.raises(errors.Cancelled):
        await query
    assert left(player) == []


async def test_its_output_can_t_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it still runs."""

    async def broken(self: object) -> Any:
        raise OSError(5, "Input/output error")
        yield b""

    monkeypatch.setattr(clients._Stream, "_lines", broken)
    with pytest.raises(errors.BrokenStream, match="Input/output error"):
        await asked(Player(tmp_path / "cli", [{"hang": 1}]), tmp_path)


async def test_bytes_on_stderr_are_no_error(tmp_path: Path) -> None:
    player = Player(tmp_path / "cli", [{"error": "\udcff warning"}, GOOD])
    assert await asked(player, tmp_path) == {"n": 1}


# --- what the object may be wrapped in --------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"n": 1},
        {"output": {"n": 1}},
        '{"n": 1}',
        '```json\n{"n": 1}\n```',
        ' ~~~\n{"n": 1}\n~~~\n',
    ],
)
async def test_what_is_wrapped_once_is_unwrapped(tmp_path: Path, given: object) -> None:
    assert await asked(Player(tmp_path / "cli", [result(given)]), tmp_path) == {"n": 1}


@pytest.mark.parametrize(
    "given",
    [
        {"a": {"b": {"n": 1}}},
        json.dumps(json.dumps({"n": 1})),
        {"output": '{"n": 1}'},
        '```\n```\n{"n": 1}\n```\n```',
        "[" * 2_000,
        [{"n": 1}],
        None,
    ],
)
def test_what_is_wrapped_twice_is_refused(given: object) -> None:
    with pytest.raises(Unfit):
        fitting(given, SCHEMA)


# --- the real one -----------------------------------------------------------------------------


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else is on this machine, the one that the SDK brings along is run."""
    monkeypatch.setattr(clients, "find", lambda environ, home: "")


def output(id: str, **given: object) -> api.Message:
    """What the model gives as its object."""
    return api.say(api.ToolUse("StructuredOutput", dict(given), id))


@pytest.mark.usefixtures("bundled")
async def test_the_real_cli(real: Stage) -> None:
    """It reads, is refused what is no reading, corrects itself, goes on in its session."""
    (real.folder / "a.txt").write_text("there are 7")
    read = api.ToolUse("Read", {"file_path": str(real.folder / "a.txt")}, "toolu_r")
    bash = api.ToolUse("Bash", {"command": "touch made", "description": "d"}, "toolu_b")
    real.server.add(api.say("I look.", read), api.say(bash), output("toolu_1", n="seven"))
    real.server.add(output("toolu_2", n=7))
    env = real.server.env(real.folder / "config")
    client = Client("key", str(real.folder), env=env)
    events: list[Mapping[str, Any]] = []
    assert await client.query("Count.", "How many?", SCHEMA, events.append) == {"n": 7}
    assert {event["type"] for event in events} == {"assistant", "user"}
    assert "there are 7" in real.server.tool_result("toolu_r")
    assert not (real.folder / "made").exists()
    first = real.server.requests[0]
    assert "Count." in str(first["system"])
    assert not {"Bash", "Write", "Edit"} & {tool["name"] for tool in first["tools"]}
    before = len(real.server.requests)
    real.server.add(output("toolu_3", n=8))
    assert await client.query("Count.", "And now?", SCHEMA) == {"n": 8}
    assert "How many?" in str(real.server.requests[before]["messages"])


@pytest.mark.usefixtures("bundled")
async def test_the_real_cli_is_cancelled_before_it_answers(real: Stage) -> None:
    """And is asked again."""
    real.server.add(api.say(api.Gate(), "late"), output("toolu_1", n=1))
    env = real.server.env(real.folder / "config")
    client = Client("key", str(real.folder), env=env)
    query = asyncio.create_task(client.query("Count.", "How many?", SCHEMA))
    await asyncio.to_thread(real.server.request, 0)
    await client.cancel()
    with pytest.raises(errors.Cancelled):
        await query
    assert await client.query("Count.", "How many?", SCHEMA) == {"n": 1}
