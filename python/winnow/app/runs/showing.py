"""Whatever shows runs beside the chats that lead them: the board, task buffers, timelines."""

from __future__ import annotations

from winnow import ports
from winnow import protocol as p
from winnow.app.runs.boards import Board, Spawn
from winnow.app.runs.run_chat import RunChat
from winnow.app.runs.task_page import TaskPage
from winnow.core.never import assert_never
from winnow.core.run import timeline
from winnow.core.run.run import replay
from winnow.core.transcript.rendering import IN_TASK
from winnow.core.transcript.transcript import Transcript

UNLED = (
    "This run is led in a chat that is not open here: <CR> on its line of :Winnow board opens it."
)
NOTHING = "Nothing has happened in this run."
_PEEKED = 40  # lines


class Showing:
    """What the user looks at of runs.

    Args:
        world: where runs are read.
        spawn: does something beside, and tells of a failure.

    Attributes:
        led: the runs that are led here, by their chats' numbers.
        board: the list of all runs.
    """

    def __init__(self, world: ports.World, spawn: Spawn) -> None:
        self.led: dict[int, RunChat] = {}
        self._world = world
        self.board = Board(world, self.led.values, spawn)
        self._pages: dict[int, TaskPage] = {}
        self._spawn = spawn

    def run(self, id: str) -> RunChat | None:
        """The chat in which this run is led here."""
        return next((chat for chat in self.led.values() if chat.run.id == id), None)

    def began(self, number: int, chat: RunChat) -> None:
        """A run is led here from now on."""
        self.led[number] = chat
        chat.changed = self.board.moved
        for page in self._pages.values():
            self._join(page)

    def ended(self, number: int) -> None:
        """A chat is closed; maybe it led a run, maybe it shows a task."""
        if (page := self._pages.pop(number, None)) is not None:
            if (led := self.run(page.run)) is not None:
                led.viewers.remove(page)
            page.close()
        if (chat := self.led.pop(number, None)) is not None:
            for other in self._pages.values():
                if other.run == chat.run.id:
                    other.led(None)

    def _join(self, page: TaskPage) -> None:
        led = self.run(page.run)
        if led is not None and led.viewers.add(page):
            page.led(led)

    def takes(self, event: p.ChatEvent) -> bool:
        """Whether this is about a task's buffer; then it is done."""
        page = self._pages.get(event.chat)
        if page is not None:
            page.handle(event)
        elif isinstance(event, p.Open) and event.task:
            page = self._pages[event.chat] = TaskPage(event, self._world)
            self._join(page)
        return page is not None

    def handle(self, event: p.ShowEvent) -> None:
        """Show something, or do what the user wants of it."""
        match event:
            case p.Peek(run=run, task=task):
                self._spawn(self._peek(run, task))
            case p.GoToRun(run=run):
                self._spawn(self._go_to(run))
            case p.Timeline(run=run):
                self._spawn(self._show_timeline(run))
            case p.GoOn() | p.HaltRun() | p.HandOver():
                if (led := self.run(event.run)) is not None:
                    _do(event, led)
                else:
                    self._world.editor.apply(p.Notify(UNLED, "warn"))
            case _:
                assert_never(event)

    async def _show_timeline(self, run: str) -> None:
        lines = timeline.lines(await self._world.runs.events(run))
        self._world.editor.apply(p.Lived(lines or [NOTHING]))

    async def _peek(self, run: str, task: str) -> None:
        if task:
            turns = (await self._world.runs.turns(run, task))[-_PEEKED:]
            lines = Transcript((turn.entry for turn in turns), speakers=IN_TASK).text.split("\n")
        else:
            lines = timeline.lines(await self._world.runs.events(run))
        shown = lines[-_PEEKED:] if any(lines) else ["Nothing was said yet."]
        self._world.editor.apply(p.Peeked(shown))

    async def _go_to(self, run: str) -> None:
        led = self.run(run)
        path = led.path if led else replay(run, await self._world.runs.events(run)).chat
        self._world.editor.apply(p.OpenChat(path))

    def close(self) -> None:
        """Show nothing any more."""
        for number in list(self._pages):
            self.ended(number)


def _do(event: p.LedEvent, led: RunChat) -> None:
    """What the user wants of a run, by the chat that leads it."""
    match event:
        case p.GoOn(budget=budget):
            led.calls.go_on(budget)
        case p.HaltRun():
            led.halt()
        case p.HandOver(to=to, query=query, task=task):
            led.calls.hand(to, query, task)
        case _:
            assert_never(event)
