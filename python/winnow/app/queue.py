"""What the user wants sent while the agent works: when it may go."""

from __future__ import annotations

from winnow import protocol as p
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core import steering as s


class Queue(Part):
    """One message after the other, each in a turn of its own, or into the one that runs.

    The messages themselves stand in the buffer, where the user still edits them. Claude Code makes
    one prompt of several that wait when a turn ends, so it never gets a second one before it has
    taken the first.

    Attributes:
        wanted: the user wants what stands first there sent.
        now: into the turn that runs.
        eager: so is every message here.
    """

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self.wanted = self.now = self.eager = False
        self._number = 0  # of the last time that the user said so
        self._steered: list[str] = []  # told in the middle of a turn, and not taken yet
        self._ending = False  # the user ends the turn
        self._after = False  # what is wanted is so since then

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`: others end the turn."""
        if isinstance(event, (p.Stop, p.Cancel)):
            self._ending = True
        return False

    def want(self, event: p.Queue) -> None:
        """The user says so. While something is being taken, this is about the same one."""
        if not self.wanted:
            self._after = self._ending
        self._number = max(self._number, event.number)
        self.wanted = not self.around.page.taking
        self.now = self.wanted and (event.now or self.eager)
        self.around.session.want()

    def forget(self) -> None:
        """The buffer has, or the agent is gone."""
        self.wanted = self.now = False
        self._number = 0
        self._steered = []

    def may_go(self, *, working: bool) -> bool:
        """Whether it is the time for what is wanted, where a message may stand."""
        waits = any(self.around.outbox.has(id) for id in self._steered)
        return self.wanted and ((self.now and not waits) or not working)

    def take(self) -> None:
        """Ask for it."""
        self.wanted = self.now = False
        self.around.page.take()

    def sent(self, id: str) -> None:
        """This was told to the agent just now."""
        if self.around.turn.busy:
            self._steered.append(id)

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        match event:
            case s.Taken(id=id) if id in self._steered:
                self._steered.remove(id)
                self.around.page.apply(p.Taken(self.around.page.chat, [id]))
            case s.Withdrawn(ids=ids):
                self._steered = [id for id in self._steered if id not in ids]
                self.around.page.refill(self.around.outbox.withdrawn(ids))
            case a.TurnEnded(error=error, stopped=stopped):
                said = stopped and self.wanted and self._after  # for when it has ended
                self._ending = self._after = False
                if (error or stopped) and not said:
                    self.wanted = self.now = False
                    self.around.page.append(p.Hold(self.around.page.chat, self._number))
            case _:
                pass
