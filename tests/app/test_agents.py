"""What both agents promise the app; Claude is the real CLI on a scripted API."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from winnow import ports
from winnow.adapters import scripted
from winnow.adapters.claude import ClaudeAgent

from tests import api

QUESTION = api.question("Which store?", "Postgres", "SQLite", header="Store")
ANSWERED = 'Your questions have been answered: "Which store?"="Postgres".'


Kind = TypeVar("Kind")


class User:
    """Stands for the app: takes questions and keeps events."""

    def __init__(self) -> None:
        self.events: list[ports.AgentEvent] = []
        self.said_before: list[str] = []  # the text so far when each question came
        self.asked: asyncio.Queue[tuple[ports.Request, asyncio.Future[ports.Reply]]]
        self.asked = asyncio.Queue()
        self.cancelled = 0
        self._changed = asyncio.Condition()

    async def ask(self, request: ports.Request) -> ports.Reply:
        """Wait for the test to answer."""
        reply: asyncio.Future[ports.Reply] = asyncio.get_running_loop().create_future()
        self.said_before.append(self.text)
        self.asked.put_nowait((request, reply))
        try:
            return await reply
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def listen(self, agent: ports.Agent) -> None:
        """Drain the agent."""
        async for event in agent.events():
            self.events.append(event)
            async with self._changed:
                self._changed.notify_all()

    async def turn(self, number: int = 1) -> ports.TurnEnded:
        """The end of this turn, counted from 1."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.every(ports.TurnEnded)) >= number)
        return self.every(ports.TurnEnded)[number - 1]

    def every(self, kind: type[Kind]) -> list[Kind]:
        """The events of this kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """All that was said."""
        return "".join(event.text for event in self.every(ports.Text))


@asynccontextmanager
async def connected(agent: ports.Agent, user: User) -> AsyncIterator[ports.Agent]:
    """The agent, connected and drained."""
    await agent.connect()
    listening = asyncio.create_task(user.listen(agent))
    try:
        yield agent
    finally:
        await agent.close()
        await listening


class Stage:
    """Where one kind of agent is set up. A turn is a text, a question or both, and an end."""

    def __init__(self, kind: str, folder: Path, server: api.ScriptedAPI) -> None:
        self.kind, self.folder, self.server = kind, folder, server
        self.user = User()

    def agent(self, *turns: list[str]) -> ports.Agent:
        """An agent whose turns say these texts; ``?`` asks `QUESTION`."""
        if self.kind == "scripted":
            scenario = scripted.Scenario([_steps(turn) for turn in turns])
            return scripted.ScriptedAgent(ports.AgentSpec(""), self.user.ask, scenario, 0)
        for number, turn in enumerate(turns):
            before, _, after = "\n".join(turn).partition("?")
            if before != "\n".join(turn):
                call = api.ask(f"toolu_{number}", QUESTION)
                self.server.add(api.say(before.strip("\n"), call))
            self.server.add(api.say((after or before).strip("\n")))
        return self.claude()

    def claude(self, **options: Any) -> ClaudeAgent:
        """A Claude whose script is filled by the test."""
        session, mode = options.pop("session", ""), options.pop("mode", "")
        spec = ports.AgentSpec(str(self.folder), session=session, mode=mode)
        env = self.server.env(self.folder / "config")
        return ClaudeAgent(spec, self.user.ask, env=env, **options)


def _steps(turn: list[str]) -> list[scripted.Step]:
    asks = scripted.Ask([QUESTION], cancelled=[scripted.Say("refused: {reason}")])
    return [asks if text == "?" else scripted.Say(text) for text in turn]


@pytest.fixture
def server() -> Iterator[api.ScriptedAPI]:
    with api.ScriptedAPI() as running:
        yield running


@pytest.fixture(params=["claude", "scripted"])
def stage(request: pytest.FixtureRequest, tmp_path: Path, server: api.ScriptedAPI) -> Stage:
    return Stage(request.param, tmp_path, server)


@pytest.fixture
def real(tmp_path: Path, server: api.ScriptedAPI) -> Stage:
    return Stage("claude", tmp_path, server)


def picked(request: ports.Request, answer: str | list[str] = "Postgres") -> ports.Allow:
    question = request.input["questions"][0]["question"]
    return ports.Allow({**request.input, "answers": {question: answer}})


# --- both agents ----------------------------------------------------------------------------------


async def test_text_comes_whole_and_in_order(stage: Stage) -> None:
    """Both turns' text comes in pieces, and each result names its prompt."""
    user = stage.user
    async with connected(stage.agent(["one two three"], ["four"]), user) as agent:
        await agent.prompt("hi", "uuid-1")
        assert (await user.turn()).answered == ["uuid-1"]
        assert user.text == "one two three"
        assert len(user.every(ports.Text)) > 1
        await agent.prompt("again", "uuid-2")
        ended = await user.turn(2)
        assert (ended.answered, ended.error, ended.stopped) == (["uuid-2"], "", False)
        assert user.text == "one two threefour"


