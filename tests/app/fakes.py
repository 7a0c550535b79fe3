"""The world of a chat, played by the test."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import count, groupby
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from winnow import ports
from winnow import protocol as p
from winnow.adapters.files import DiskTemplates
from winnow.adapters.git.worktrees import GitWorktrees
from winnow.app.chats import Chats
from winnow.core import agent as a
from winnow.core.asking.trust import Verdict, Verdicts
from winnow.core.asking.way import FileError
from winnow.core.clarify.clarification import Clarification
from winnow.core.context.attachment import Attachment
from winnow.core.ledger.ledger import Decision
from winnow.core.project import Project
from winnow.core.run.events import Event, RunEvent
from winnow.core.run.transcript import RunTurn
from winnow.core.structured import fitting
from winnow.ports.query import Cancelled, OnEvent

CHAT = 7
BASH = a.ToolStarted("t1", "Bash", {"command": "ls"})
BESIDE = (
    p.Verdict,
    p.Say,
    p.Notify,
    p.Move,
    p.Delete,
    p.Fill,
    p.Status,
    p.Happened,
    p.Save,
    p.Reload,
    p.Visit,
    p.Sides,
    p.Rules,
    p.Stored,
    p.Listed,
    p.ListProblem,
    p.ListAsks,
    p.AskUnsaved,
    p.Adopt,
)  # they change no text
Kind = TypeVar("Kind")
Asked = asyncio.Task[a.Reply]


class FakeClock:
    """A clock that stands still."""

    time = 1000.0

    def now(self) -> float:
        return self.time


class MemoryStore:
    """Sections in a dict, by markers that can be foretold; the ledger in a list."""

    def __init__(self) -> None:
        self.ledger: list[Decision] = []
        self.kept: dict[str, ports.StoredSection] = {}
        self.letters: dict[str, ports.Message] = {}
        self.events: list[Event] = []
        self.turns: dict[tuple[str, str], list[RunTurn]] = {}
        self.gate = asyncio.Event()  # nothing is on disk before it is set
        self.gate.set()
        self.broken = False  # it can't be read
        self._markers = (f"s{number}" for number in count(1))

    def new_marker(self) -> str:
        return next(self._markers)

    def save(self, *kept: ports.Kept) -> asyncio.Future[None]:
        for one in kept:
            match one:
                case ports.StoredSection():
                    self.kept[one.marker] = one
                case ports.Message():
                    self.letters[one.id] = one
                case Decision():
                    self.ledger.append(one)
                case RunEvent():
                    self.events.append(cast(Event, one))
                case RunTurn():
                    self.turns.setdefault((one.run, one.task), []).append(one)
        return self._later(None)

    def forget(self, messages: Sequence[str]) -> asyncio.Future[None]:
        for id in messages:
            self.letters.pop(id, None)
        return self._later(None)

    def sections(self, chat: str) -> asyncio.Future[list[ports.StoredSection]]:
        return self._later([one for one in self.kept.values() if one.chat == chat])

    def messages(self, chat: str) -> asyncio.Future[list[ports.Message]]:
        return self._later([one for one in self.letters.values() if one.chat == chat])

    def decisions(self, key: str = "") -> asyncio.Future[list[Decision]]:
        made = [decision for decision in reversed(self.ledger) if key in ("", decision.key)]
        return self._later(made)

    def _later(self, result: Kind) -> asyncio.Future[Kind]:
        async def wait() -> Kind:
            await self.gate.wait()
            if self.broken and result is not None:
                raise ports.StoreError("It is broken.")
            return result

        return asyncio.ensure_future(wait())


class MemoryRuns:
    """What a `MemoryStore` has of runs."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def events(self, run: str = "") -> list[Event]:
        return [event for event in self._store.events if run in ("", event.run)]

    async def of_task(self, run: str, task: str) -> list[Event]:
        return [one for one in await self.events(run) if getattr(one, "task", "") == task]

    async def news(self, after: int, since: float) -> tuple[list[Event], int]:
        alive = {event.run for event in self._store.events if event.at > since}
        found = self._store.events[after:]
        return [one for one in found if after or one.run in alive], len(self._store.events)

    async def turns(self, run: str, task: str, last: int = 0) -> list[RunTurn]:
        return self._store.turns.get((run, task), [])[-last:]

    async def lengths(self, run: str) -> dict[str, int]:
        return {task: len(made) for (of, task), made in self._store.turns.items() if of == run}


