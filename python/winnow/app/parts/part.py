"""What every part of a chat is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List
from winnow.app.outbox import Outbox
from winnow.app.page import Page
from winnow.app.section import Section
from winnow.app.session import Session
from winnow.app.turn import Turn
from winnow.core import agent as a

P = TypeVar("P", bound="Part")


class Asking(Protocol):
    """What asks the user something for which no agent waits in a call."""

    def route(self, routes: Any) -> None:
        """This takes the answers, see `winnow.app.sections.delivery.Routes`."""

    def ask(self, request: a.Request) -> None:
        """Ask this."""

    def routed(self) -> list[Section]:
        """What was asked so, and waits."""
        ...

    def withdraw(self, section: Section) -> None:
        """Nobody needs its answer any more."""


class Around(NamedTuple):
    """What a part may use of its chat."""

    opened: p.Open
    world: ports.World
    page: Page
    session: Session
    outbox: Outbox
    turn: Turn
    sections: Asking
    moved: Callable[[], None]  # the part has changed: see what can be done next
    handle: Callable[[p.ChatEvent], None]  # as if the user wanted it
    renew: Callable[[], None]  # start the agent anew before the next message
    ask: ports.Ask  # the user, in a section

    def wake(self) -> None:
        """The user wants what only the agent knows: it starts, if it may without a message."""
        if self.opened.eager:
            self.session.want()
            self.moved()


class Part:
    """One thing that a chat does. What one is not about, it leaves as it is here.

    Attributes:
        shown: its list, if it has one.
        beside: all parts of the chat, this one too.
    """

    shown: List | None = None
    beside: Parts

    def __init__(self, around: Around) -> None:
        self.around = around

    def takes(self, event: p.ChatEvent) -> bool:  # noqa: ARG002
        """Whether this event of the user's is for this part; then it is done."""
        return False

    def hear(self, event: a.AgentEvent) -> None:
        """The agent said something."""

    def connected(self, agent: ports.Agent) -> None:
        """The agent is ready for a prompt."""

    def ended(self) -> None:
        """The agent is gone, wanted or not."""

    def status(self) -> Mapping[str, Any]:
        """Its fields of `p.Status`."""
        return {}

    def holds(self) -> bool:
        """Whether nothing may be sent yet."""
        return False

    async def prepare(self) -> None:
        """An agent is to be made: see that it has what it needs.

        Raises:
            AgentError: it can't have that.
        """

    def spec(self, spec: ports.AgentSpec) -> ports.AgentSpec:
        """What the next agent is made from."""
        return spec

    def close(self) -> None:
        """The chat is closed."""
        if self.shown is not None:
            self.shown.close()


class Parts:
    """All parts of one chat."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        for part in parts:
            part.beside = self

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        return any(part.takes(event) for part in self._parts)

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        for part in self._parts:
            part.hear(event)

    def connected(self, agent: ports.Agent) -> None:
        """See `Part.connected`."""
        for part in self._parts:
            part.connected(agent)

    def ended(self) -> None:
        """See `Part.ended`."""
        for part in self._parts:
            part.ended()

    def status(self) -> dict[str, Any]:
        """The fields of all."""
        return {name: value for part in self._parts for name, value in part.status().items()}

    async def prepare(self) -> None:
        """See `Part.prepare`."""
        for part in self._parts:
            await part.prepare()

    def spec(self, spec: ports.AgentSpec) -> ports.AgentSpec:
        """See `Part.spec`."""
        for part in self._parts:
            spec = part.spec(spec)
        return spec

    def holds(self) -> bool:
        """See `Part.holds`."""
        return any(part.holds() for part in self._parts)

    def list(self, name: str) -> List | None:
        """The list of this name."""
        lists = (part.shown for part in self._parts)
        return next((one for one in lists if one is not None and one.name == name), None)

    def of(self, kind: type[P]) -> P | None:
        """The part of this kind."""
        return next((part for part in self._parts if isinstance(part, kind)), None)

    def close(self) -> None:
        """See `Part.close`."""
        for part in self._parts:
            part.close()
