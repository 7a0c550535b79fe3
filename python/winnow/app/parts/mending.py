"""What one `<CR>` does after a turn that failed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core.usage import plan, trouble
from winnow.core.usage.trouble import Failed

TICK = 30.0  # seconds after which the clock is looked at again: it may have been set meanwhile


class Mending(Part):
    """Goes on after a failure, maybe later, and after what helps first."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._failed = Failed()
        self._over = 0.0  # when its limit is over, by the loop's time
        self._draft = False  # it goes on with the draft
        self._timer: asyncio.TimerHandle | None = None  # while it waits for the limit
        self._first = ""  # the id of what is said first
        self._wanted = ""  # a command, which waits for the end of the turn

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        match event:
            case p.Again(draft=draft):
                self._draft = draft
                if self._timer is None and self._left() > 0:
                    self._wait()
                else:
                    self._go()
                return True
            case p.Compact(text=text):
                self._wanted = f"{trouble.COMPACT} {text}".strip()
                if self.around.session.working:
                    self.around.page.say("The context is compacted when this turn is over.")
                else:
                    self._compact()
                return True
            case p.Stop() if self._timer is not None:
                self._calm()
                self.around.moved()
                return True
        return False

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        if not isinstance(event, a.TurnEnded):
            return
        self._compact()
        first, self._first = self._first, ""
        if event.error and event.trouble:
            self._fail(event)
        elif first and not event.error:
            self._say()
        elif not first:
            self._failed = Failed()

    def ended(self) -> None:
        """See `Part.ended`: in the middle of its work, it can go on in another process."""
        self._first = ""
        if self.around.turn.busy:
            self._failed = Failed("other", worked=True)

    def status(self) -> Mapping[str, Any]:
        """See `Part.status`."""
        waits = self._timer is not None
        until = self._failed.until if self._left() > 0 else 0.0
        return {"again": self._failed.next(waits=waits), "until": until}

    def spec(self, spec: ports.AgentSpec) -> ports.AgentSpec:
        """See `Part.spec`."""
        return msgspec.structs.replace(spec, compact=self.around.opened.compact)

    def holds(self) -> bool:
        """See `Part.holds`."""
        return self._timer is not None or bool(self._first and not self.around.outbox.waiting)

    def close(self) -> None:
        """See `Part.close`."""
        self._calm()

    def _compact(self) -> None:
        """Say what waits for the end of the turn."""
        wanted, self._wanted = self._wanted, ""
        if wanted:
            self._queue(wanted)

    # --- failed -------------------------------------------------------------------------------

    def _fail(self, event: a.TurnEnded) -> None:
        self._calm()
        now, worked = self.around.world.clock.now(), self.around.turn.busy
        until = plan.until(event.until, now)
        self._failed = Failed(event.trouble, worked, until)
        self._over = asyncio.get_running_loop().time() + until - now if until else 0.0

    def _left(self) -> float:
        """Seconds until the limit is over: by whichever clock says so first."""
        if not self._failed.until:
            return 0.0
        by_clock = self._failed.until - self.around.world.clock.now()
        return min(by_clock, self._over - asyncio.get_running_loop().time())

    def _wait(self) -> None:
        left = self._left()
        if left <= 0:
            self._go()
        else:
            self._calm()
            again = asyncio.get_running_loop().call_later(min(left, TICK), self._wait)
            self._timer = again

    def _calm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- gone on with -------------------------------------------------------------------------

    def _go(self) -> None:
        """What helps, and then on."""
        self._calm()
        failed = self._failed
        if failed.renews:
            self.around.renew()
        if failed.kind == "full":
            self._first = self._queue(trouble.COMPACT)
            self.around.moved()
        else:
            self._say()

    def _say(self) -> None:
        """Go on: with the draft, or from where it stopped."""
        draft, failed = self._draft, self._failed
        self._draft, self._failed = False, Failed()
        if draft:
            self.around.handle(p.Queue(self.around.page.chat))
        elif failed.worked:
            self._queue(trouble.GO_ON)
        self.around.moved()

    def _queue(self, text: str) -> str:
        """The user's next message, which may be a command; its id."""
        message = msgspec.structs.replace(self.around.outbox.message(text), own=True)
        self.around.outbox.save(message)
        self.around.outbox.queue(message)
        return message.id
