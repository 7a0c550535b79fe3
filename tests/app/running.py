"""A run: its chat, its orchestrator, its workers, all played by the test."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Sized
from pathlib import Path

from winnow import ports
from winnow import protocol as p
from winnow.app.runs.run_chat import RunChat
from winnow.core import agent as a
from winnow.core.run import events as e
from winnow.core.run.events import Limits
from winnow.core.run.places import Place
from winnow.core.run.run import Run
from winnow.core.text.text import strip_markers

from tests.app.fakes import CHAT, Asked, FakeAgent, Room

RUN = "abcd"
ASK = "mcp__winnow__ask_orchestrator"
ANSWER = "mcp__winnow__answer_question"

OLD = "".join(f"{number}\n" for number in range(40))  # what its one file holds


class Running(Room):
    """A room with a run in it; its first message is the goal.

    Args:
        cwd: where the chat works.
        trees: where its worktrees are made.
    """

    def __init__(self, cwd: str = "/shop", trees: Path = Path("/no-trees")) -> None:
        super().__init__(trees)
        self.cwd = cwd
        self.places: list[Place] = []
        self.sessions: dict[str, dict[str, str]] = {}  # what each has on record, by its task

    async def _make(self, spec: ports.AgentSpec, ask: ports.Ask) -> ports.Agent:
        self.known = self.sessions.setdefault(spec.about, {})
        return await super()._make(spec, ask)

    async def begin(self, *, limits: Limits | None = None) -> None:
        """The user has sent the goal, and the orchestrator works on it."""
        await self.lead(limits=limits)
        await self.send("Port the shop")

    async def lead(self, session: str = "", *, limits: Limits | None = None) -> None:
        """Open the chat."""
        self.editor.status = None
        self.editor.section = None
        await self.do(
            p.Open(
                *(CHAT, "/chat.md", self.cwd),
                session=session,
                run=RUN,
                limits=limits or Limits(max_workers=9),
                places=self.places,
            )
        )

    async def until(self, seen: Callable[[], object]) -> None:
        """Wait for what depends on other processes."""
        for _ in range(3000):
            if seen():
                await self.settle()
                return
            await asyncio.sleep(0.01)
        raise AssertionError("it does not happen")

    async def settle(self) -> None:
        """As in a `Room`, for as long as anything still happens."""
        ready: Sized = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        while len(ready):  # noqa: ASYNC110  of that no event tells
            await asyncio.sleep(0)

    @property
    def chat(self) -> RunChat:
        """The chat that leads it."""
        found = self.chats.run(RUN)
        assert found is not None
        return found

    @property
    def run(self) -> Run:
        """The run."""
        return self.chat.run

    @property
    def boss(self) -> FakeAgent:
        """The orchestrator."""
        return [agent for agent in self.agents if agent.spec.role == "orchestrator"][-1]

    def worker(self, title: str) -> FakeAgent:
        """The newest worker of the task of this title."""
        return [agent for agent in self.agents if agent.spec.about == title][-1]

    async def call(self, tool: str, **input: object) -> a.Reply:
        """The orchestrator calls a tool of its own."""
        asked = self.boss.ask(a.Request(f"mcp__winnow__{tool}", dict(input), "boss-call"))
        await self.settle()
        return asked.result()

    async def make(self, *titles: str) -> None:
        """It makes these tasks, and ends its turn."""
        made = await self.call(
            "create_tasks", tasks=[{"title": title, "prompt": f"Do {title}"} for title in titles]
        )
        assert isinstance(made, a.Allow), made
        await self.end()
        for title in titles:
            self.worker(title).say(a.Started(f"session-{title}"))
        await self.settle()

    async def say(self, text: str) -> None:
        """It says this, and ends its turn."""
        self.boss.say(a.Text(text), a.Pause())
        await self.end()

    async def end(self, agent: FakeAgent | None = None) -> None:
        """The turn of the orchestrator, or of a worker, is over."""
        agent = agent or self.boss
        agent.say(a.TurnEnded(agent.unheard))
        agent.unheard = []
        await self.settle()

    async def asks(self, title: str, question: str = "Which?", *options: str) -> Asked:
        """A worker asks."""
        input = {"question": question, "options": list(options)}
        call = f"call-{title}-{question}"
        worker = self.worker(title)
        worker.say(a.ToolStarted(call, ASK, input))
        await self.settle()
        asked = worker.ask(a.Request(ASK, input, call))
        await self.settle()
        return asked

    async def answers(self, title: str, query: str, text: str) -> a.Reply:
        """A worker answers what it was handed."""
        given = {"query": query, "text": text}
        asked = self.worker(title).ask(a.Request(ANSWER, given, f"call-{title}-{query}"))
        await self.settle()
        return asked.result()

    async def done(self, title: str, said: str) -> None:
        """A worker is through."""
        worker = self.worker(title)
        worker.say(a.Text(said), a.Pause())
        await self.end(worker)

    @property
    def question(self) -> str:
        """What the open section asks."""
        return strip_markers(self.shown().lines[1])

    async def write(self, text: str) -> None:
        """Answer the open section in own words."""
        shown = self.shown()
        lines = [line + text if line.startswith("✎") else line for line in shown.lines]
        await self.do(p.Confirm(CHAT, shown.section, lines, len(lines) - 1))

    async def queue(self, text: str) -> None:
        """Send a message while something is open."""
        await self.do(p.Queue(CHAT))
        assert self.editor.taking
        await self.send(text)

    def task(self, title: str) -> str:
        """The task of this title."""
        return next(id for id, task in self.run.tasks.items() if task.title == title)

    def told(self, agent: FakeAgent) -> str:
        """The last thing that it was told."""
        return list(agent.prompts)[-1]

    @property
    def states(self) -> dict[str, str]:
        """The tasks' by title."""
        return {task.title: task.state for task in self.run.tasks.values()}

    @property
    def happened(self) -> list[str]:
        """What is on record."""
        return [type(event).__name__ for event in self.store.events if not isinstance(event, SMALL)]


SMALL = (e.Spent, e.SessionKnown)


def result(asked: Asked) -> str:
    """What a call has returned."""
    reply = asked.result()
    assert isinstance(reply, a.Allow), reply
    said: str = reply.input["result"]
    return said


class RunningInGit(Running):
    """The same in a repository with one commit.

    Args:
        top: of the repository.
        cwd: where the chat works.
        trees: where its worktrees are made.
    """

    def __init__(self, top: Path, cwd: Path, trees: Path) -> None:
        super().__init__(str(cwd), trees)
        self.top = top

    def git(self, *arguments: str) -> str:
        run = ["git", "-c", "user.name=u", "-c", "user.email=u@example.com", *arguments]
        return subprocess.run(run, cwd=self.top, capture_output=True, text=True, check=True).stdout

    def found(self) -> None:
        """Make it."""
        self.top.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        (self.top / "cart.txt").write_text(OLD)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "x")
