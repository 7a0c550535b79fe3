"""Choices in the agent's text: asked when its turn is over, and answered by what the user says."""

from __future__ import annotations

import msgspec

from winnow.app.ledger import Ledger
from winnow.app.page import Page
from winnow.app.sections.delivery import Delivery
from winnow.app.sections.shelf import Shelf
from winnow.app.turn import Turn
from winnow.app.waiting import Waiting
from winnow.core.asking import choices
from winnow.core.asking.choices import Choice
from winnow.core.section import answer
from winnow.core.section.reading import Left, Pick
from winnow.core.transcript.entries import Said
from winnow.core.transcript.rendering import notice

UNSHOWN = "This question could not be shown to the user."
HINT = "Answer with a number, or in your own words."


class Choices:
    """What waits for the user, but no agent for it.

    Attributes:
        numbered: what could only be shown as text, so that a number answers it.
    """

    def __init__(
        self, shelf: Shelf, delivery: Delivery, page: Page, turn: Turn, ledger: Ledger
    ) -> None:
        self.numbered: list[Waiting] = []
        self._shelf = shelf
        self._delivery = delivery
        self._page = page
        self._turn = turn
        self._ledger = ledger

    def ask(self) -> None:
        """The turn is over: ask what its text held."""
        found, self._turn.choices = self._turn.choices, []
        for choice in found:
            w = self._shelf.make(choices.asked(choice))
            assert isinstance(w, Waiting)
            if about := "\n\n".join(filter(None, (choice.title, choice.context))):
                self._page.append(Said(about))
            if self._ledger.replay is None:
                self._shelf.open(w)
            else:
                self._delivery.replay_late(w)

    def unshown(self, w: Waiting) -> None:
        """It could not be drawn: it becomes a list, to be answered with a number, or is refused."""
        if lines := w.way.as_text(w.request):
            self.numbered.append(w)
            self._page.unshown([*lines, "", HINT])
        else:
            w.settle(w.way.refused(w.request, UNSHOWN))
            self._page.unshown([notice(UNSHOWN)])
        self._shelf.keep(msgspec.structs.replace(w.stored, state="expired"))

    def by_number(self, text: str) -> str | None:
        """What a message says where a bare number answers the one list that waits."""
        numbered, self.numbered = self.numbered, []
        number = None
        if len(numbered) == 1:
            number = numbered[0].way.by_number(numbered[0].request, text)
        for w in numbered:
            self._shelf.happened("Answered", w, outcome="answered" if number else "cancelled")
        if number is None:
            return None
        (w,) = numbered
        decided = answer.decide(w.form, 1, Left((Pick(number),)), frozenset({1}))
        assert isinstance(decided, answer.Decided)
        return self._delivery.said(w, (decided,))

    def cancel(self) -> None:
        """The user sends a message instead."""
        for w in reversed(self._page.sections):
            if not w.way.awaited:
                self._shelf.withdraw(w, "cancelled")


def open_in(page: Page) -> list[Choice]:
    """The choices that are asked on this page already."""
    found = [choices.choice_of(w.request) for w in page.sections]
    return [choice for choice in found if choice]
