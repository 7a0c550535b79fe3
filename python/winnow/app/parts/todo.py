"""What the agent has to do: one block of each turn, and a list that the user can change."""

from __future__ import annotations

import asyncio

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List
from winnow.app.outbox import WITH_NEXT
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core import todo
from winnow.core.listing import Edits, Problem, Row
from winnow.core.text import grammar
from winnow.core.transcript.entries import Paused

NAME = "todo"
LATER = "Told with your next message, or :Winnow send!"
NOTHING = "Nothing to send: no draft, no todo changes."
_FRAME = 0.1  # seconds in which calls are shown together


class Todo(Part):
    """The list as the agent has it, and as the user wants it."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._calls: dict[str, a.ToolStarted] = {}
        self._agents: todo.Items = ()  # as the agent has it
        self._items: todo.Items = ()  # as the user wants it
        self._told: todo.Items | None = None  # as the message says that is on its way
        self._message: ports.Message | None = None
        self._added = 0  # by the user, so far
        self._turn = 0
        self._soon: asyncio.TimerHandle | None = None
        self._list = self.shown = _TodoList(self)

    @property
    def items(self) -> todo.Items:
        """As its buffer shows it."""
        return self._items

    @property
    def changes(self) -> str:
        """What the user has changed and the agent was not told, in words; empty: nothing."""
        return todo.changes(self._agents, self._items)

    # --- from the agent -------------------------------------------------------------------------

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        match event:
            case a.ToolStarted(id=call, name=name) if name in todo.TOOLS:
                self._calls[call] = event
            case a.ToolFinished(id=call, output=output, failed=failed):
                started = self._calls.pop(call, None)
                if started is not None and not failed:
                    self._change(started, output)
            case a.TurnEnded():
                self._calls.clear()
                self._show()
                self._turn += 1
            case _:
                pass

    def _change(self, call: a.ToolStarted, output: str) -> None:
        self._forget_told()
        before = self._agents
        self._agents = todo.after(before, call.name, call.input, output)
        if self._message is None:
            self._items = self._agents
        else:  # what the user wants stays, until the agent knows it
            self._items = todo.merged(before, self._agents, self._items)
        if self._agents != before:
            self._list.moved()
            if self._soon is None:
                self._soon = asyncio.get_running_loop().call_later(_FRAME, self._show)

    def _show(self) -> None:
        if self._soon is None:
            return
        self._soon.cancel()
        self._soon = None
        open_ = any(one.state != "completed" for one in self._agents)
        state = "…" if open_ else grammar.KEPT
        line = f"{grammar.TOOL} {todo.summary(self._agents)} {state}"
        chat, block = self.around.page.chat, todo.block(self._agents)
        self.around.page.append(Paused(), p.Tool(chat, f"todo.{self._turn}", line, block))

    # --- from the user --------------------------------------------------------------------------

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        if isinstance(event, p.TellTodo):
            if not self.around.outbox.release():
                self.around.page.say(NOTHING)
            return True
        return False

    def edit(self, edits: Edits) -> None:
        """Have the agent told, with the user's next message, what they have changed."""
        self._forget_told()
        self._items = todo.edited(self._items, edits, self._added + 1)
        self._added += len(edits.added)
        if self._message is not None:
            self.around.outbox.drop(self._message)
            self._message = None
        if words := self.changes:
            self._message = self.around.outbox.message(words, about=WITH_NEXT)
            self._told = self._items
            self.around.outbox.hold(self._message)
            self.around.page.say(LATER)

    def _forget_told(self) -> None:
        """The agent has what it was told, and does as it will."""
        if self._message is not None and not self.around.outbox.holds(self._message):
            self._agents = self._told or self._agents
            self._message = self._told = None

    def opened(self) -> None:
        """Somebody looks: a chat that was opened again has a list from before."""
        kept = self.around.world.subagents
        if not self._agents and kept is not None and self.around.session.id:
            self.around.session.spawn(self._load(kept))

    async def _load(self, kept: ports.Subagents) -> None:
        found = [todo.Item(*one) for one in await kept.todo(self.around.session.id)]
        if not self._agents:
            self._agents = self._items = tuple(found)
            self._list.moved()

    def close(self) -> None:
        """See `Part.close`."""
        super().close()
        if self._soon is not None:
            self._soon.cancel()


class _TodoList(List):
    new = True

    def __init__(self, part: Todo) -> None:
        super().__init__(NAME, part.around.world.editor, part.around.opened.chat)
        self._part = part

    def rows(self) -> list[Row]:
        return todo.rows(self._part.items)

    def opened(self) -> None:
        self._part.opened()

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:  # noqa: ARG002
        self._part.edit(edits)
        return None
