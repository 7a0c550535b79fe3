"""Where a chat's sections are: on record, on its page, and closed at last."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable, Iterator
from typing import Literal
from uuid import uuid4

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.ledger import Discussed, Ledger
from winnow.app.page import Page
from winnow.app.turn import Turn
from winnow.app.waiting import Waiting
from winnow.core.agent import Request
from winnow.core.asking import ways
from winnow.core.question import Malformed

log = logging.getLogger(__name__)


class Shelf:
    """The sections of one chat.

    Attributes:
        kept: as the store has them, by their markers.
    """

    def __init__(
        self, path: str, world: ports.World, page: Page, turn: Turn, ledger: Ledger
    ) -> None:
        self.kept: dict[str, ports.StoredSection] = {}
        self._path = path
        self._store = world.store
        self._clock = world.clock
        self._file = world.files.read
        self._page = page
        self._turn = turn
        self._ledger = ledger
        self._latest = 0.0  # when something was asked

    def current(self, section: str) -> Waiting | None:
        """The section of this marker, if it is the one that is open."""
        w = self._page.open
        return w if w and w.form.id == section else None

    def make(self, request: Request) -> Waiting | Malformed:
        """A section that asks this, for nobody to see yet."""
        marker = self._store.new_marker()
        form = ways.of(request.tool, request.input).read(marker, request, self._file)
        if isinstance(form, Malformed):
            return form
        self._latest = max(self._latest, self._clock.now())  # it may have been set back
        stored = ports.StoredSection(
            uuid4().hex,
            self._path,
            marker,
            request.tool,
            request.input,
            created=self._latest,
            call=request.tool_use_id,
        )
        return Waiting(form, request, stored)

    def keep(self, stored: ports.StoredSection, *with_it: ports.Kept) -> Awaitable[None]:
        """Put it on record, and the rest with it."""
        self.kept[stored.marker] = stored
        return self._store.save(stored, *with_it)

    def open(self, w: Waiting) -> None:
        """Show it when its turn comes, and not before it can't be lost any more."""
        ready = asyncio.ensure_future(self._prepare(w, self.keep(w.stored)))
        self._page.append(*self._turn.asked(w.request.tool_use_id), ready, w)
        self.happened("Question", w)

    async def _prepare(self, w: Waiting, kept: Awaitable[None]) -> None:
        await kept
        try:
            w.earlier = await self._ledger.earlier(w.form, self._discussed())
        except ports.StoreError as error:
            log.error("%s", error.sentence)

    def _discussed(self) -> Iterator[Discussed]:
        for stored in self.kept.values():
            way = ways.of(stored.tool, stored.input)
            if stored.state == "discussed" and not way.past:
                form = way.read(stored.marker, Request(stored.tool, stored.input), self._file)
                if not isinstance(form, Malformed) and form.offers_earlier:
                    yield form, stored

    def withdraw(self, w: Waiting, state: str) -> bool:
        """Nobody waits for it any more, as ``state`` says. False if it is closed."""
        return self.close(w, state, w.cancelled(state))

    def close(
        self,
        w: Waiting,
        state: str,
        lines: list[str],
        *after: p.Effect,
        keep: Iterable[ports.Kept] = (),
    ) -> bool:
        """Put these lines in its place, and the rest on record. False if it is closed."""
        if w not in self._page.sections:
            return False
        self.keep(msgspec.structs.replace(w.stored, state=state), *keep)
        self.happened("Answered", w, outcome=state)
        return self._page.remove(w, lines, *after)

    def happened(self, name: Literal["Question", "Answered"], w: Waiting, **more: str) -> None:
        """Tell whoever listens in the editor."""
        data = {**msgspec.structs.asdict(w.pending), **more}
        self._page.apply(p.Happened(self._page.chat, name, data))
