"""One chat: what its user asks for, what its agent does, and which of the two is next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Literal

import msgspec

from winnow import ports
from winnow.app import asking, waiting
from winnow.app.archive import Archive
from winnow.app.ledger import Ledger, Replay
from winnow.app.mode import Mode
from winnow.app.page import Page
from winnow.app.session import Session
from winnow.app.turn import Turn
from winnow.app.waiting import Waiting
from winnow.core import (
    answer,
    choices,
    offer,
    permission,
    question_tool,
    questions,
    record,
    transcript,
)
from winnow.core import protocol as p
from winnow.core.choices import Choice
from winnow.core.form import Form
from winnow.core.section import Left, Pick
from winnow.core.text import clean_block, strip_markers

STOPPED = "The user stopped the turn before answering."
CANCELLED = "The user cancelled this question without answering it."
AFTER = "This question is asked again after the one that is open."
UNSHOWN = "This question could not be shown to the user."
CLOSED = "The user closed the chat before answering."


class Chat:
    """Everything that one chat does, on the agent loop's thread only.

    Each event, from either side, changes the state; `_advance` then does what can be done next.
    """

    def __init__(
        self,
        opened: p.Open,
        world: ports.World,
        replay: Replay | None = None,
    ) -> None:
        self.id = opened.chat
        self._opened = opened
        self._make_agent = world.make_agent
        self._clock = world.clock
        self._files = world.files
        self._form_hours = world.form_hours
        self._page = Page(self.id, world.editor)
        self._store = Archive(world.store, lambda sentence: self._page.say(sentence, "warn"))
        self._ledger = Ledger(self._store, world.clock, opened.path, replay)
        in_text = opened.questions in ("text", "both")
        self._turn = Turn(self.id, self._open_choices if in_text else None)
        self._numbered: list[Waiting] = []  # choices that could only be shown as a list
        self._session = Session(self._make, self)
        self._mode = Mode(opened.mode, self._page, self._session)
        self._resume = opened.session  # the session's id in the agent's own books
        self._agent_name = ""
        self._queued = False  # the user wants the draft sent
        self._late: deque[str] = deque()  # answers that nobody waited for: the next messages
        self._given: dict[str, str] = {}  # by tool call: answers given in turn, as late messages
        self._missed: list[str] = []  # those of them that did not get through
        self._told: p.Status | None = None
        self._cost = 0.0  # US dollars

        for section_id in opened.sections:
            self._orphan(section_id, opened.lines)
        if opened.eager and not opened.session:
            self._session.want()
        self._advance()

    # --- from the user --------------------------------------------------------------------------

    def handle(self, event: p.Event) -> None:
        """Do what the user asks for."""
        match event:
            case p.Open():
                self._reattach(event)
            case p.Send(text=text):
                self._send(text)
            case p.Queue():
                # While the draft is being taken, this is about the same one.
                self._queued = not self._page.taking
                self._session.want()
                for w in reversed(self._forms()):  # the user says something else instead
                    self._withdraw(w, "cancelled")
            case p.Stop():
                self._stop()
            case p.Mode(mode=mode):
                self._mode.change(mode, working=self.working)
            case _:
                self._about_section(event)
        self._advance()

    def _about_section(self, event: p.Event) -> None:
        """What the user does with a section."""
        match event:
            case p.Edit(section=section, lines=lines):
                self._edit(section, lines)
            case p.Confirm(section=section, lines=lines, row=row):
                self._confirm(section, lines, row)
            case p.Cancel(section=section, lines=lines):
                self._cancel(section, lines)
            case p.Reopen(section=section):
                self._reopen(section)
            case p.Discuss(section=section, lines=lines, text=text):
                self._discuss(section, lines, text)
            case p.Grant():
                self._grant(event)
            case p.Compare(section=section, lines=lines):
                self._compare(section, lines)
            case p.Unshown(section=section):
                self._unshown(section)

    def _reattach(self, opened: p.Open) -> None:
        """The buffer was read again (``:e!``): its open section goes on."""
        for section_id in opened.sections:
            if not self._current(section_id):
                self._orphan(section_id, opened.lines)
        if self._page.open and self._page.open.form.id in opened.sections:
            self._page.judge()
        else:
            self._page.show_open()
        self._queued = False  # the buffer forgot it
        self._page.taken()
        self._told = None

    def _send(self, text: str) -> None:
        """A message that the buffer shows now."""
        self._page.taken()
        text = strip_markers(text).strip()
        if text and self._session.state == "connected":
            self._session.prompt(self._by_number(text))
        elif text:
            self._page.append(p.Refill(self.id, text))

    def _stop(self) -> None:
        """End the turn; everything that waits in it is closed and can be reopened."""
        if self._session.state != "connected" or not self.working:
            self._page.say("Nothing is running in this chat.")
            return
        for w in reversed(self._page.sections):  # the open one last: no other opens in between
            w.settle(ports.Deny(STOPPED, stop=True))
            self._withdraw(w, "cancelled")
        self._session.interrupt()

    def _edit(self, section: str, lines: list[str]) -> None:
        """The open section's text changed."""
        if (w := self._current(section)) is not None:
            w.edited(lines)
            self._store.save(w.stored)
            self._page.judge()
        elif (stored := self._store.load(section)) is not None and stored.state != "answered":
            # It crossed the section's end, and is there again when the section is reopened.
            self._store.save(msgspec.structs.replace(stored, lines=lines))

    def _confirm(self, section: str, lines: list[str], row: int) -> None:
        """``<CR>`` in the open section."""
        if (w := self._current(section)) is None:
            self._page.say("This section is no longer open.", "warn")
            return
        w.edited(lines)
        match w.confirm(row):
            case answer.Send(answers=answers):
                self._deliver(w, answers)
                return
            case answer.Explain(text=text):
                self._page.say(text, "warn")
            case offer.Offer(lines=offered):
                self._page.apply(p.Fill(self.id, section, offered))
            case waiting.Place(path=path, line=line):
                self._page.apply(p.Visit(self.id, path, line))
            case answer.Keep(question=question, rows=rows):
                self._page.apply(p.Keep(self.id, section, question, rows))
            case answer.Step(question=question, text=text):
                self._page.apply(p.Step(self.id, section, question))
                if text:
                    self._page.say(text)
        self._store.save(w.stored)
        self._page.judge()

    def _cancel(self, section: str, lines: list[str]) -> None:
        """``<Esc>`` in the open section: that question only, if others wait; else the turn."""
        if (w := self._current(section)) is None:
            return
        w.edited(lines)
        others = any(other.awaited for other in self._page.sections if other is not w)
        w.settle(asking.cancelled(w.request, CANCELLED, stop=not others))
        self._withdraw(w, "cancelled")

    def _discuss(self, section: str, lines: list[str], text: str) -> None:
        """Talk back about the open section; it waits on record until it is asked again."""
        if (w := self._current(section)) is None:
            self._page.say("This section is no longer open.", "warn")
            return
        w.edited(lines)
        message = w.discussion(text)
        in_turn = w.settle(ports.Deny(message))
        self._close(w, "discussed", record.discussed(w.form, text))
        if not in_turn:
            self._say_late(message)

    def _grant(self, event: p.Grant) -> None:
        """Answer a proposal from outside its section."""
        w = next((w for w in self._page.sections if w.form.id == event.section), None)
        if w is None or w.form.proposal is None:
            self._page.say("This section is no longer open.", "warn")
            return
        if event.lines:
            w.edited(event.lines)
        match w.choose(event.choice, event.reason):
            case answer.Decided() as decided:
                self._deliver(w, (decided,))
            case answer.Undecided(missing=missing):
                self._page.say(missing, "warn")

    def _compare(self, section: str, lines: list[str]) -> None:
        """Show the open patch as two buffers."""
        if (w := self._current(section)) is None:
            return
        w.edited(lines)
        if (sides := w.sides(self.id)) is not None:
            self._page.apply(sides)
        else:
            self._page.say("There is no patch here to be shown as a diff.", "warn")

    def _reopen(self, section_id: str) -> None:
        """``<CR>`` on the record of a section that was not answered."""
        if self._current(section_id):
            self._page.apply(p.Step(self.id, section_id, 1))
            return
        if any(w.form.id == section_id for w in self._page.sections):
            self._page.say(AFTER)
            return
        stored = self._store.load(section_id)
        if stored is None:
            self._page.say("This question is not on record any more.", "warn")
        elif stored.state == "answered":
            self._page.say("This question was answered.")
        elif (w := waiting.again(stored, self._files)) is not None:
            w.wanted = True
            self._ask(w)
            if self._page.open is not w:
                self._page.say(AFTER)

    async def close(self) -> None:
        """The buffer is gone: deny what waits, end the agent."""
        self._page.detach()
        for w in reversed(self._page.sections):
            w.settle(ports.Deny(CLOSED))
            if w.request.tool != asking.TEXT:  # those wait for the next time
                self._withdraw(w, "expired")
        await asyncio.sleep(0)  # let the denials reach the agent
        await self._session.close()

    # --- from the agent -------------------------------------------------------------------------

    async def ask(self, request: ports.Request) -> ports.Reply:
        """The agent waits for the user; cancelled when it no longer does."""
        section_id = self._store.new_id()
        form = asking.make(section_id, request, self._files)
        if isinstance(form, questions.Malformed):
            return asking.refused(request, form.reason)
        w = self._waiting(form, request)
        if self._ledger.replay is not None:
            return self._replayed(w)
        if self._opened.headless and request.tool == question_tool.TOOL:
            return asking.unanswered(request, "")
        w.reply = asyncio.get_running_loop().create_future()
        if not request.agent_id:  # what the agent itself asks, it asks between two messages
            self._turn.boundary = True
        self._ask(w)
        self._advance()
        try:
            return await w.reply
        except asyncio.CancelledError:
            if not self._withdraw(w, "expired") and w.message:
                self._say_late(w.message)  # answered, but the answer did not get through
            self._advance()
            raise

    def _replayed(self, w: Waiting) -> ports.Reply:
        """Answer from the replay, or fail for all to see: nobody may be there to be asked."""
        answers = self._ledger.replayed(w.form)
        if isinstance(answers, int):
            sentence = record.unknown(w.form, answers)
            self._page.append(*self._turn.paragraph())
            self._page.append(p.Write(self.id, transcript.notice(sentence), fresh=True))
            self._page.say(sentence, "error")
            return asking.unanswered(w.request, sentence)
        reply, lines = w.accept(answers)
        self._store.save(msgspec.structs.replace(w.stored, state="answered"))
        shown = "\n".join([*lines, record.REPLAYED])
        self._page.append(*self._turn.paragraph(), p.Write(self.id, shown, fresh=True))
        return reply

    def connected(self, agent: ports.Agent) -> None:
        """See `Listener.connected`."""
        if agent.name != self._agent_name:
            self._agent_name = agent.name
            self._page.append(p.Meta(self.id, {"agent": agent.name}))
        self._advance()

    def heard(self, event: ports.AgentEvent) -> None:
        """See `Listener.heard`."""
        match event:
            case ports.Started(session=session) if session != self._resume:
                self._resume = session
                self._page.append(p.Meta(self.id, {"session": session}))
            case ports.ToolFinished(id=call, failed=failed) if call in self._given:
                message = self._given.pop(call)
                if failed:  # the turn was stopped before the agent had read the answer
                    self._missed.append(message)
            case ports.ToolFinished(id=call, failed=False):
                self._reload(call)
            case ports.Mode(mode=mode):
                self._mode.heard(mode)
            case ports.TurnEnded(answered=uuids, cost=cost):
                self._given.clear()
                self._session.answered(uuids)
                self._cost = cost or self._cost
        self._page.append(*self._turn.hear(event))
        if isinstance(event, ports.TurnEnded):
            how: p.Data = {"stopped": event.stopped, "error": event.error, "cost": self._cost}
            self._page.append(p.Happened(self.id, "TurnEnd", how))
            self._page.apply(p.Reload(self.id))  # a command may have written any file
            self._refill(self._missed)
            self._missed = []
            self._ask_choices()
        self._advance()

    def lost(self, error: ports.AgentError) -> None:
        """See `Listener.lost`: say so, and keep what the agent did not take."""
        for w in reversed(self._page.sections):
            if w.reply is not None:  # a reopened one goes on: it waits for no agent
                self._withdraw(w, "expired")
        if isinstance(error, ports.SessionGone):
            self._resume = ""
            self._page.append(p.Meta(self.id, {"session": ""}))
        unheard = [] if self._turn.busy else list(self._session.prompts.values())
        self._page.append(*self._turn.end(transcript.notice(error.sentence)))
        # It may not have got them, and a draft outlives this Neovim.
        self._refill([*self._missed, *self._given.values(), *unheard, *self._late])
        self._missed, self._given = [], {}
        self._late.clear()
        self._queued = False
        self._ask_choices()
        self._advance()

    def ended(self) -> None:
        """See `Listener.ended`."""
        self._advance()

    def _make(self) -> Awaitable[ports.Agent]:
        o = self._opened
        spec = ports.AgentSpec(
            o.cwd, o.agent, self._resume, o.model, self._mode.name, o.questions or "tool"
        )
        return self._make_agent(spec, self.ask)

    # --- sections -------------------------------------------------------------------------------

    def _current(self, section: str) -> Waiting | None:
        w = self._page.open
        return w if w and w.form.id == section else None

    def _waiting(self, form: Form, request: ports.Request) -> Waiting:
        path, now = self._opened.path, self._clock.now()
        stored = ports.StoredSection(form.id, path, request.tool, request.input, created=now)
        return Waiting(form, request, stored)

    def _ask(self, w: Waiting) -> None:
        self._store.save(w.stored)  # before the user can see it
        w.earlier = self._ledger.earlier(w.form)
        self._page.append(*self._turn.asked(w.request.tool_use_id), w)
        self._happened("Question", w)

    def _deliver(self, w: Waiting, answers: answer.Answers) -> None:
        reply, lines = w.accept(answers)
        if isinstance(reply, ports.Allow) and (sentence := w.stale(self._files)):
            self._refuse(w, sentence)
            return
        in_turn = w.settle(reply)  # first of all: the agent waits
        self._ledger.record(w.form, answers)
        self._close(w, "answered", lines, *(self._line(w, reply) if in_turn else []))
        if not in_turn:
            if isinstance(reply, ports.Allow):  # a plan: its mode comes first
                for update in reply.updates:
                    self._mode.change(update["mode"], working=self.working)
            self._say_late(w.message)
        elif w.form.proposal is None:
            self._given[w.request.tool_use_id] = w.message
        elif isinstance(reply, ports.Allow) and reply.updates:
            self._grant_covered(reply.updates, str(answers[0].answer))

    def _refuse(self, w: Waiting, sentence: str) -> None:
        """What was allowed can't be done as it was shown."""
        w.settle(ports.Deny(f"{sentence} Nothing was written: read the file, then try again."))
        self._close(w, "answered", [f"✗ {sentence} Not written: {w.call}"])
        self._page.say(f"{sentence} Nothing was written; Claude is told.", "warn")

    def _line(self, w: Waiting, reply: ports.Reply) -> list[p.Effect]:
        """The line of the tool that runs now, to stand beside what was allowed."""
        if w.request.tool == asking.ASK or not isinstance(reply, ports.Allow):
            return []
        return [self._turn.allowed(w.request, reply.input)]

    def _grant_covered(self, updates: list[permission.Update], label: str) -> None:
        """What waits and would not have been asked any more runs as it was asked."""
        for w in reversed(self._page.sections):
            if w.form.kind in ("permission", "patch") and permission.covers(
                updates, w.request.suggestions, self._opened.cwd
            ):
                reply = ports.Allow(w.request.input)
                if w.settle(reply):
                    self._close(w, "answered", record.covered(label, w.call), *self._line(w, reply))

    def _reload(self, call: str) -> None:
        """A call has ended well: the editor may show the file that it has written."""
        match self._turn.running(call):
            case (
                ports.ToolStarted(name="Edit" | "Write", input={"file_path": str(path)})
                | ports.ToolStarted(name="NotebookEdit", input={"notebook_path": str(path)})
            ):
                self._page.apply(p.Reload(self.id, path))

    def _refill(self, messages: list[str]) -> None:
        """Give back as a draft what the agent was told but did not take."""
        if messages:
            text = "\n".join(clean_block("\n\n".join(messages)))
            self._page.append(p.Refill(self.id, text), p.Save(self.id))

    def _say_late(self, message: str) -> None:
        """Deliver an answer as the user's next message."""
        self._late.append(message)
        self._session.want()

    def _withdraw(self, w: Waiting, state: str) -> bool:
        """Nobody waits for this section any more; it can be reopened. False if it is closed."""
        return self._close(w, state, record.cancelled(w.form, state))

    def _close(self, w: Waiting, state: str, lines: list[str], *after: p.Effect) -> bool:
        if w not in self._page.sections:
            return False
        self._store.save(msgspec.structs.replace(w.stored, state=state))
        self._happened("Answered", w, outcome=state)
        return self._page.remove(w, lines, *after)

    def _happened(self, name: Literal["Question", "Answered"], w: Waiting, **more: str) -> None:
        self._page.apply(p.Happened(self.id, name, {**msgspec.structs.asdict(w.pending), **more}))

    def _orphan(self, section_id: str, left: list[str]) -> None:
        """The buffer shows a section as open that nobody waits for; ``left``: as `Open.lines`."""
        stored = self._store.load(section_id)
        w = waiting.again(stored, self._files) if stored is not None else None
        if stored is None or w is None:
            lines = [transcript.notice("A question stood here that is not on record any more.")]
        elif stored.state == "answered":
            lines = w.answered() or ["✓ This question was answered."]
        elif stored.tool == asking.TEXT and stored.state == "open" and self._is_new(stored):
            self._page.apply(p.Freeze(self.id, section_id, []))
            self._page.append(w)  # nobody has to wait for it
            return
        else:
            kept = left or stored.lines
            self._store.save(msgspec.structs.replace(stored, state="expired", lines=kept))
            lines = record.cancelled(w.form, "expired")
        self._page.apply(p.Freeze(self.id, section_id, lines), p.Save(self.id))

    # --- choices in the agent's text --------------------------------------------------------------

    def _forms(self) -> list[Waiting]:
        return [w for w in self._page.sections if w.request.tool == asking.TEXT]

    def _open_choices(self) -> list[Choice]:
        return [asking.choice_of(w.request) for w in self._forms()]

    def _is_new(self, stored: ports.StoredSection) -> bool:
        return self._clock.now() - stored.created < self._form_hours * 3600

    def _ask_choices(self) -> None:
        """The turn is over: ask what its text held."""
        found, self._turn.choices = self._turn.choices, []
        for choice in found:
            section_id, request = self._store.new_id(), asking.in_text(choice)
            form = asking.make(section_id, request, self._files)
            assert isinstance(form, Form)
            w = self._waiting(form, request)
            about = "\n\n".join(filter(None, (choice.title, choice.context)))
            if about:
                self._page.append(p.Write(self.id, "\n".join(clean_block(about)), fresh=True))
            if self._ledger.replay is None:
                self._ask(w)
            elif isinstance(self._replayed(w), ports.Allow):
                self._say_late(w.message)

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
        self._store.save(msgspec.structs.replace(w.stored, state="expired"))

    def _by_number(self, text: str) -> str:
        """What a message says where a bare number answers the one list that waits."""
        numbered, self._numbered = self._numbered, []
        if len(numbered) == 1:
            (w,) = numbered
            if (number := choices.by_number(asking.choice_of(w.request), text)) is not None:
                left = Left((Pick(number),))
                decided = answer.decide(w.form, 1, left, frozenset({1}))
                assert isinstance(decided, answer.Decided)
                w.accept((decided,))
                self._ledger.record(w.form, (decided,))
                self._store.save(msgspec.structs.replace(w.stored, state="answered"))
                return w.message
        return text

    # --- what is next ---------------------------------------------------------------------------

    @property
    def working(self) -> bool:
        """See `Listener.working`."""
        awaited = any(w.awaited for w in self._page.sections)
        return bool(self._turn.busy or self._session.prompts or awaited)

    def _advance(self) -> None:
        """Where a message may stand, send late answers, then ask for the queued draft."""
        while self._late and self._may_send():
            message = self._late.popleft()
            shown = "\n".join(clean_block(message))
            self._page.append(p.Write(self.id, f"## You\n\n{shown}\n\n## Claude", fresh=True))
            self._session.prompt(message)
        if self._queued and self._may_send():
            self._queued = False
            self._page.take()
        pending = [w.pending for w in self._page.sections]
        status = p.Status(self.id, self._state(), pending, self._cost, self._mode.name)
        if status != self._told:
            self._told = status
            self._page.apply(status)

    def _may_send(self) -> bool:
        return self._session.state == "connected" and self._turn.boundary and self._page.free

    def _state(self) -> p.State:
        if self._page.open:
            return "waiting"
        if self._session.state == "connected":
            return "working" if self.working or self._page.taking else "idle"
        return self._session.state
