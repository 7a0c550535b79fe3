"""The sections of a chat: what is asked, edited, answered and closed in them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable
from typing import Any, Literal
from uuid import uuid4

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app import asking, waiting
from winnow.app.ledger import Ledger
from winnow.app.mode import Mode
from winnow.app.outbox import Outbox
from winnow.app.page import Page
from winnow.app.trust import Trust
from winnow.app.turn import Turn
from winnow.app.waiting import Waiting
from winnow.core import question, transcript
from winnow.core.asking import choices, permission, question_tool, trust
from winnow.core.asking.choices import Choice
from winnow.core.ledger import offer
from winnow.core.section import answer, record
from winnow.core.section.form import Form
from winnow.core.section.reading import Left, Pick
from winnow.core.text.text import prose

log = logging.getLogger(__name__)

STOPPED = "The user stopped the turn before answering."
CANCELLED = "The user cancelled this question without answering it."
AFTER = "This question is asked again after the one that is open."
UNSHOWN = "This question could not be shown to the user."
CLOSED = "The user closed the chat before answering."


class Sections:
    """Everything that waits for the user in one chat.

    Attributes:
        ways: how the agent asks: by "tool", in its "text", or "both".
        turn: where the agent is in what it says.
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
        self._latest = 0.0  # when something was asked
        self._page = page
        self._store = world.store
        self._outbox = outbox
        self._ledger = ledger
        self._mode = mode
        self._trust = project
        self._kept: dict[str, ports.StoredSection] = {}  # as the store has them, by marker
        self._early: list[p.Event] | None = []  # what came before those were known
        self._numbered: list[Waiting] = []  # choices that could only be shown as a list
        self.ways = opened.questions if opened.questions in ("text", "both") else "tool"
        self.turn = Turn(page.chat, None if self.ways == "tool" else self._open_choices)

    @property
    def waiting(self) -> list[Waiting]:
        """What the user has to answer, the oldest first."""
        return [*self._numbered, *self._page.sections]

    @property
    def awaited(self) -> bool:
        """The agent waits for an answer."""
        return any(w.awaited for w in self._page.sections)

    # --- what is kept ---------------------------------------------------------------------------

    def know(self, stored: Iterable[ports.StoredSection]) -> None:
        """What the store has of this chat: now its sections can be gone on with."""
        self._kept = {**{one.marker: one for one in stored}, **self._kept}
        early, self._early = self._early or [], None
        found, left, confirmed = self._opened.sections, self._opened.lines, self._opened.confirmed
        for event in early:
            if isinstance(event, p.Confirm) and event.section in found:
                left, confirmed = event.lines, event.row
        self.orphans(found, left, confirmed)
        for event in early:
            self.handle(event)

    def _keep(self, stored: ports.StoredSection, *with_it: ports.Kept) -> Awaitable[None]:
        self._kept[stored.marker] = stored
        return self._store.save(stored, *with_it)

    # --- from the user --------------------------------------------------------------------------

    def handle(self, event: p.Event) -> None:
        """What the user does with a section."""
        here = any(w.form.id == getattr(event, "section", "") for w in self._page.sections)
        if self._early is not None and not here:
            self._early.append(event)
            return
        match event:
            case p.Edit(section=section, lines=lines):
                self._edit(section, lines)
            case p.Confirm():
                self._confirm(event)
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
                self._unshown(section)

    def _edit(self, section: str, lines: list[str]) -> None:
        """The open section's text changed."""
        if (w := self._current(section)) is not None:
            w.edited(lines)
            self._keep(w.stored)
            self._page.judge()
        elif (stored := self._kept.get(section)) is not None and stored.state != "answered":
            # It crossed the section's end, and is there again when the section is reopened.
            self._keep(msgspec.structs.replace(stored, lines=lines))

    def _confirm(self, event: p.Confirm) -> None:
        """``<CR>`` in the open section."""
        section = event.section
        if (w := self._current(section)) is None:
            stored = self._kept.get(section)
            if stored is None or stored.state != "answered":  # else it is what came of this
                self._page.say("This section is no longer open.", "warn")
            return
        w.edited(event.lines)
        match w.confirm(event.row, event.unseen):
            case answer.Send(answers=answers):
                self._deliver(w, answers)
                return
            case answer.Explain(text=text, reveal=reveal):
                if reveal:
                    self._page.apply(p.Reveal(self._page.chat, section))
                self._page.say(text, "warn")
            case offer.Offer(lines=offered):
                self._page.apply(p.Fill(self._page.chat, section, offered))
            case waiting.Place(path=path, line=line):
                self._page.apply(p.Visit(self._page.chat, path, line))
            case answer.Keep(question=question, rows=rows):
                self._page.apply(p.Keep(self._page.chat, section, question, rows))
            case answer.Step(question=question, text=text):
                self._page.apply(p.Step(self._page.chat, section, question))
                if text:
                    self._page.say(text)
        self._keep(w.stored)
        self._page.judge()

    def _cancel(self, section: str, lines: list[str]) -> None:
        """``<Esc>`` in the open section: that question only, if others wait; else the turn."""
        if (w := self._current(section)) is None:
            return
        w.edited(lines)
        others = any(other.awaited for other in self._page.sections if other is not w)
        w.settle(asking.cancelled(w.request, CANCELLED, stop=not others))
        self._withdraw(w, "cancelled")

    def _discuss(self, event: p.Discuss) -> None:
        """Talk back about the open section; it waits on record until it is asked again."""
        text = event.text
        if (w := self._current(event.section)) is None:
            self._page.say("This section is no longer open: what you wrote is the draft.", "warn")
            chat = self._page.chat
            self._page.append(p.Refill(chat, text), p.Kept(chat, [event.id]))
            return
        w.edited(event.lines)
        said, late = w.discussion(text, late=False), w.discussion(text, late=True)
        in_turn = w.settle(ports.Deny(said))
        call = w.request.tool_use_id if in_turn else ""
        denial = said if in_turn else ""
        message = self._outbox.message(late, event.id, call=call, denial=denial)
        self._outbox.save(message)
        self._close(w, "discussed", record.discussed(w.form, text))
        if in_turn:
            w.given = message
            self._outbox.give(message)
        else:
            self._outbox.queue(message)

    def _grant(self, event: p.Grant) -> None:
        """Answer a proposal from outside its section."""
        w = next((w for w in self._page.sections if w.form.id == event.section), None)
        if w is None or w.form.proposal is None:
            self._page.say("This section is no longer open.", "warn")
            return
        if w.form.kind == "trust":  # nothing else may be taken for it
            self._page.say("Whether a project is trusted is decided in its section.", "warn")
            return
        if event.lines:
            w.edited(event.lines)
        match w.choose(event.choice, event.reason, event.unseen):
            case answer.Decided() as decided:
                self._deliver(w, (decided,))
            case answer.Undecided(missing=text) | answer.Explain(text=text):
                self._page.say(text, "warn")

    def _compare(self, section: str, lines: list[str]) -> None:
        """Show the open patch as two buffers."""
        if (w := self._current(section)) is None:
            return
        w.edited(lines)
        if (sides := w.sides(self._page.chat)) is not None:
            self._page.apply(sides)
        else:
            self._page.say(w.broken or "There is no patch here to be shown as a diff.", "warn")

    def _reopen(self, section_id: str) -> None:
        """``<CR>`` on the record of a section that was not answered."""
        if self._current(section_id):
            self._page.apply(p.Step(self._page.chat, section_id, 1))
            return
        if (waits := [w.form.id for w in self._page.sections]) and section_id in waits:
            if section_id != waits[0]:  # else it is being opened
                self._page.say(AFTER)
            return
        stored = self._kept.get(section_id)
        if stored is None:
            self._page.say("This question is not on record any more.", "warn")
        elif stored.state == "answered":
            self._page.say("This question was answered.")
        elif stored.tool == trust.TOOL:  # nobody would take the answer
            self._page.say("Whether the project is trusted is asked with your next message.")
        elif (w := waiting.again(stored, self._files)) is not None:
            w.wanted = True
            self._ask(w)
            if self._page.sections[0] is not w:
                self._page.say(AFTER)

    def reattach(self, found: list[str], lines: list[str]) -> None:
        """The buffer was read again (``:e!``): its open section goes on."""
        self.orphans([marker for marker in found if not self._current(marker)], lines)
        if self._page.open and self._page.open.form.id in found:
            self._page.judge()
        else:
            self._page.show_open()

    def stop(self) -> None:
        """The turn ends; everything that waits in it is closed and can be reopened."""
        for w in reversed(self._page.sections):  # the open one last: no other opens in between
            w.settle(ports.Deny(STOPPED, stop=True))
            self._withdraw(w, "cancelled")

    def say_something_else(self) -> None:
        """The user sends a message instead of answering what no agent waits for."""
        for w in reversed(self._forms()):
            self._withdraw(w, "cancelled")

    def close(self) -> None:
        """The buffer is gone: deny what waits."""
        for w in reversed(self._page.sections):
            w.settle(ports.Deny(CLOSED))
            if w.request.tool != asking.TEXT:  # those wait for the next time
                self._withdraw(w, "expired")

    # --- from the agent -------------------------------------------------------------------------

    def open(self, request: ports.Request) -> Waiting | ports.Reply:
        """The agent asks something: what waits for the user now, or what it gets at once."""
        section_id = self._store.new_marker()
        form = asking.make(section_id, request, self._files)
        if isinstance(form, question.Malformed):
            return asking.refused(request, form.reason)
        w = self._waiting(form, request)
        if self._ledger.replay is not None:
            return self._replayed(w)
        if self._opened.headless and request.tool == question_tool.TOOL:
            return asking.unanswered(request, "")
        w.reply = asyncio.get_running_loop().create_future()
        if not request.agent_id:  # what the agent itself asks, it asks between two messages
            self.turn.boundary = True
        self._ask(w)
        return w

    def give_up(self, w: Waiting) -> None:
        """The agent no longer waits for this."""
        if not self._withdraw(w, "expired") and w.given:
            self._outbox.withdraw(w.given)  # answered, but the answer did not get through

    def _replayed(self, w: Waiting) -> ports.Reply:
        """Answer from the replay, or fail for all to see: nobody may be there to be asked."""
        answers = self._ledger.replayed(w.form)
        if isinstance(answers, int):
            sentence = record.unknown(w.form, answers)
            self._page.append(*self.turn.paragraph())
            self._page.append(p.Write(self._page.chat, transcript.notice(sentence), fresh=True))
            self._page.say(sentence, "error")
            return asking.unanswered(w.request, sentence)
        reply, lines = w.accept(answers)
        self._keep(msgspec.structs.replace(w.stored, state="answered"))
        shown = "\n".join([*lines, record.REPLAYED])
        self._page.append(*self.turn.paragraph(), p.Write(self._page.chat, shown, fresh=True))
        return reply

    def lost(self) -> None:
        """The agent is gone: nobody waits any more, but for those that wait for no agent."""
        for w in reversed(self._page.sections):
            if w.reply is not None:
                self._withdraw(w, "expired")

    def orphans(self, found: list[str], left: list[str], confirmed: int = -1) -> None:
        """The buffer shows sections as open that nobody waits for; ``left``: as `Open.lines`."""
        if self._early is None:
            for marker in found:
                self._orphan(marker, left, confirmed)

    def _orphan(self, section_id: str, left: list[str], confirmed: int) -> None:
        stored = self._kept.get(section_id)
        w = waiting.again(stored, self._files) if stored is not None else None
        if stored is None or w is None:
            lines = [transcript.notice("A question stood here that is not on record any more.")]
        elif stored.state == "answered":
            lines = w.answered() or ["✓ This question was answered."]
        elif stored.tool == asking.TEXT and stored.state == "open" and self._is_new(stored):
            if left:
                w.edited(left)
                self._keep(w.stored)
            self._page.append(w)  # nobody has to wait for it
            return
        elif confirmed >= 0 and (answers := _answers(w, left, confirmed)) is not None:
            w.wanted = True
            _, lines = w.accept(answers)
            message = self._outbox.message(w.message)
            made = self._ledger.made(w.form, answers)
            self._keep(msgspec.structs.replace(w.stored, state="answered"), *made, message)
            self._outbox.queue(message)
        else:
            kept = left or stored.lines
            self._keep(msgspec.structs.replace(stored, state="expired", lines=kept))
            lines = record.cancelled(w.form, "expired")
        self._page.apply(p.Freeze(self._page.chat, section_id, lines), p.Save(self._page.chat))

    # --- answers --------------------------------------------------------------------------------

    def _current(self, section: str) -> Waiting | None:
        w = self._page.open
        return w if w and w.form.id == section else None

    def _waiting(self, form: Form, request: ports.Request) -> Waiting:
        self._latest = max(self._latest, self._clock.now())  # it may have been set back
        stored = ports.StoredSection(
            uuid4().hex,
            self._opened.path,
            form.id,
            request.tool,
            request.input,
            created=self._latest,
        )
        return Waiting(form, request, stored)

    def _ask(self, w: Waiting) -> None:
        # What comes before it is shown meanwhile; it is, when it can't be lost any more.
        ready = asyncio.ensure_future(self._prepare(w, self._keep(w.stored)))
        self._page.append(*self.turn.asked(w.request.tool_use_id), ready, w)
        self._happened("Question", w)

    async def _prepare(self, w: Waiting, kept: Awaitable[None]) -> None:
        await kept
        discussed = [one for one in self._kept.values() if one.state == "discussed"]
        try:
            w.earlier = await self._ledger.earlier(w.form, discussed)
        except ports.StoreError as error:
            log.error("%s", error.sentence)

    def _deliver(self, w: Waiting, answers: answer.Answers) -> None:
        reply, lines = w.accept(answers)
        if isinstance(reply, ports.Allow) and (sentence := w.stale(self._files)):
            self._refuse(w, sentence)
            return
        if isinstance(reply, ports.Allow) and reply.updates:
            reply = msgspec.structs.replace(reply, updates=self._granted(reply.updates))
        in_turn = w.settle(reply)  # first of all: the agent waits
        keep: list[ports.Kept] = [*self._ledger.made(w.form, answers)]
        if in_turn and w.form.kind in ("questions", "plan"):  # what else a tool wanted is past
            denial = reply.message if isinstance(reply, ports.Deny) else ""
            call = w.request.tool_use_id
            w.given = self._outbox.message(w.message, call=call, denial=denial)
            self._outbox.give(w.given)
            keep.append(w.given)
        elif not in_turn:
            message = self._outbox.message(w.message)
            self._outbox.queue(message)
            keep.append(message)
        self._close(w, "answered", lines, *(self._line(w, reply) if in_turn else []), keep=keep)
        if isinstance(reply, ports.Deny):
            return
        if not in_turn:
            for update in reply.updates:  # a plan: its mode comes first
                self._mode.change(update["mode"])
        elif w.form.proposal is not None and reply.updates:
            self._grant_covered(w.request, reply.updates, str(answers[0].answer))

    def _granted(self, updates: list[permission.Update]) -> list[permission.Update]:
        """The user allows something for longer: that is kept out of the project's reach."""
        for update in updates:
            if update.get("type") == "setMode":
                self._mode.granted(update["mode"])
        return self._trust.hold(updates)

    def _refuse(self, w: Waiting, sentence: str) -> None:
        """What was allowed can't be done as it was shown."""
        w.settle(ports.Deny(f"{sentence} Nothing was written: read the file, then try again."))
        self._close(w, "answered", [f"✗ {sentence} Not written: {w.call}"])
        self._page.say(f"{sentence} Nothing was written; Claude is told.", "warn")

    def _line(self, w: Waiting, reply: ports.Reply) -> list[p.Effect]:
        """The line of the tool that runs now, to stand beside what was allowed."""
        if w.request.tool in (asking.ASK, trust.TOOL) or not isinstance(reply, ports.Allow):
            return []
        return [self.turn.allowed(w.request, reply.input)]

    def _grant_covered(
        self, request: ports.Request, updates: list[permission.Update], label: str
    ) -> None:
        """What waits and would not have been asked any more runs as it was asked."""
        for w in reversed(self._page.sections):
            other = w.request
            same = _call(other) == _call(request)
            if w.form.kind in ("permission", "patch") and permission.covers(
                updates, other.suggestions, other.reason, same=same
            ):
                reply = ports.Allow(other.input)
                if w.settle(reply):
                    self._close(w, "answered", record.covered(label, w.call), *self._line(w, reply))

    def _withdraw(self, w: Waiting, state: str) -> bool:
        """Nobody waits for this section any more; it can be reopened. False if it is closed."""
        return self._close(w, state, record.cancelled(w.form, state))

    def _close(
        self,
        w: Waiting,
        state: str,
        lines: list[str],
        *after: p.Effect,
        keep: Iterable[ports.Kept] = (),
    ) -> bool:
        if w not in self._page.sections:
            return False
        self._keep(msgspec.structs.replace(w.stored, state=state), *keep)
        self._happened("Answered", w, outcome=state)
        return self._page.remove(w, lines, *after)

    def _happened(self, name: Literal["Question", "Answered"], w: Waiting, **more: str) -> None:
        self._page.apply(
            p.Happened(self._page.chat, name, {**msgspec.structs.asdict(w.pending), **more})
        )

    # --- choices in the agent's text ------------------------------------------------------------

    def ask_choices(self) -> None:
        """The turn is over: ask what its text held."""
        found, self.turn.choices = self.turn.choices, []
        for choice in found:
            section_id, request = self._store.new_marker(), asking.in_text(choice)
            form = asking.make(section_id, request, self._files)
            assert isinstance(form, Form)
            w = self._waiting(form, request)
            about = "\n\n".join(filter(None, (choice.title, choice.context)))
            if about:
                self._page.append(p.Write(self._page.chat, prose(about), fresh=True))
            if self._ledger.replay is None:
                self._ask(w)
            elif isinstance(self._replayed(w), ports.Allow):
                message = self._outbox.message(w.message)
                self._store.save(message)
                self._outbox.queue(message)

    def _unshown(self, section: str) -> None:
        """A section could not be drawn: choices become a list, to be answered with a number."""
        if (w := self._current(section)) is None:
            return
        if w.request.tool == asking.TEXT:
            self._numbered.append(w)
            hint = "Answer with a number, or in your own words."
            self._page.unshown([*choices.numbered(asking.choice_of(w.request)), "", hint])
        else:
            w.settle(asking.refused(w.request, UNSHOWN))
            self._page.unshown([transcript.notice(UNSHOWN)])
        self._keep(msgspec.structs.replace(w.stored, state="expired"))

    def by_number(self, text: str) -> str | None:
        """What a message says where a bare number answers the one list that waits."""
        numbered, self._numbered = self._numbered, []
        number = None
        if len(numbered) == 1:
            number = choices.by_number(asking.choice_of(numbered[0].request), text)
        for w in numbered:
            self._happened("Answered", w, outcome="answered" if number else "cancelled")
        if number is None:
            return None
        (w,) = numbered
        decided = answer.decide(w.form, 1, Left((Pick(number),)), frozenset({1}))
        assert isinstance(decided, answer.Decided)
        w.accept((decided,))
        made = self._ledger.made(w.form, (decided,))
        self._keep(msgspec.structs.replace(w.stored, state="answered"), *made)
        return w.message

    def _forms(self) -> list[Waiting]:
        return [w for w in self._page.sections if w.request.tool == asking.TEXT]

    def _open_choices(self) -> list[Choice]:
        return [asking.choice_of(w.request) for w in self._forms()]

    def _is_new(self, stored: ports.StoredSection) -> bool:
        return self._clock.now() - stored.created < self._form_hours * 3600


def _answers(w: Waiting, left: list[str], confirmed: int) -> answer.Answers | None:
    """What the user has answered to a question for which the host ended just then."""
    w.edited(left)
    outcome = w.confirm(confirmed) if w.form.kind == "questions" else None
    return outcome.answers if isinstance(outcome, answer.Send) else None


def _call(request: ports.Request) -> tuple[str, dict[str, Any]]:
    """What is to run, whatever the agent says about it."""
    return request.tool, {**request.input, "description": None}
