"""What the agent has started, and goes on beside the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.agent_pages import AgentPages
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core.context.attachment import fenced
from winnow.core.listing import Row
from winnow.core.tasks import events as t
from winnow.core.tasks import lines
from winnow.core.tasks.tasks import Task, Tasks
from winnow.core.text import grammar
from winnow.core.text.text import clean_block
from winnow.core.transcript.entries import Returned

_FRAME = 0.25  # seconds in which what happens is shown together
_LATE = 1.0  # seconds in which an end may be told after the full set was without it
_FRESH = 2.0  # seconds after which what a command has said is asked for anew

YOUNG = "It goes on in the background as soon as Claude Code can: a command that runs for seconds."
NO_CALL = "Nothing runs here to send to the background."
WHICH = "More than one call runs: go to the line of one."


class Work(Part):
    """Subagents and commands in the background: shown while they run, told of when they end.

    Attributes:
        tasks: all of them.
    """

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self.tasks = Tasks()
        self._pages = AgentPages(around, self.tasks)
        self._rows: set[str] = set()  # calls that are shown as running, and have returned
        self._wanted: set[str] = set()  # calls that are to go on in the background
        self._said: dict[str, str] = {}  # what a command has said last, by its task
        self._asked = 0.0  # when it was asked for that
        self._drawn: list[p.LiveCall] = []
        self._soon: asyncio.TimerHandle | None = None
        self._late: asyncio.TimerHandle | None = None

    @property
    def _now(self) -> float:
        return self.around.world.clock.now()

    # --- from the agent -------------------------------------------------------------------------

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        match event:
            case a.ToolFinished(id=call, output=output, failed=failed):
                self._return(call, output, failed=failed)
            case t.Launched(call=call):
                if self.around.turn.lasts(call):
                    self._rows.add(call)
                self.tasks.hear(event, self._now)
                self._pages.hear(event)
                task = self.tasks.by_call(call)
                if task is not None and task.told:
                    self._end_row(task)
            case a.Side():
                known = self.tasks.hear(event, self._now)
                self._pages.hear(event)
                if not known:
                    return
                if isinstance(event, t.Began) and event.call in self._wanted:
                    self._send_back(event.call)
            case a.Pause() | a.TurnEnded():
                if not (self.tasks.untold or self._drawn):
                    return
            case _:
                return
        if self.around.turn.boundary:
            self._tell()
        self._show_soon()

    def _return(self, call: str, output: str, *, failed: bool) -> None:
        """A subagent that was waited for returns its report, not what Claude Code says of it."""
        self._wanted.discard(call)
        self.tasks.returned(call, self._now, failed=failed)
        task = self.tasks.by_call(call)
        if task is not None and task.is_agent and not task.runs and self.around.turn.lasts(call):
            report = output if failed else task.summary or output
            self._finish(call, report, task)

    def ended(self) -> None:
        """See `Part.ended`."""
        self.tasks.lose(self._now)
        self._wanted.clear()
        self._show_soon()

    # --- shown ----------------------------------------------------------------------------------

    def status(self) -> Mapping[str, Any]:
        """See `Part.status`."""
        return {"background": len(self.tasks.background)}

    def _show_soon(self) -> None:
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_FRAME, self._show)
        if self.tasks.missed and self._late is None:
            self._late = asyncio.get_running_loop().call_later(_LATE, self._settle)

    def _settle(self) -> None:
        self._late = None
        self.tasks.settle(self._now)
        self._show()

    def _show(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        if self.around.turn.boundary:
            self._tell()
        running = [task for task in self.tasks if task.runs and task.call and not task.parent]
        drawn = [p.LiveCall(task.call, lines.live(task), task.began) for task in running]
        if drawn != self._drawn:
            self._drawn = drawn
            self.around.page.apply(p.Live(self.around.page.chat, drawn))
        self.around.moved()

    def _tell(self) -> None:
        """Say once of each that it has ended, where no message is cut by that."""
        for task in self.tasks.untold:
            task.told = True
            chat = self.around.page.chat
            self._end_row(task)
            state = grammar.KEPT if task.end == "done" else grammar.REFUSED
            line = f"{grammar.TOOL} {lines.told(task)} {state}"
            self.around.page.append(p.Tool(chat, f"{task.id}.{task.rounds}", line))
            data: p.Data = {"task": task.id, "what": task.what, "how": task.end}
            self.around.page.append(p.Happened(chat, "TaskEnd", data))

    def _end_row(self, task: Task) -> None:
        """The line of its call has what it has cost, and its report, once both are known."""
        if task.call in self._rows:
            self._rows.remove(task.call)
            self._finish(task.call, task.summary, task)

    def _finish(self, call: str, output: str, task: Task) -> None:
        failed = task.end not in ("", "done")
        self.around.page.append(Returned(call, output, failed, lines.spent(task)))

    def rows(self) -> list[Row]:
        """Its lines in the list of all tasks; asks for what commands have said meanwhile."""
        self._look()
        opened, now = self.around.opened, self._now
        title = f"{Path(opened.cwd).name} · {Path(opened.path).stem}"
        return lines.rows(opened.chat, title, self.tasks, now, self._last_lines())

    def _last_lines(self) -> dict[str, str]:
        ends = {id: said.rstrip().rpartition("\n")[2] for id, said in self._said.items()}
        return {id: end for id, end in ends.items() if end}

    def _look(self) -> None:
        commands = [task for task in self.tasks if task.runs and task.kind == t.COMMAND]
        if not commands or self._now - self._asked < _FRESH:
            return
        self._asked = self._now
        for task in commands:
            self.output(task.id)

    def output(self, id: str) -> None:
        """Learn what a command has said so far."""

        def know(said: str) -> None:
            self._said[id] = said

        self.around.session.control(
            lambda controls: controls.task_output(id), know, lambda _error: None
        )

    def said(self, task: Task) -> list[str]:
        """What it has said last, as Markdown."""
        said = clean_block(task.summary or self._said.get(task.id, "").rstrip("\n") or task.doing)
        head = [f"**{lines.name(task)}**", ""]
        if task.is_agent:
            return [*head, *said]
        return [*head, *fenced("\n".join(said[-40:])).split("\n")]

    # --- from the user --------------------------------------------------------------------------

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        match event:
            case p.Background(call=call):
                self._background(call)
                return True
        return self._pages.takes(event)

    def _background(self, call: str) -> None:
        calls = self.around.turn.calls
        if not call and len(calls) > 1:
            self.around.page.say(WHICH, "warn")
        elif not calls or (call and call not in calls):
            self.around.page.say(NO_CALL, "warn")
        else:
            self._send_back(call or calls[0])

    def _send_back(self, call: str) -> None:
        def done(sent: bool) -> None:
            if sent:
                self._wanted.discard(call)
            elif self.around.turn.running(call) and call not in self._wanted:
                self._wanted.add(call)
                self.around.page.say(YOUNG)

        self.around.session.control(
            lambda controls: controls.background(call), done, self._complain
        )

    def _complain(self, error: ports.AgentError) -> None:
        self.around.page.say(error.sentence, "error")

    def stop(self, id: str) -> None:
        """End a task, and what it has started."""
        task = self.tasks.get(id)
        if task is None or not task.runs:
            return
        what = lines.name(task)
        ids = [id, *(other.id for other in self.tasks.below(id) if other.runs)]

        async def stop(controls: ports.Controls) -> int:
            return sum([await controls.stop_task(one) for one in ids])

        def done(left: int) -> None:
            if left:
                self.around.page.say(f"{what}: {left} more of its processes had to be ended.")
            self._show_soon()

        self.around.session.control(stop, done, self._complain)

    def visit(self, task: Task) -> None:
        """Go to what a task says."""
        if task.is_agent:
            self.around.session.spawn(self._pages.show(task))
        else:
            self.around.page.apply(p.Peeked(self.said(task)))

    def close(self) -> None:
        """See `Part.close`."""
        self._pages.close()
        for timer in (self._soon, self._late):
            if timer is not None:
                timer.cancel()
