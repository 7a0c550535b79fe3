"""The workers of a run: started, ended, and what becomes of their tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import cast

import msgspec

from winnow import ports
from winnow.app.background import Background
from winnow.app.runs.budget import Budget
from winnow.app.runs.front import Front
from winnow.app.runs.merges import Merges
from winnow.app.runs.outfit import outfit
from winnow.app.runs.pulse import Pulse
from winnow.app.runs.questions import Questions
from winnow.app.runs.reach import Reach
from winnow.app.runs.record import Record
from winnow.app.runs.worker import Worker
from winnow.app.starts import Starts
from winnow.core import agent as a
from winnow.core.asking import question_tool
from winnow.core.run import events as e
from winnow.core.run import handing, prompts, schedule, tools
from winnow.core.run.board import Live
from winnow.core.run.places import Place, find, names
from winnow.core.run.query import Query
from winnow.core.run.task import Impossible, Task
from winnow.core.transcript.entries import Entry
from winnow.core.transcript.rendering import tool_line

log = logging.getLogger(__name__)

NOT_YOU = "You can't ask the user: call ask_orchestrator."
RESTARTED = "It goes on after a restart."


class Crew:
    """The workers of a run; implements `winnow.app.runs.worker.Foreman`.

    Attributes:
        questions: what they ask.
        workers: those that have an agent, or get one, by task.
        places: where they may run.
        reach: when those are tried again whose place can't be reached.
    """

    def __init__(self, record: Record, front: Front, world: ports.World, starts: Starts) -> None:
        self.run = record.run
        self.workers: dict[str, Worker] = {}
        self.questions = Questions(record, front, self.workers)
        self._record = record
        self._front = front
        self._world = world
        self._starts = starts
        self._permissions: dict[str, str] = {}  # what each task's worker wants to do
        self._died: set[str] = set()  # tasks whose worker was lost once
        self._background = Background()
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self.budget = Budget(record, front, self._dismiss)
        self.merges = Merges(record, front, world.trees, self._send_back)
        self.reach = Reach(self._try_again)
        self.pulse = Pulse(record, front, world.trees, self.workers, lambda: self._permissions)
        self.places = schedule.ANYWHERE
        self._seen: tuple[int, Sequence[Place]] | None = None  # when it was looked what can start

    def restart(self) -> None:
        """A host before this one has ended: go on with what it has left."""
        for task in list(self.run.tasks.values()):
            if task.state in ("running", "blocked(place)"):
                self._resume(task.id, RESTARTED)
            if self.run.undelivered(task.id):
                self._background.spawn(self._find_delivered(self._worker(task.id)))

    @property
    def live(self) -> dict[tuple[str, str], Live]:
        """What the board shows that no event tells."""
        return {
            (self.run.id, id): Live(
                worker.alive,
                worker.saying,
                self._permissions.get(id, ""),
                diff=self.pulse.diffs.get(id, ""),
                silent=id in self.pulse.silent,
            )
            for id, worker in self.workers.items()
        }

    # --- what is next ---------------------------------------------------------------------------

    def advance(self) -> None:
        """Start what can start: that changes with an event or with the places, and with nothing
        else, while the orchestrator says thousands of words.
        """
        seen = (self._record.count, self.places)
        if self._record.loaded and seen != self._seen:
            self._seen = seen
            for id in schedule.homeless(self.run, self.places):
                name = schedule.bound(self.run, self.run.tasks[id])
                self._block(id, f"There is no place {name}: there are {names(self.places)}.")
            for id, place in schedule.starting(self.run, self.places).items():
                self._start(self.run.tasks[id], place)

    def _start(self, task: Task, place: str) -> None:
        worker = self._worker(task.id)
        said = [] if task.session else [worker.message(prompts.task(task, self.run), "first")]
        self._record.record(self._record.started(task.id, place), *said)
        self._background.spawn(self._begin(worker, said))

    async def _begin(self, worker: Worker, said: list[ports.Message]) -> None:
        await asyncio.wait({self._loading[worker.task]})
        if schedule.has_tree(self.run, self.run.tasks[worker.task]):
            try:
                await self.merges.make(worker.task)
                if self.run.tasks[worker.task].state == "cancelled":  # meanwhile
                    self.merges.ended(worker.task, None)
            except ports.TreeError as error:
                log.error("%s\n%s", error.sentence, error.detail)
                if not worker.over:
                    self._fail(worker.task, error.sentence)
                    self._dismiss(worker.task)
                    self._front.moved()
        if not worker.over:
            for message in said:
                worker.tell(message)
            worker.start()

    def _worker(self, task: str) -> Worker:
        """The worker of a task; a new one learns what the store has for it."""
        if (worker := self.workers.get(task)) is None:
            after, turns = self._closing.get(task), self._record.lengths.get(task, 0)
            worker = Worker(self.run.id, task, self, self._world, self._starts, turns, after)
            self.workers[task] = worker
            self.pulse.begin()
            self._loading[task] = self._background.spawn(worker.load())
        return worker

    def _dismiss(self, task: str) -> None:
        """Its worker's agent is ended; the next one goes on where it stopped."""
        if (worker := self.workers.pop(task, None)) is not None:
            self._record.lengths[task] = worker.turns
            self._closing[task] = self._background.spawn(worker.close())

    async def close(self) -> None:
        """End all workers; what they do is gone on with when the chat is opened again."""
        self._record.loaded = False
        self.reach.close()
        await self.pulse.close()
        await self.merges.close()
        for task in list(self.workers):
            self._dismiss(task)
        await self._background.over()

    async def spec(self, task: str) -> ports.AgentSpec:
        """See `Foreman.spec`."""
        of = self.run.tasks[task]
        spec = await outfit(await self._front.spec(), of, self.run, self._world)
        return msgspec.structs.replace(spec, place=self._place(of))

    def _place(self, task: Task) -> ports.Place:
        return find(self.places, task.place) or ports.Place()

    async def ask(self, task: str, request: a.Request) -> a.Reply:
        """See `Foreman.ask`."""
        if tools.is_ours(request.tool):
            return await self.questions.ask(task, request)
        if request.tool in ("AskUserQuestion", question_tool.TOOL):
            return a.Deny(NOT_YOU)
        name = f"{task} {self.run.tasks[task].title}"
        asks = msgspec.structs.replace(
            request,
            worker=task,
            agent_id=f"{task}/{request.agent_id}" if request.agent_id else task,
            agent=f"{name}: {request.asker}" if request.asker else name,
        )
        self._permissions[task] = tool_line(request.tool, request.input)
        try:
            return await self._front.ask(asks)
        finally:
            self._permissions.pop(task, None)

    async def _find_delivered(self, worker: Worker) -> None:
        await asyncio.wait({self._loading[worker.task]})
        if self.workers.get(worker.task) is worker:
            self.questions.note_delivered(worker.task)

    # --- from workers ---------------------------------------------------------------------------

    def heard(self, task: str, event: a.AgentEvent) -> None:
        """See `Foreman.heard`."""
        self.reach.heard(task)
        match event:
            case a.Started(session=session) if session != self.run.tasks[task].session:
                self._record.record(e.SessionKnown(self._record.now, self.run.id, task, session))
            case a.ToolFinished(id=call, failed=False):
                self.questions.note_delivered(task, call)
            case a.TurnEnded(cost=cost):
                self.questions.note_delivered(task)
                whole = not (event.error or event.stopped)
                through = whole and self.workers[task].outbox.next() is None
                self.budget.spent(task, cost, through=through)
            case _:
                pass

    def shown(self, task: str, entry: Entry) -> None:
        """See `Foreman.shown`."""
        self._front.shown(task, entry)

    def through(self, task: str, how: a.TurnEnded, said: str) -> None:
        """See `Foreman.through`."""
        for query in self.run.pending(task):  # whose call has ended
            self.questions.withdraw(query)
        of = self.run.tasks[task]
        if of.state == "ready":
            self._record.record(e.TaskStarted(self._record.now, self.run.id, task))
        if self.run.tasks[task].state == "running":
            if not (how.error or how.stopped):
                self._end(e.TaskDone(self._record.now, self.run.id, task, said), prompts.done)
            elif not self.budget.over(task):
                self._fail(task, how.error or "It was stopped.")
        self._dismiss(task)
        self._front.remind()
        if self.run.tasks[task].merging:
            self.merges.ended(task, self._closing.get(task))
        self._front.moved()

    def lost(self, task: str, error: ports.AgentError) -> None:
        """See `Foreman.lost`: it is tried once more; a question of its stays open."""
        of = self.run.tasks[task]
        place, gone = self._place(of), isinstance(error, ports.SessionGone)
        if of.state == "running":
            if place.command and not gone:
                seconds = self.reach.failed(task)
                said = error.sentence if place.name in error.sentence else f"{place.name}: {error}"
                self._block(task, f"{said} It is tried again in {seconds:g} s.")
            elif task in self._died and not gone:
                self._fail(task, error.sentence)
            else:
                if gone:  # it begins anew; only one that had started has a session to lose
                    self._record.record(e.SessionKnown(self._record.now, self.run.id, task, ""))
                else:
                    self._died.add(task)
                self._resume(task, error.sentence)
        self._dismiss(task)
        self._front.remind()
        self._front.moved()

    def _block(self, task: str, reason: str) -> None:
        self._record.record(e.TaskBlocked(self._record.now, self.run.id, task, "place", reason))

    def _try_again(self, task: str) -> None:
        if self.run.tasks[task].state == "blocked(place)":
            self._resume(task, "Its place is tried again.")
            self._front.moved()

    def _resume(self, task: str, reason: str) -> None:
        self._record.record(e.TaskResumed(self._record.now, self.run.id, task, reason))

    def _fail(self, task: str, reason: str) -> None:
        for query in self.run.pending(task):
            self._front.withdraw(query.id)
        event = e.TaskFailed(self._record.now, self.run.id, task, reason)
        self._end(event, lambda of: prompts.failed(of, self.run))

    def _end(self, event: e.TaskEvent, prompt: Callable[[Task], str]) -> None:
        """A task is over, and the orchestrator is told."""
        self._record.apply(cast(e.Event, event))
        self._record.keep(event, self._front.wake(prompt(self.run.tasks[event.task]), event.task))

    # --- stopped --------------------------------------------------------------------------------

    def keep(self, *kept: ports.Kept) -> None:
        """See `Foreman.keep`."""
        self._record.keep(*kept)

    def cancel(self, task: str, by: e.By, reason: str = "") -> None:
        """Its worker is ended, and all that this has started; its questions are over.

        Raises:
            Impossible: it is cancelled already.
        """
        for query in self.run.pending(task):
            self._front.withdraw(query.id)
        self._record.record(e.TaskCancelled(self._record.now, self.run.id, task, by, reason))
        self._dismiss(task)
        self._front.remind()
        self._front.withdraw(task)
        self.merges.ended(task, self._closing.get(task))

    def tell(self, task: str, text: str, by: e.By) -> None:
        """Words for a worker that answer nothing; one that is through goes on.

        Raises:
            Impossible: its task is cancelled.
        """
        if self.run.tasks[task].state == "cancelled":
            raise Impossible(f"{task} is cancelled")
        self._revive(task, f"told by the {by}")
        self._say(task, text, e.Told(self._record.now, self.run.id, task, text, by))

    def hand(self, query: Query, to: str) -> None:
        """The user has another task answer this.

        Raises:
            Impossible: that one can't.
        """
        run = self.run
        if why := handing.problem(run.tasks, run.queries.values(), query, to, again=True):
            raise Impossible(why)
        self._revive(to, f"asked for {query.task}")
        text = prompts.handed(query, run.tasks[query.task])
        self._say(to, text, e.QueryHanded(self._record.now, run.id, query.task, query.id, to))
        self._front.withdraw(query.id)

    def _revive(self, task: str, reason: str) -> None:
        if self.run.tasks[task].state in ("done", "failed"):
            self._resume(task, reason)

    def _say(self, task: str, text: str, event: e.TaskEvent) -> None:
        """Tell its worker this, as soon as it has one; the event says why."""
        worker = self._worker(task)
        message = worker.outbox.message(text)
        self._record.record(cast(e.Event, event), message)
        self._background.spawn(self._pass_on(worker, message))

    def halt(self) -> None:
        """End all workers, which go on when the run does; what was asked stays asked.

        Raises:
            Impossible: the run is over.
        """
        self._record.record(e.RunStopped(self._record.now, self.run.id, "by you"))
        for task in list(self.workers):
            self._dismiss(task)

    def _send_back(self, task: str, text: str) -> None:
        """The user wants its change to be another one."""
        if self.run.state == "finished":
            self._record.record(e.RunContinued(self._record.now, self.run.id))
        self.tell(task, text, "user")
        self._record.keep(self._front.wake(prompts.told(self.run.tasks[task], text), task))

    async def _pass_on(self, worker: Worker, message: ports.Message) -> None:
        await asyncio.wait({self._loading[worker.task]})
        worker.tell(message)
