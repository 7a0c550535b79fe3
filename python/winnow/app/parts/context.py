"""What goes to the agent: commands that can be said, the draft's mentions, what a session has."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.asked import Asked
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core import listing
from winnow.core.context import session
from winnow.core.context.session import Carried, Command, Mentioned
from winnow.core.listing import Edits, Problem, Row, key

ASKED = "it is asked …"
ONLY_MENTIONS = (
    "only what the next message mentions can be taken out here; the session has read the rest."
)


class Context(Part):
    """Tells the editor what can be said, and lists what is sent."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._commands: list[Command] = []
        self._list = self.shown = ContextList(around)

    def connected(self, agent: ports.Agent) -> None:
        """See `Part.connected`."""
        if agent.controls is not None:
            self.around.session.control(lambda of: of.commands(), self._offer, lambda _: None)
        self._list.look()

    def _offer(self, commands: list[Command]) -> None:
        if commands != self._commands:
            self._commands = commands
            self.around.page.apply(p.Offered(self.around.page.chat, commands))

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        if isinstance(event, p.Mentions):
            self._list.mention(event.mentions)
        elif isinstance(event, p.Wake):
            self.around.wake()
        return isinstance(event, (p.Mentions, p.Wake))

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        if isinstance(event, a.TurnEnded):
            self._list.look()

    def ended(self) -> None:
        """See `Part.ended`."""
        self._list.look()


class ContextList(Asked[Carried | None]):
    """All that the next message and the session carry."""

    called = "context"

    def __init__(self, around: Around) -> None:
        super().__init__(around, None)
        self._mentions: Sequence[Mentioned] = ()

    def ask(self, controls: ports.Controls) -> Coroutine[Any, Any, Carried]:
        """See `Asked.ask`."""
        return controls.carried()

    def mention(self, mentions: Sequence[Mentioned]) -> None:
        """The draft mentions this now."""
        self._mentions = mentions
        self.moved()

    def rows(self) -> Sequence[Row]:
        """See `List.rows`."""
        rows = [Row("The next message" if self._mentions else "The next message mentions nothing")]
        lines = session.next_message(self._mentions)
        rows += [
            Row(line, key("m" + one.mention))
            for line, one in zip(lines, self._mentions, strict=True)
        ]
        rows.append(Row(""))
        if self.problem or self.told is None:
            return [*rows, Row(f"This session: {self.problem or ASKED}")]
        rows.append(Row(session.heading(self.told)))
        for head, items_ in self.told.parts:
            rows.append(Row(f"  {head}"))
            rows += [
                Row(session.line(item), key(f"s{head}{item.path or item.name}{number}"))
                for number, item in enumerate(items_)
            ]
        return rows

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        mentions = {key("m" + one.mention): one.mention for one in self._mentions}
        for gone in edits.gone:
            if gone not in mentions:
                return Problem(listing.rows_of(event.before)[gone], ONLY_MENTIONS)
        if edits.gone:
            texts = [mentions[one] for one in edits.gone]
            self._mentions = [one for one in self._mentions if one.mention not in texts]
            self.around.page.apply(p.Unmention(self.around.page.chat, texts))
        return None