class MemoryFiles:
    """Files in a dict; one that holds an error can't be read."""

    def __init__(self) -> None:
        self.texts: dict[str, str | FileError] = {}
        self.locked: set[str] = set()

    def read(self, path: str) -> str | None:
        text = self.texts.get(path)
        if isinstance(text, FileError):
            raise text
        return text

    def write(self, path: str, text: str, before: str | None) -> None:
        if self.read(path) != before:
            raise FileError(f"{path} has changed meanwhile.")
        if path in self.locked:
            raise FileError(f"{path} can't be written: Read-only.")
        self.texts[path] = text

    def remove(self, path: str, before: str) -> None:
        if self.read(path) != before:
            raise FileError(f"{path} has changed meanwhile.")
        del self.texts[path]


class MemoryProjects:
    """The same project everywhere, but for folders named in ``others``."""

    def __init__(self) -> None:
        self.project = Project("/shop")
        self.others: dict[str, Project] = {}

    async def read(self, cwd: str) -> Project:
        found = (project for name, project in self.others.items() if name in cwd)
        return next(found, self.project)


class MemoryDecided:
    """Decisions in dicts."""

    def __init__(self) -> None:
        self.roots: dict[str, dict[str, Verdict]] = {}
        self.modes: dict[str, str] = {}
        self.full = False  # nothing can be kept

    async def verdicts(self, root: str) -> dict[str, Verdict]:
        return dict(self.roots.get(root, {}))

    async def decide(self, root: str, verdicts: Verdicts) -> None:
        if self.full:
            raise ports.StoreError("The disk is full.")
        self.roots.setdefault(root, {}).update(verdicts)

    async def forget(self, root: str) -> None:
        self.roots.pop(root, None)

    async def mode(self, chat: str) -> str:
        return self.modes.get(chat, "")

    async def set_mode(self, chat: str, mode: str) -> None:
        self.modes[chat] = mode


class MemoryClarified:
    """What became of requests, in a dict."""

    def __init__(self) -> None:
        self.known: dict[str, Clarification] = {}

    async def load(self, id: str) -> Clarification | None:
        return self.known.get(id)

    async def save(self, known: Clarification) -> Clarification:
        if known.saved != self.known.get(known.id, Clarification("")).saved:
            raise ports.Overtaken("It goes on elsewhere.")
        kept = self.known[known.id] = msgspec.structs.replace(known, saved=known.saved + 1)
        return kept


class FakeQuerier:
    """Gives what the test has it give: objects, or errors that it raises; else it waits.

    What stands in a list before an object is said first.
    """

    cost = 0.0

    def __init__(self) -> None:
        self.gives: deque[object] = deque()
        self.prompts: list[str] = []
        self._cancelled: asyncio.Future[None] | None = None

    async def query(
        self,
        system_prompt: str,
        user_prompt: str,
        schema: Mapping[str, Any],
        on_event: OnEvent | None = None,
    ) -> Any:
        self.prompts.append(user_prompt)
        if not self.gives:
            self._cancelled = asyncio.get_running_loop().create_future()
            await self._cancelled
        given = self.gives.popleft()
        if isinstance(given, list) and on_event is not None:
            for message in given[:-1]:
                on_event(message)
            given = given[-1]
        if isinstance(given, Exception):
            raise given
        return fitting(given, schema)

    async def cancel(self) -> None:
        if self._cancelled is not None and not self._cancelled.done():
            self._cancelled.set_exception(Cancelled("It was cancelled."))


