"""What a line of a section, or a part of one after ``J``, turns out to be."""

from __future__ import annotations

from typing import Union

import msgspec


class Picked(msgspec.Struct, frozen=True):
    """An option, with a note on it."""

    row: int
    question: int
    option: int
    note: str


class Own(msgspec.Struct, frozen=True):
    """The user's own words."""

    row: int
    question: int
    text: str


class Fixed(msgspec.Struct, frozen=True):
    """A line that is no option, such as a head."""

    row: int
    question: int
    slot: int | str
    text: str


class Damaged(msgspec.Struct, frozen=True):
    """Something that can't be understood; ``message`` says what, and the way back."""

    row: int
    question: int
    message: str


class Ignored(msgspec.Struct, frozen=True):
    """A line of another section."""

    row: int
    question: int


Piece = Union[Picked, Own, Fixed, Damaged, Ignored]
