"""What Claude Code tells of cost, context and limits, through the real CLI."""

from __future__ import annotations

import pytest
from winnow.core import agent as a
from winnow.core.asking import compaction
from winnow.core.usage import context, meter
from winnow.core.usage.plan import Limited

from tests import api
from tests.app.stage import Stage, User, connected
from tests.app.test_claude_failures import result, speaking_cli
from tests.soaking import first


async def test_a_resumed_session_goes_on_counting(real: Stage) -> None:
    """What it had cost is not new; how full the context is costs no request."""
    real.server.add(api.Message([api.Text("One.")], read=1000))
    async with connected(real.claude(), real.user) as agent:
        await agent.prompt("hi", "11111111-1111-4111-8111-111111111111")
        first = await real.user.turn()
    (spent,) = real.user.every(meter.Spent)
    assert first.cost > 0
    assert (spent.before, *(one.input for one in spent.models.values())) == (0, 1000)
    assert real.user.every(context.Filled) == [context.Filled(1000)]
    (started,) = real.user.every(a.Started)
    user = real.user = User()
    real.server.add(api.Message([api.Text("Two.")], read=500))
    async with connected(real.claude(session=started.session), user) as agent:
        await agent.prompt("and?", "22222222-2222-4222-8222-222222222222")
        second = await user.turn()
        assert agent.controls
        known = await agent.controls.context()
        assert await agent.controls.plan() == []
    known_first, spent = user.every(meter.Spent)
    assert known_first.before == spent.before == pytest.approx(first.cost)
    assert [one.input for one in spent.models.values()] == [500]
    assert 0 < second.cost < first.cost
    assert known.used
    assert known.size >= 200_000
    assert 0 < known.limit < known.size
    assert len(real.server.requests) == 2


@pytest.mark.parametrize(
    ("failure", "trouble"),
    first(
        2,
        [
            (api.Failure(429, "rate_limit_error"), "limit"),
            (api.Failure(529, "overloaded_error"), "busy"),
            (api.Failure(401, "authentication_error"), "login"),
            (
                api.Failure(400, "invalid_request_error", "prompt is too long: 2 > 1 maximum"),
                "full",
            ),
        ],
    ),
)
async def test_a_failure_is_told_by_its_kind(
    real: Stage, failure: api.Failure, trouble: a.Trouble
) -> None:
    real.server.add(*[failure] * 8)
    async with connected(real.claude(), real.user) as agent:
        await agent.prompt("hi", "11111111-1111-4111-8111-111111111111")
        assert (await real.user.turn()).trouble == trouble


async def test_a_limit_says_when_it_is_over(real: Stage) -> None:
    """The failure that follows it does; also a result of odd numbers ends the turn."""
    limit = {"status": "rejected", "resetsAt": 1_900_000_000, "rateLimitType": "five_hour"}
    cli = speaking_cli(
        real.folder,
        {"type": "rate_limit_event", "rate_limit_info": limit},
        result(is_error=True, api_error_status=429, total_cost_usd=-3, modelUsage=[], usage=5),
    )
    async with connected(real.claude(cli_path=cli), real.user) as agent:
        await agent.prompt("hi", "uuid-1")
        ended = await real.user.turn()
    assert (ended.trouble, ended.until, ended.cost) == ("limit", 1_900_000_000, 0)
    (limited,) = real.user.every(Limited)
    assert (limited.window.name, limited.window.full) == ("5 hours", True)


SMALL = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}
HAIKU = "claude-haiku-4-5"


def full(text: str) -> api.Message:
    """Claims a context that is to be compacted, but has room for a request."""
    return api.Message([api.Text(text)], read=170_000)


def said(server: api.ScriptedAPI, words: str) -> int:
    return sum(words in str(request["messages"]) for request in server.requests)


