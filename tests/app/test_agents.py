"""What both agents promise the app; Claude is the real CLI on a scripted API."""

from __future__ import annotations

from winnow import ports
from winnow.adapters import scripted
from winnow.core import agent as a

from tests.app.stage import QUESTION, Stage, User, connected, picked

ANSWERED = 'Your questions have been answered: "Which store?"="Postgres".'


async def test_text_comes_whole_and_in_order(stage: Stage) -> None:
    """In pieces or, where these come at once, as one; each result names its prompt."""
    user = stage.user
    async with connected(stage.agent(["one two three"], ["four"]), user) as agent:
        await agent.prompt("hi", "uuid-1")
        assert (await user.turn()).answered == ["uuid-1"]
        assert user.text == "one two three"
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
        assert user.every(a.ToolStarted)[0].id == request.tool_use_id
        reply.set_result(picked(request))
        assert not (await user.turn()).stopped
        assert user.text == "I looked.Good."
        assert [finished.failed for finished in user.every(a.ToolFinished)] == [False]
        if stage.kind == "claude":
            assert stage.server.tool_result("toolu_0").startswith(ANSWERED)


async def test_a_refusal_reaches_the_agent(stage: Stage) -> None:
    """The turn goes on, and the agent knows why."""
    user = stage.user
    async with connected(stage.agent(["Hm.", "?", "Good."]), user) as agent:
        await agent.prompt("hi", "uuid-1")
        _, reply = await user.asked.get()
        reply.set_result(a.Deny("not today"))
        ended = await user.turn()
        assert (ended.answered, ended.error, ended.stopped) == (["uuid-1"], "", False)
        (finished,) = user.every(a.ToolFinished)
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
        reply.set_result(a.Deny("stop it", stop=True))
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


async def test_a_mode_that_is_set_is_told(stage: Stage) -> None:
    """Also between two turns."""
    user = stage.user
    async with connected(stage.agent(["one"], ["two"]), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.turn()
        await agent.set_mode("plan")
        await agent.prompt("again", "uuid-2")
        await user.turn(2)
        assert user.every(a.Mode)[-1] == a.Mode("plan")


async def test_a_scenario_starts_in_the_mode_it_was_given() -> None:
    """As Claude does; see test_claude_modes.py."""
    user, spec = User(), ports.AgentSpec("", mode="plan")
    scenario = scripted.Scenario([[scripted.Say("one")]])
    async with connected(scripted.ScriptedAgent(spec, user.ask, scenario, 0), user) as agent:
        await agent.prompt("hi", "uuid-1")
        await user.turn()
        assert [type(event) for event in user.events[:2]] == [a.Started, a.Mode]
        assert user.every(a.Mode) == [a.Mode("plan")]
