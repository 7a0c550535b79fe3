"""What the real Claude Code CLI does, on a scripted API."""

from __future__ import annotations

import asyncio

from winnow.core import agent as a

from tests import api
from tests.app.stage import QUESTION, Stage, connected, picked


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
        reply.set_result(a.Allow(edited, updates=request.suggestions[:1]))
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
        assert [started.name for started in user.every(a.ToolStarted)] == ["Agent"]


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
        assert "".join(event.text for event in user.every(a.Thinking)) == "let me see"
        assert user.text == "Done."


async def test_a_session_is_resumed(real: Stage) -> None:
    """Also one that ended while a question waited; the model sees what was said."""
    user = real.user
    real.server.add(api.say("Remember me.", api.ask("toolu_a", QUESTION)), api.say("I do."))
    async with connected(real.claude(), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.asked.get()
    session = user.every(a.Started)[0].session
    async with connected(real.claude(session=session), user) as agent:
        await agent.prompt("go on", "uuid-2")
        assert (await user.turn()).error == ""
    assert "Remember me." in str(real.server.requests[-1]["messages"])
    assert user.text == "Remember me.I do."


REFUSALS = [
    (401, "authentication_error", "Claude refused your credentials"),
    (400, "invalid_request_error", "Claude refused this conversation"),
    (404, "not_found_error", "Claude knows no such model"),
    (429, "rate_limit_error", "Claude takes no more requests for now"),
    (529, "overloaded_error", "Claude is overloaded or broken"),
]


async def test_an_api_error_is_said_once(real: Stage) -> None:
    """It is the turn's error, in plain words, and not also text; the session goes on."""
    user = real.user
    async with connected(real.claude(), user) as agent:
        for number, (status, kind, sentence) in enumerate(REFUSALS, 1):
            real.server.clear()
            failure = api.Failure(status, kind, "the API's own words")
            real.server.add(*[failure] * 6)  # that often the CLI tries a 400
            await agent.prompt("hi", f"uuid-{number}")
            error = (await user.turn(number)).error
            assert error.startswith(sentence)
            # For a model that is not there the CLI has other words.
            assert ("the API's own words" if status != 404 else "selected model") in error
            assert user.text == ""
