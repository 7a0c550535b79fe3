"""What is known of the files over a chat's life: when turns began and ended, what the user did."""

from __future__ import annotations

from typing import Literal, Union

import msgspec


class Began(msgspec.Struct, frozen=True, tag=True):
    """A turn began, by the message of this id, when the files were in this state."""

    state: str
    prompt: str = ""


class Over(msgspec.Struct, frozen=True, tag=True):
    """Nothing of the agent's ran any more, and the files were in this state."""

    state: str


class Accepted(msgspec.Struct, frozen=True, tag=True):
    """The user has accepted all that led to this state."""

    state: str


class Saved(msgspec.Struct, frozen=True, tag=True):
    """The user has written a file: it held one thing before, and another after."""

    path: str
    before: str
    after: str


Step = Union[Began, Over, Accepted, Saved]


class Pair(msgspec.Struct, frozen=True):
    """All that differs between two states is of the user's."""

    before: str
    after: str


Yours = Union[Pair, Saved]
Mark = Literal["accepted", "turn", "session"]


class History(msgspec.Struct):
    """Of one session, oldest first; a state is whatever names one."""

    session: str = ""
    steps: list[Step] = []

    def find(self, mark: Mark) -> int:
        """Which step to compare with; -1: there is none."""
        kinds = (Began,) if mark != "accepted" else (Accepted,)
        found = [at for at, step in enumerate(self.steps) if isinstance(step, kinds)]
        if mark == "accepted" and not found:
            return self.find("session")
        return (found[0] if mark == "session" else found[-1]) if found else -1

    def began(self, prompt: str) -> int:
        """The step that began with this message; -1: there is none."""
        began = (
            at
            for at, it in enumerate(self.steps)
            if prompt and isinstance(it, Began) and it.prompt == prompt
        )
        return next(began, -1)

    def state(self, at: int) -> str:
        """The state at a step that has one."""
        step = self.steps[at]
        assert not isinstance(step, Saved)
        return step.state

    def yours(self, at: int, now: str) -> list[Yours]:
        """What the user has done between a step (-1: the first) and now, in order."""
        found: list[Yours] = []
        over = ""  # the state since which all is the user's
        for number, step in enumerate(self.steps):
            match step:
                case Saved() if number > at:
                    found.append(step)
                case Began(state=state):
                    if over and number > at:
                        found.append(Pair(over, state))
                    over = ""
                case Over(state=state):
                    over = state
                case Accepted(state=state):
                    over = state if over else ""
                case _:
                    pass
        return [*found, Pair(over, now)] if over else found
