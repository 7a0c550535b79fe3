"""The ledger as a chat uses it: it records, remembers, and answers for the user in a replay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from winnow import ports
from winnow import protocol as p
from winnow.core.ledger import adr, ledger, offer
from winnow.core.ledger.ledger import Decision
from winnow.core.ledger.offer import Earlier
from winnow.core.section.answer import Answers
from winnow.core.section.form import Form, render

Discussed = tuple[Form, ports.StoredSection]
"""A section that the user wanted to talk about, and what it asked."""

Replay = Mapping[str, Decision]
"""Answers to give instead of the user, by the question's key."""


class Ledger:
    """What was decided, seen from one chat.

    Attributes:
        replay: answers to give instead of the user; None: the user is asked.
    """

    def __init__(
        self, store: ports.Store, clock: ports.Clock, chat: str, replay: Replay | None
    ) -> None:
        self.replay = replay
        self._store = store
        self._clock = clock
        self._chat = chat

    def made(self, form: Form, answers: Answers) -> list[Decision]:
        """What these answers put into it."""
        return ledger.decisions(form, answers, self._chat, self._clock.now())

    async def earlier(self, form: Form, discussed: Iterable[Discussed]) -> list[Earlier | None]:
        """For each question what it was answered before, or how it was left for a discussion.

        Raises:
            StoreError: it can't be looked up.
        """
        if not form.offers_earlier:
            return [None] * len(form.questions)
        left = dict(_left_of(discussed))
        found = []
        for question in form.questions:
            key = ledger.key(question)
            made = await self._store.decisions(key)
            candidates = [left[key]] if key in left else []
            candidates += [offer.decided(question, one) for one in made[:1]]
            found.append(max(candidates, key=lambda earlier: earlier.when, default=None))
        return found

    def replayed(self, form: Form) -> Answers | int:
        """The answers that a replay gives, or the first question (from 1) that it doesn't know."""
        assert self.replay is not None
        found = []
        for asked in ledger.asked(form):
            made = self.replay.get(ledger.key(asked))
            found.append(offer.decided(asked, made) if made else None)
        return offer.replayed(form, found)


def _left_of(discussed: Iterable[Discussed]) -> Iterator[tuple[str, Earlier]]:
    """What these questions were left like, by key."""
    for form, stored in discussed:
        lines = stored.lines or render(form)
        for number, question in enumerate(form.questions, 1):
            if left := offer.discussed(form, number, lines, stored.created):
                yield ledger.key(question), left


async def recall(store: ports.Store, wanted: p.Recall) -> p.Effect:
    """What shows or exports the decisions that are wanted.

    Raises:
        StoreError: they can't be read.
    """
    made = ledger.about(await store.decisions(), wanted.about, wanted.path)
    if not wanted.export:
        return p.Decisions(ledger.page(made))
    if wanted.export.endswith(".json"):
        files = [p.File("", ledger.to_json(made))]
    else:  # in the order in which they were made; a permission is no decision on the project
        questions = [decision for decision in reversed(made) if decision.kind == "question"]
        files = [p.File(adr.slug(decision), adr.render(decision)) for decision in questions]
    return p.Export(wanted.export, files)
