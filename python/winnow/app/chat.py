"""One chat: what its user asks for, what its agent does, and which of the two is next."""

from __future__ import annotations

import asyncio

from winnow import ports
from winnow import protocol as p
from winnow.app.ledger import Ledger, Replay
from winnow.app.mode import Mode
from winnow.app.outbox import Outbox
from winnow.app.page import Page
from winnow.app.parts.all import PARTS
from winnow.app.parts.part import Around, Parts
from winnow.app.parts.stopping import Stopping
from winnow.app.queue import Queue
from winnow.app.section import Section
from winnow.app.sections.sections import Sections
from winnow.app.session import Session
from winnow.app.starts import Starts
from winnow.app.trust import Trust
from winnow.core import agent as a
from winnow.core.asking.trust import Given
from winnow.core.text.text import strip_markers
from winnow.core.transcript.entries import Ended, Entry, Told

CUT = "Claude's answer ends here: the chat was closed before it was whole. Send again to go on."


class Chat:
    """Everything that one chat does, on the agent loop's thread only.

    Each event, from either side, changes the state; `_advance` then does what can be done next.
    ``told`` is what the editor was told of it last.
    """

    def __init__(
        self,
        opened: p.Open,
        world: ports.World,
        starts: Starts,
        replay: Replay | None = None,
        after: asyncio.Task[None] | None = None,
    ) -> None:
        self.id = opened.chat
        self.path = opened.path
        self._opened = opened
        self._world = world
        self._store = world.store
        self._page = Page(self.id, world.editor, self._advance, world.folder(opened.cwd))
        self._session = Session(self._spec, self._make, self, starts, after, id=opened.session)
        self._mode = Mode(opened, self._page, self._session, world.decided)
        ask = None if replay is not None else self.ask
        self._trust = Trust(opened, world, self._page, self._session, ask)
        self._outbox = Outbox(opened.path, world.store, self._page.stored)
        ledger = Ledger(world.store, world.clock, opened.path, replay)
        page, outbox = self._page, self._outbox
        self._sections = Sections(opened, world, page, outbox, ledger, self._mode, self._trust)
        self._turn = self._sections.turn
        does = (self._sections, self.moved, self.handle, self.renew, self.ask)
        around = Around(opened, world, page, self._session, outbox, self._turn, *does)
        self._queue, self._stopping = Queue(around), Stopping(around)
        self.parts = Parts([self._queue, self._stopping, *(part(around) for part in PARTS)])
        self._resume = opened.session  # the session's id in the agent's own books
        self._begun = False  # that session is new, and has no whole turn yet
        self._heard: ports.Heard | None = None  # what it had heard when its agent was made
        self._stale = False  # the agent has settings that are not those of now
        self.told: p.Status | None = None
        self._loading = asyncio.create_task(self._load())
        if opened.eager and not opened.session:
            self._session.want(urgent=False)
        self._advance()

    async def _load(self) -> None:
        """Learn what the store has of this chat, however long that takes."""
        stored: list[ports.StoredSection] = []
        found: list[ports.Message] = []
        try:
            stored = await self._store.sections(self.path)
            found = await self._store.messages(self.path)
        except ports.StoreError as error:  # damaged: the chat goes on without
            self._page.say(error.sentence, "warn")
        self._sections.know(stored)
        self._outbox.find(found)
        calls = {one.marker: one.call for one in stored}
        for sent in self._opened.sent:  # a host may have ended before it got these
            call = calls.get(sent.section, "")  # whose refusal says it, if it got that far
            self._outbox.find_sent(
                ports.Message(sent.id, self.path, sent.text, own=True, call=call, denial=sent.text)
            )
        if self._heard is not None:
            self._sort(self._heard)
        self._advance()

    async def ready(self) -> None:
        """Return when `_load` is done."""
        await asyncio.wait({self._loading})

    # --- from the user --------------------------------------------------------------------------

    def handle(self, event: p.ChatEvent) -> None:
        """Do what the user asks for."""
        match event:
            case p.Open():
                self._sections.reattach(event.sections, event.lines)
                self._queue.forget()  # the buffer has, too
                self._page.taken()
                self.told = None
            case p.Send():
                self._send(event)
            case p.Refilled(messages=messages):
                self._outbox.refilled(messages)
            case p.Queue():
                self._queue.want(event)
                self._sections.choices.cancel()
            case p.Pace():
                self._page.say("Nothing is clarified in this chat.", "warn")
            case p.SetMode(mode=mode):
                self._mode.change(mode)
            case _:
                if self.parts.takes(event):
                    pass
                elif isinstance(event, p.Stop):
                    self._stop()
                elif isinstance(event, p.SectionMessage):
                    self._sections.handle(event)
        self._advance()

    def _send(self, event: p.Send) -> None:
        """A message that the buffer shows now."""
        self._page.taken()
        text, id = strip_markers(event.text).strip(), event.id
        if text and self._session.state == "connected":
            picked = self._sections.choices.by_number(text)
            message, more = self._outbox.write(picked or text, id, own=picked is None)
            self._session.prompt(message, event.attached, more)
            self._page.append(*map(self._shown, more))
            self._queue.sent(message.id)
        elif text:
            self._page.append(p.Refill(self.id, text), p.Stored(self.id, [id]))

    def _stop(self) -> None:
        """End the turn, and what waits in it."""
        if self._session.state == "connected" and self.working:
            self._sections.stop()
            self._stopping.stop()
            self._session.interrupt()
        else:
            self._page.say("Nothing is running in this chat.")

    def show(self, section: str, other: Chat) -> bool:
        """Show what waits here in another chat, too. False: it waits no more, or is there."""
        return self._sections.show(section, other._page)

    @property
    def waiting(self) -> list[Section]:
        """What waits for the user."""
        return self._sections.waiting

    def watched(self, headless: bool) -> None:
        """Somebody came who can be asked, or the last one went."""
        self._sections.headless = self._trust.headless = headless
        if not headless and self._trust.unasked:
            self.renew()

    def renew(self) -> None:
        """Start the agent anew before the next message: its settings may have changed."""
        self._stale = True
        self._advance()

    async def close(self) -> None:
        """The buffer is gone: deny what waits, end the agent."""
        self._page.detach()
        self._loading.cancel()
        self._sections.close()
        self.parts.close()
        await asyncio.sleep(0)  # let the denials reach the agent
        await self._session.close()

    # --- from the agent -------------------------------------------------------------------------

    async def ask(self, request: a.Request) -> a.Reply:
        """The agent waits for the user; cancelled when it no longer does."""
        section = self._sections.open(request)
        if not isinstance(section, Section):
            return section
        assert section.reply is not None
        self._advance()
        try:
            return await section.reply
        except asyncio.CancelledError:
            self._sections.give_up(section)
            self._advance()
            raise

    @property
    def spare(self) -> bool:
        """Its agent runs for a first message that may never come."""
        wanted = self._session.used or self._queue.wanted
        return not wanted and self._session.state in ("connecting", "connected")

    def moved(self) -> None:
        """See `Listener.moved`."""
        self._advance()

    def found(self, heard: ports.Heard | None) -> bool:
        """See `Listener.found`: answers that it has not heard are sent again."""
        self._heard = {} if heard is None else heard
        back = self._sort(self._heard)
        begun = heard is None and any(message.own for message in back)
        if begun:  # it was ended in its first turn, and has nothing to go on with
            self._forget_session()
        return begun

    def _sort(self, heard: ports.Heard) -> list[ports.Message]:
        """A host before this one has left words in the outbox; returns what is a draft again."""
        if self._outbox.unanswered(heard) and not self._opened.sections:  # whose record says it
            self._page.append(*self._turn.end(Ended(error=CUT)))
        back = self._outbox.sort(heard)
        self._page.refill(back)
        return back

    def connected(self, agent: ports.Agent) -> None:
        """See `Listener.connected`."""
        self.parts.connected(agent)
        self._advance()

    def heard(self, event: a.AgentEvent) -> None:
        """See `Listener.heard`."""
        if isinstance(event, (a.Text, a.Thinking)) and self._turn.speaks:
            self._page.append(*self._turn.hear(event))  # of thousands: nothing else follows from it
            return
        match event:
            case a.Started(session=session):
                if session != self._resume:
                    self._resume, self._begun = session, True
                    self._page.append(p.Meta(self.id, {"session": session}))
            case a.ToolFinished(id=call, output=output, failed=failed):
                self._outbox.finished({call: output if failed else ""})
            case a.Mode(mode=mode):
                self._mode.heard(mode)
            case a.SettingsChanged():
                self._stale = True
            case a.TurnEnded():
                self._begun = False
            case _:
                pass
        self.parts.hear(event)
        answered = self._turn.busy  # at least a part of an answer came
        self._page.append(*self._turn.hear(event))
        if isinstance(event, a.TurnEnded):
            how: p.Data = {"stopped": event.stopped, "error": event.error}
            how["cost"] = self.parts.status()["cost"]
            self._page.append(p.Happened(self.id, "TurnEnd", how))
            back = self._outbox.refused if event.error and not answered else self._outbox.answered
            self._page.refill(back(event.answered))
            self._sections.choices.ask()
        self._advance()

    def lost(
        self, error: ports.AgentError, heard: ports.Heard | None, *, sure: bool = True
    ) -> None:
        """See `Listener.lost`: say so, and keep what the agent did not take."""
        self._sections.lost()
        self.parts.ended()
        self._heard = None
        if isinstance(error, ports.SessionGone) or (heard is None and self._begun):
            self._forget_session()
        self._page.append(*self._turn.end(Ended(error=error.sentence)))
        if sure:  # a draft outlives this Neovim
            self._page.refill(self._outbox.lost({} if heard is None else heard))
        else:
            self._outbox.doubt()
        self._queue.forget()
        self._sections.choices.ask()
        self._advance()

    def _forget_session(self) -> None:
        """The next agent begins another one."""
        if self._resume:
            self._resume = ""
            self._page.append(p.Meta(self.id, {"session": ""}))

    def ended(self) -> None:
        """See `Listener.ended`."""
        self.parts.ended()
        self._heard = None
        self._outbox.doubt()
        self._advance()

    async def _spec(self) -> ports.AgentSpec:
        o = self._opened
        await self.parts.prepare()
        self._stale = False
        given = Given()
        if o.agent != "scripted":  # which reads nothing of a project
            given = await self._trust.given(lambda: self._queue.wanted or self._outbox.waiting)
        mode, ways = await self._mode.first(), self._sections.ways
        spec = ports.AgentSpec(o.cwd, o.agent, self._resume, o.model, mode, ways, given)
        return self.parts.spec(spec)

    async def _make(self, spec: ports.AgentSpec) -> ports.Agent:
        return await self._world.make_agent(spec, self.ask)

    # --- what is next ---------------------------------------------------------------------------

    @property
    def working(self) -> bool:
        """See `Listener.working`."""
        return bool(self._turn.busy or self._outbox.sent or self._sections.awaited)

    def _advance(self) -> None:
        """Where a message may stand, send late answers, then ask for the queued draft."""
        if self._outbox.waiting:
            self._session.want()
        if self._stale and (self._queue.wanted or self._outbox.waiting) and not self.working:
            self._session.renew()
        while (message := self._outbox.next()) and self._may_tell(message):
            self._page.append(self._shown(message))
            self._outbox.send(message)
            self._session.prompt(message)
        if self._may_send() and self._queue.may_go(working=self.working):
            self._queue.take()
        pending = [section.pending for section in self._sections.waiting]
        more = {"mode": self._mode.name, "ahead": self._session.ahead, **self.parts.status()}
        status = p.Status(self.id, self._state(), pending, **more)
        if status != self.told:
            self.told = status
            self._page.apply(status)

    def _may_tell(self, message: ports.Message) -> bool:  # noqa: ARG002  a run's depends on it
        """Whether this message can go out now."""
        return self._may_send()

    def _shown(self, message: ports.Message) -> Entry:
        """How it stands in the chat."""
        return Told(message.text)

    def _may_send(self) -> bool:
        free = self._turn.boundary and self._page.free and not self.parts.holds()
        return self._session.state == "connected" and free

    def _state(self) -> p.State:
        if self._sections.waiting:
            return "waiting"
        if self._session.state == "connected":
            if self.working or self._page.taking:
                return "working"
            return "asleep" if self._stale else "idle"
        return self._session.state
