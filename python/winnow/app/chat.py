"""One chat: its agent session, what waits in it, and the order in which the buffer sees it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine
from typing import Any
from uuid import uuid4

import msgspec

from winnow import ports
from winnow.app import waiting
from winnow.app.waiting import Waiting
from winnow.core import answer, questions, record, transcript
from winnow.core import protocol as p
from winnow.core.text import clean_block, strip_markers

log = logging.getLogger(__name__)

STOPPED = "The user stopped the turn before answering."
CANCELLED = "The user cancelled this question without answering it."
CLOSED = "The user closed the chat before answering."


class Chat:
    """Everything that one chat does, on the agent loop's thread only.

    The buffer sees things in the order of ``_backlog``. While a section is open, or the draft is
    being taken, the backlog waits: so nothing moves under the user's fingers, and a message stands
    where the agent gets it.
    """

    def __init__(
        self,
        opened: p.Open,
        make_agent: ports.MakeAgent,
        editor: ports.Editor,
        store: ports.Store,
        clock: ports.Clock,
    ) -> None:
        self.id = opened.chat
        self._opened = opened
        self._session = opened.session
        self._agent_name = ""
        self._make_agent = make_agent
        self._editor = editor
        self._store = store
        self._clock = clock

        self._agent: ports.Agent | None = None  # only while connected
        self._wake = asyncio.Event()
        self._task = asyncio.create_task(self._live())
        self._background: set[asyncio.Task[None]] = set()

        self._backlog: deque[p.Effect | Waiting] = deque()
        self._open: Waiting | None = None
        self._queued = False  # the user wants the draft sent
        self._taking = False  # the draft was asked for
        self._boundary = True  # the user's next message may stand here

        self._prompts: dict[str, str] = {}  # uuid → text, sent and not yet part of a result
        self._undelivered: deque[str] = deque()
        self._busy = False  # the agent speaks, asked or not
        self._connecting = False
        self._failed = False
        self._fresh = True  # the next text starts a paragraph
        self._thinking = False
        self._tools: dict[str, ports.ToolStarted] = {}
        self._told: p.State | None = None

        for section_id in opened.sections:
            self._orphan(section_id)
        if not opened.session:
            self._wake.set()  # a new chat: connect while the user types
        self._tell()

    # --- from the user --------------------------------------------------------------------------

    def handle(self, event: p.Event) -> None:
        """Do what the user asks for."""
        match event:
            case p.Open():
                self._reattach(event)
            case p.Send(text=text):
                self._send(text)
            case p.Queue():
                self._queue()
            case p.Stop():
                self._stop()
            case p.Edit(section=section, lines=lines):
                self._edit(section, lines)
            case p.Confirm(section=section, lines=lines, row=row):
                self._confirm(section, lines, row)
            case p.Cancel(section=section, lines=lines):
                self._cancel(section, lines)
            case p.Reopen(section=section):
                self._reopen(section)

    def _reattach(self, opened: p.Open) -> None:
        """The buffer was read again (``:e!``): its open section goes on."""
        for section_id in opened.sections:
            if self._open and self._open.form.id == section_id:
                self._show_verdict()
            else:
                self._orphan(section_id)
        if self._open and self._open.form.id not in opened.sections:
            self._show(self._open)
        self._told = None
        self._tell()

    def _send(self, text: str) -> None:
        """A message that the buffer shows now."""
        self._taking = False
        self._fresh = True
        text = strip_markers(text).strip()
        if text:
            self._prompt(text)
        self._pump()
        self._tell()

    def _queue(self) -> None:
        """The draft is to go out as soon as it can."""
        self._queued = True
        self._failed = False
        self._wake.set()
        self._pump()
        self._tell()

    def _stop(self) -> None:
        """End the turn; everything that waits in it is closed and can be reopened."""
        if not (self._agent and self._working()):
            self._say("Nothing is running in this chat.")
            return
        self._withdraw_all(ports.Deny(STOPPED, stop=True), "cancelled")
        self._spawn(self._agent.interrupt())

    def _edit(self, section: str, lines: list[str]) -> None:
        """The open section's text changed."""
        if (w := self._current(section)) is not None:
            w.edited(lines)
            self._store.save(w.stored)
            self._show_verdict()

    def _confirm(self, section: str, lines: list[str], row: int) -> None:
        """``<CR>`` in the open section."""
        if (w := self._current(section)) is None:
            self._say("This section is no longer open.", "warn")
            return
        w.edited(lines)
        match w.confirm(row):
            case answer.Send(answers=answers):
                self._deliver(w, answers)
                return
            case answer.Explain(text=text):
                self._say(text, "warn")
            case answer.Keep(question=question, option=option):
                self._apply(p.Keep(self.id, section, question, option))
            case answer.Step(question=question, text=text):
                self._apply(p.Step(self.id, section, question))
                if text:
                    self._say(text)
        self._store.save(w.stored)
        self._show_verdict()

    def _cancel(self, section: str, lines: list[str]) -> None:
        """``<Esc>`` in the open section: that question only, if others wait; else the turn."""
        if (w := self._current(section)) is None:
            return
        w.edited(lines)
        others = any(isinstance(item, Waiting) for item in self._backlog)
        w.settle(ports.Deny(CANCELLED, stop=not others))
        self._close(w, "cancelled", record.cancelled(w.form, "cancelled"))

    def _reopen(self, section_id: str) -> None:
        """``<CR>`` on the record of a section that was not answered."""
        if self._current(section_id):
            self._apply(p.Step(self.id, section_id, 1))
            return
        if any(isinstance(item, Waiting) and item.form.id == section_id for item in self._backlog):
            self._say("This question is asked again after the one that is open.")
            return
        stored = self._store.load(section_id)
        if stored is None:
            self._say("This question is not on record any more.", "warn")
        elif stored.state == "answered":
            self._say("This question was answered.")
        else:
            request = ports.Request(stored.tool, stored.input)
            form = waiting.make(section_id, request)
            if not isinstance(form, questions.Malformed):
                self._ask(Waiting(form, request, msgspec.structs.replace(stored, state="open")))

    async def close(self) -> None:
        """The buffer is gone: deny what waits, end the agent."""
        self._editor = _Nowhere()
        self._withdraw_all(ports.Deny(CLOSED), "expired")
        await asyncio.sleep(0)  # let the denials reach the agent
        self._task.cancel()
        await asyncio.gather(self._task, *self._background, return_exceptions=True)

    # --- from the agent -------------------------------------------------------------------------

    async def ask(self, request: ports.Request) -> ports.Reply:
        """The agent waits for the user; cancelled when it no longer does."""
        section_id = self._store.new_id()
        form = waiting.make(section_id, request)
        if isinstance(form, questions.Malformed):
            return ports.Deny(form.reason)
        stored = ports.StoredSection(
            section_id, self._opened.path, request.tool, request.input, created=self._clock.now()
        )
        w = Waiting(form, request, stored)
        w.reply = asyncio.get_running_loop().create_future()
        self._ask(w)
        try:
            return await w.reply
        except asyncio.CancelledError:
            self._withdraw(w, "expired")
            raise

    async def _live(self) -> None:
        """Own each agent from connect to close, and drain it whatever the editor does."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            agent: ports.Agent | None = None
            self._failed, self._connecting = False, True
            self._tell()
            try:
                agent = await self._make_agent(self._spec(), self.ask)
                await agent.connect()
                self._connected(agent)
                async for event in agent.events():
                    self._hear(event)
                if self._working():
                    self._lost("Claude ended in the middle of a turn. Send again to go on.")
            except ports.AgentError as error:
                log.error("chat %s: %s\n%s", self.id, error.sentence, error.detail)
                if isinstance(error, ports.SessionGone):
                    self._session = ""
                    self._emit(p.Meta(self.id, {"session": ""}))
                self._lost(error.sentence)
            except Exception:
                log.exception("chat %s", self.id)
                self._lost("Winnow failed inside; :Winnow log has the details.")
            finally:
                self._agent, self._connecting = None, False
                if agent is not None:
                    await agent.close()
            self._tell()

    def _spec(self) -> ports.AgentSpec:
        o = self._opened
        return ports.AgentSpec(o.cwd, o.agent, self._session, o.model, o.mode)

    def _connected(self, agent: ports.Agent) -> None:
        self._agent, self._connecting, self._boundary = agent, False, True
        if agent.name != self._agent_name:
            self._agent_name = agent.name
            self._emit(p.Meta(self.id, {"agent": agent.name}))
        while self._undelivered:
            self._prompt(self._undelivered.popleft())
        self._pump()
        self._tell()

    def _lost(self, sentence: str) -> None:
        """The agent is gone: say so, and keep what it did not take."""
        self._withdraw_all(None, "expired")
        self._write(transcript.notice(sentence), fresh=True)
        if self._prompts and not self._busy:  # nothing came back: it may not have got them
            self._emit(p.Refill(self.id, "\n\n".join(self._prompts.values())))
        self._prompts.clear()
        self._failed, self._busy, self._queued = True, False, False
        self._fresh, self._boundary, self._taking = True, True, False
        self._emit(p.Save(self.id))

    def _hear(self, event: ports.AgentEvent) -> None:
        match event:
            case ports.Started(session=session):
                if session != self._session:
                    self._session = session
                    self._emit(p.Meta(self.id, {"session": session}))
            case ports.Text(text=text):
                self._speak(thinking=False)
                self._write("\n".join(clean_block(text)), fresh=self._fresh)
                self._fresh = False
            case ports.Thinking(text=text):
                first = not self._thinking
                self._speak(thinking=True)
                self._write(transcript.thinking(text, first=first), fresh=first)
            case ports.ToolStarted(name=name):
                self._speak(thinking=False)
                if name != waiting.ASK:  # its section is its line
                    self._tools[event.id] = event
                    self._show_tool(event, "running")
            case ports.ToolFinished(id=tool_id, output=output, failed=failed):
                if (started := self._tools.pop(tool_id, None)) is not None:
                    state: transcript.ToolState = "failed" if failed else "done"
                    self._show_tool(started, state, transcript.tool_output(output))
            case ports.Pause():
                self._fresh, self._thinking, self._boundary = True, False, True
                self._pump()
            case ports.Notice(sentence=sentence):
                self._write(transcript.notice(sentence), fresh=True)
                self._fresh = True
            case ports.TurnEnded():
                self._turn_ended(event)
        self._tell()

    def _turn_ended(self, event: ports.TurnEnded) -> None:
        if event.answered:
            for uuid in event.answered:
                self._prompts.pop(uuid, None)
        else:
            self._prompts.clear()
        self._busy, self._fresh, self._thinking = False, True, False
        for tool in self._tools.values():  # cut short: they get no result any more
            self._show_tool(tool, "failed")
        self._tools.clear()
        if event.stopped:
            self._write("■ Stopped.", fresh=True)
        elif event.error:
            self._write(transcript.notice(event.error), fresh=True)
        self._emit(p.Save(self.id))
        self._boundary = True
        self._pump()

    def _speak(self, *, thinking: bool) -> None:
        """The agent says something: no place for the user's message until it pauses."""
        if thinking != self._thinking:
            self._fresh = True
        self._busy, self._boundary, self._thinking = True, False, thinking

    def _show_tool(
        self,
        tool: ports.ToolStarted,
        state: transcript.ToolState,
        output: list[str] | None = None,
    ) -> None:
        line = transcript.tool_line(tool.name, tool.input, state=state)
        self._emit(p.Tool(self.id, tool.id, line, output or []))
        self._fresh = True

    # --- sections -------------------------------------------------------------------------------

    def _current(self, section: str) -> Waiting | None:
        return self._open if self._open and self._open.form.id == section else None

    def _ask(self, w: Waiting) -> None:
        self._store.save(w.stored)  # before the user can see it
        self._backlog.append(w)
        self._pump()
        if self._open and self._open is not w:
            self._show_verdict()  # one more waits
        self._tell()

    def _show(self, w: Waiting) -> None:
        reopened = w.reply is None
        self._apply(p.Section(self.id, w.form.id, w.lines, w.previews, focus=reopened))
        self._show_verdict()

    def _show_verdict(self) -> None:
        if self._open:
            queued = sum(isinstance(item, Waiting) for item in self._backlog)
            self._apply(self._open.verdict(self.id, queued))

    def _deliver(self, w: Waiting, answers: answer.Answers) -> None:
        reply, lines = w.accept(answers)
        in_turn = w.settle(reply)  # first of all: the agent waits
        self._close(w, "answered", lines)
        if not in_turn:
            self._say_late(record.late_message(w.form, answers))

    def _say_late(self, message: str) -> None:
        """Deliver an answer as the user's next message."""
        self._write(f"## You\n\n{message}\n\n## Claude", fresh=True)
        self._fresh = True
        if self._agent:
            self._prompt(message)
        else:
            self._undelivered.append(message)
            self._wake.set()
        self._tell()

    def _withdraw_all(self, reply: ports.Reply | None, state: str) -> None:
        sections = [item for item in self._backlog if isinstance(item, Waiting)]
        for w in [*sections, *([self._open] if self._open else [])]:
            if reply is not None:
                w.settle(reply)
            self._withdraw(w, state)

    def _withdraw(self, w: Waiting, state: str) -> None:
        """Nobody waits for this section any more; it can be reopened."""
        lines = record.cancelled(w.form, state)
        if w is self._open:
            self._close(w, state, lines)
        elif w in self._backlog:
            self._store.save(msgspec.structs.replace(w.stored, state=state))
            shown = p.Write(self.id, "\n".join(lines), fresh=True)
            self._backlog[self._backlog.index(w)] = shown

    def _close(self, w: Waiting, state: str, lines: list[str]) -> None:
        self._store.save(msgspec.structs.replace(w.stored, state=state))
        self._open = None
        self._apply(p.Freeze(self.id, w.form.id, lines), p.Save(self.id))
        self._fresh = True
        self._boundary = True
        self._pump()
        self._tell()

    def _orphan(self, section_id: str) -> None:
        """The buffer shows a section as open that nobody waits for."""
        stored = self._store.load(section_id)
        form = None
        if stored is not None:
            form = waiting.make(section_id, ports.Request(stored.tool, stored.input))
        if stored is None or form is None or isinstance(form, questions.Malformed):
            lines = [transcript.notice("A question stood here that is not on record any more.")]
        else:
            if stored.state == "open":
                self._store.save(msgspec.structs.replace(stored, state="expired"))
            lines = record.cancelled(form, "expired")
        self._apply(p.Freeze(self.id, section_id, lines), p.Save(self.id))

    # --- to the agent and the editor ------------------------------------------------------------

    def _prompt(self, text: str) -> None:
        if self._agent is None:
            self._emit(p.Refill(self.id, text))
            self._queue()
            return
        uuid = str(uuid4())
        self._prompts[uuid] = text
        self._spawn(self._agent.prompt(text, uuid))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            try:
                await work
            except ports.AgentError as error:
                log.error("chat %s: %s\n%s", self.id, error.sentence, error.detail)
                self._lost(error.sentence)
                self._tell()

        task = asyncio.create_task(run())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _write(self, text: str, *, fresh: bool) -> None:
        self._emit(p.Write(self.id, text, fresh))

    def _emit(self, effect: p.Effect) -> None:
        """Show something, after everything that came before it."""
        self._backlog.append(effect)
        self._pump()

    def _pump(self) -> None:
        while self._backlog and not self._open and not self._taking:
            item = self._backlog.popleft()
            if isinstance(item, Waiting):
                self._open = item
                self._show(item)
            else:
                self._editor.apply(item)
        ready = self._agent and self._boundary and not self._open and not self._taking
        if self._queued and ready:
            self._queued, self._taking = False, True
            self._editor.apply(p.Take(self.id))

    def _apply(self, *effects: p.Effect) -> None:
        self._editor.apply(*effects)

    def _say(self, text: str, level: p.Level = "info") -> None:
        self._apply(p.Say(self.id, text, level))

    def _working(self) -> bool:
        return bool(self._busy or self._prompts or self._open)

    def _tell(self) -> None:
        """Tell the editor the state, when it changed."""
        state = self._state()
        if state != self._told:
            self._told = state
            self._apply(p.Status(self.id, state))

    def _state(self) -> p.State:
        if self._open:
            return "waiting"
        if self._agent:
            return "working" if self._working() or self._taking else "idle"
        if self._failed:
            return "failed"
        return "connecting" if self._connecting or self._wake.is_set() else "asleep"


class _Nowhere:
    """The editor of a chat whose buffer is gone."""

    def apply(self, *effects: p.Effect) -> None:
        """Nothing to show it in."""
