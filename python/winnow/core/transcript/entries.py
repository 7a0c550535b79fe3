"""What happens between the user and an agent, in order; not how it is drawn.

Tagged by ``type``, so that entries can be kept: ``msgspec.json.decode(…, type=Entry)``.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec


class _Entry(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower):
    """Tagged by the lower-case class name."""


class Told(_Entry, frozen=True):
    """The user's words to the agent, where no draft shows them."""

    text: str


class Said(_Entry, frozen=True):
    """A piece of what the agent says; a message may come in thousands."""

    text: str


class Thought(_Entry, frozen=True):
    """A piece of the agent's reasoning."""

    text: str


class Paused(_Entry, frozen=True):
    """The message is complete."""


class Called(_Entry, frozen=True):
    """A tool runs with this input."""

    id: str
    tool: str
    input: dict[str, Any]


class Held(_Entry, frozen=True):
    """The user is asked something, maybe about a call, which is `Called` again if it may run."""

    call: str = ""


class Recorded(_Entry, frozen=True):
    """What was asked is answered, or will not be: its record."""

    lines: list[str]


class Returned(_Entry, frozen=True):
    """A tool call has a result; one that was cut short has failed without any.

    ``outcome`` says in a few words what came of it, ``seconds`` how long that took (0: unknown).
    """

    id: str
    output: str = ""
    failed: bool = False
    outcome: str = ""
    seconds: float = 0.0


class Noted(_Entry, frozen=True):
    """Something went wrong, or the user should know it."""

    sentence: str


class Retried(_Entry, frozen=True):
    """The agent tries again to be heard, in ``seconds``; over with the next entry of another kind.

    0: nobody knows when.
    """

    sentence: str
    seconds: float = 0.0


class Ended(_Entry, frozen=True):
    """The turn is over; ``error`` is one sentence, empty when all went well.

    So many ``tools`` ran in it. ``seconds`` and ``cost``, in US dollars, are 0 where nobody knows.
    """

    stopped: bool = False
    error: str = ""
    tools: int = 0
    seconds: float = 0.0
    cost: float = 0.0


Entry = Union[Told, Said, Thought, Paused, Called, Held, Recorded, Returned, Noted, Retried, Ended]
