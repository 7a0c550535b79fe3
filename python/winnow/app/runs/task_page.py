"""The buffer of a task: what waits in it for the user, and all that was said and done."""

from __future__ import annotations

import asyncio
from heapq import merge
from math import inf
from operator import itemgetter

from winnow import ports
from winnow import protocol as p
from winnow.app.page import Page
from winnow.app.runs.run_chat import RunChat
from winnow.app.section import Section
from winnow.core.context import attachment
from winnow.core.run import timeline
from winnow.core.run.events import Event
from winnow.core.run.transcript import RunTurn
from winnow.core.text import grammar
from winnow.core.transcript.entries import Called, Entry, Noted, Recorded, Returned, Told
from winnow.core.transcript.rendering import IN_TASK
from winnow.core.transcript.transcript import Transcript

_RECENT = 300  # turns that are shown at once; what is above them follows
# A conversation begins so, whatever its first entry is: its section, above it, ends there.
_HEAD = [grammar.ORCHESTRATOR, ""]
UNLED = (
    "This task's run is led in a chat that is not open here: what you see is only to read. "
    "<CR> on the run's line of :Winnow board opens it."
)

STOP = "On :Winnow board, dd and :w stop this task."


class _Page(Page):
    """A section leaves nothing where it stood: the transcript tells what came of it."""

    def close(self, section: Section, record: list[str], *after: Entry) -> bool:  # noqa: ARG002
        """See `Page.close`."""
        return super().close(section, [], *after)


class TaskPage:
    """One buffer that shows a task; implements `winnow.app.runs.viewer.Viewer`.

    Args:
        opened: names the buffer, the run and the task.
        world: where the transcript is.
    """

    def __init__(self, opened: p.Open, world: ports.World) -> None:
        self.run = opened.run
        self.task = opened.task
        self._chat = opened.chat
        self._world = world
        self._lead: RunChat | None = None
        self._begun = False  # something stands there
        self._told: p.Status | None = None
        self._early: list[Entry] | None = []  # what comes before the transcript is shown
        folder = world.folder(opened.cwd)
        self.page = _Page(opened.chat, world.editor, folder=folder, speakers=IN_TASK)
        self._loading = asyncio.create_task(self._load())

    def led(self, chat: RunChat | None) -> None:
        """The run is led in this chat from now on; None: nowhere here."""
        self._lead = chat
        if self._early is None:
            self._follow()

    @property
    def ready(self) -> bool:
        """See `Viewer.ready`."""
        return self._early is None

    async def _load(self) -> None:
        """Show what is on record, then what has happened since."""
        self._early = [*self._lead.partial(self.task)] if self._lead else []
        turns, events = await self._read()
        first = _start(turns)
        since = turns[first].at if first < len(turns) and turns[first].index else 0.0
        whole, going = _split(_merged(turns[first:], events, since=since))
        self.page.apply(p.Transcript(self._chat, self._lines(whole)))
        self._begun = bool(whole)
        early, self._early = self._early, None
        for entry in (*going, *early):
            self.shown(entry)
        self._follow()
        if turns and (before := turns[first].index):
            above = await self._world.runs.turns(self.run, self.task)
            entries = _merged(above[:before], events, until=since)
            lines = await asyncio.to_thread(self._lines, entries)
            self.page.apply(p.Transcript(self._chat, lines, earlier=True))

    async def _read(self) -> tuple[list[RunTurn], list[Event]]:
        """The end of its transcript, and what happened to it."""
        try:
            turns = await self._world.runs.turns(self.run, self.task, _RECENT)
            return turns, await self._world.runs.of_task(self.run, self.task)
        except ports.StoreError as error:
            self.page.say(error.sentence, "warn")
            return [], []

    def _lines(self, entries: list[Entry]) -> list[str]:
        text = Transcript(entries, self.page.folder, IN_TASK).text
        head = [] if not entries or isinstance(entries[0], Told) else _HEAD
        return [*head, *text.split("\n")] if text else []

    def _follow(self) -> None:
        if self._lead is None:
            self.page.append(Noted(UNLED))
            self.status()
        else:
            self._lead.moved()

    def shown(self, entry: Entry) -> None:
        """See `Viewer.shown`."""
        if self._early is not None:
            self._early.append(entry)
            return
        if not (self._begun or isinstance(entry, Told)):
            self.page.append(p.Write(self._chat, "\n".join(_HEAD), fresh=True))
        self._begun = True
        self.page.append(entry)

    def status(self) -> None:
        """Say what the task is doing."""
        state: p.State = "asleep"
        task = self._lead.run.tasks.get(self.task) if self._lead else None
        if self.page.views:
            state = "waiting"
        elif task is not None:
            state = "working" if task.state == "running" else "idle"
        # What waits is listed once: in the chat that leads the run.
        status = p.Status(self._chat, state, cost=task.cost if task else 0.0)
        if status != self._told:
            self._told = status
            self.page.apply(status)

    # --- from the user --------------------------------------------------------------------------

    def handle(self, event: p.ChatEvent) -> None:
        """Do what the user asks for."""
        match event:
            case p.Open():
                self._told = None  # the buffer forgot it
                self.page.taken()
            case p.Send(text=text, id=id, attached=attached):
                self._send(attachment.joined(text.strip(), attached), id)
            case p.Queue():
                self.page.apply(p.Take(self._chat))
            case p.Stop():
                self.page.say(STOP)
            case p.SetMode():
                self.page.say("A worker's mode is that of its run.")
            case p.SectionMessage(section=section):
                if (take := self.page.guests.get(section)) is not None:
                    take(event)
                elif self._lead is None and not isinstance(event, p.Edit):
                    self.page.say(UNLED, "warn")
            case _:
                pass  # of what only a chat can do
        self.status()

    def _send(self, text: str, id: str) -> None:
        if not text.strip():
            return
        if self._lead is None:
            self.page.say(UNLED, "warn")
        if self._lead is None or not self._lead.say_to(self.task, text.strip()):
            self.page.append(p.Refill(self._chat, text))
        self.page.apply(p.Stored(self._chat, [id]))

    def close(self) -> None:
        """The buffer is gone."""
        self._loading.cancel()
        self.page.detach()


def _start(turns: list[RunTurn]) -> int:
    """Where something was told, which begins with a heading; else the first one."""
    told = (at for at, turn in enumerate(turns) if isinstance(turn.entry, Told))
    return next(told, 0)


def _merged(
    turns: list[RunTurn], events: list[Event], *, since: float = 0.0, until: float = inf
) -> list[Entry]:
    """Turns, and between them the events of that time that they don't tell."""
    told = [(event.at, timeline.in_place(event)) for event in events if since <= event.at < until]
    marks = [(at, Recorded([line])) for at, line in told if line]
    said: list[tuple[float, Entry]] = [(turn.at, turn.entry) for turn in turns]
    return [entry for _, entry in merge(marks, said, key=itemgetter(0))]


def _split(entries: list[Entry]) -> tuple[list[Entry], list[Entry]]:
    """Those that are whole, and those from the first call on that has no result yet."""
    open_: dict[str, int] = {}
    for at, entry in enumerate(entries):
        if isinstance(entry, Called):
            open_[entry.id] = at
        elif isinstance(entry, Returned):
            open_.pop(entry.id, None)
    at = min(open_.values(), default=len(entries))
    return entries[:at], entries[at:]
