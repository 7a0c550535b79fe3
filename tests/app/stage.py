"""Where an agent is tested: a user that answers, and a Claude on a scripted API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from winnow import ports
from winnow.adapters import scripted
from winnow.adapters.claude.agent import ClaudeAgent
from winnow.core import agent as a

from tests import api

QUESTION = api.question("Which store?", "Postgres", "SQLite", header="Store")

Kind = TypeVar("Kind")


class User:
    """Stands for the app: takes questions and keeps events."""

    def __init__(self) -> None:
        self.events: list[a.AgentEvent] = []
        self.said_before: list[str] = []  # the text so far when each question came
        self.asked: asyncio.Queue[tuple[a.Request, asyncio.Future[a.Reply]]]
        self.asked = asyncio.Queue()
        self.cancelled = 0
        self._changed = asyncio.Condition()

    async def ask(self, request: a.Request) -> a.Reply:
        """Wait for the test to answer."""
        reply: asyncio.Future[a.Reply] = asyncio.get_running_loop().create_future()
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

    async def turn(self, number: int = 1) -> a.TurnEnded:
        """The end of this turn, counted from 1."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.every(a.TurnEnded)) >= number)
        return self.every(a.TurnEnded)[number - 1]

    def every(self, kind: type[Kind]) -> list[Kind]:
        """The events of this kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """All that was said."""
        return "".join(event.text for event in self.every(a.Text))


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
    """Where one kind of agent is set up."""

    def __init__(self, kind: str, folder: Path, server: api.ScriptedAPI) -> None:
        self.kind, self.folder, self.server = kind, folder, server
        self.user = User()

    def agent(self, *turns: list[str]) -> ports.Agent:
        """An agent whose turns are a text, or a text, ``?`` for `QUESTION`, and a text."""
        if self.kind == "scripted":
            scenario = scripted.Scenario([_steps(turn) for turn in turns])
            return scripted.ScriptedAgent(ports.AgentSpec(""), self.user.ask, scenario, 0)
        for number, turn in enumerate(turns):
            if "?" in turn:
                before, _, after = turn
                self.server.add(api.say(before, api.ask(f"toolu_{number}", QUESTION)))
                self.server.add(api.say(after))
            else:
                self.server.add(api.say(*turn))
        return self.claude()

    def claude(self, **options: Any) -> ClaudeAgent:
        """A Claude whose script is filled by the test."""
        place = options.pop("place", ports.Place())
        session, mode = options.pop("session", ""), options.pop("mode", "")
        more = {
            key: options.pop(key)
            for key in ("model", "compact", "budget", "total", "before_writing")
            if key in options
        }
        spec = ports.AgentSpec(str(self.folder), session=session, mode=mode, place=place, **more)
        env = {**self.server.env(self.folder / "config"), **options.pop("env", {})}
        options = {"start_patience": 40, "patience": 40, **options}  # a busy machine is no failure
        return ClaudeAgent(spec, self.user.ask, env=env, **options)


def _steps(turn: list[str]) -> list[scripted.Step]:
    asks = scripted.Ask([QUESTION], cancelled=[scripted.Say("refused: {reason}")])
    return [asks if text == "?" else scripted.Say(text) for text in turn]


def picked(request: a.Request, answer: str | list[str] = "Postgres") -> a.Allow:
    question = request.input["questions"][0]["question"]
    return a.Allow({**request.input, "answers": {question: answer}})
