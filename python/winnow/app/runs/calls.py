"""What the orchestrator calls, and what it is told in return; and what the user wants of a run."""

from __future__ import annotations

from winnow import ports
from winnow.app.runs.crew import Crew
from winnow.app.runs.front import Front
from winnow.app.runs.record import Record
from winnow.core import agent as a
from winnow.core.never import assert_never
from winnow.core.question import Malformed
from winnow.core.run import events as e
from winnow.core.run import prompts, query, schedule, tools
from winnow.core.run.board import Edits
from winnow.core.run.query import named as names
from winnow.core.run.task import Impossible

HALTED = "Stopped: :Winnow run ++continue lets it go on."
NO_QUESTION = "No worker's question waits there."


class Calls:
    """Carries out what is wanted of a run.

    Args:
        record: the run's.
        crew: its workers.
        front: the chat in which it is led.
        runs: where transcripts are read.
    """

    def __init__(self, record: Record, crew: Crew, front: Front, runs: ports.Runs) -> None:
        self.run = record.run
        self._record = record
        self._crew = crew
        self._front = front
        self._runs = runs

    # --- the orchestrator -----------------------------------------------------------------------

    async def call(self, request: a.Request) -> a.Reply:
        """A tool of its own: carried out at once, so that what it says is so."""
        call = tools.read(request.tool, request.input)
        if isinstance(call, Malformed):
            return a.Deny(call.reason)
        try:
            said = await self._do(call)
        except Impossible as error:
            said = Malformed(f"That can't be: {error}.")
        self._front.moved()
        if isinstance(said, Malformed):
            return a.Deny(said.reason)
        return tools.result(request.input, said)

    async def _do(self, call: tools.Call) -> str | Malformed:
        match call:
            case tools.CreateTasks(tasks=new):
                return self._create(new, "orchestrator")
            case tools.ListTasks():
                return prompts.listed(self.run)
            case tools.Finish(summary=summary):
                return self._finish(summary)
            case tools.AskOrchestrator() | tools.AnswerQuestion():
                return Malformed("You are the orchestrator: call `reply`.")
            case tools.Reply() | tools.CancelTask() | tools.ReadTranscript():
                if call.task not in self.run.tasks:
                    known = ", ".join(self.run.tasks) or "none yet"
                    return Malformed(f"There is no task {call.task}: there are {known}.")
            case _:
                assert_never(call)
        return await self._do_with(call)

    async def _do_with(
        self, call: tools.Reply | tools.CancelTask | tools.ReadTranscript
    ) -> str | Malformed:
        """As `_do`, with a task that there is."""
        match call:
            case tools.Reply():
                return self._reply(call)
            case tools.CancelTask(task=task, reason=reason):
                self._crew.cancel(task, "orchestrator", reason)
                return f"{task} is cancelled."
            case tools.ReadTranscript(task=task, last=last):
                return await self._transcript(task, last)

    async def _transcript(self, task: str, last: int) -> str:
        turns = (await self._runs.turns(self.run.id, task))[-last:]
        said = (f"{turn.role}: {turn.content}" for turn in turns)
        return "\n\n".join(said) or "Nothing was said yet."

    def _create(self, new: tuple[tools.NewTask, ...], by: e.By) -> str | Malformed:
        made = schedule.created(self.run, new, self._record.now, by, self._crew.places)
        if isinstance(made, Malformed):
            return made
        if self.run.state == "finished":
            self._record.record(e.RunContinued(self._record.now, self.run.id))
        for event in made:
            self._record.apply(event)
        self._record.keep(*made)
        said = "Made: " + ", ".join(f"{event.task} “{event.title}”" for event in made)
        return f"{said}. {prompts.STOPPED}" if self.run.state == "stopped" else said

    def _reply(self, call: tools.Reply) -> str | Malformed:
        """An answer, where the worker has asked; else just words."""
        waiting = self.run.pending(call.task)
        meant = [one for one in waiting if call.query in ("", one.id)]
        if call.query and not meant:
            asked = f": it asks {query.named(waiting)}" if waiting else " that waits"
            return Malformed(f"{call.task} has no question {call.query}{asked}.")
        if len(meant) > 1:
            return Malformed(f"{query.named(meant)} wait: say which `query` this answers.")
        if meant:
            self._record.keep(*self._crew.questions.answered(meant[0].id, call.text, human=False))
            return f"{call.task} has the answer to {meant[0].id}."
        self._crew.tell(call.task, call.text, "orchestrator")
        return f"{call.task} is told."

    def _finish(self, summary: str) -> str | Malformed:
        tasks = self.run.tasks.values()
        left = [f"{task.id} is {task.state}" for task in tasks if not task.over]
        unmerged = [
            f"{task.id} waits for its change to be merged" for task in tasks if task.merging
        ]
        left, self._record.refused = left + unmerged, bool(unmerged)
        if left:
            what = ", ".join(left)
            return Malformed(f"The run is not over: {what}. Wait for them, or cancel them.")
        self._record.record(e.RunFinished(self._record.now, self.run.id, summary))
        return "The run is over. Sum up for the user, and end your turn."

    # --- the user -------------------------------------------------------------------------------

    def edit(self, edits: Edits) -> None:
        """What an edited board asks of this run."""
        for run, task in edits.cancel:
            if run == self.run.id:
                self.cancel(task)
        for run, title in edits.add:
            if run == self.run.id:
                self.add(title)
        if order := edits.order.get(self.run.id):
            self._record.record(e.Reordered(self._record.now, self.run.id, order))
        self._front.moved()

    def cancel(self, task: str) -> None:
        """The user gives a task up."""
        if self.run.tasks[task].state != "cancelled":
            self._crew.cancel(task, "user", "by you")
            text = prompts.cancelled(self.run.tasks[task], self.run)
            self._record.keep(self._front.wake(text, task))
            self._front.moved()

    def add(self, title: str) -> None:
        """The user makes a task."""
        task = self.run.next_task()
        made = self._create((tools.NewTask(title, title),), "user")
        if isinstance(made, Malformed):
            self._front.note(made.reason)
        else:
            self._record.keep(self._front.wake(prompts.added(self.run.tasks[task]), task))
            self._front.moved()

    def tell(self, task: str, text: str) -> bool:
        """The user writes to a worker, and the orchestrator is told so. False: it is too late."""
        try:
            self._crew.tell(task, text, "user")
        except Impossible as error:
            self._front.note(f"It was not told: {error}.")
            return False
        self._record.keep(self._front.wake(prompts.told(self.run.tasks[task], text), task))
        self._front.moved()
        return True

    def hand(self, to: str, query: str, task: str) -> None:
        """The user has the task ``to`` answer a question: this one, or the only one of a task.

        An empty ``query``, or ``task``: whichever it is.
        """
        asked = [one for one in self.run.pending(task or None) if one.task]
        found = [one for one in asked if query in ("", one.id)]
        if len(found) != 1:
            named = names(asked)
            self._front.note(f"Say which question: {named} wait." if asked else NO_QUESTION)
            return
        try:
            self._crew.hand(found[0], to)
        except Impossible as error:
            self._front.note(f"{found[0].id} was not handed over: {error}.")
            return
        tasks = self.run.tasks
        text = prompts.handed_over(found[0], tasks[found[0].task], tasks[to])
        self._record.keep(self._front.wake(text, to))
        self._front.moved()

    def halt(self) -> bool:
        """The user stops it. False: there is nothing to stop, and they know."""
        if self.run.state in ("finished", "stopped") or not self.run.goal:
            self._front.note(f"This run is {self.run.state}: there is nothing to stop.")
            return False
        self._crew.halt()
        self._front.note(HALTED)
        return True

    def go_on(self, budget: float) -> None:
        """The user lets it go on, with this budget."""
        stopped = self.run.state == "stopped"
        told = [self._front.wake(prompts.CONTINUED, "run")] if stopped else []
        self._record.record(e.RunContinued(self._record.now, self.run.id, budget), *told)
        self._crew.reach.now()
        self._front.moved()
