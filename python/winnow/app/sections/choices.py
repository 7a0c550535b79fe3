"""Choices in the agent's text: asked when its turn is over, and answered by what the user says."""

from __future__ import annotations

from winnow.app.ledger import Ledger
from winnow.app.page import Page
from winnow.app.section import Section
from winnow.app.sections.delivery import Delivery
from winnow.app.sections.shelf import Shelf
from winnow.app.turn import Turn
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
        self.numbered: list[Section] = []
        self._shelf = shelf
        self._delivery = delivery
        self._page = page
        self._turn = turn
        self._ledger = ledger

    def ask(self) -> None:
        """The turn is over: ask what its text held."""
        found, self._turn.choices = self._turn.choices, []
        for choice in found:
            section = self._shelf.make(choices.asked(choice))
            assert isinstance(section, Section)
            if about := "\n\n".join(filter(None, (choice.title, choice.context))):
                self._page.append(Said(about))
            if self._ledger.replay is None:
                self._shelf.open(section)
            else:
                self._delivery.replay_late(section)

    def unshown(self, section: Section, page: Page) -> None:
        """It could not be drawn: it becomes a list, to be answered with a number, or is refused."""
        if page is not self._page:  # it waits on that of its chat
            page.unshown([notice(UNSHOWN)])
        elif lines := section.way.as_text(section.request):
            self.numbered.append(section)
            self._shelf.unshown(section, [*lines, "", HINT])
        else:
            section.settle(section.way.refused(section.request, UNSHOWN))
            self._shelf.unshown(section, [notice(UNSHOWN)])

    def by_number(self, text: str) -> str | None:
        """What a message says where a bare number answers the one list that waits."""
        numbered, self.numbered = self.numbered, []
        number = None
        if len(numbered) == 1:
            number = numbered[0].way.by_number(numbered[0].request, text)
        for section in numbered:
            outcome = "answered" if number else "cancelled"
            self._shelf.happened("Answered", section, outcome=outcome)
        if number is None:
            return None
        (section,) = numbered
        decided = answer.decide(section.form, 1, Left((Pick(number),)), frozenset({1}))
        assert isinstance(decided, answer.Decided)
        return self._delivery.said(section, (decided,))

    def cancel(self) -> None:
        """The user sends a message instead."""
        for section in self._shelf.waiting[::-1]:
            if not section.way.awaited:
                self._shelf.withdraw(section, "cancelled")


def open_in(shelf: Shelf) -> list[Choice]:
    """The choices that are asked already."""
    found = [choices.choice_of(section.request) for section in shelf.waiting]
    return [choice for choice in found if choice]
