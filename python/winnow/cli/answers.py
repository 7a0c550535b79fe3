"""Where the answers come from where there is no Neovim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Union

import msgspec

from winnow.core.clarify.clarification import ENOUGH, YOU_DECIDE, Given, is_enough
from winnow.core.clarify.rounds import AREAS, Asked, Choice


class Answers(Protocol):
    """Somebody who answers, or nobody."""

    def to(self, asked: Sequence[Asked]) -> list[Given | None] | None:
        """The answers to these questions, a None for one that is left out; None: nobody does."""


class Nobody:
    """The questions are all that is wanted."""

    def to(self, asked: Sequence[Asked]) -> list[Given | None] | None:  # noqa: ARG002
        """See `Answers.to`."""
        return None


class FromFile:
    """Texts in the order of the questions, or by the question's own text.

    One that is *You decide* takes what is recommended. Who has no answer left answers nothing.
    """

    def __init__(self, texts: list[str], by_question: dict[str, str]) -> None:
        self._texts = texts
        self._by_question = by_question

    @classmethod
    def of(cls, text: str) -> FromFile:
        """What stands in a file.

        Raises:
            MsgspecError: it holds neither.
        """
        found = msgspec.json.decode(text, type=Union[list[str], dict[str, str]])
        return cls(found, {}) if isinstance(found, list) else cls([], found)

    def skip(self, number: int) -> None:
        """So many of the texts were taken the last time."""
        del self._texts[:number]

    def to(self, asked: Sequence[Asked]) -> list[Given | None] | None:
        """See `Answers.to`."""
        return _collected(asked, lambda _, one: self._text(one.question))

    def _text(self, question: str) -> str | None:
        text = self._by_question.get(question)
        return self._texts.pop(0) if text is None and self._texts else text


class FromTerminal:
    """Asks one by one, in plain lines.

    Args:
        tell: shows a line.
        read: gives what is typed, with its line end; empty: no more.
        forget: what was typed before is no answer to what was not seen yet.
    """

    def __init__(
        self,
        tell: Callable[[str], None],
        read: Callable[[], str],
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        self._tell = tell
        self._read = read
        self._forget = forget

    def to(self, asked: Sequence[Asked]) -> list[Given | None] | None:
        """See `Answers.to`."""
        self._forget()

        def ask(number: int, one: Asked) -> str | None:
            self._show(f"{number}/{len(asked)}", one)
            return self._typed(one)

        return _collected(asked, ask)

    def _show(self, number: str, asked: Asked) -> None:
        area = f" {AREAS[asked.area]}" if asked.area else ""
        self._tell(f"\n{number}{area}: {asked.question}")
        if asked.why:
            self._tell(f"   Why: {asked.why}")
        for n, choice in enumerate(_choices(asked), 1):
            mark = "recommended: " if n == 1 else ""
            self._tell(f"   {n}  {choice.answer} — {mark}{choice.reason}")
        enter = "1" if asked.recommended else YOU_DECIDE.lower()
        self._tell(f"   A number or your own words; <Enter>: {enter}; {ENOUGH}: no more questions.")

    def _typed(self, asked: Asked) -> str | None:
        """The answer that is meant; None at the end of the input."""
        line = self._read()
        if not line:
            return None
        text, choices = line.strip(), _choices(asked)
        if not text:
            meant = choices[0].answer if choices else YOU_DECIDE
        elif text.isdecimal() and 0 < int(text) <= len(choices):
            meant = choices[int(text) - 1].answer
        else:
            return text
        self._tell(f"   → {meant}")
        return meant


def _collected(
    asked: Sequence[Asked], ask: Callable[[int, Asked], str | None]
) -> list[Given | None] | None:
    """One answer after the other, until somebody has had enough; None: there is one missing."""
    given: list[Given | None] = []
    for number, one in enumerate(asked, 1):
        if (text := ask(number, one)) is None:
            return None
        given.append(_given(one, text))
        if is_enough(text):
            break
    return [*given, *[None] * (len(asked) - len(given))]


def _choices(asked: Asked) -> list[Choice]:
    return [asked.recommended, *asked.options] if asked.recommended else []


def _given(asked: Asked, text: str) -> Given:
    """An answer, or what is assumed in its place."""
    if text.strip().casefold() != YOU_DECIDE.casefold():
        return Given(text)
    best = asked.recommended
    return Given(best.answer if best else YOU_DECIDE, assumed=True)
