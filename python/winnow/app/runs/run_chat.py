"""The chat in which a run is led: its agent is the orchestrator."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.chat import Chat
from winnow.app.ledger import Replay
from winnow.app.runs.calls import Calls
from winnow.app.runs.crew import Crew
from winnow.app.runs.record import Record
from winnow.app.runs.routes import RunSections, is_question
from winnow.app.runs.viewer import Viewers
from winnow.app.runs.voice import Voice
from winnow.app.section import Section
from winnow.app.starts import Starts
from winnow.core import agent as a
from winnow.core.context import attachment
from winnow.core.run import events as e
from winnow.core.run import places, prompts, query, timeline, tools
from winnow.core.run.board import Live
from winnow.core.run.query import Query
from winnow.core.text import grammar
from winnow.core.text.text import brief
from winnow.core.transcript.entries import Entry, Noted, Recorded
from winnow.ports import Message

log = logging.getLogger(__name__)

_ANSWERED = f"{grammar.KEPT} Your message below answers this."
_PASSES = "… This is asked again below your message."
WORK_GOES_ON = "Workers go on; :Winnow run ++stop ends all."
EACH = "Answer each in its section, here or from :Winnow board."
REMINDED = "again"  # what a turn is about that follows from a reminder
_WIDE = 100  # characters of a line that says what woke the orchestrator


class RunChat(Chat):
    """A chat with a run; implements `winnow.app.runs.front.Front`.

    Attributes:
        run: the run.
        calls: what can be wanted of it.
        viewers: who looks at its tasks.
        changed: is called when something has happened in it.
    """

    def __init__(
        self,
        opened: p.Open,
        world: ports.World,
        starts: Starts,
        replay: Replay | None = None,
        after: asyncio.Task[None] | None = None,
    ) -> None:
        self._record = Record(opened.run, world)
        self._voice = Voice(self._record.run)
        self._aside: list[Section] = []  # questions that let the user's message pass
        self._died = False  # its agent was lost, and has ended no turn since
        self.viewers = Viewers()
        self.changed: Callable[[], None] = lambda: None
        super().__init__(opened, world, starts, replay, after)
        self._queue.eager = True  # a message may be the answer that a worker waits for
        self._crew = Crew(self._record, self, world, starts)
        self._crew.places = places.known(opened.places)
        self._crew.merges.how = opened.limits.merge
        self.run = self._record.run
        self.calls = Calls(self._record, self._crew, self, world.runs)
        self._asks = RunSections(self._sections, self._crew, self.note)
        self._record.heard = self._happened

    async def _load(self) -> None:
        await super()._load()
        await self._record.load()
        self._crew.restart()
        self._asks.reconcile()
        self._rewake()
        self._advance()

    def _rewake(self) -> None:
        """A question that the orchestrator has is told again, if nothing is on its way about it."""
        for asked in self._forgotten():
            self._store.save(self.wake(prompts.again(asked, ()), asked.id))

    def _forgotten(self) -> list[Query]:
        """The questions of which the orchestrator has made nothing."""
        asked = query.with_orchestrator(self.run.queries.values())
        left = [one for one in asked if one.id != self._voice.about]
        return [one for one in left if not self._outbox.about(one.id, sent=False)]

    # --- from the user --------------------------------------------------------------------------

    def handle(self, event: p.ChatEvent) -> None:
        """See `Chat.handle`."""
        if isinstance(event, p.Open):
            self._opened = msgspec.structs.replace(self._opened, limits=event.limits)
            self._crew.places = places.known(event.places)
            self._put_back()
        super().handle(event)
        if isinstance(event, p.Stop) and self._crew.workers:
            self._page.say(WORK_GOES_ON)

    def _send(self, event: p.Send) -> None:
        """The answer to the only question that waits, or words for the orchestrator."""
        text, id = event.text, event.id
        waiting = query.with_human(self.run.queries.values())
        meant = query.route(waiting, text)
        if meant is not None and self._asks.find(meant.id) is not None:
            self._page.taken(Recorded([f"{grammar.KEPT} Answered: {brief(query.named([meant]))}"]))
            self._answer(meant.id, attachment.joined(text.strip(), event.attached))
            self._page.apply(p.Stored(self.id, [id]))
        else:
            self._begin(text)
            super()._send(event)
            if len(waiting) > 1:
                named = query.named(waiting)
                self.note(f"That answers no question, as {len(waiting)} wait: {named}. {EACH}")
        self._put_back()

    def _begin(self, text: str) -> None:
        """The first message is the goal."""
        if not self._turn.busy:
            self._voice.about = ""
        moved = self.run.chat != self.path
        if text.strip() and (moved or not self.run.goal):
            goal = "" if self.run.goal else text
            self._record.record(
                e.RunStarted(
                    self._record.now,
                    self.run.id,
                    self.path,
                    self._opened.cwd,
                    goal,
                    self._opened.limits,
                )
            )

    def _put_back(self) -> None:
        aside, self._aside = self._aside, []
        self._sections.put_back(aside)

    # --- for the run ----------------------------------------------------------------------------

    async def spec(self) -> ports.AgentSpec:
        """See `Front.spec`."""
        return await super()._spec()

    def wake(self, text: str, about: str) -> Message:
        """See `Front.wake`."""
        message = self._outbox.message(text, about=about)
        self._outbox.queue(message)
        return message

    def remind(self) -> None:
        """See `Front.remind`."""
        self._rewake()

    def halt(self) -> None:
        """The user stops all of it: the workers, and what the orchestrator does."""
        if self.calls.halt():
            if self._session.state == "connected" and self.working:
                self.handle(p.Stop(self.id))
            self._advance()

    def ask_user(self, request: a.Request) -> None:
        """See `Front.ask_user`."""
        self._sections.ask(request)

    def withdraw(self, id: str) -> None:
        """See `Front.withdraw`."""
        self._asks.withdraw(id)

    def reload(self) -> None:
        """See `Front.reload`."""
        self._page.apply(p.Reload())

    def note(self, sentence: str) -> None:
        """See `Front.note`."""
        self._page.append(Noted(sentence))
        self._page.say(sentence)

    # --- for who looks at it --------------------------------------------------------------------

    @property
    def live(self) -> dict[tuple[str, str], Live]:
        """See `Crew.live`."""
        return self._crew.live

    def partial(self, task: str) -> list[Entry]:
        """What its worker says, and has not finished."""
        worker = self._crew.workers.get(task)
        return worker.partial if worker else []

    def shown(self, task: str, entry: Entry) -> None:
        """See `Front.shown`."""
        self.viewers.shown(task, entry)

    def _happened(self, event: e.Event) -> None:
        if line := timeline.in_place(event):
            self.shown(getattr(event, "task", ""), Recorded([line]))

    def say_to(self, task: str, text: str) -> bool:
        """The user writes in a task: the answer to its only question, or words for its worker."""
        waiting = self.run.pending(task)
        if len(waiting) == 1:  # also one that the orchestrator does not answer
            self._answer(waiting[0].id, text)
            self._advance()
            return True
        return self.calls.tell(task, text)

    def _answer(self, id: str, text: str) -> None:
        """The user has answered this question with a message, whether it stands in a section."""
        keep = self._crew.questions.answered(id, text, human=True, by_text=True)
        if (section := self._asks.find(id)) is not None:
            self._sections.by_text(section, text, *keep)
        else:
            self._record.keep(*keep)

    # --- from the orchestrator ------------------------------------------------------------------

    async def _spec(self) -> ports.AgentSpec:
        spec = await super()._spec()
        left = self.run.left
        return msgspec.structs.replace(
            spec,
            questions="tool",
            role="orchestrator",
            about=prompts.places(self._crew.places),
            budget=0.0 if left is None else max(0.01, left),
        )

    async def ask(self, request: a.Request) -> a.Reply:
        """See `Chat.ask`: its own tools are the run's."""
        if tools.is_ours(request.tool) and not request.worker:
            return await self.calls.call(request)
        return await super().ask(request)

    def found(self, heard: ports.Heard | None) -> bool:
        """See `Listener.found`."""
        begun = super().found(heard)
        if self._record.loaded:
            self._rewake()
        return begun

    def heard(self, event: a.AgentEvent) -> None:
        """See `Listener.heard`."""
        match event:
            case a.Text(text=text):
                self._voice.hear(text)
            case a.Pause() | a.ToolStarted():
                self._say_to_user()
            case a.TurnEnded(cost=cost):
                self._say_to_user()
                self._turn_over(event)
                self._crew.budget.spent("", cost)
            case _:
                pass
        super().heard(event)
        if isinstance(event, a.TurnEnded):
            self._note_delivered()

    def lost(
        self, error: ports.AgentError, heard: ports.Heard | None, *, sure: bool = True
    ) -> None:
        """See `Listener.lost`: it is started once more where workers wait for it."""
        self._voice.lost()
        super().lost(error, heard, sure=sure)
        waits = query.with_orchestrator(self.run.queries.values())
        if waits and self.run.state == "running" and not self._died:
            self._died = True
            self._session.want()

    def _say_to_user(self) -> None:
        """Its message is whole: what it asks the user in it goes there."""
        for asked, question in self._voice.asks():
            self._crew.questions.request(asked, question)

    def _turn_over(self, event: a.TurnEnded) -> None:
        """A turn about a question ends with an answer, or with the user."""
        self._died, near = False, self._voice.over()
        if event.stopped or event.error:
            return
        for asked in self._forgotten():
            if self._voice.is_reminded(asked.id):
                self._crew.questions.request(asked, asked.question)
            else:
                self._remind(asked, near)
        if near and self._voice.before not in (REMINDED, *self.run.queries):
            self._remind(None, near)

    def _remind(self, asked: Query | None, near: list[str]) -> None:
        """What it wrote reached nobody."""
        about = asked.id if asked else REMINDED
        self._store.save(self.wake(prompts.again(asked, near), about))

    def _note_delivered(self) -> None:
        """Its session has the answers to what it asked itself."""
        for one in self.run.undelivered(""):
            if not self._outbox.about(one.id):
                self._record.record(e.QueryDelivered(self._record.now, self.run.id, "", one.id))

    # --- what is next ---------------------------------------------------------------------------

    def _advance(self) -> None:
        if self._record.loaded:
            self._crew.advance()
            while (message := self._outbox.next()) and self._is_stale(message):
                self._outbox.drop(message)
        connected = self._session.state == "connected"
        if self._queue.wanted and connected and self._turn.boundary and not self._aside:
            one = len(query.with_human(self.run.queries.values())) == 1
            self._aside = self._sections.set_aside(
                lambda section: _ANSWERED if one and is_question(section) else _PASSES
            )
        super()._advance()
        self.viewers.look(self._sections.waiting, self._sections.show)
        self.changed()

    def _is_stale(self, message: Message) -> bool:
        """It is about a question that has been answered meanwhile."""
        asked = self.run.queries.get(message.about)
        return asked is not None and bool(asked.task) and asked.state != "asked"

    def _may_tell(self, message: Message) -> bool:
        """What woke the orchestrator passes an open section, but is a turn of its own."""
        if not message.about:
            return super()._may_tell(message)
        connected = self._session.state == "connected"
        connected = connected and self.run.state not in ("stopped", "blocked(budget)")
        return connected and not (self._turn.busy or self._outbox.sent or self._page.taking)

    def _shown(self, message: Message) -> Entry:
        """See `Chat._shown`: in short; it is told now."""
        self._voice.about = message.about
        if not message.about:
            return super()._shown(message)
        said = [line.removeprefix("> ") for line in message.text.split("\n") if line.strip("> ")]
        return Recorded([f"{grammar.TOOL} {brief(' '.join(said[:2]), _WIDE)}"])

    async def close(self) -> None:
        """See `Chat.close`."""
        await self._crew.close()
        await super().close()
