"""Ten workers, whatever happens in whatever order: no question is lost, misrouted or told twice."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from winnow import ports
from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.asking import human_query
from winnow.core.run.query import with_human
from winnow.core.run.run import replay

from tests.app.fakes import CHAT, Asked, FakeAgent
from tests.app.running import ANSWER, ASK, RUN, Running

TITLES = [f"W{number}" for number in range(10)]


class Storm:
    """A run in which anything may be next.

    Attributes:
        open: calls of workers that wait, with what they ask.
        asked: all questions ever asked, each with its own text.
        got: answers that reached a worker, as result of a call or as a message.
    """

    def __init__(self, seed: int) -> None:
        self.luck = random.Random(seed)
        self.room = Running()
        self.open: dict[Asked, tuple[str, str]] = {}
        self.asked: dict[str, str] = {}  # question → title
        self.got: Counter[tuple[str, str]] = Counter()

    async def play(self, steps: int) -> None:
        """Begin, let so much happen, then let all come to its end."""
        await self.room.begin()
        await self.room.call("create_tasks", tasks=[{"title": t, "prompt": t} for t in TITLES])
        await self.collect()
        moves: list[Callable[[], object]] = [
            *(self.ask, self.ask, self.ask, self.boss_turn, self.boss_turn, self.user, self.user),
            *(self.kill_worker, self.kill_boss, self.kill_host, self.hand, self.hand),
            *(self.helper, self.stop),
        ]
        for _ in range(steps):
            await self.luck.choice(moves)()  # type: ignore[misc]
            await self.collect()
        for _ in range(200):
            if not self.room.run.pending() and not self.undelivered:
                return
            for move in (self.boss_turn, self.user, self.helper, self.end_turns):
                await move()
                await self.collect()
        raise AssertionError(f"still open: {self.room.run.pending()} {self.undelivered}")

    @property
    def undelivered(self) -> list[str]:
        queries = self.room.run.queries.values()
        return [query.id for query in queries if query.state == "answered"]

    # --- what agents do -------------------------------------------------------------------------

    def workers(self) -> dict[str, FakeAgent]:
        """Those that run."""
        alive = [one for one in self.room.agents if one.spec.role == "worker" and not one.closed]
        return {one.spec.about: one for one in alive}

    async def ask(self) -> None:
        """A worker that is not waiting asks."""
        waiting = {title for title, _ in self.open.values()}
        free = [title for title in self.workers() if title not in waiting]
        free = [title for title in free if self.room.states[title] == "running"]
        if not free:
            return
        title = self.luck.choice(sorted(free))
        question = f"{title} asks number {len(self.asked)}?"
        self.asked[question] = title
        worker, call = self.workers()[title], f"call {question}"
        worker.say(a.ToolStarted(call, ASK, {"question": question}))
        asked = worker.ask(a.Request(ASK, {"question": question}, call))
        self.open[asked] = (title, question)
        await self.room.settle()

    async def collect(self) -> None:
        """What was returned to workers is on record in their sessions; and so are prompts."""
        await self.room.settle()
        self.room.sessions.setdefault("", {}).update(
            dict.fromkeys(self.room.boss.prompts.values(), "")
        )
        for title, worker in self.workers().items():
            if not self.room.run.tasks[self.room.task(title)].session:
                worker.say(a.Started(f"session {title}"))
            session = self.room.sessions[title]
            for text, uuid in worker.prompts.items():
                if uuid not in session:
                    session[uuid] = ""
                    self.heard(title, text)
        for asked, (title, question) in list(self.open.items()):
            if asked.done():
                del self.open[asked]
                if not asked.cancelled() and isinstance(reply := asked.result(), a.Allow):
                    call = f"call {question}"
                    self.room.sessions[title][call] = ""
                    self.got[title, f"{reply.input['result']}"] += 1
                    if title in self.workers():
                        self.workers()[title].say(a.ToolFinished(call, "ok"), a.Pause())
        await self.room.settle()

    def heard(self, title: str, text: str) -> None:
        """A worker's session has this as a message."""
        if text.startswith("The answer to what you asked"):
            self.got[title, text.rpartition("\n\n")[2]] += 1

    async def end_turns(self) -> None:
        """A worker that has heard something ends its turn, which may end its task; it is told
        then to go on."""
        for title, worker in list(self.workers().items()):
            if title not in {of for of, _ in self.open.values()} and worker.unheard:
                worker.say(a.TurnEnded(worker.unheard))
                worker.unheard = []
        await self.room.settle()

    async def boss_turn(self) -> None:
        """The orchestrator answers what it was told last, passes it on, or does nothing."""
        boss = self.room.boss
        if boss.closed or not boss.unheard:
            return
        query = self.room.run.queries.get(self.room.chat._voice.about)
        if query is not None and query.state == "asked":
            match self.luck.randrange(4):
                case 0:
                    answer = f"answer to {query.question}"
                    await self.room.call("reply", task=query.task, text=answer, query=query.id)
                case 1:
                    boss.say(a.Text("Hm."), a.Pause())
                case _:
                    boss.say(a.Text(f"[NEED_HUMAN: {query.question}]"), a.Pause())
        await self.room.end()

    # --- what the user does ---------------------------------------------------------------------

    async def user(self) -> None:
        """They answer the open section, or cancel it; or they write what only one can mean."""
        section = self.room.editor.section
        if section is None:
            return
        found = self.room.chat._sections.routed()
        (shown,) = [one for one in found if one.marker == section.section]
        query = self.room.run.queries[human_query.query_of(shown.request).query]
        waiting = with_human(self.room.run.queries.values())
        match self.luck.randrange(6):
            case 0:
                await self.room.cancel()
            case 1 if waiting == [query]:
                await self.room.do(p.Queue(CHAT))
                if self.room.editor.taking:
                    await self.room.send(f"answer to {query.question}")
            case _:
                await self.room.write(f"answer to {query.question}")

    # --- what ends ------------------------------------------------------------------------------

    async def hand(self) -> None:
        """The user has another task answer a question."""
        waiting = [one for one in self.room.run.pending() if one.task]
        if waiting:
            query, to = self.luck.choice(waiting), self.luck.choice(list(self.room.run.tasks))
            await self.room.do(p.HandOver(RUN, to, query.id))

    async def helper(self) -> None:
        """A worker answers what it was handed; twice, since nothing keeps it from that."""
        for query in self.room.run.pending():
            title = self.room.run.tasks[query.to].title if query.state == "with_task" else ""
            if (worker := self.workers().get(title)) and any(
                f"({query.id})" in text for text in worker.prompts
            ):
                given = {"query": query.id, "text": f"answer to {query.question}"}
                for allowed in (True, False):
                    asked = worker.ask(a.Request(ANSWER, given, f"answers {query.id}"))
                    await self.room.settle()
                    assert isinstance(asked.result(), a.Allow) == allowed

    async def stop(self) -> None:
        """The user stops the run, and lets it go on; in between they may answer."""
        await self.room.do(p.HaltRun(RUN))
        assert not self.workers()
        assert "running" not in self.room.states.values()
        await self.user()
        await self.room.do(p.GoOn(RUN))

    async def kill_worker(self) -> None:
        if workers := self.workers():
            workers[self.luck.choice(sorted(workers))].say(ports.AgentError("Killed."))
            self.room.chat._crew._died.clear()  # they are told to go on for ever
        await self.room.settle()

    async def kill_boss(self) -> None:
        """It is there again with the user's next message."""
        if not self.room.boss.closed:
            self.room.boss.say(ports.AgentError("Killed."))
            await self.room.settle()
        if self.room.editor.section is None:
            await self.room.do(p.Queue(CHAT))
            if self.room.editor.taking:
                await self.room.send("Go on")

    async def kill_host(self) -> None:
        """Neovim is killed, and started again: all that is known is in the store."""
        await self.collect()
        before = self.room
        await before.chats.close()
        after = Running()
        after.store = before.store
        after.world = after.world._replace(store=before.store, runs=before.world.runs)
        after.chats = type(before.chats)(after.world)
        after.agents = list(before.agents)
        self.room = after
        after.sessions = before.sessions
        await after.lead("session")


@pytest.mark.timeout(0)  # they take a while where others work, too
@settings(max_examples=settings().max_examples // 4)  # 1,250 of them in `make soak`
@given(st.integers(0, 2**32))
def test_no_question_is_lost_misrouted_or_told_twice(seed: int) -> None:
    async def play() -> None:
        storm = Storm(seed)
        await storm.play(25)
        run = storm.room.run
        assert replay(RUN, storm.room.store.events) == run
        titles = {task.id: task.title for task in run.tasks.values()}
        assert sorted(query.question for query in run.queries.values()) == sorted(storm.asked)
        for query in run.queries.values():
            assert titles[query.task] == storm.asked[query.question]
        expected = Counter(
            (titles[query.task], f"answer to {query.question}")
            for query in run.queries.values()
            if query.state == "delivered"
        )
        assert storm.got == expected
        assert all(
            query.state in ("delivered", "withdrawn", "over") for query in run.queries.values()
        )
        await storm.room.chats.close()

    asyncio.run(play())
