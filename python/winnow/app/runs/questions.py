"""The questions of a run: from its workers to the orchestrator, maybe to the user, and back."""

from __future__ import annotations

import asyncio

from winnow import ports
from winnow.app.runs.front import Front
from winnow.app.runs.record import Record
from winnow.app.runs.worker import Worker, message_id, path_of
from winnow.core import agent as a
from winnow.core.asking import human_query
from winnow.core.question import Malformed
from winnow.core.run import events as e
from winnow.core.run import prompts, tools
from winnow.core.run.query import Query
from winnow.ports import Kept

OVER = "This run is over: end your turn."
STOPPED = "The user has stopped the run: ask again when you are told to go on."


class Questions:
    """Each has one who asks, who gets its answer once.

    Args:
        record: the run's.
        front: the chat in which it is led.
        workers: those that have an agent, by task.
    """

    def __init__(self, record: Record, front: Front, workers: dict[str, Worker]) -> None:
        self.run = record.run
        self._record = record
        self._front = front
        self._workers = workers
        self._replies: dict[str, asyncio.Future[str]] = {}  # of workers that wait, by question

    async def ask(self, task: str, request: a.Request) -> a.Reply:
        """A worker asks the orchestrator, and waits."""
        call = tools.read(request.tool, request.input)
        if isinstance(call, Malformed):
            return a.Deny(call.reason)
        if isinstance(call, tools.AnswerQuestion):
            return self._answer_for(task, call, request)
        if not isinstance(call, tools.AskOrchestrator) or not call.question.strip():
            return a.Deny("There is no question in it.")
        of = self.run.tasks[task]
        if self.run.state in ("finished", "stopped") or of.over:
            return a.Deny(STOPPED if self.run.state == "stopped" else OVER)
        id = self.run.next_query()
        event = e.WorkerAsked(
            self._record.now,
            self.run.id,
            task,
            id,
            call.question,
            call.options,
            call.context,
            request.tool_use_id,
            of.place,
        )
        self._record.apply(event)
        text = prompts.asked(self.run.queries[id], of)
        self._record.keep(event, self._front.wake(text, id))
        reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._replies[id] = reply
        self._front.moved()
        try:
            return tools.result(request.input, await reply)
        finally:  # it may wait no more, and get the answer as a message
            self._replies.pop(id, None)

    def _answer_for(self, task: str, call: tools.AnswerQuestion, request: a.Request) -> a.Reply:
        """A worker answers the question of another one that the user has handed to it."""
        query = self.run.queries.get(call.query)
        if query is None or query.to != task:
            return a.Deny(f"You were not asked {call.query}.")
        if query.state != "with_task":
            return a.Deny(f"{call.query} needs your answer no more.")
        if not call.text.strip():
            return a.Deny("There is no answer in it.")
        kept = self.answered(query.id, call.text, human=False, by=task)
        asker, by = self.run.tasks[query.task], self.run.tasks[task]
        text = prompts.answered_by(self.run.queries[query.id], asker, by)
        self._record.keep(*kept, self._front.wake(text, query.task))
        self._front.moved()
        return tools.result(request.input, f"{query.task} has your answer.")

    def request(self, query: Query | None, question: str, message: str = "") -> None:
        """The orchestrator asks the user: about a question of a worker's, or for itself."""
        id, task = (query.id, query.task) if query else (self.run.next_query(), "")
        self._record.record(
            e.HumanQueryRequested(self._record.now, self.run.id, task, id, question, message)
        )
        self.show(self.run.queries[id])

    def withdraw(self, query: Query) -> None:
        """Who asked does not wait any more."""
        self._record.record(
            e.QueryWithdrawn(self._record.now, self.run.id, query.task, query.id, "taken back")
        )
        self._front.withdraw(query.id)

    def show(self, query: Query) -> None:
        """Ask the user what the orchestrator wants to know of them."""
        title = self.run.tasks[query.task].title if query.task else ""
        asked = human_query.HumanQuery(
            self.run.id, query.id, query.human, query.task, title, query.options
        )
        self._front.ask_user(human_query.asked(asked))

    def answered(
        self, id: str, text: str, *, human: bool, by_text: bool = False, by: str = ""
    ) -> list[Kept]:
        """Somebody has answered: to exactly the task that asked. All this is kept together.

        ``by`` is the task that has, where it was handed the question.
        """
        query = self.run.queries[id]
        event: e.Event = (
            e.HumanQueryAnswered(self._record.now, self.run.id, query.task, id, text, by_text)
            if human
            else e.QueryAnswered(self._record.now, self.run.id, query.task, id, text, by)
        )
        self._record.apply(event)
        query = self.run.queries[id]
        if not query.task:
            return [event, self._front.wake(prompts.human_answer(query), id)]
        if not human:
            self._front.withdraw(id)
        path = path_of(self.run.id, query.task)
        message = ports.Message(message_id(path, id), path, prompts.answer(query), call=query.call)
        return [event, message, *self._deliver(query, message)]

    def _deliver(self, query: Query, message: ports.Message) -> list[Kept]:
        """In turn, if its worker still waits in the call; else as the next message."""
        worker, reply = self._workers.get(query.task), self._replies.pop(query.id, None)
        if worker is None:
            return []
        if reply is None or reply.done():
            worker.tell(message)
            return []
        worker.give(message, query.answer)
        reply.set_result(query.answer)
        task = self.run.tasks[query.task]
        if task.state != "ready":
            return []  # it has asked something else, too
        event = self._record.started(query.task)
        self._record.apply(event)
        return [event]

    def returned(self, id: str, reason: str) -> list[Kept]:
        """The user did not answer: the orchestrator has it again."""
        query = self.run.queries.get(id)
        if query is None or query.state != "with_human":
            return []
        event = e.HumanQueryReturned(self._record.now, self.run.id, query.task, id, reason)
        self._record.apply(event)
        text = prompts.returned(query, self.run.tasks.get(query.task), reason)
        return [event, self._front.wake(text, id)]

    def note_delivered(self, task: str, call: str = "") -> None:
        """Its session has these answers: as results of their calls, or as messages."""
        worker = self._workers[task]
        path = path_of(self.run.id, task)
        for query in self.run.undelivered(task):
            if query.call == call != "" or not worker.outbox.has(message_id(path, query.id)):
                self._record.record(e.QueryDelivered(self._record.now, self.run.id, task, query.id))
