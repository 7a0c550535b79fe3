"""Where a chat's sections are: on record, on the pages that show them, and closed at last."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterable, Iterator
from typing import Literal
from uuid import uuid4

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.background import Background
from winnow.app.ledger import Discussed, Ledger
from winnow.app.page import Page
from winnow.app.section import Section
from winnow.app.view import View
from winnow.core.agent import Request
from winnow.core.asking import ways
from winnow.core.question import Malformed
from winnow.core.transcript.entries import Entry, Held
from winnow.core.transcript.rendering import notice

log = logging.getLogger(__name__)

LEFT = "The chat that asks this was closed: open it to answer there."


class Shelf:
    """The sections of one chat.

    Attributes:
        kept: as the store has them, by their markers.
        waiting: those that are open, the oldest first.
        answered_on: the page on which a section was answered, by its marker.
    """

    def __init__(self, path: str, world: ports.World, page: Page, ledger: Ledger) -> None:
        self.kept: dict[str, ports.StoredSection] = {}
        self.waiting: list[Section] = []
        self.answered_on: dict[str, Page] = {}
        self._path = path
        self._store = world.store
        self._clock = world.clock
        self._file = world.files.read
        self._page = page
        self._others: list[Page] = []  # that have shown some of them, too
        self._ledger = ledger
        self._latest = 0.0  # when something was asked
        self._preparing = Background()

    def find(self, marker: str) -> Section | None:
        """The section of this marker, if it waits."""
        return next((section for section in self.waiting if section.marker == marker), None)

    def make(self, request: Request) -> Section | Malformed:
        """A section that asks this, for nobody to see yet."""
        request = msgspec.structs.replace(request, folder=self._page.folder)
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
        return Section(form, request, stored)

    def keep(self, stored: ports.StoredSection, *with_it: ports.Kept) -> Awaitable[None]:
        """Put it on record, and the rest with it."""
        self.kept[stored.marker] = stored
        return self._store.save(stored, *with_it)

    def open(self, section: Section, page: Page | None = None) -> None:
        """Show it when its turn comes, and not before it can't be lost any more.

        ``page``: where the user asked for it.
        """
        preparing = self._prepare(section, self.keep(section.stored))
        section.ready = self._preparing.spawn(preparing)
        self.waiting.append(section)
        self._page.append(Held(section.request.tool_use_id))
        self._show(section, self._page, focus=page is self._page)
        self.happened("Question", section)
        if page is not None and page is not self._page:
            self.show(section, page, focus=True)

    def go_on(self, section: Section) -> None:
        """It is in the buffer still, and waits again."""
        self.waiting.append(section)
        self._show(section, self._page)

    def put_back(self, section: Section) -> None:
        """It had to let something pass."""
        self._show(section, self._page)

    def show(self, section: Section, page: Page, *, focus: bool = False) -> None:
        """Show it on another page, too."""
        if page not in self._others:
            self._others.append(page)
        self._show(section, page, focus=focus)
        page.moved()

    def _show(self, section: Section, page: Page, *, focus: bool = False) -> None:
        if section.ready is not None:
            page.append(section.ready)
        page.append(View(section, focus=focus))

    async def _prepare(self, section: Section, kept: Awaitable[None]) -> None:
        await kept
        try:
            section.earlier = await self._ledger.earlier(section.form, self._discussed())
        except ports.StoreError as error:
            log.error("%s", error.sentence)

    def _discussed(self) -> Iterator[Discussed]:
        for stored in self.kept.values():
            way = ways.of(stored.tool, stored.input)
            if stored.state == "discussed" and not way.past:
                form = way.read(stored.marker, Request(stored.tool, stored.input), self._file)
                if not isinstance(form, Malformed) and form.offers_earlier:
                    yield form, stored

    def withdraw(self, section: Section, state: str) -> bool:
        """Nobody waits for it any more, as ``state`` says. False if it is closed."""
        return self.close(section, state, section.cancelled(state))

    def close(
        self,
        section: Section,
        state: str,
        lines: list[str],
        *after: Entry,
        keep: Iterable[ports.Kept] = (),
    ) -> bool:
        """Put these lines in its place on every page, and the rest on record.

        ``after`` is of this chat, so it follows on its page only. False if it is closed.
        """
        if section not in self.waiting:
            return False
        self.waiting.remove(section)
        self.keep(msgspec.structs.replace(section.stored, state=state), *keep)
        self.happened("Answered", section, outcome=state)
        self._page.close(section, lines, *after)
        self._close_elsewhere(section, lines)
        return True

    def unshown(self, section: Section, lines: list[str]) -> None:
        """The chat's own page could not show it: these lines stand for it."""
        self.waiting.remove(section)
        self.keep(msgspec.structs.replace(section.stored, state="expired"))
        self._page.unshown(lines)
        self._close_elsewhere(section, lines)

    def leave(self) -> None:
        """The chat is closed: nobody takes what the user does with its sections elsewhere."""
        for section in self.waiting:
            self._close_elsewhere(section, [notice(LEFT)])
        for page in self._others:
            for marker in self.kept:
                page.guests.pop(marker, None)
        self._preparing.cancel()  # what it was to keep is kept all the same

    def _close_elsewhere(self, section: Section, lines: list[str]) -> None:
        for page in self._others:
            if page.close(section, lines):
                page.moved()

    def happened(
        self, name: Literal["Question", "Answered"], section: Section, **more: str
    ) -> None:
        """Tell whoever listens in the editor."""
        data = {**msgspec.structs.asdict(section.pending), **more}
        self._page.apply(p.Happened(self._page.chat, name, data))
