"""Transcripts of subagents in buffers of their own, written on as long as they run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import takewhile

from msgspec.structs import replace

from winnow import protocol as p
from winnow.app.parts.part import Around
from winnow.core import agent as a
from winnow.core.folder import Folder
from winnow.core.subagents import Subagents, entries, missing
from winnow.core.tasks import lines
from winnow.core.tasks.tasks import Task, Tasks
from winnow.core.text import grammar
from winnow.core.transcript.entries import Entry
from winnow.core.transcript.rendering import IN_AGENT, IN_CHAT, Renderer, tool_line
from winnow.core.transcript.transcript import Sheet, Transcript

_FRAME = 0.25  # seconds in which what it says is shown together
_AGENTS = ("Agent", "Task")  # the tools that start one

NO_AGENT = "Nothing is known of this subagent: Claude Code has no file of it."
COMING = "This subagent has yet to begin: then it is shown."
ALONE = "There is no other subagent beside this one."


def _lines(task: Task) -> list[str]:
    """How the line of its call begins, in chats of before."""
    return [f"{tool_line(tool, {'description': task.what})} " for tool in _AGENTS]


class _Page:
    """One transcript as its buffer has it."""

    def __init__(self, task: Task, folder: Folder) -> None:
        self.task = task
        self.sheet = Sheet()
        self.sent: list[str] = []
        self.state = ""
        self._renderer = Renderer(folder, IN_AGENT)
        self._drawn = 0

    def draw(self, all_: list[Entry]) -> None:
        """Take in what has happened since the last time."""
        for entry in all_[self._drawn :]:
            self.sheet.draw(self._renderer.render(entry))
        self._drawn = len(all_)

    def changed(self) -> tuple[int, list[str]]:
        """How many lines are as they were, and what follows these now."""
        now = self.sheet.text.split("\n")
        same = sum(
            1 for _ in takewhile(lambda two: two[0] == two[1], zip(self.sent, now, strict=False))
        )
        self.sent = now
        return same, now[same:]


class AgentPages:
    """Of one chat.

    Args:
        tasks: those of its session; hears each event before.
    """

    def __init__(self, around: Around, tasks: Tasks) -> None:
        self._around = around
        self._tasks = tasks
        self._agents = Subagents(tasks)
        self._past: dict[str, Task] = {}  # that an earlier host has seen, or none
        self._read: dict[str, list[Entry]] = {}  # what their files say
        self._pages: dict[str, _Page] = {}  # that are open
        self._ready: dict[str, _Page] = {}  # by calls: drawn as they go, to open at once
        self._coming = ""  # the call of one that is to be shown as soon as it has begun
        self._stale: set[str] = set()
        self._soon: asyncio.TimerHandle | None = None

    def hear(self, event: a.Side) -> None:
        """Something beside the conversation was told."""
        call = self._agents.hear(event, self._around.world.clock.now())
        task = self._tasks.get(getattr(event, "id", ""))
        if task is not None and task.is_agent and task.call == self._coming != "":
            self._coming = ""
            self._around.session.spawn(self.show(task))
        self._draw(call)
        for page in self._pages.values():
            if page.task is task or (call and page.task.call == call):
                self._show_soon(page.task.id)

    def _draw(self, call: str) -> None:
        """Be ready to show what a subagent has said so far."""
        page, task = self._ready.get(call), self._tasks.by_call(call)
        if page is None and task is not None:
            page = self._ready[call] = _Page(task, self._around.page.folder)
        if page is not None:
            page.draw(self._agents.of(call))

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        match event:
            case p.VisitAgent():
                self._around.session.spawn(self._visit(event))
            case p.WatchAgent(agent=id, open=False):
                self._pages.pop(id, None)
            case p.WatchAgent(agent=id):
                self._around.session.spawn(self._visit(p.VisitAgent(event.chat, id)))
            case p.PickInAgent(agent=id, row=row):
                self._pick(id, row)
            case p.AgentBeside(agent=id, step=step):
                self._beside(id, step)
            case p.Promote(agent=id):
                self._around.session.spawn(self._promote(id))
            case _:
                return False
        return True

    # --- which one ------------------------------------------------------------------------------

    async def _visit(self, event: p.VisitAgent, *, inner: bool = False) -> None:
        task = self._find(event)
        if task is None:
            await self._learn()
            task = self._find(event)
        if task is not None:
            await self.show(task)
        elif event.call and (inner or self._around.turn.running(event.call)):
            self._coming = event.call
            self._around.page.say(COMING)
        else:
            self._around.page.say(NO_AGENT, "warn")

    def _find(self, event: p.VisitAgent) -> Task | None:
        if event.agent:
            return self._tasks.get(event.agent) or self._past.get(event.agent)
        if event.call:
            calls = (task for task in self._known() if task.call == event.call)
            return next(calls, None)
        about = event.line.removeprefix(f"{grammar.TOOL} ")
        alike = [
            task
            for task in self._known()
            if not task.parent and any(about.startswith(line) for line in _lines(task))
        ]
        return alike[event.nth] if event.nth < len(alike) else None

    def _known(self) -> list[Task]:
        now = [task for task in self._tasks if task.is_agent]
        ids = {task.id for task in now}
        return [*(task for task in self._past.values() if task.id not in ids), *now]

    async def _learn(self) -> None:
        """What the session has kept of earlier ones."""
        kept = self._around.world.subagents
        session = self._around.session.id
        for one in await kept.listed(session) if kept and session else ():
            task = Task(one.id, one.what, "agent", one.call, one.type, one.parent)
            task.model, task.end, task.told = one.model, "done", True
            self._past.setdefault(one.id, task)

    def _pick(self, id: str, row: int) -> None:
        page = self._pages.get(id)
        call = page.sheet.call_at(row) if page else ""
        if call:
            event = p.VisitAgent(self._around.page.chat, "", call)
            self._around.session.spawn(self._visit(event, inner=True))

    def _beside(self, id: str, step: int) -> None:
        here = self._tasks.get(id) or self._past.get(id)
        row = [task for task in self._known() if here and task.parent == here.parent]
        if here is None or len(row) < 2:
            self._around.page.say(ALONE)
        else:
            other = row[(row.index(here) + step) % len(row)]
            self._around.session.spawn(self.show(other))

    # --- shown ----------------------------------------------------------------------------------

    async def show(self, task: Task) -> None:
        """Show its buffer."""
        page = self._ready.get(task.call) if self._agents.of(task.call) else None
        if page is None:
            page = _Page(task, self._around.page.folder)
            await self._load(task)
            await asyncio.to_thread(page.draw, list(self._entries(task)))  # it may be long
        page.sent = []  # its buffer may be new
        self._pages[task.id] = page
        self._show(task.id, show=True)

    async def _load(self, task: Task) -> None:
        kept = self._around.world.subagents
        if task.id not in self._read:
            events = await kept.events(self._around.session.id, task.id) if kept else ()
            self._read[task.id] = [entry for event in events for entry in entries(event)]

    def _entries(self, task: Task) -> list[Entry]:
        return self._agents.of(task.call) or self._read.get(task.id) or missing(task)

    def _show_soon(self, id: str) -> None:
        self._stale.add(id)
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_FRAME, self._show_stale)

    def _show_stale(self) -> None:
        self._soon = None
        stale, self._stale = self._stale, set()
        for id in stale:
            self._show(id)

    def _show(self, id: str, *, show: bool = False) -> None:
        page = self._pages.get(id)
        if page is None:
            return
        task = page.task
        page.draw(self._entries(task))
        keep, changed = page.changed()
        title = " · ".join(filter(None, (lines.name(task), lines.short(task.type))))
        state = self._state(task)
        if changed or show or state != page.state:
            page.state = state
            chat, above = self._around.page.chat, (task.parent, task.call)
            effect = p.AgentPage(chat, id, title, state, *above, changed, keep, show)
            self._around.page.apply(effect)

    def _state(self, task: Task) -> str:
        if task.id in self._past:
            return lines.model_name(task.model)
        untyped = replace(task, type="")  # as the title says it
        return lines.live(untyped) if task.runs else lines.spent(untyped)

    # --- promoted -------------------------------------------------------------------------------

    async def _promote(self, id: str) -> None:
        """Make a chat of one: its session knows all that the subagent knew."""
        kept = self._around.world.subagents
        task = self._tasks.get(id) or self._past.get(id)
        if task is not None and task.runs:
            self._around.page.say("It still runs: promote it once it has ended.", "warn")
            return
        session = await kept.promote(self._around.session.id, id) if kept and task else ""
        if not session or task is None or kept is None:
            self._around.page.say(NO_AGENT, "warn")
            return
        said: Iterable[a.AgentEvent] = await kept.events(self._around.session.id, id)
        told = [entry for event in said for entry in entries(event)]
        text = Transcript(told, self._around.page.folder, IN_CHAT).text
        chat, cwd = self._around.page.chat, self._around.opened.cwd
        self._around.page.apply(p.Promoted(chat, session, cwd, text.split("\n")))

    def close(self) -> None:
        """Show nothing any more."""
        if self._soon is not None:
            self._soon.cancel()