async def test_the_user_decides_about_a_full_context(real: Stage) -> None:
    """To go on holds for the turn, however many requests it has; then what they wrote is told."""
    server, user = real.server, real.user
    bash = api.ToolUse("Bash", {"command": "echo hi"}, "toolu_1")
    server.add(full("One."), api.Message([bash], read=171_000), full("Two."), full("Three."))
    async with connected(real.claude(compact="ask", model=HAIKU, env=SMALL), user) as agent:
        await agent.prompt("hi", "11111111-1111-4111-8111-111111111111")
        await user.turn()
        await agent.prompt("on", "22222222-2222-4222-8222-222222222222")
        request, reply = await user.asked.get()
        assert request.tool == compaction.TOOL
        reply.set_result(a.Deny("Go on."))
        await user.turn(2)
        assert user.asked.empty()
        assert len(server.requests) == 3
        assert not user.every(context.Compacted)
        await agent.prompt("more", "33333333-3333-4333-8333-333333333333")
        _, reply = await user.asked.get()
        reply.set_result(a.Allow({"instructions": "Keep the blue whale."}))
        assert (await user.turn(3)).error == ""
        assert user.every(context.Compacted)
        assert said(server, "Keep the blue whale.")


async def test_the_user_stops_at_a_full_context(real: Stage) -> None:
    """Nothing is asked of the model; one that is not compacted by itself asks nothing."""
    server, user = real.server, real.user
    server.add(full("One."))
    async with connected(real.claude(compact="ask", model=HAIKU, env=SMALL), user) as agent:
        await agent.prompt("hi", "11111111-1111-4111-8111-111111111111")
        await user.turn()
        await agent.prompt("on", "22222222-2222-4222-8222-222222222222")
        _, reply = await user.asked.get()
        reply.set_result(a.Deny("Stop.", stop=True))
        assert (await user.turn(2)).stopped
    assert not user.every(context.Compacted)


async def test_a_full_context_may_be_left_alone(real: Stage) -> None:
    """Until there is no room; a command still makes some."""
    server, user = real.server, real.user
    server.add(full("One."), full("Two."))
    async with connected(real.claude(compact="off", model=HAIKU, env=SMALL), user) as agent:
        for number in (1, 2):
            await agent.prompt("hi", f"{number}1111111-1111-4111-8111-111111111111")
            assert (await user.turn(number)).error == ""
        assert not user.every(context.Compacted)
        assert agent.controls
        assert (await agent.controls.context()).limit == 0
        await agent.prompt("/compact Keep it.", "31111111-1111-4111-8111-111111111111")
        assert (await user.turn(3)).error == ""
    assert user.every(context.Compacted)
    assert len(user.every(a.Notice)) == 1, "what it did, and not that it said nothing"
    assert said(server, "Keep it.")


async def test_a_budget_ends_work_between_two_steps(real: Stage) -> None:
    """And no request is made any more."""
    bash = api.ToolUse("Bash", {"command": "echo hi"}, "toolu_1")
    real.server.add(api.Message([bash], read=9000), api.say("Never."))
    async with connected(real.claude(budget=0.01), real.user) as agent:
        for number in (1, 2):
            await agent.prompt("hi", f"{number}1111111-1111-4111-8111-111111111111")
            ended = await real.user.turn(number)
            assert (ended.trouble, ended.error) == ("budget", "The budget is spent.")
    assert len(real.server.requests) == 1


async def test_a_budget_is_that_of_the_whole_session(real: Stage) -> None:
    """Its agent is started once more with what is left, which only the session knows."""
    bash = api.ToolUse("Bash", {"command": "echo hi"}, "toolu_1")
    real.server.add(api.say("Hello."), api.Message([bash], read=9000), api.say("Never."))
    async with connected(real.claude(), real.user) as agent:
        await agent.prompt("hi", "11111111-1111-4111-8111-111111111111")
        cost = (await real.user.turn(1)).cost
        session = real.user.every(a.Started)[-1].session
    real.user.events.clear()
    budget = cost + 0.01
    again = real.claude(session=session, budget=budget, total=budget)
    async with connected(again, real.user) as agent:
        await agent.prompt("on", "22222222-2222-4222-8222-222222222222")
        assert (await real.user.turn(1)).trouble == "budget"
        assert real.user.every(meter.Spent)[0].before == pytest.approx(cost)
    assert len(real.server.requests) == 2