class FakeEditor:
    """Records effects, and those that come where they disturb the user, or say nothing new."""

    def __init__(self) -> None:
        self.effects: list[p.Effect] = []
        self.disturbing: list[p.Effect] = []
        self.section: p.Section | None = None
        self.state = ""
        self.status: p.Status | None = None
        self.taking = False

    def apply(self, *effects: p.Effect) -> None:
        for effect in effects:
            if isinstance(effect, p.Freeze):
                self._freeze(effect)
            elif not isinstance(effect, BESIDE) and (self.section or self.taking):
                self.disturbing.append(effect)
            match effect:
                case p.Section(lines=lines, edited=edited):
                    self.section = msgspec.structs.replace(effect, lines=edited or lines)
                case p.Take():
                    self.taking = True
                case p.Status(state=state):
                    if effect == self.status:
                        self.disturbing.append(effect)
                    self.state, self.status = state, effect
            self.effects.append(effect)

    def _freeze(self, effect: p.Freeze) -> None:
        if self.section is not None and self.section.section == effect.section:
            self.section = None

    def every(self, kind: type[Kind]) -> list[Kind]:
        """The effects of this kind."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def states(self) -> list[str]:
        """All that the chat's state has been."""
        return [state for state, _ in groupby(status.state for status in self.every(p.Status))]

    @property
    def text(self) -> str:
        """What was written; a paragraph is set off by a bar, a closed section by an x."""
        shown = ""
        for effect in self.effects:
            match effect:
                case p.Write(text=text, fresh=fresh):
                    shown += "|" * fresh + text
                case p.Freeze():
                    shown += "|x"
                case p.Tool(line=line):
                    shown += "|" + (line or "-")
        return shown


class FakeAgent:
    """Says what the test makes it say."""

    name = "fake"
    controls: ports.Controls | None = None

    def __init__(self, spec: ports.AgentSpec, ask: ports.Ask, problem: str) -> None:
        self.spec = spec
        self.prompts: dict[str, str] = {}  # text → uuid
        self.commands: set[str] = set()  # texts that may be commands
        self.attached: list[Attachment] = []  # what went along with the last one
        self.known: dict[str, str] | None = {}  # what its session has on record
        self.unheard: list[str] = []  # uuids, also of prompts that say the same
        self.interrupts = 0
        self.closed = False
        self.deaf = False  # can't be spoken to any more
        self.away = False  # nor can anybody tell what its session has heard
        self.ready = asyncio.Event()  # it has started, or failed to
        self._ask = ask
        self._problem = problem
        self.asked: list[Asked] = []
        self.willing = asyncio.Event()  # else it takes its time with a mode
        self.willing.set()
        self._events: asyncio.Queue[a.AgentEvent | ports.AgentError | None] = asyncio.Queue()

    async def connect(self) -> None:
        await self.ready.wait()
        if self._problem:
            raise ports.AgentError(self._problem)

    async def events(self) -> AsyncIterator[a.AgentEvent]:
        while (event := await self._events.get()) is not None:
            if isinstance(event, ports.AgentError):
                raise event
            yield event

    async def heard(self) -> ports.Heard | None:
        if self.away:
            raise ports.AgentError("big can't be reached.")
        return self.known

    async def prompt(
        self, text: str, uuid: str, *, command: bool = True, attached: Sequence[Attachment] = ()
    ) -> None:
        if self.deaf:
            raise ports.AgentError("It does not listen.")
        self.prompts[text] = uuid
        self.attached = list(attached)
        if command:
            self.commands.add(text)
        self.unheard.append(uuid)

    async def interrupt(self) -> None:
        self.interrupts += 1

    async def set_mode(self, mode: str) -> None:
        await self.willing.wait()
        if mode == "auto":
            raise ports.AgentError("Not on this plan.")
        self.say(a.Mode(mode))

    async def close(self) -> None:
        assert not self.closed
        self.closed = True
        for asked in self.asked:
            asked.cancel()
        await asyncio.gather(*self.asked, return_exceptions=True)

    def say(self, *events: a.AgentEvent | ports.AgentError | None) -> None:
        """Events to come; an error is its death, None its peaceful end."""
        for event in events:
            if isinstance(event, a.Text) and self.known is not None:
                self.known.update(dict.fromkeys(self.prompts.values(), ""))
            self._events.put_nowait(event)

    def ask(self, request: a.Request) -> Asked:
        """Wait for the user; cancel the task to withdraw the request."""

        async def wait() -> a.Reply:
            return await self._ask(request)

        self.asked.append(asyncio.create_task(wait()))
        return self.asked[-1]


