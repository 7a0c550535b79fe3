"""An agent that plays a scenario file: the demo that needs no credentials."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any, Union
from uuid import uuid4

import msgspec

from winnow import ports
from winnow.core import agent as a
from winnow.core.asking.question_tool import RESULT
from winnow.core.asking.run_tool import PREFIX
from winnow.core.context.attachment import Attachment
from winnow.core.never import assert_never


class Say(msgspec.Struct, frozen=True, tag=str.lower):
    """A message. ``{Header}`` stands for what was answered to the question of that header,
    ``{answers}`` for all answers, ``{command}`` for what was allowed, ``{reason}`` for a refusal.
    """

    text: str


class Think(msgspec.Struct, frozen=True, tag=str.lower):
    """A piece of reasoning."""

    text: str


class Tool(msgspec.Struct, frozen=True, tag=str.lower):
    """A tool call that needs no permission."""

    name: str
    input: dict[str, Any]
    output: str
    failed: bool = False


class Ask(msgspec.Struct, frozen=True, tag=str.lower):
    """Questions as AskUserQuestion has them, and how it goes on."""

    questions: list[dict[str, Any]]
    answered: list[Step] = []
    cancelled: list[Step] = []


class Permit(msgspec.Struct, frozen=True, tag=str.lower):
    """A tool call that needs permission, and how it goes on."""

    name: str
    input: dict[str, Any]
    output: str
    suggestions: list[dict[str, Any]] = []
    allowed: list[Step] = []
    denied: list[Step] = []


class Call(msgspec.Struct, frozen=True, tag=str.lower):
    """A call of a run's tool; ``{result}`` then stands for what it says."""

    name: str
    input: dict[str, Any] = {}


Step = Union[Say, Think, Tool, Ask, Permit, Call]


class When(msgspec.Struct, frozen=True):
    """What a prompt plays that has these words in it."""

    words: str
    steps: list[Step]


class Scenario(msgspec.Struct, frozen=True):
    """Each prompt plays the first of ``when`` whose words it has, else the next turn; the last
    one is repeated. In a run, ``workers`` have scenarios of their own, by the title of the task.
    """

    turns: list[list[Step]]
    when: list[When] = []
    workers: dict[str, Scenario] = {}


class _Stopped(Exception):
    """The user refused, and wants the turn to end."""


class _All(dict[str, str]):
    """What a session has heard that was begun by another agent, which is not on record."""

    def __contains__(self, _: object) -> bool:
        return True


