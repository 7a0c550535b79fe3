"""From the user's decision to the agent: in turn, or late as a message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.ledger import Ledger
from winnow.app.mode import Mode
from winnow.app.outbox import Outbox
from winnow.app.page import Page
from winnow.app.section import Accepted, Section
from winnow.app.sections.passing import Passing
from winnow.app.sections.shelf import Shelf
from winnow.app.trust import Trust
from winnow.app.turn import Turn
from winnow.core.agent import Allow, Deny, Reply, Request, Update
from winnow.core.section import record
from winnow.core.section.answer import Answers
from winnow.core.text import grammar
from winnow.core.transcript.entries import Entry, Noted, Recorded

STALE = "Nothing was written: read the file, then try again."


class Routes(Protocol):
    """A run, which takes the answers to its questions to whom they belong."""

    def answered(self, request: Request, reply: Reply, text: str) -> list[ports.Kept]:
        """The user answered in a section, in words with ``text``. What is to be kept with it."""

    def returned(self, request: Request, reason: str) -> list[ports.Kept]:
        """They closed it without an answer. What is to be kept with that."""

    def discussed(self, request: Request, text: str) -> list[ports.Kept]:
        """They talked back instead. What is to be kept with that."""


class Delivery:
    """Hands answers over, and keeps them until they have arrived."""

    def __init__(  # noqa: PLR0917  all that an answer changes
        self,
        shelf: Shelf,
        world: ports.World,
        page: Page,
        turn: Turn,
        outbox: Outbox,
        ledger: Ledger,
        mode: Mode,
        project: Trust,
    ) -> None:
        self._shelf = shelf
        self._store = world.store
        self._file = world.files.read
        self._page = page
        self._turn = turn
        self._outbox = outbox
        self._ledger = ledger
        self._mode = mode
        self._trust = project
        self.passing = Passing(turn)
        self.routes: Routes | None = None

    # --- while it is open -----------------------------------------------------------------------

    def deliver(self, section: Section, answers: Answers, page: Page) -> None:
        """The user has answered on this page: to the agent, if it waits, and on record."""
        if section.way.routed and self.routes is not None:
            self._route(section, answers, page, self.routes)
            return
        reply, lines, text = section.accept(answers)
        if isinstance(reply, Allow):
            if sentence := section.way.stale(section.form, self._file):
                self._refuse(section, sentence, page)
                return
            wanted = reply.updates
            reply = msgspec.structs.replace(reply, updates=self._granted(section, wanted))
        in_turn = section.settle(reply)  # first of all: the agent waits
        keep: list[ports.Kept] = [*self._ledger.made(section.decided(answers), answers)]
        if not (in_turn and section.way.past):
            keep.append(self._post(section, text, reply if in_turn else None))
        after = self._line(section, reply) if in_turn else []
        self._shelf.answered_on[section.marker] = page
        self._shelf.close(section, "answered", lines, *after, keep=keep)
        if isinstance(reply, Allow) and in_turn:
            self._cover(section, wanted, str(answers[0].answer))
            if self.passing.grant(reply.passing):
                self._cover(section, reply.passing, str(answers[0].answer), passing=True)
        elif isinstance(reply, Allow):
            for update in reply.updates:  # a plan: its mode comes first
                self._mode.change(update["mode"])

    def discuss(self, section: Section, text: str, id: str, page: Page) -> None:
        """The user talks back instead; it waits on record until it is asked again."""
        said = section.discussion(text, late=False)
        reply = section.way.talked_back(section.request, said)
        if section.way.routed and self.routes is not None:
            said = section.discussion(text, late=True)
            page.apply(p.Stored(page.chat, [id]))
            keep = self.routes.discussed(section.request, said)
            self._shelf.close(section, "discussed", section.discussed(text), keep=keep)
            return
        in_turn = section.settle(reply)
        message = self._post(
            section, section.discussion(text, late=True), reply if in_turn else None, id
        )
        told = p.Stored(page.chat, [message.id])
        self._outbox.save(message, lambda _: page.apply(told))  # the editor forgets it then
        self._shelf.close(section, "discussed", section.discussed(text))

    def _post(
        self, section: Section, text: str, reply: Reply | None, id: str = ""
    ) -> ports.Message:
        """As a message, the agent gets it where there is no reply, or where that is lost."""
        if reply is None:
            message = self._outbox.message(text, id)
            self._outbox.queue(message)
        else:
            denial = reply.message if isinstance(reply, Deny) else ""
            message = self._outbox.message(
                text, id, call=section.request.tool_use_id, denial=denial
            )
            self._outbox.give(message)
            section.given = message
        return message

    def _route(self, section: Section, answers: Answers, page: Page, routes: Routes) -> None:
        reply, lines, text = section.accept(answers)
        made = self._ledger.made(section.decided(answers), answers)
        keep = [*made, *routes.answered(section.request, reply, text)]
        self._shelf.answered_on[section.marker] = page
        self._shelf.close(section, "answered", lines, keep=keep)

    def by_text(self, section: Section, answers: Answers, keep: Iterable[ports.Kept]) -> None:
        """The user has answered what a run asks with a message, which is in the chat already."""
        made = self._ledger.made(section.decided(answers), answers)
        _, lines, _ = section.accept(answers)
        self._shelf.close(section, "answered", lines, keep=[*made, *keep])

    def replay_routed(self, section: Section) -> None:
        """As `replayed`, for what a run asks; without an answer it waits."""
        if isinstance(replayed := self.replayed(section), Accepted) and self.routes is not None:
            keep = self.routes.answered(section.request, replayed.reply, replayed.message)
            self._store.save(*keep)

    def cancel(self, section: Section, reason: str) -> None:
        """The user closed it without an answer."""
        routed = section.way.routed and self.routes is not None
        keep = self.routes.returned(section.request, reason) if routed and self.routes else []
        self._shelf.close(section, "cancelled", section.cancelled("cancelled"), keep=keep)

    def give_up(self, section: Section) -> None:
        """The agent no longer waits for this."""
        if not self._shelf.withdraw(section, "expired") and section.given:
            self._outbox.withdraw(section.given)  # answered, but the answer did not get through

    # --- what is allowed ------------------------------------------------------------------------

    def _granted(self, section: Section, updates: list[Update]) -> list[Update]:
        """The user allows something for longer: that is kept out of the project's reach."""
        for update in updates:
            if update.get("type") == "setMode" and not section.request.worker:
                self._mode.granted(update["mode"])
        return self._trust.hold(updates)

    def _refuse(self, section: Section, sentence: str, page: Page) -> None:
        """What was allowed can't be done as it was shown."""
        section.settle(Deny(f"{sentence} {STALE}"))
        self._shelf.close(
            section, "answered", [f"{grammar.REFUSED} {sentence} Not written: {section.call}"]
        )
        page.say(f"{sentence} Nothing was written; Claude is told.", "warn")

    def _line(self, section: Section, reply: Reply) -> list[Entry]:
        """The line of the tool that runs now, to stand beside what was allowed."""
        worker = section.request.worker  # whose line stands in its own transcript
        own = section.form.proposes or not section.request.agent_id  # no question of a subagent
        if isinstance(reply, Allow) and section.way.has_line and own and not worker:
            return [self._turn.allowed(section.request, reply.input)]
        return []

    def _cover(
        self, granted: Section, updates: list[Update], label: str, *, passing: bool = False
    ) -> None:
        """What waits and would not have been asked any more runs as it was asked.

        Of another agent that is only what holds for the whole project, and for longer.
        """
        lasts = [one for one in updates if one.get("destination") not in (None, "session")]
        lasting = [] if passing else lasts
        for section in self._shelf.waiting[::-1]:
            same = section.request.worker == granted.request.worker
            held = updates if same else lasting
            if held and section.way.covered(section.request, held):
                reply = Allow(section.request.input)
                if section.settle(reply):
                    lines = record.covered(label, section.call)
                    self._shelf.close(section, "answered", lines, *self._line(section, reply))

    # --- without the user, or the section -------------------------------------------------------

    def replayed(self, section: Section) -> Accepted | str:
        """Answer from the replay, or say for all to see why not: nobody may be there to ask."""
        answers = self._ledger.replayed(section.form)
        if isinstance(answers, int):
            sentence = record.unknown(section.form, answers)
            self._page.append(Noted(sentence))
            self._page.say(sentence, "error")
            return sentence
        accepted = section.accept(answers)
        self._shelf.keep(msgspec.structs.replace(section.stored, state="answered"))
        self._page.append(Recorded([*accepted.record, record.REPLAYED]))
        return accepted

    def replay_late(self, section: Section) -> None:
        """As `replayed`, for what no agent waits for."""
        if isinstance(replayed := self.replayed(section), Accepted):
            self._store.save(self._post(section, replayed.message, None))

    def late(self, section: Section, answers: Answers) -> list[str]:
        """The user had answered when the host ended; the record of that."""
        section.late = True
        _, lines, text = section.accept(answers)
        message = self._outbox.message(text, call=section.stored.call)
        self._outbox.find([message])  # the agent may have it: its session tells
        self._record(section, answers, message)
        return lines

    def said(self, section: Section, answers: Answers) -> str:
        """The user has answered by a message; what it says to the agent."""
        self._record(section, answers)
        return section.accept(answers).message

    def _record(self, section: Section, answers: Answers, *messages: ports.Message) -> None:
        made = self._ledger.made(section.decided(answers), answers)
        self._shelf.keep(
            msgspec.structs.replace(section.stored, state="answered"), *made, *messages
        )
