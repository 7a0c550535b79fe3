"""What one `<CR>` does after a turn that failed. It never repeats what was done."""

from __future__ import annotations

import msgspec

from winnow.core.agent import Trouble, TurnEnded
from winnow.core.text import grammar
from winnow.core.usage import plan
from winnow.core.usage.report import at

GO_ON = "Go on where you stopped."
COMPACT = "/compact"

_BEFORE = {
    "full": "makes room and ",
    "budget": "lifts it and ",
    "login": "reads your login anew and ",
}


class Failed(msgspec.Struct, frozen=True):
    """A turn that failed.

    Args:
        kind: how.
        worked: something was done in it, so that its prompt must not be said again; else that is
            a draft again.
        until: when it is over, in seconds since the epoch; 0: nobody knows, or at once.
    """

    kind: Trouble = ""
    worked: bool = False
    until: float = 0.0

    @property
    def renews(self) -> bool:
        """It takes a new agent: credentials and budgets are read when one starts."""
        return self.kind in ("login", "budget")

    def next(self, *, waits: bool = False) -> str:
        """What `<CR>` does, in words; ``waits``: it was pressed, and that waits for ``until``."""
        if not self.kind:
            return ""
        if waits:
            return "tries at once"
        then = "goes on" if self.worked else "sends it again"
        when = " then" if self.until else ""
        return f"{_BEFORE.get(self.kind, '')}{then}{when}"


def told(event: TurnEnded, *, worked: bool, now: float) -> str:
    """Its error, with what `<CR>` does about it."""
    failed = Failed(event.trouble, worked, plan.until(event.until, now))
    if not failed.kind:
        return event.error
    error = event.error.rstrip(".")
    if failed.until:
        error = f"Your limit is reached until {at(failed.until, now)}"
    back = "" if worked else f"{grammar.GIVEN_BACK}, "
    return f"{error}; {back}<CR> {failed.next()}."
