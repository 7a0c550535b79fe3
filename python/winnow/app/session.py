"""The agent of a chat, over all its lives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Literal, Protocol, TypeVar

from winnow import ports
from winnow.app.background import Background
from winnow.app.starts import Start, Starts
from winnow.core import agent as a
from winnow.core.context.attachment import Attachment

log = logging.getLogger(__name__)

T = TypeVar("T")

ENDED = "Claude ended in the middle of a turn. Send again to go on."
UNCONNECTED = "Claude is not connected: it is as soon as something is sent."
CONNECTING = "Claude is being connected …"
FAILED = "Winnow failed inside; :Winnow log has the details."


class Listener(Protocol):
    """Who is told of what the agent does: its chat."""

    @property
    def working(self) -> bool:
        """Something is still expected of the agent."""

    def moved(self) -> None:
        """The agent waits for others to start, `Session.ahead`, or no longer does."""

    def found(self, heard: ports.Heard | None) -> bool:
        """The agent is to resume a session that has heard this; True: start another instead."""

    def connected(self, agent: ports.Agent) -> None:
        """The agent is ready for a prompt."""

    def heard(self, event: a.AgentEvent) -> None:
        """The agent said something."""

    def lost(
        self, error: ports.AgentError, heard: ports.Heard | None, *, sure: bool = True
    ) -> None:
        """The agent is gone, though it was needed; its session has heard this much.

        ``sure``: else nobody can tell now what it has heard.
        """

    def ended(self) -> None:
        """The agent is gone, and nobody misses it."""


class Session:
    """One agent at a time: each is made, connected, drained and closed by one task.

    Attributes:
        state: ``failed`` until it is wanted again.
        used: something was ever sent.
        prompted: is called before something is said to the agent, with its id.
        id: of the agent's own session, as it told last; empty: there is none yet.

    Args:
        spec: tells what to make an agent from; asks the user, where that must be.
        make: makes an agent.
        listener: is told what it does.
        starts: says when it may start.
        after: must be done before the first one is made.
        id: see above, from an earlier time.
    """

    def __init__(
        self,
        spec: Callable[[], Awaitable[ports.AgentSpec]],
        make: Callable[[ports.AgentSpec], Awaitable[ports.Agent]],
        listener: Listener,
        starts: Starts,
        after: asyncio.Task[None] | None = None,
        *,
        id: str = "",
    ) -> None:
        self.id = id
        self.state: Literal["asleep", "connecting", "connected", "failed"] = "asleep"
        self.used = False
        self.prompted: Callable[[str], None] = lambda _: None
        self._starts = starts
        self._start: Start | None = None  # the newest agent's
        self._spec = spec
        self._make = make
        self._listener = listener
        self._agent: ports.Agent | None = None  # only while connected
        self._life = after  # the newest agent's
        self._background = Background()
        self._requests = Background()  # those of it that the agent must do first

    @property
    def working(self) -> bool:
        """Something is still expected of the agent."""
        return self._listener.working

    @property
    def ahead(self) -> int:
        """How many other agents start before this one."""
        return self._start.ahead if self._start and self.state == "connecting" else 0

    def want(self, *, urgent: bool = True) -> None:
        """Connect, unless that is done or under way; ``urgent``: the user waits for it."""
        if self.state in ("asleep", "failed"):
            self.state = "connecting"
            self._start = Start(self._listener.moved, urgent=urgent)
            self._life = self.spawn(self._live(self._start, after=self._life))
        elif self.state == "connecting" and self._start and urgent and not self._start.urgent:
            self._starts.hurry(self._start)

    def prompt(
        self,
        message: ports.Message,
        attached: Sequence[Attachment] = (),
        along: Sequence[ports.Message] = (),
    ) -> None:
        """Say something to the agent, which is connected, and what goes along with it."""
        attached = [*attached, *(Attachment("", "", one.text) for one in along)]
        self.used = True
        self.prompted(message.id)
        text, id, own = message.text, message.id, message.own
        self._tell(lambda agent: agent.prompt(text, id, command=own, attached=attached))

    def interrupt(self) -> None:
        """End the running turn."""
        self._tell(lambda agent: agent.interrupt())

    def request(
        self,
        what: Callable[[ports.Agent], Coroutine[Any, Any, T]],
        done: Callable[[T], None],
        failed: Callable[[ports.AgentError], None],
    ) -> None:
        """Want something of the agent, which is connected; what fails does not end it."""
        agent = self._agent
        assert agent is not None

        async def run() -> None:
            try:
                result = await what(agent)
            except ports.AgentError as error:
                log.warning("%s\n%s", error.sentence, error.detail)
                failed(error)
            else:
                done(result)

        self._requests.hold(self.spawn(run()))

    def control(
        self,
        what: Callable[[ports.Controls], Coroutine[Any, Any, T]],
        done: Callable[[T], None],
        failed: Callable[[ports.AgentError], None],
    ) -> None:
        """Want something of the agent beside talking, if it is there and can do more than that."""

        async def ask(agent: ports.Agent) -> T:
            if agent.controls is None:
                raise ports.AgentError(f"{agent.name} can't do that.")
            return await what(agent.controls)

        if self._agent is None:
            failed(ports.AgentError(CONNECTING if self.state == "connecting" else UNCONNECTED))
        else:
            self.request(ask, done, failed)

    def renew(self) -> None:
        """Connect anew, because the session is to be made from something else."""
        if self._life is not None and self.state in ("connecting", "connected"):
            self._life.cancel()
            self.state, self._agent = "asleep", None
            self.want()

    async def close(self) -> None:
        """End the agent; returns when nothing of it is left."""
        if self._life is not None and self.state in ("connecting", "connected"):
            self._life.cancel()  # else it is closing its agent already
            await asyncio.wait({self._life})
        self._requests.cancel()  # nobody is left to reply
        await asyncio.gather(*self._background.tasks, return_exceptions=True)

    async def _live(self, start: Start, after: asyncio.Task[None] | None) -> None:
        """Own an agent from connect to close, and drain it whatever the editor does."""
        if after is not None:
            await asyncio.wait({after})  # two agents in one session would lose what they say
        agent: ports.Agent | None = None
        try:
            spec = await self._spec()  # before its turn: the user may have to be asked
            async with self._starts.turn(start) as waited:
                if waited:  # the project's files may have changed meanwhile
                    spec = await self._spec()
                agent = await self._make(spec)
                if self._listener.found(await agent.heard()):
                    await agent.close()
                    agent = await self._make(await self._spec())
                await agent.connect()
            self.state, self._agent = "connected", agent
            self._listener.connected(agent)
            async for event in agent.events():
                if isinstance(event, a.Started):
                    self.id = event.session
                self._listener.heard(event)
            if self._listener.working:
                raise ports.AgentError(ENDED)
            self.state, self._agent = "asleep", None
            self._listener.ended()
        except ports.NotWanted:
            self.state = "asleep"
            self._listener.ended()
        except ports.AgentError as error:
            await self._lost(agent, error)
        except Exception:
            log.exception("the agent's events")
            await self._lost(agent, ports.AgentError(FAILED))
        finally:
            if agent is not None:
                await agent.close()

    def _tell(self, what: Callable[[ports.Agent], Coroutine[Any, Any, None]]) -> None:
        """Speak to the agent without waiting; one that can't be spoken to is lost.

        What was wanted before is done first: a mode is in force before anything is said in it.
        """
        agent, life, before = self._agent, self._life, set(self._requests.tasks)
        assert agent is not None
        assert life is not None

        async def run() -> None:
            if before:
                await asyncio.wait(before)
            try:
                await what(agent)
            except ports.AgentError as error:
                if self._agent is agent:
                    life.cancel()
                    await self._lost(agent, error)

        self.spawn(run())

    async def _lost(self, agent: ports.Agent | None, error: ports.AgentError) -> None:
        log.error("%s\n%s", error.sentence, error.detail)
        self.state, self._agent = "failed", None
        heard: ports.Heard | None = {}
        sure = True
        try:
            heard = await agent.heard() if agent is not None else {}
        except ports.AgentError as unreachable:  # it is in another place
            log.error("%s\n%s", unreachable.sentence, unreachable.detail)
            sure = False
        self._listener.lost(error, heard, sure=sure)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Do something beside; `close` waits for it."""
        return self._background.spawn(work)
