"""The worker of a task, over all lives of its agent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Protocol
from uuid import NAMESPACE_OID, uuid5

from winnow import ports
from winnow.app.outbox import Outbox
from winnow.app.session import Session
from winnow.app.starts import Starts
from winnow.app.turn import Turn
from winnow.core import agent as a
from winnow.core.run import prompts
from winnow.core.run.transcript import Recorder
from winnow.core.transcript.entries import Ended, Entry, Paused, Said, Told


class Foreman(Protocol):
    """Who is told of what a worker does: its run."""

    async def spec(self, task: str) -> ports.AgentSpec:
        """What its agent is made from."""

    async def ask(self, task: str, request: a.Request) -> a.Reply:
        """It calls a tool that must be allowed, or that is ours."""

    def heard(self, task: str, event: a.AgentEvent) -> None:
        """It said or did something."""

    def shown(self, task: str, entry: Entry) -> None:
        """Its transcript goes on with this."""

    def through(self, task: str, how: a.TurnEnded, said: str) -> None:
        """Its turn is over, with nothing more to tell it; ``said`` is its last message."""

    def lost(self, task: str, error: ports.AgentError) -> None:
        """Its agent is gone in the middle of a turn."""

    def keep(self, *kept: ports.Kept) -> None:
        """Put this on record."""


class Worker:
    """One task's agent; implements `winnow.app.session.Listener`.

    Args:
        run: the run's id.
        task: the task's.
        turns: how many its transcript has.
        after: must be done before its agent is made.

    Attributes:
        alive: when something was last heard of it.
        saying: its last words.
        over: it is being ended.
    """

    def __init__(  # noqa: PLR0917  all that a worker needs, once
        self,
        run: str,
        task: str,
        foreman: Foreman,
        world: ports.World,
        starts: Starts,
        turns: int,
        after: asyncio.Task[None] | None,
    ) -> None:
        self.task = task
        self.alive = world.clock.now()
        self.saying = ""
        self.over = False
        self._foreman = foreman
        self._store = world.store
        self._clock = world.clock
        self._path = path_of(run, task)
        self._turn = Turn()
        self._recorder = Recorder(run, task, turns)
        self._last: list[str] = []  # the pieces of its last message
        self._whole = True  # nothing more comes to that
        self.outbox = Outbox(self._path, world.store)

        async def spec() -> ports.AgentSpec:
            return await foreman.spec(task)

        async def ask(request: a.Request) -> a.Reply:
            return await foreman.ask(task, request)

        self._session = Session(spec, lambda made: world.make_agent(made, ask), self, starts, after)

    # --- from the run ---------------------------------------------------------------------------

    @property
    def turns(self) -> int:
        """How many its transcript has."""
        return self._recorder.index

    async def load(self) -> None:
        """Learn what the store has for it."""
        self.outbox.find(await self._store.messages(self._path))

    def start(self) -> None:
        """Work, or go on."""
        self._session.want(urgent=False)

    def message(self, text: str, name: str, call: str = "") -> ports.Message:
        """Words for it, of which there is only one with this name."""
        return self.outbox.message(text, message_id(self._path, name), call=call)

    def tell(self, message: ports.Message) -> None:
        """Say this next, which the store has."""
        if not self.outbox.has(message.id):
            self.outbox.queue(message)
        self._advance()

    def give(self, message: ports.Message, answer: str) -> None:
        """The call that waits for this answer has it; the store does, too."""
        self.outbox.give(message)
        self._tell(answer)

    @property
    def partial(self) -> list[Entry]:
        """What it says, and is not whole yet."""
        return self._recorder.partial

    async def close(self) -> None:
        """End its agent, and all that it has started."""
        self.over = True
        self._hear(self._turn.end(Ended()))
        await self._session.close()

    # --- from its agent -------------------------------------------------------------------------

    @property
    def working(self) -> bool:
        """See `Listener.working`."""
        return bool(self._turn.busy or self.outbox.sent)

    def moved(self) -> None:
        """See `Listener.moved`."""

    def found(self, heard: ports.Heard | None) -> bool:
        """See `Listener.found`: what it has not heard is said again."""
        self.outbox.sort({} if heard is None else heard)
        return False

    def connected(self, agent: ports.Agent) -> None:  # noqa: ARG002
        """See `Listener.connected`."""
        if self.outbox.next() is None:  # its session has heard all
            message = self.outbox.message(prompts.GO_ON)
            self.outbox.save(message)
            self.outbox.queue(message)
        self._advance()

    def heard(self, event: a.AgentEvent) -> None:
        """See `Listener.heard`."""
        self.alive = self._clock.now()
        if isinstance(event, a.ToolFinished):
            self.outbox.finished({event.id: event.output if event.failed else ""})
        self._hear(self._turn.hear(event))
        if isinstance(event, a.TurnEnded):
            self.outbox.answered(event.answered)
        self._foreman.heard(self.task, event)
        if isinstance(event, a.TurnEnded) and not self.over:
            self._advance()
            if not self.working:
                self._foreman.through(self.task, event, "".join(self._last).strip())

    def lost(
        self,
        error: ports.AgentError,
        heard: ports.Heard | None,  # noqa: ARG002
        *,
        sure: bool = True,  # noqa: ARG002
    ) -> None:
        """See `Listener.lost`: the next agent tells what this one has heard."""
        self.outbox.doubt()
        self._hear(self._turn.end(Ended(error=error.sentence)))
        if not self.over:
            self._foreman.lost(self.task, error)

    def ended(self) -> None:
        """See `Listener.ended`."""
        self.outbox.doubt()

    def _advance(self) -> None:
        """Say what is next, where a message may stand."""
        while (
            (message := self.outbox.next())
            and self._session.state == "connected"
            and self._turn.boundary
        ):
            self._tell(message.text)
            self.outbox.send(message)
            self._session.prompt(message)

    def _hear(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, Said):
                self._last = [entry.text] if self._whole else [*self._last, entry.text]
                self._whole = False
                self.saying = "".join(self._last[-20:])
            elif isinstance(entry, Paused):
                self._whole = True
            self._record(self._recorder.hear(entry, self._clock.now()))
            self._foreman.shown(self.task, entry)

    def _tell(self, text: str) -> None:
        """It is told this: a turn of the transcript."""
        self._record(self._recorder.told(text, self._clock.now()))
        self._foreman.shown(self.task, Told(text))

    def _record(self, turns: Iterator[ports.Kept]) -> None:
        if kept := list(turns):
            self._foreman.keep(*kept)


def path_of(run: str, task: str) -> str:
    """Where its messages are in the store, as those of a chat are by its path."""
    return f"run:{run}/{task}"


def message_id(path: str, name: str) -> str:
    """The id of the one message of this name: who says it again, says the same."""
    return str(uuid5(NAMESPACE_OID, f"{path}/{name}"))