async def test_an_answer_reaches_the_agent(stage: Stage) -> None:
    """The question comes after the text before it, and its answer goes back."""
    user = stage.user
    async with connected(stage.agent(["I looked.", "?", "Good."]), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert (request.tool, request.agent_id) == ("AskUserQuestion", "")
        assert request.input == {"questions": [QUESTION]}
        assert user.said_before == ["I looked."]
        assert user.every(ports.ToolStarted)[0].id == request.tool_use_id
        reply.set_result(picked(request))
        assert not (await user.turn()).stopped
        assert user.text == "I looked.Good."
        assert [finished.failed for finished in user.every(ports.ToolFinished)] == [False]
        if stage.kind == "claude":
            assert stage.server.tool_result("toolu_0").startswith(ANSWERED)


async def test_a_refusal_reaches_the_agent(stage: Stage) -> None:
    """The turn goes on, and the agent knows why."""
    user = stage.user
    async with connected(stage.agent(["Hm.", "?", "Good."]), user) as agent:
        await agent.prompt("hi", "uuid-1")
        _, reply = await user.asked.get()
        reply.set_result(ports.Deny("not today"))
        ended = await user.turn()
        assert (ended.answered, ended.error, ended.stopped) == (["uuid-1"], "", False)
        (finished,) = user.every(ports.ToolFinished)
        assert (finished.output, finished.failed) == ("not today", True)
        if stage.kind == "claude":
            assert stage.server.tool_result("toolu_0") == "not today"


async def test_a_refusal_can_stop_the_turn(stage: Stage) -> None:
    """The next prompt works."""
    user = stage.user
    turns = ["Hm.", "?", "never said"], ["Fresh."]
    async with connected(stage.agent(*turns), user) as agent:
        await agent.prompt("hi", "uuid-1")
        _, reply = await user.asked.get()
        reply.set_result(ports.Deny("stop it", stop=True))
        ended = await user.turn()
        assert (ended.stopped, ended.error) == (True, "")
        await agent.prompt("again", "uuid-2")
        assert not (await user.turn(2)).stopped


async def test_an_interrupt_withdraws_the_question(stage: Stage) -> None:
    """Its callback is cancelled, the turn ends as stopped, and the next prompt works."""
    user = stage.user
    turns = ["Hm.", "?", "never said"], ["Fresh."]
    async with connected(stage.agent(*turns), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.asked.get()
        await agent.interrupt()
        ended = await user.turn()
        assert (ended.stopped, ended.error, user.cancelled) == (True, "", 1)
        await agent.prompt("again", "uuid-2")
        assert (await user.turn(2)).answered == ["uuid-2"]


async def test_a_prompt_joins_the_turn_whose_question_waits(stage: Stage) -> None:
    """There is one result, and it covers both."""
    user = stage.user
    async with connected(stage.agent(["Hm.", "?", "Good."]), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        await agent.prompt("also this", "uuid-2")
        reply.set_result(picked(request))
        assert (await user.turn()).answered == ["uuid-1", "uuid-2"]


async def test_closing_withdraws_the_question(stage: Stage) -> None:
    """Closing twice is fine; the events end."""
    user = stage.user
    async with connected(stage.agent(["Hm.", "?", "Good."]), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.asked.get()
        await agent.close()
        assert user.cancelled == 1


# --- Claude ---------------------------------------------------------------------------------------


async def test_two_questions_are_open_at_once(real: Stage) -> None:
    """Each answer goes to its own call, in any order."""
    user, other = real.user, api.question("Pick?", "A", "B")
    real.server.add(api.say(api.ask("toolu_a", QUESTION), api.ask("toolu_b", other)))
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        asked = [await user.asked.get(), await user.asked.get()]
        for request, reply in reversed(asked):
            label = {"toolu_a": "SQLite", "toolu_b": "A"}[request.tool_use_id]
            reply.set_result(picked(request, label))
        await user.turn()
        assert '"Which store?"="SQLite"' in real.server.tool_result("toolu_a")
        assert '"Pick?"="A"' in real.server.tool_result("toolu_b")


async def test_a_label_with_a_comma_stays_one_pick(real: Stage) -> None:
    """A list of labels is recognised."""
    user = real.user
    real.server.add(
        api.say(api.ask("toolu_a", api.question("Pick?", "A, B", "C", "D", multiple=True)))
    )
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        reply.set_result(picked(request, ["A, B", "C"]))
        await user.turn()
        assert real.server.tool_result("toolu_a").startswith("Your questions have been answered")


async def test_a_slow_app_does_not_stop_the_stream(real: Stage) -> None:
    """The SDK's channel holds 100 messages; the question comes after 300 that nobody took."""
    chunks = [f"{number} " for number in range(300)]
    real.server.add(api.Message([api.Text(chunks=chunks), api.ask("toolu_a", QUESTION)]))
    agent, user = real.claude(), real.user
    await agent.connect()
    await agent.prompt("hi", "uuid-1")
    request, reply = await user.asked.get()
    reply.set_result(picked(request))
    listening = asyncio.create_task(user.listen(agent))
    await user.turn()
    assert user.text.startswith("".join(chunks))
    await agent.close()
    await listening


async def test_a_permission_comes_with_suggestions(real: Stage) -> None:
    """What the user allowed is what runs, and the suggestion holds for the next call."""
    user, target = real.user, real.folder / "made"
    bash = {"command": "touch nothing", "description": "d"}
    real.server.add(
        api.say(api.ToolUse("Bash", bash, "toolu_a")),
        api.say(api.ToolUse("Bash", bash, "toolu_b")),
    )
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        request, reply = await user.asked.get()
        assert request.input == bash
        assert "addRules" in [update["type"] for update in request.suggestions]
        edited = {**bash, "command": f"touch {target}"}
        reply.set_result(ports.Allow(edited, updates=request.suggestions[:1]))
        await user.turn()
        assert target.exists()
        assert user.asked.empty()


async def test_a_subagent_is_not_heard(real: Stage) -> None:
    """Its text stays out of the chat."""
    user = real.user
    task = {
        "description": "d",
        "prompt": "work",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    real.server.add(
        api.say("Start.", api.ToolUse("Agent", task, "toolu_a")),
        api.say("from below"),
        api.say("End."),
    )
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.turn()
        assert user.text == "Start.End."
        assert [started.name for started in user.every(ports.ToolStarted)] == ["Agent"]


async def test_halves_of_a_character_are_joined(real: Stage) -> None:
    """A lone half is replaced, never raised."""
    chunks = ["a\ud83d", "\ude00b\u2028", "\ud83d"]
    real.server.add(api.Message([api.Text(chunks=chunks)]))
    user = real.user
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.turn()
        assert user.text == "a😀b\u2028\ufffd"


async def test_thinking_is_told_apart(real: Stage) -> None:
    """It comes as its own events."""
    real.server.add(api.say(api.Thinking("let me see"), "Done."))
    user = real.user
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.turn()
        assert "".join(event.text for event in user.every(ports.Thinking)) == "let me see"
        assert user.text == "Done."


async def test_a_session_is_resumed(real: Stage) -> None:
    """Also one that ended while a question waited; the model sees what was said."""
    user = real.user
    real.server.add(api.say("Remember me.", api.ask("toolu_a", QUESTION)), api.say("I do."))
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.asked.get()
    session = user.every(ports.Started)[0].session
    async with connected(real.claude(session=session), user) as agent:
        await agent.prompt("go on", "uuid-2")
        assert (await user.turn()).error == ""
    assert "Remember me." in str(real.server.requests[-1]["messages"])
    assert user.text == "Remember me.I do."


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (401, "authentication_error", "Claude refused your credentials"),
        (400, "invalid_request_error", "Claude refused this conversation"),
        (429, "rate_limit_error", "Claude has no more room for you now"),
        (529, "overloaded_error", "Claude is overloaded or broken"),
    ],
)
async def test_an_api_error_is_said_once(
    real: Stage, status: int, kind: str, sentence: str
) -> None:
    """It is the turn's error, in plain words, and not also text; the session goes on."""
    user, failure = real.user, api.Failure(status, kind, "the API's own words")
    real.server.add(*[failure] * 6)  # that often the CLI tries a 400
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        error = (await user.turn()).error
        assert error.startswith(sentence)
        assert "the API's own words" in error
        assert user.text == ""


# --- messages that no real CLI sends on demand ----------------------------------------------------

# Answers the SDK's handshake, then each prompt with the lines of the file beside it.
FAKE = """#!{python}
import json, os, pathlib, sys
for name in sorted(os.environ):
    print(name + "=" + os.environ[name], file=sys.stderr, flush=True)
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "control_request":
        reply = {{"subtype": "success", "request_id": said["request_id"], "response": {{}}}}
        print(json.dumps({{"type": "control_response", "response": reply}}), flush=True)
    elif said["type"] == "user":
        print(pathlib.Path(__file__ + ".json").read_text(), flush=True)
"""


def speaking_cli(folder: Path, *messages: dict[str, Any]) -> str:
    """A CLI that answers every prompt with these messages."""
    path = folder / "fake-claude"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    lines = [json.dumps({"uuid": "u", "session_id": "s", **message}) for message in messages]
    path.with_name("fake-claude.json").write_text("\n".join(lines))
    return str(path)


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
        result(),
    )
    user = real.user
    async with connected(real.claude(cli_path=cli), user) as agent:
        await agent.prompt("hi", "uuid-1")
        assert await user.turn() == ports.TurnEnded()
        assert user.text == "one two"
        (notice,) = user.every(ports.Notice)
        assert notice.sentence.startswith("Your rate limit is reached; send again after ")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"subtype": "error_max_turns", "terminal_reason": "max_turns"},
            "The turn was cut at its limit of steps; send `go on` to continue.",
        ),
        (
            {"subtype": "error_during_execution", "errors": ["Out of luck"]},
            "Claude Code failed (Out of luck); send again, `:Winnow log` has the details.",
        ),
        (
            {"terminal_reason": "api_error", "result": "API Error: Connection error."},
            "Claude could not be reached (API Error: Connection error); "
            "check the network, then send again.",
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
    cli = speaking_cli(real.folder, result(origin={"kind": "task-notification"}))
    user = real.user
    async with connected(real.claude(cli_path=cli), user) as agent:
        await agent.prompt("hi", "uuid-1")
        assert (await user.turn()).answered == ["task-notification"]


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


# --- failures of the CLI -----------------------------------------------------------------------


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
        (["echo '{nonsense'", "exec cat >&2"], "did not start (Failed to decode JSON"),
        (["exec sleep 600"], "did not answer within 1 s"),
    ],
)
async def test_a_cli_that_does_not_start_is_explained(
    real: Stage, lines: list[str], sentence: str
) -> None:
    """In one sentence, soon, and with no process left."""
    agent = real.claude(cli_path=fake_cli(real.folder, *lines), patience=1)
    with pytest.raises(ports.AgentError) as failure:
        await agent.connect()
    assert sentence in failure.value.sentence
    await agent.close()
    assert agent._process() is None


async def test_a_missing_cli_is_explained(real: Stage) -> None:
    """The sentence names the path and how to install it."""
    agent = real.claude(cli_path="/nowhere/claude")
    with pytest.raises(ports.AgentError, match="no Claude Code at /nowhere/claude"):
        await agent.connect()
    await agent.close()


async def test_an_unknown_session_is_explained(real: Stage) -> None:
    """The CLI says so when it starts."""
    agent = real.claude(session="12345678-1234-1234-1234-123456789abc")
    with pytest.raises(ports.AgentError, match="no session 12345678"):
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
    agent._kill()
    with pytest.raises(ports.AgentError, match="Claude Code ended with exit code -9"):
        await listening
    with pytest.raises(ports.AgentError):
        await agent.prompt("again", "uuid-2")
    await agent.close()
    assert user.cancelled == 1