class Room:
    """One chat with its editor, store and agents."""

    def __init__(self, trees: Path = Path("/no-trees")) -> None:
        self.editor = FakeEditor()
        self.store = MemoryStore()
        self.agents: list[FakeAgent] = []
        self.problems: deque[str] = deque()  # why the next agents don't connect
        self.slow = False  # the next agents start when the test says so
        self.known: dict[str, str] | None = {}  # what the session of the next ones has on record
        self.files = MemoryFiles()
        self.clock = FakeClock()
        self.projects = MemoryProjects()
        self.decided = MemoryDecided()
        self.trees = GitWorktrees(trees)
        self.clarified = MemoryClarified()
        self.querier = FakeQuerier()
        self.world = ports.World(
            self._make,
            self.editor,
            self.store,
            self.clock,
            self.files,
            self.projects,
            self.decided,
            MemoryRuns(self.store),
            self.trees,
            self._make_querier,
            self.clarified,
            DiskTemplates(),
        )
        self.chats = Chats(self.world)

    async def _make(self, spec: ports.AgentSpec, ask: ports.Ask) -> ports.Agent:
        problem = self.problems.popleft() if self.problems else ""
        self.agents.append(FakeAgent(spec, ask, problem))
        self.agent.known = self.known
        if not self.slow:
            self.agent.ready.set()
        return self.agents[-1]

    async def _make_querier(self, cwd: str, model: str) -> ports.Querier:
        return self.querier

    def replay(self, *decisions: Decision) -> None:
        """Let a replay of these answer instead of the user, in chats to come."""
        known = {decision.key: decision for decision in decisions}
        self.chats = Chats(self.world, known)

    @property
    def agent(self) -> FakeAgent:
        """The newest one."""
        return self.agents[-1]

    async def settle(self) -> None:
        """Let every task run until it waits; nothing here takes time."""
        for _ in range(30):
            await asyncio.sleep(0)

    async def do(self, *events: p.Event) -> None:
        """The user's side."""
        for event in events:
            if isinstance(event, p.Send):
                self.editor.taking = False
            self.chats.handle(event)
        await self.settle()

    async def open(self, session: str = "", sections: list[str] | None = None) -> None:
        """Open the chat, or read its buffer again, which forgets all that its text doesn't say."""
        self.editor.status = None
        self.editor.taking = False
        if not sections:
            self.editor.section = None
        await self.do(p.Open(CHAT, "/chat.md", "/", session=session, sections=sections or []))

    async def send(self, text: str) -> None:
        """A message, as the editor sends it."""
        await self.do(p.Send(CHAT, text))

    async def hear(self, *events: a.AgentEvent | ports.AgentError | None) -> None:
        """The agent's side."""
        self.agent.say(*events)
        await self.settle()

    async def ask(self, question: str, *, agent_id: str = "") -> Asked:
        """The agent asks this, with the options Yes and No."""
        options = [{"label": "Yes"}, {"label": "No"}]
        asked = {"question": question, "header": question, "options": options}
        request = a.Request("AskUserQuestion", {"questions": [asked]}, agent_id=agent_id)
        task = self.agent.ask(request)
        await self.settle()
        return task

    def shown(self) -> p.Section:
        """The open section."""
        assert self.editor.section is not None
        return self.editor.section

    async def answer(self, label: str) -> None:
        """Delete the other option of the open section, and confirm."""
        section = self.shown()
        lines = kept(section.lines, label)
        await self.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))

    async def cancel(self) -> None:
        """`<Esc>` in the open section."""
        section = self.shown()
        await self.do(p.Cancel(CHAT, section.section, section.lines))


async def working(room: Room, text: str = "Hi") -> str:
    """A chat whose agent works on a prompt; the prompt's uuid."""
    await room.open()
    await room.send(text)
    return room.agent.prompts[text]


def kept(lines: list[str], label: str) -> list[str]:
    """The lines without the other option."""
    other = {"Yes": "No⟦", "No": "Yes⟦"}[label]
    return [line for line in lines if not line.startswith(other)]


def answers(asked: Asked) -> dict[str, str]:
    """What the agent was answered."""
    reply = asked.result()
    assert isinstance(reply, a.Allow)
    given: dict[str, str] = reply.input["answers"]
    return given


def response(asked: Asked) -> str:
    """What the user said instead of answering, or "dismissed": the agent can tell them apart."""
    reply = asked.result()
    assert isinstance(reply, a.Allow)
    hows = {note["unanswered"] for note in reply.input["annotations"].values()}
    said = reply.input.get("response", "dismissed")
    assert hows == {"dismissed" if said == "dismissed" else "replied_in_chat"}
    return str(said)


def denied(asked: Asked) -> a.Deny:
    """How the agent was refused."""
    reply = asked.result()
    assert isinstance(reply, a.Deny)
    assert reply.message
    return reply
