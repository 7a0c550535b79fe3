"""The list of what runs, over all chats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List
from winnow.app.parts.work import Work
from winnow.core.listing import Edits, Problem, Row
from winnow.core.tasks import lines
from winnow.core.tasks.tasks import Task

NAME = "tasks"


class WorkList(List):
    """All tasks as lines; a deleted one is stopped.

    Args:
        works: of all chats.
    """

    tick = 1.0

    def __init__(self, editor: ports.Editor, works: Callable[[], Iterable[Work]]) -> None:
        super().__init__(NAME, editor)
        self._works = works

    def rows(self) -> list[Row]:
        """See `List.rows`."""
        found = [row for work in self._works() for row in work.rows()]
        return found or [Row(lines.NONE)]

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        gone = [(work, task) for key, work, task in self._known() if key in edits.gone]
        running = [task for _, task in gone if task.runs]
        if running and not event.force:
            below = sum(
                other.runs and other not in running
                for work, task in gone
                for other in work.tasks.below(task.id)
            )
            more = f", and {below} more that it has started" if below else ""
            return f"Stop {', '.join(lines.name(task) for task in running)}{more}?"
        for work, task in gone:
            if task.runs:
                work.stop(task.id)
            else:
                work.tasks.forget(task.id)
        return None

    def pick(self, key: str, *, peek: bool) -> None:
        """See `List.pick`."""
        for known, work, task in self._known():
            if known == key and peek:
                self._tell(p.Peeked(work.said(task)))
            elif known == key:
                work.visit(task)

    def _known(self) -> Iterator[tuple[str, Work, Task]]:
        for work in self._works():
            for task in work.tasks:
                yield lines.row_key(work.around.opened.chat, task.id), work, task
