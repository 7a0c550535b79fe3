"""What the user does with a section."""

from __future__ import annotations

import logging

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.page import Page
from winnow.app.section import again
from winnow.app.sections.choices import Choices
from winnow.app.sections.delivery import Delivery
from winnow.app.sections.shelf import Shelf
from winnow.app.view import Place, View, spliced
from winnow.core.asking import ways
from winnow.core.ledger import offer
from winnow.core.never import assert_never
from winnow.core.section import answer

log = logging.getLogger(__name__)

CANCELLED = "The user cancelled this question without answering it."
AFTER = "This question is asked again after the one that is open."
FILL = ":Winnow next goes there, :Winnow deny declines."
GONE = "This section is no longer open."


class User:
    """Takes the events that are about a chat's sections, on one of the pages that show them."""

    def __init__(
        self, shelf: Shelf, delivery: Delivery, choices: Choices, page: Page, files: ports.Files
    ) -> None:
        self._shelf = shelf
        self._delivery = delivery
        self._choices = choices
        self._page = page
        self._file = files.read

    def handle(self, event: p.SectionEvent) -> None:
        """Do it."""
        match event:
            case p.Edit():
                self._edit(event)
            case p.Confirm():
                self._confirm(event)
            case p.Keep():
                self._keep_only(event)
            case p.Cancel(section=marker, lines=lines):
                self._cancel(marker, lines)
            case p.Reopen(section=marker):
                self._reopen(marker)
            case p.Discuss():
                self._discuss(event)
            case p.Grant():
                self._grant(event)
            case p.Compare(section=marker, lines=lines):
                self._compare(marker, lines)
            case p.Unshown(section=marker):
                if (view := self._page.current(marker)) is not None:
                    self._choices.unshown(view.section, self._page)
            case _:
                assert_never(event)

    def _edit(self, event: p.Edit) -> None:
        """The open section's text changed."""
        marker, view = event.section, self._page.current(event.section)
        stored = self._shelf.kept.get(marker)
        closed = self._page.closed
        if view is None and closed is not None and closed.section.marker == marker:
            view = closed
        before = view.lines if view is not None else stored.lines if stored is not None else []
        lines = spliced(before, event)
        if lines is None:
            log.error("an edit of %s is not of its %d lines", marker, len(before))
        elif view is not None and view is not closed:
            view.edited(lines)
            self._shelf.keep(view.section.stored)
            self._page.judge()
        elif stored is not None and stored.state != "answered":
            # It crossed the section's end, and is there again when the section is reopened.
            if view is not None:
                view.lines = lines
            self._shelf.keep(msgspec.structs.replace(stored, lines=lines))

    def _confirm(self, event: p.Confirm) -> None:
        """``<CR>`` in the open section."""
        chat, marker = self._page.chat, event.section
        if (view := self._edited(marker, event.lines)) is None:
            if not self._answered_here(marker):  # else it is what came of this
                self._page.say(GONE, "warn")
            return
        outcome = view.confirm(event.row, event.unseen, anew=event.anew)
        match outcome:
            case answer.Send(answers=answers):
                self._delivery.deliver(view.section, answers, self._page)
                return
            case answer.Explain(text=text, reveal=reveal):
                if reveal:
                    self._page.apply(p.Reveal(chat, marker))
                self._page.say(text, "warn")
            case offer.Offer(lines=offered):
                self._page.apply(p.Fill(chat, marker, offered))
            case Place(path=path, line=line):
                self._page.apply(p.Visit(chat, path, line))
            case answer.Keep(question=question, rows=rows):
                self._page.apply(p.Delete(chat, marker, question, rows))
            case answer.Step(question=question, text=text):
                self._page.apply(p.Move(chat, marker, question))
                if text:
                    self._page.say(text)
            case _:
                assert_never(outcome)
        self._shelf.keep(view.section.stored)
        # The editor deletes the others, and presses <CR> once more: that is yet to be acted on.
        self._page.judge(acted=not isinstance(outcome, answer.Keep))

    def _answered_here(self, marker: str) -> bool:
        stored = self._shelf.kept.get(marker)
        page = self._shelf.answered_on.get(marker, self._page)
        return stored is not None and stored.state == "answered" and page is self._page

    def _keep_only(self, event: p.Keep) -> None:
        """All options of a question go but one."""
        if (view := self._edited(event.section, event.lines)) is not None:
            if (keep := view.keep(event.row)) is not None:
                self._page.apply(p.Delete(self._page.chat, event.section, keep.question, keep.rows))
            self._shelf.keep(view.section.stored)
            self._page.judge()

    def _cancel(self, marker: str, lines: list[str]) -> None:
        """``<Esc>`` in the open section: that question only, if others wait; else the turn."""
        if (view := self._edited(marker, lines)) is None:
            return
        section = view.section
        own = (other for other in self._shelf.waiting if not other.elsewhere)
        stop = not section.elsewhere and not any(o.awaited for o in own if o is not section)
        section.settle(section.way.cancelled(section.request, CANCELLED, stop=stop))
        self._delivery.cancel(section, CANCELLED)

    def _discuss(self, event: p.Discuss) -> None:
        """Talk back about the open section."""
        if (view := self._edited(event.section, event.lines)) is None:
            self._page.say(f"{GONE[:-1]}: what you wrote is the draft.", "warn")
            chat = self._page.chat
            self._page.append(p.Refill(chat, event.text), p.Stored(chat, [event.id]))
        else:
            self._delivery.discuss(view.section, event.text, event.id, self._page)

    def _grant(self, event: p.Grant) -> None:
        """Answer a proposal, or a question, from outside its section."""
        view = self._page.find(event.section)
        if view is not None and event.choice == "answer":
            if decided := view.pick(event.option):
                self._delivery.deliver(view.section, (decided,), self._page)
            return
        if view is not None and view.section.form.server:
            self._decline(view, event)
            return
        if view is None or not view.section.form.proposes:
            self._page.say(GONE, "warn")
            return
        if inside := view.section.way.inside:
            self._page.say(inside, "warn")
            return
        view.edited(event.lines or view.lines)  # it counts as it stands here
        match view.choose(event.choice, event.reason, event.unseen):
            case answer.Decided() as decided:
                self._delivery.deliver(view.section, (decided,), self._page)
            case answer.Undecided(missing=text) | answer.Explain(text=text):
                self._page.say(text, "warn")
            case other:
                assert_never(other)

    def _decline(self, view: View, event: p.Grant) -> None:
        """Refuse to fill in a form; to fill it in is done in its section."""
        section = view.section
        reply = section.way.declined(section.request)
        if event.choice != "deny" or reply is None:
            self._page.say(f"{section.form.server} wants a form filled in: {FILL}", "warn")
            return
        section.settle(reply)
        self._shelf.close(section, "cancelled", section.cancelled("declined"))

    def _compare(self, marker: str, lines: list[str]) -> None:
        """Show the open patch as two buffers."""
        if (view := self._edited(marker, lines)) is None:
            return
        if (sides := view.sides(self._page.chat)) is not None:
            self._page.apply(sides)
        else:
            self._page.say(view.broken or "There is no patch here to be shown as a diff.", "warn")

    def _reopen(self, marker: str) -> None:
        """``<CR>`` on the record of a section that was not answered."""
        if self._page.current(marker):
            self._page.apply(p.Move(self._page.chat, marker, 1))
        elif self._page.find(marker):
            if self._page.views[0].section.marker != marker:  # else it is being opened
                self._page.say(AFTER)
        elif (section := self._shelf.find(marker)) is not None:  # elsewhere
            self._shelf.show(section, self._page, focus=True)
        elif (stored := self._shelf.kept.get(marker)) is None:
            self._page.say("This question is not on record any more.", "warn")
        elif stored.state == "answered":
            self._page.say("This question was answered.")
        elif past := ways.of(stored.tool, stored.input).past:
            self._page.say(past)
        elif (section := again(stored, self._file)) is not None:
            section.late = True
            self._shelf.open(section, self._page)
            if self._page.views[0].section is not section:
                self._page.say(AFTER)

    def _edited(self, marker: str, lines: list[str]) -> View | None:
        """The open section with the lines that it has now; None if it is another one."""
        if (view := self._page.current(marker)) is not None:
            view.edited(lines)
        return view
