"""What waits for the user in one chat: opened by the agent, found in the buffer, closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.ledger import Ledger
from winnow.app.mode import Mode
from winnow.app.outbox import Outbox
from winnow.app.page import Page
from winnow.app.section import Section, again
from winnow.app.sections import choices
from winnow.app.sections.choices import Choices
from winnow.app.sections.delivery import Delivery, Routes
from winnow.app.sections.shelf import Shelf
from winnow.app.sections.user import User
from winnow.app.trust import Trust
from winnow.app.turn import Turn
from winnow.app.view import View
from winnow.core.agent import Allow, Deny, Reply, Request
from winnow.core.asking import ways
from winnow.core.question import Malformed
from winnow.core.section import answer
from winnow.core.text import grammar
from winnow.core.transcript.entries import Noted
from winnow.core.transcript.rendering import notice
from winnow.core.usage import trouble

STOPPED = "The user stopped the turn before answering."
CLOSED = "The user closed the chat before answering."
UNATTENDED = "Nobody is there to answer this."


class Sections:
    """Everything that waits for the user in one chat.

    Attributes:
        ways: how the agent asks: by "tool", in its "text", or "both".
        headless: nobody sees this Neovim now.
        turn: where the agent is in what it says.
        choices: what the agent asks in its text.
    """

    def __init__(  # noqa: PLR0917  all of a chat, once
        self,
        opened: p.Open,
        world: ports.World,
        page: Page,
        outbox: Outbox,
        ledger: Ledger,
        mode: Mode,
        project: Trust,
    ) -> None:
        self._opened = opened
        self._files = world.files
        self._clock = world.clock
        self._form_hours = world.form_hours
        self._page = page
        self._ledger = ledger
        self._early: list[p.SectionEvent] | None = []  # what came before the store had told
        self.headless = opened.headless
        self.ways = opened.questions if opened.questions in ("text", "both") else "tool"
        self._shelf: Shelf = Shelf(opened.path, world, page, ledger)
        asked = None if self.ways == "tool" else lambda: choices.open_in(self._shelf)
        now = world.clock.now
        self.turn = Turn(asked, lambda how, did: trouble.told(how, worked=did, now=now()))
        self._delivery = Delivery(
            self._shelf, world, page, self.turn, outbox, ledger, mode, project
        )
        self.choices = Choices(self._shelf, self._delivery, page, self.turn, ledger)
        self._user = User(self._shelf, self._delivery, self.choices, page, world.files)

    @property
    def waiting(self) -> list[Section]:
        """What the user has to answer, the oldest first."""
        return [*self.choices.numbered, *(view.section for view in self._page.views)]

    @property
    def awaited(self) -> bool:
        """The agent waits for an answer."""
        return any(one.awaited for one in self._shelf.waiting if not one.elsewhere)

    def route(self, routes: Routes) -> None:
        """A run is led here: it takes the answers to its questions."""
        self._delivery.routes = routes

    def handle(self, event: p.SectionEvent) -> None:
        """What the user does with a section."""
        if (take := self._page.guests.get(event.section)) is not None:
            take(event)
        elif self._early is not None and not self._page.find(event.section):
            self._early.append(event)
        else:
            self._user.handle(event)

    # --- opened ---------------------------------------------------------------------------------

    def open(self, request: Request) -> Section | Reply:
        """The agent asks something: what waits for the user now, or what it gets at once."""
        way = ways.of(request.tool, request.input)
        if self._delivery.passing.lets(request):
            return Allow(request.input)
        section = self._shelf.make(request)
        if isinstance(section, Malformed):
            if way.says_refusal:
                self._page.append(Noted(f"{section.reason}: it was declined."))
            return way.refused(request, section.reason)
        if self._ledger.replay is not None:
            match self._delivery.replayed(section):
                case str(unknown):
                    return way.unanswered(request, unknown)
                case accepted:
                    return accepted.reply
        if self.headless and not way.waits_unattended:
            return way.unanswered(request, UNATTENDED)
        section.reply = asyncio.get_running_loop().create_future()
        self.turn.held(request)
        if not request.agent_id:  # what the agent itself asks, it asks between two messages
            self.turn.boundary = True
        self._shelf.open(section, self._page if way.wished else None)
        return section

    def ask(self, request: Request) -> None:
        """A run asks the user: no agent waits for that in a call, see `Routes`."""
        section = self._shelf.make(request)
        assert isinstance(section, Section)
        if self._ledger.replay is None:
            self._shelf.open(section)
        else:
            self._delivery.replay_routed(section)

    def routed(self) -> list[Section]:
        """What a run asks, and waits."""
        return [section for section in self._shelf.waiting if section.way.routed]

    def withdraw(self, section: Section) -> None:
        """Nobody needs its answer any more."""
        self._shelf.withdraw(section, "expired")

    def by_text(self, section: Section, text: str, *keep: ports.Kept) -> None:
        """The user has answered it with a message."""
        own = answer.Decided(text, own=(text,), dropped=tuple(range(1, section.form.size + 1)))
        self._delivery.by_text(section, (own,), keep)

    def set_aside(self, line: Callable[[Section], str]) -> list[Section]:
        """What others ask on this chat's page lets the user's message pass; a line says so."""
        aside = [view.section for view in self._page.views if view.section.elsewhere]
        for section in aside[::-1]:  # the open one last: no other opens in between
            self._page.close(section, [line(section)])
        return aside

    def put_back(self, aside: list[Section]) -> None:
        """It is asked again, below that message, if it waits still."""
        for section in aside:
            if section in self._shelf.waiting:
                self._shelf.put_back(section)

    def show(self, marker: str, page: Page) -> bool:
        """Open another view of what waits in this chat. False: it waits no more, or is there."""
        section = self._shelf.find(marker)
        if section is None or page.find(marker):
            return False
        user = User(self._shelf, self._delivery, self.choices, page, self._files)

        def take(event: p.SectionEvent) -> None:
            user.handle(event)
            self._page.moved()

        page.guests[marker] = take
        self._shelf.show(section, page)
        return True

    # --- found ----------------------------------------------------------------------------------

    def know(self, stored: Iterable[ports.StoredSection]) -> None:
        """What the store has of this chat: now its sections can be gone on with."""
        self._shelf.kept = {**{one.marker: one for one in stored}, **self._shelf.kept}
        early, self._early = self._early or [], None
        found, left, confirmed = self._opened.sections, self._opened.lines, self._opened.confirmed
        for event in early:
            if isinstance(event, p.Confirm) and event.section in found:
                left, confirmed = event.lines, event.row
        self._find(found, left, confirmed)
        if not self.headless:
            self._find_queued()
        for event in early:
            self.handle(event)

    def reattach(self, found: list[str], lines: list[str]) -> None:
        """The buffer was read again (``:e!``): its open section goes on."""
        self._find([marker for marker in found if not self._page.current(marker)], lines)
        if self._page.open and self._page.open.section.marker in found:
            self._page.judge()
        else:
            self._page.show_open()

    def _find(self, found: list[str], left: list[str], confirmed: int = -1) -> None:
        """The buffer shows sections as open that nobody waits for; ``left``: as `Open.lines`."""
        if self._early is not None:
            return
        for marker in found:
            stored = self._shelf.kept.get(marker)
            section = again(stored, self._files.read) if stored else None
            decided = section and section.way.awaited and _answers(section, left, confirmed)
            if stored and section and not decided and self._stays_open(stored, section):
                self._go_on(section, left)
            else:
                lines = self._closed(stored, section, left, confirmed)
                self._page.apply(p.Freeze(self._page.chat, marker, lines), p.Save(self._page.chat))

    def _find_queued(self) -> None:
        """What had not been shown when all ended comes after what the buffer shows."""
        for stored in sorted(self._shelf.kept.values(), key=lambda one: one.created):
            if self._shelf.find(stored.marker) is None:
                section = again(stored, self._files.read)
                if section and section.way.awaited and self._stays_open(stored, section):
                    self._go_on(section, [])

    def _stays_open(self, stored: ports.StoredSection, section: Section) -> bool:
        """Whether the user has yet to answer it, and can though nobody waits for it any more."""
        discussed = any(sent.section == stored.marker for sent in self._opened.sent)
        if stored.state != "open" or section.way.past or discussed:
            return False
        return section.way.awaited or self._is_new(section)

    def _go_on(self, section: Section, left: list[str]) -> None:
        section.late = section.way.awaited  # whoever waited for it has ended
        if left:
            section.edited(left)
            self._shelf.keep(section.stored)
        self._shelf.go_on(section)

    def _closed(
        self,
        stored: ports.StoredSection | None,
        section: Section | None,
        left: list[str],
        confirmed: int,
    ) -> list[str]:
        """The record of a section that does not go on."""
        if stored is None or section is None:
            return [notice("A question stood here that is not on record any more.")]
        if stored.state == "answered":
            return section.answered() or [f"{grammar.KEPT} This question was answered."]
        if (answers := _answers(section, left, confirmed)) is not None:
            return self._delivery.late(section, answers)
        lines = left or stored.lines
        self._shelf.keep(msgspec.structs.replace(stored, state="expired", lines=lines))
        return section.cancelled("expired")

    def _is_new(self, section: Section) -> bool:
        return self._clock.now() - section.stored.created < self._form_hours * 3600

    # --- closed ---------------------------------------------------------------------------------

    def give_up(self, section: Section) -> None:
        """The agent no longer waits for this."""
        self._delivery.give_up(section)

    def lost(self) -> None:
        """The agent is gone: nobody waits any more, but for those that wait for no agent."""
        for section in self._shelf.waiting[::-1]:
            if section.reply is not None and not section.elsewhere:
                self._shelf.withdraw(section, "expired")

    def stop(self) -> None:
        """The turn ends; everything that waits in it is closed and can be reopened."""
        self._delivery.passing.forget()
        own = [section for section in self._shelf.waiting if not section.elsewhere]
        for section in own[::-1]:  # the open one last: no other opens in between
            section.settle(Deny(STOPPED, stop=True))
            self._shelf.withdraw(section, "cancelled")

    def close(self) -> None:
        """The buffer is gone: deny what waits. What can be answered later is open the next time."""
        for section in self._shelf.waiting[::-1]:
            section.settle(Deny(CLOSED))
            if section.way.past:
                self._shelf.withdraw(section, "expired")
        self._shelf.leave()


def _answers(section: Section, left: list[str], confirmed: int) -> answer.Answers | None:
    """What the user has answered to a question for which the host ended just then."""
    if confirmed < 0:
        return None
    view = View(section)
    view.edited(left)
    outcome = None if section.form.proposes else view.confirm(confirmed)
    return outcome.answers if isinstance(outcome, answer.Send) else None
