"""Questions and their options, whichever way they are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from winnow.core.agent import Update

Role = Literal["answer", "allow", "turn", "always", "deny"]
"""What keeping an option does: "always" allows, and lets more of the kind through; "turn" does
until the turn ends."""


class Option(msgspec.Struct, frozen=True):
    """One thing to choose. ``label`` is what goes back, byte for byte.

    ``updates`` are what holds from then on, where it allows something.
    """

    label: str
    description: str = ""
    preview: str = ""
    role: Role = "answer"
    updates: tuple[Update, ...] = ()


class Question(msgspec.Struct, frozen=True):
    """One question. ``question`` is the key of its answer, byte for byte.

    ``recommended``: its first option is what it asks to be confirmed, so one ``<CR>`` on that does.
    ``field``: says of the options that are kept and of own text why they are no answer; without
    options, it takes own text only, and with some, none. ``filled`` is that text at first.
    """

    question: str
    header: str
    options: tuple[Option, ...]
    multi: bool = False
    recommended: bool = False
    field: Callable[[tuple[int, ...], str], str] | None = None
    filled: str = ""

    @property
    def takes_own(self) -> bool:
        """There is a line for own text."""
        return self.field is None or not self.options


class Malformed(msgspec.Struct, frozen=True):
    """It can't be asked. ``reason`` is for the model."""

    reason: str
