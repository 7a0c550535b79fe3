"""What comes out of a model's text when its choices are taken out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Union

import msgspec

from winnow.core.asking.choices import Choice, looks_like_one, read
from winnow.core.question import Malformed


class _Piece(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower):
    """Base of the union. The texts of all pieces are, in order, all that was fed."""

    text: str


class Shown(_Piece, frozen=True):
    """Text to show."""


class Found(_Piece, frozen=True):
    """A choice, with the text that it stood in; ``repeated``: it is asked already."""

    choice: Choice
    repeated: bool = False


class Broken(_Piece, frozen=True):
    """Text to show that was meant to be a choice; ``why`` is a sentence for the user."""

    why: str


Piece = Union[Shown, Found, Broken]


class Output:
    """Passes text on, but for what may become a choice: that is held until it is one or can't be.

    ``asked`` are the choices that need not be asked again.

    Attributes:
        size: how many characters are held.
    """

    def __init__(self, asked: Collection[Choice]) -> None:
        self.size = 0
        self._asked = set(asked)
        self._pieces: list[Piece] = []
        self._shown: list[str] = []
        self._held: list[str] | None = None

    @property
    def holds(self) -> bool:
        """Text is held."""
        return self._held is not None

    @property
    def held(self) -> str:
        """That text."""
        return "".join(self._held or [])

    def write(self, text: str) -> None:
        """The text goes on."""
        if self._held is None:
            self._shown.append(text)
        else:
            self._held.append(text)
            self.size += len(text)

    def hold(self) -> None:
        """What is written from now on may be a choice."""
        self._held, self.size = [], 0

    def release(self, why: str = "", *, meant: bool = False) -> bool:
        """It is no choice, so it is shown.

        ``why`` not is said where it was ``meant`` to be one, or looks like one; True if so.
        """
        text, self._held = self.held, None
        told = bool(why) and (meant or looks_like_one(text))
        if told:
            self._add(Broken(text, _stays(why)))
        else:
            self._shown.append(text)
        return told

    def miss(self, why: str) -> None:
        """What was shown has turned out to be a choice."""
        self._add(Broken("", _stays(why)))

    def judge(self, *, fenced: bool) -> None:
        """What is held is whole: a choice is taken out, all else released."""
        text = self.held
        start = text.find("\n") if fenced else 0
        match read(text[start : text.rfind("}") + 1]):
            case Choice() as choice:
                self._held = None
                self._add(Found(text, choice, choice in self._asked))
                self._asked.add(choice)
            case Malformed(reason=reason):
                self.release(reason, meant=True)
            case None:
                self.release()

    def take(self) -> list[Piece]:
        """What is certain since the last time."""
        self._seal()
        pieces, self._pieces = self._pieces, []
        return pieces

    def _add(self, piece: Piece) -> None:
        self._seal()
        self._pieces.append(piece)

    def _seal(self) -> None:
        if shown := "".join(self._shown):
            self._pieces.append(Shown(shown))
        self._shown = []


def _stays(why: str) -> str:
    return f"A question stays as text: {why}."