class ScriptedAgent:
    """One run of a scenario; implements `ports.Agent`.

    Args:
        spec: only its session, its mode and its role are used.
        ask: called whenever the scenario waits for the user.
        scenario: a scenario, or a JSON file that holds one.
        pace: seconds between two words.
        name: see `ports.Agent.name`.
    """

    def __init__(
        self,
        spec: ports.AgentSpec,
        ask: ports.Ask,
        scenario: Scenario | Path,
        pace: float = 0.02,
        *,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.controls = None
        self._session = spec.session or str(uuid4())
        self._mode = spec.mode
        self._worker = spec.about if spec.role == "worker" else ""
        self._ask = ask
        self._scenario = scenario
        self._pace = pace
        self._events: asyncio.Queue[a.AgentEvent | None] = asyncio.Queue()
        self._prompts: asyncio.Queue[tuple[str, str]] = asyncio.Queue()  # uuid, text
        self._heard: dict[str, str] = _All() if spec.session else {}
        self._calls = (f"scripted-{number}" for number in count(1))
        self._words: dict[str, str] = {}  # what stands for {…} in texts
        self._play_task: asyncio.Task[None] | None = None
        self._turn: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Read the scenario. See `ports.Agent.connect`."""
        if isinstance(self._scenario, Path):
            self._scenario = _read(self._scenario)
        self._emit(a.Started(self._session, "scripted"))
        if self._mode:
            self._emit(a.Mode(self._mode))
        scenario = self._scenario
        if self._worker:
            scenario = scenario.workers.get(self._worker) or Scenario([[Say("Done.")]])
        self._play_task = asyncio.create_task(self._play(scenario))

    async def events(self) -> AsyncIterator[a.AgentEvent]:
        """What the scenario says. See `ports.Agent.events`."""
        while (event := await self._events.get()) is not None:
            yield event
            self._events.task_done()

    async def heard(self) -> ports.Heard:
        """What it was told in this life, or all. See `ports.Agent.heard`."""
        return self._heard

    async def prompt(
        self,
        text: str,
        uuid: str,
        *,
        command: bool = True,  # noqa: ARG002
        attached: Sequence[Attachment] = (),  # noqa: ARG002
    ) -> None:
        """Play the next turn. See `ports.Agent.prompt`."""
        self._prompts.put_nowait((uuid, text))

    async def interrupt(self) -> None:
        """End the turn. See `ports.Agent.interrupt`."""
        if self._turn is not None:
            self._turn.cancel()

    async def set_mode(self, mode: str) -> None:
        """Only tell of it: the scenario asks as it is written. See `ports.Agent.set_mode`."""
        self._emit(a.Mode(mode))

    async def close(self) -> None:
        """End the run. See `ports.Agent.close`."""
        for task in (self._play_task, self._turn):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait({task})
        self._events.put_nowait(None)

    async def _play(self, scenario: Scenario) -> None:
        turns = chain(scenario.turns, repeat(scenario.turns[-1]))
        while True:
            uuid, text = await self._prompts.get()
            fitting = (when.steps for when in scenario.when if when.words in text)
            steps = next(fitting, None) or next(turns)
            answered = [uuid]
            self._heard[uuid] = ""
            self._turn = asyncio.create_task(self._perform(steps, answered))
            await asyncio.wait({self._turn})
            stopped = self._turn.cancelled() or isinstance(self._turn.exception(), _Stopped)
            self._emit(a.TurnEnded(answered, stopped=stopped))

    async def _perform(self, steps: Iterable[Step], answered: list[str]) -> None:
        for step in steps:
            match step:
                case Say(text=text):
                    await self._speak(a.Text, text)
                case Think(text=text):
                    await self._speak(a.Thinking, text)
                case Tool(name=name, input=input, output=output, failed=failed):
                    call = self._start(name, input)
                    await asyncio.sleep(self._pace * 10)
                    self._finish(call, output, failed=failed)
                case Ask():
                    await self._perform(await self._question(step), answered)
                case Permit():
                    await self._perform(await self._permission(step), answered)
                case Call(name=name, input=input):
                    await self._request(f"{PREFIX}{name}", input)
                case _:
                    assert_never(step)
            if not isinstance(step, (Say, Think)):
                # As Claude Code does it: a prompt joins the turn with the next tool result.
                while not self._prompts.empty():
                    answered.append(self._prompts.get_nowait()[0])
                    self._heard[answered[-1]] = ""

    async def _speak(self, kind: type[a.Text | a.Thinking], text: str) -> None:
        for word in re.findall(r"\S*\s*", self._fill(text)):
            if word:
                self._emit(kind(word))
                await asyncio.sleep(self._pace)
        self._emit(a.Pause())

    async def _question(self, step: Ask) -> list[Step]:
        reply = await self._request("AskUserQuestion", {"questions": step.questions})
        if isinstance(reply, a.Deny):
            return step.cancelled
        self._words |= _answers(step.questions, reply.input)
        return step.answered

    async def _permission(self, step: Permit) -> list[Step]:
        reply = await self._request(step.name, step.input, step.suggestions, step.output)
        return step.denied if isinstance(reply, a.Deny) else step.allowed

    async def _request(
        self,
        tool: str,
        input: dict[str, Any],
        suggestions: list[dict[str, Any]] | None = None,
        output: str = "",
    ) -> a.Reply:
        call = self._start(tool, input)
        request = a.Request(tool, input, call, suggestions=suggestions or [])
        try:
            # The question stands after what was said before it.
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._events.join(), 0.5)
            reply = await self._ask(request)
        except asyncio.CancelledError:
            self._finish(call, "Interrupted.", failed=True)
            raise
        match reply:
            case a.Allow(input=allowed):
                self._words["command"] = str(allowed.get("command", ""))
                self._words["result"] = str(allowed.get(RESULT, ""))
                self._finish(call, self._fill(output) or self._words["result"])
            case a.Deny(message=reason, stop=stop):
                self._words["reason"] = reason
                self._finish(call, reason, failed=True)
                if stop:
                    raise _Stopped
            case _:
                assert_never(reply)
        return reply

    def _start(self, tool: str, input: dict[str, Any]) -> str:
        call = next(self._calls)
        self._emit(a.ToolStarted(call, tool, input))
        return call

    def _finish(self, call: str, output: str, *, failed: bool = False) -> None:
        self._heard[call] = output if failed else ""
        self._emit(a.ToolFinished(call, output, failed))
        self._emit(a.Pause())

    def _fill(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: self._words.get(found[1], found[0]), text)

    def _emit(self, event: a.AgentEvent) -> None:
        self._events.put_nowait(event)


def _answers(questions: list[dict[str, Any]], input: dict[str, Any]) -> dict[str, str]:
    """What was answered: by header, and all of it under ``answers``."""
    answers: dict[str, str] = {}
    for question in questions:
        text = question["question"]
        given = input.get("answers", {}).get(text, "nothing")
        given = ", ".join(given) if isinstance(given, list) else given
        notes = input.get("annotations", {}).get(text, {}).get("notes")
        answers[question["header"]] = f"{given} (your note: {notes})" if notes else given
    every = "; ".join(f"{header}: {given}" for header, given in answers.items())
    return {**answers, "answers": every}


def _read(path: Path) -> Scenario:
    try:
        scenario = msgspec.json.decode(path.read_bytes(), type=Scenario)
    except (OSError, msgspec.MsgspecError) as error:
        raise ports.AgentError(f"The scenario {path} can't be played: {error}.") from error
    if not scenario.turns:
        raise ports.AgentError(f"The scenario {path} has no turns; give it one.")
    return scenario
