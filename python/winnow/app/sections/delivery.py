"""From the user's decision to the agent: in turn, or late as a message."""

from __future__ import annotations

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.ledger import Ledger
from winnow.app.mode import Mode
from winnow.app.outbox import Outbox
from winnow.app.page import Page
from winnow.app.sections.shelf import Shelf
from winnow.app.trust import Trust
from winnow.app.turn import Turn
from winnow.app.waiting import Accepted, Waiting
from winnow.core import transcript
from winnow.core.agent import Allow, Deny, Reply, Request, Update
from winnow.core.section import record
from winnow.core.section.answer import Answers
from winnow.core.text import grammar


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

    # --- while it is open -----------------------------------------------------------------------

    def deliver(self, w: Waiting, answers: Answers) -> None:
        """The user has answered: to the agent, if it waits, and on record."""
        reply, lines, text = w.accept(answers)
        if isinstance(reply, Allow):
            if sentence := w.way.stale(w.form, self._file):
                self._refuse(w, sentence)
                return
            reply = msgspec.structs.replace(reply, updates=self._granted(reply.updates))
        in_turn = w.settle(reply)  # first of all: the agent waits
        keep: list[ports.Kept] = [*self._ledger.made(w.form, answers)]
        if not (in_turn and w.way.past):
            keep.append(self._post(w, text, reply if in_turn else None))
        after = self._line(w, reply) if in_turn else []
        self._shelf.close(w, "answered", lines, *after, keep=keep)
        if isinstance(reply, Allow) and in_turn:
            self._cover(w.request, reply.updates, str(answers[0].answer))
        elif isinstance(reply, Allow):
            for update in reply.updates:  # a plan: its mode comes first
                self._mode.change(update["mode"])

    def discuss(self, w: Waiting, text: str, id: str) -> None:
        """The user talks back instead; it waits on record until it is asked again."""
        reply = Deny(w.discussion(text, late=False))
        in_turn = w.settle(reply)
        message = self._post(w, w.discussion(text, late=True), reply if in_turn else None, id)
        self._outbox.save(message)  # the editor forgets it then
        self._shelf.close(w, "discussed", w.discussed(text))

    def _post(self, w: Waiting, text: str, reply: Reply | None, id: str = "") -> ports.Message:
        """As a message, the agent gets it where there is no reply, or where that is lost."""
        if reply is None:
            message = self._outbox.message(text, id)
            self._outbox.queue(message)
        else:
            denial = reply.message if isinstance(reply, Deny) else ""
            message = self._outbox.message(text, id, call=w.request.tool_use_id, denial=denial)
            self._outbox.give(message)
            w.given = message
        return message

    def give_up(self, w: Waiting) -> None:
        """The agent no longer waits for this."""
        if not self._shelf.withdraw(w, "expired") and w.given:
            self._outbox.withdraw(w.given)  # answered, but the answer did not get through

    # --- what is allowed ------------------------------------------------------------------------

    def _granted(self, updates: list[Update]) -> list[Update]:
        """The user allows something for longer: that is kept out of the project's reach."""
        for update in updates:
            if update.get("type") == "setMode":
                self._mode.granted(update["mode"])
        return self._trust.hold(updates)

    def _refuse(self, w: Waiting, sentence: str) -> None:
        """What was allowed can't be done as it was shown."""
        w.settle(Deny(f"{sentence} Nothing was written: read the file, then try again."))
        self._shelf.close(w, "answered", [f"{grammar.REFUSED} {sentence} Not written: {w.call}"])
        self._page.say(f"{sentence} Nothing was written; Claude is told.", "warn")

    def _line(self, w: Waiting, reply: Reply) -> list[p.Effect]:
        """The line of the tool that runs now, to stand beside what was allowed."""
        if isinstance(reply, Allow) and w.way.has_line:
            return [self._turn.allowed(w.request, reply.input)]
        return []

    def _cover(self, request: Request, updates: list[Update], label: str) -> None:
        """What waits and would not have been asked any more runs as it was asked."""
        for w in reversed(self._page.sections):
            if updates and w.way.covered(w.request, updates, request):
                reply = Allow(w.request.input)
                if w.settle(reply):
                    lines = record.covered(label, w.call)
                    self._shelf.close(w, "answered", lines, *self._line(w, reply))

    # --- without the user, or the section -------------------------------------------------------

    def replayed(self, w: Waiting) -> Accepted | str:
        """Answer from the replay, or say for all to see why not: nobody may be there to ask."""
        answers = self._ledger.replayed(w.form)
        self._page.append(*self._turn.paragraph())
        if isinstance(answers, int):
            sentence = record.unknown(w.form, answers)
            self._page.append(p.Write(self._page.chat, transcript.notice(sentence), fresh=True))
            self._page.say(sentence, "error")
            return sentence
        accepted = w.accept(answers)
        self._shelf.keep(msgspec.structs.replace(w.stored, state="answered"))
        shown = "\n".join([*accepted.record, record.REPLAYED])
        self._page.append(p.Write(self._page.chat, shown, fresh=True))
        return accepted

    def replay_late(self, w: Waiting) -> None:
        """As `replayed`, for what no agent waits for."""
        if isinstance(replayed := self.replayed(w), Accepted):
            self._store.save(self._post(w, replayed.message, None))

    def late(self, w: Waiting, answers: Answers) -> list[str]:
        """The user had answered when the host ended; the record of that."""
        w.wanted = True
        _, lines, text = w.accept(answers)
        message = self._outbox.message(text, call=w.stored.call)
        self._outbox.find([message])  # the agent may have it: its session tells
        self._record(w, answers, message)
        return lines

    def said(self, w: Waiting, answers: Answers) -> str:
        """The user has answered by a message; what it says to the agent."""
        self._record(w, answers)
        return w.accept(answers).message

    def _record(self, w: Waiting, answers: Answers, *messages: ports.Message) -> None:
        made = self._ledger.made(w.form, answers)
        self._shelf.keep(msgspec.structs.replace(w.stored, state="answered"), *made, *messages)
