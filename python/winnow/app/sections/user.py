"""What the user does with a section."""

from __future__ import annotations

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app import waiting
from winnow.app.page import Page
from winnow.app.sections.choices import Choices
from winnow.app.sections.delivery import Delivery
from winnow.app.sections.shelf import Shelf
from winnow.app.waiting import Waiting
from winnow.core.asking import ways
from winnow.core.ledger import offer
from winnow.core.never import assert_never
from winnow.core.section import answer

CANCELLED = "The user cancelled this question without answering it."
AFTER = "This question is asked again after the one that is open."
GONE = "This section is no longer open."


class User:
    """Takes the events that are about a section."""

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
            case p.Edit(section=section, lines=lines):
                self._edit(section, lines)
            case p.Confirm():
                self._confirm(event)
            case p.Keep():
                self._keep_only(event)
            case p.Cancel(section=section, lines=lines):
                self._cancel(section, lines)
            case p.Reopen(section=section):
                self._reopen(section)
            case p.Discuss():
                self._discuss(event)
            case p.Grant():
                self._grant(event)
            case p.Compare(section=section, lines=lines):
                self._compare(section, lines)
            case p.Unshown(section=section):
                if (w := self._shelf.current(section)) is not None:
                    self._choices.unshown(w)
            case _:
                assert_never(event)

    def _edit(self, section: str, lines: list[str]) -> None:
        """The open section's text changed."""
        if (w := self._edited(section, lines)) is not None:
            self._shelf.keep(w.stored)
            self._page.judge()
        elif (stored := self._shelf.kept.get(section)) is not None and stored.state != "answered":
            # It crossed the section's end, and is there again when the section is reopened.
            self._shelf.keep(msgspec.structs.replace(stored, lines=lines))

    def _confirm(self, event: p.Confirm) -> None:
        """``<CR>`` in the open section."""
        chat, section = self._page.chat, event.section
        if (w := self._edited(section, event.lines)) is None:
            stored = self._shelf.kept.get(section)
            if stored is None or stored.state != "answered":  # else it is what came of this
                self._page.say(GONE, "warn")
            return
        match w.confirm(event.row, event.unseen):
            case answer.Send(answers=answers):
                self._delivery.deliver(w, answers)
                return
            case answer.Explain(text=text, reveal=reveal):
                if reveal:
                    self._page.apply(p.Reveal(chat, section))
                self._page.say(text, "warn")
            case offer.Offer(lines=offered):
                self._page.apply(p.Fill(chat, section, offered))
            case waiting.Place(path=path, line=line):
                self._page.apply(p.Visit(chat, path, line))
            case answer.Keep(question=question, rows=rows):
                self._page.apply(p.Delete(chat, section, question, rows))
            case answer.Step(question=question, text=text):
                self._page.apply(p.Move(chat, section, question))
                if text:
                    self._page.say(text)
            case other:
                assert_never(other)
        self._shelf.keep(w.stored)
        self._page.judge()

    def _keep_only(self, event: p.Keep) -> None:
        """All options of a question go but one."""
        if (w := self._edited(event.section, event.lines)) is not None:
            if (keep := w.keep(event.row)) is not None:
                self._page.apply(p.Delete(self._page.chat, event.section, keep.question, keep.rows))
            self._shelf.keep(w.stored)
            self._page.judge()

    def _cancel(self, section: str, lines: list[str]) -> None:
        """``<Esc>`` in the open section: that question only, if others wait; else the turn."""
        if (w := self._edited(section, lines)) is None:
            return
        others = any(other.awaited for other in self._page.sections if other is not w)
        w.settle(w.way.cancelled(w.request, CANCELLED, stop=not others))
        self._shelf.withdraw(w, "cancelled")

    def _discuss(self, event: p.Discuss) -> None:
        """Talk back about the open section."""
        if (w := self._edited(event.section, event.lines)) is None:
            self._page.say(f"{GONE[:-1]}: what you wrote is the draft.", "warn")
            chat = self._page.chat
            self._page.append(p.Refill(chat, event.text), p.Stored(chat, [event.id]))
        else:
            self._delivery.discuss(w, event.text, event.id)

    def _grant(self, event: p.Grant) -> None:
        """Answer a proposal from outside its section."""
        w = next((w for w in self._page.sections if w.form.id == event.section), None)
        if w is None or not w.form.proposes:
            self._page.say(GONE, "warn")
            return
        if w.way.inside:
            self._page.say(w.way.inside, "warn")
            return
        if event.lines:
            w.edited(event.lines)
        match w.choose(event.choice, event.reason, event.unseen):
            case answer.Decided() as decided:
                self._delivery.deliver(w, (decided,))
            case answer.Undecided(missing=text) | answer.Explain(text=text):
                self._page.say(text, "warn")
            case other:
                assert_never(other)

    def _compare(self, section: str, lines: list[str]) -> None:
        """Show the open patch as two buffers."""
        if (w := self._edited(section, lines)) is None:
            return
        if (sides := w.sides(self._page.chat)) is not None:
            self._page.apply(sides)
        else:
            self._page.say(w.broken or "There is no patch here to be shown as a diff.", "warn")

    def _reopen(self, section: str) -> None:
        """``<CR>`` on the record of a section that was not answered."""
        if self._shelf.current(section):
            self._page.apply(p.Move(self._page.chat, section, 1))
            return
        if (waits := [w.form.id for w in self._page.sections]) and section in waits:
            if section != waits[0]:  # else it is being opened
                self._page.say(AFTER)
            return
        stored = self._shelf.kept.get(section)
        if stored is None:
            self._page.say("This question is not on record any more.", "warn")
        elif stored.state == "answered":
            self._page.say("This question was answered.")
        elif past := ways.of(stored.tool, stored.input).past:
            self._page.say(past)
        elif (w := waiting.again(stored, self._file)) is not None:
            w.wanted = True
            self._shelf.open(w)
            if self._page.sections[0] is not w:
                self._page.say(AFTER)

    def _edited(self, section: str, lines: list[str]) -> Waiting | None:
        """The open section with the lines that it has now; None if it is another one."""
        if (w := self._shelf.current(section)) is not None:
            w.edited(lines)
        return w
