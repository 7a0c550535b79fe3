"""What tasks change in worktrees of their own, and how it comes home, as the user wants it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Literal

from winnow import ports
from winnow.app.background import Background
from winnow.app.runs.front import Front
from winnow.app.runs.record import Record
from winnow.core import agent as a
from winnow.core.asking import merging
from winnow.core.asking.merging import ToMerge
from winnow.core.proposal.merge import diffstat, narrowed
from winnow.core.run import events as e
from winnow.core.run import prompts

log = logging.getLogger(__name__)

OVER = "This is over: the task has gone on, or its change is merged."
CONFLICTS = "It could not be merged: your files have changed in the same places."
GATE = "It was not merged, since this failed:"
LATER = "The user does not merge it for now."


class Merges:
    """The worktrees of a run's tasks.

    Args:
        record: the run's.
        front: the chat in which it is led.
        trees: where they are made.
        tell: has the worker of a task go on with these words.

    Attributes:
        how: the user is asked; or nobody is there to be, and all of it is merged, or nothing.
    """

    def __init__(
        self,
        record: Record,
        front: Front,
        trees: ports.Worktrees,
        tell: Callable[[str, str], None],
    ) -> None:
        self.run = record.run
        self._record = record
        self._front = front
        self._trees = trees
        self._tell = tell
        self._background = Background()
        self.how: Literal["ask", "all", "none"] = "ask"

    def restart(self, asked: set[str]) -> None:
        """A host before this one has ended: go on, but for the tasks that are asked about."""
        for task in list(self.run.tasks.values()):
            state = task.merge.state if task.merge else ""
            if task.tree and state == "done":
                self._background.spawn(self._remove(task.id))
            elif task.merging and state == "accepted":
                self._background.spawn(self._merge(task.id))
            elif task.merging and task.id not in asked:
                self._background.spawn(
                    self._ask(task.id, (task.merge.reason,) if task.merge else ())
                )

    async def make(self, task: str) -> None:
        """See that a task has its worktree, with what it needs of the user's.

        Raises:
            TreeError: it can't be made.
        """
        of = self.run.tasks[task]
        if of.tree is None:
            name, uncommitted = f"{self.run.id}-{task}", self.run.limits.uncommitted
            tree = await self._trees.create(self.run.cwd, name, uncommitted=uncommitted)
        elif of.outdated:
            tree = await self._trees.update(of.tree)
        else:
            return
        self._record.record(e.TreeMade(self._record.now, self.run.id, task, tree))

    # --- asked ----------------------------------------------------------------------------------

    def ended(self, task: str, closing: asyncio.Task[None] | None) -> None:
        """A task is done, or was cancelled: what becomes of its change, once its agent is gone."""

        async def go_on() -> None:
            if closing is not None:
                await asyncio.wait({closing})
            await (self._leave if self.run.tasks[task].state == "cancelled" else self._ask)(task)

        if self.run.tasks[task].tree is not None:
            self._background.spawn(go_on())

    async def _ask(self, task: str, why: tuple[str, ...] = (), **more: Any) -> None:
        """Ask the user about its whole change, if there is any; ``more``: of the last time."""
        tree = self.run.tasks[task].tree
        assert tree is not None
        now, run, cut = self._record.now, self.run.id, more.pop("wanted", None)
        try:
            change = await self._trees.change(tree)
        except ports.TreeError as error:
            if self.run.tasks[task].merging:
                self._tell_of(error)
                self._record.record(e.MergeReturned(now, run, task, error.sentence))
            return
        if not (of := self.run.tasks[task]).merging:
            return
        if not change.files:
            await self._remove(task)
            return
        files = change.files if cut is None else narrowed(change.files, cut)
        cut = {path: text for path, text in (cut or {}).items() if text is not None}
        what = ToMerge(
            run, task, of.title, change.commit, files, tuple(filter(None, why)), cut=cut, **more
        )
        clash = what.conflicts
        self._record.record(
            e.MergeAsked(now, run, task, change.commit, diffstat(change.files), "".join(why), clash)
        )
        if self.how == "ask":
            self._front.ask_user(merging.asked(what))
        else:
            self._unasked(task, "".join(why), dict.fromkeys(file.path for file in files))
        self._front.moved()

    def _unasked(self, task: str, why: str, whole: dict[str, str | None]) -> None:
        """Nobody is there: merge it once; what can't be merged stays on its branch."""
        now, run, of = self._record.now, self.run.id, self.run.tasks[task]
        assert of.tree is not None
        if self.how == "all" and not why:
            self._record.record(e.MergeAccepted(now, run, task, whole))
            self._background.spawn(self._merge(task))
        else:
            reason = f"{why} It stays on the branch {of.tree.branch}, in {of.tree.path}.".strip()
            self._record.apply(event := e.MergeReturned(now, run, task, reason))
            self._record.keep(event, self._front.wake(prompts.left_on_branch(of, reason), task))

    def answered(self, request: a.Request, reply: a.Reply) -> list[ports.Kept]:
        """The user has decided. What is to be kept with that."""
        what = merging.of(request)
        if not self._waits(what):
            self._front.note(OVER)
        elif isinstance(reply, a.Deny):
            self._tell(what.task, "\n\n".join((reply.message, *what.why, "\n".join(what.shown))))
        else:
            event = e.MergeAccepted(
                self._record.now, self.run.id, what.task, reply.input["wanted"], reply.note
            )
            self._record.apply(event)
            self._background.spawn(self._merge(what.task))
            return [event]
        return []

    def returned(self, request: a.Request) -> list[ports.Kept]:
        """They closed it without an answer. What is to be kept with that."""
        what = merging.of(request)
        if not self._waits(what):
            return []
        event = e.MergeReturned(self._record.now, self.run.id, what.task, LATER)
        self._record.apply(event)
        return [event, self._front.wake(prompts.not_merged(self.run.tasks[what.task]), what.task)]

    def waits(self, request: a.Request) -> bool:
        """Whether the user is asked this still."""
        return self._waits(merging.of(request))

    def _waits(self, what: ToMerge) -> bool:
        task = self.run.tasks.get(what.task)
        merge = task.merge if task and task.state == "done" else None
        return merge is not None and merge.commit == what.commit and merge.state in _OPEN

    # --- merged ---------------------------------------------------------------------------------

    async def _merge(self, task: str) -> None:
        """What the user wants, after the run's gate; or they are asked again."""
        of, merge = self.run.tasks[task], self.run.tasks[task].merge
        assert of.tree is not None
        assert merge is not None
        if not merge.wanted:
            await self._remove(task, prompts.dropped(of, merge.note))
            return
        gate, wanted = self.run.limits.gate, merge.wanted
        try:
            merged = await self._trees.merge(of.tree, merge.commit, wanted, gate)
        except ports.TreeError as error:
            log.error("%s\n%s", error.sentence, error.detail)
            await self._ask(task, (error.sentence,), wanted=wanted)
            return
        if merged.conflicts:
            shown = merging.conflicts(merged.conflicts)
            await self._ask(task, (CONFLICTS,), wanted=wanted, shown=shown, conflicts=True)
        elif merged.failed:
            shown = merging.failure(merged.failed)
            await self._ask(task, (GATE,), wanted=wanted, shown=shown)
        else:
            event = e.Merged(self._record.now, self.run.id, task, merged.done)
            self._record.record(
                event, self._front.wake(prompts.merged(of, merged.done, merge.note), task)
            )
            self._record.refused = False  # it is told of that
            self._front.reload()
            await self._remove(task)

    async def _remove(self, task: str, told: str = "") -> None:
        """It holds nothing that is not merged, or the user does not want it; ``told``: as is."""
        tree = self.run.tasks[task].tree
        assert tree is not None
        try:
            kept = await self._trees.remove(tree)
        except ports.TreeError as error:
            self._tell_of(error)
        else:
            if self._record.refused and not told:
                self._record.refused, told = False, prompts.unchanged(self.run.tasks[task])
            event = e.TreeRemoved(self._record.now, self.run.id, task, kept)
            self._record.record(event, *([self._front.wake(told, task)] if told else []))
        self._front.moved()

    async def _leave(self, task: str) -> None:
        """Nobody wants the task any more; what it has changed stays where it is."""
        tree = self.run.tasks[task].tree
        assert tree is not None
        try:
            change = await self._trees.change(tree)
        except ports.TreeError as error:
            self._tell_of(error)
            return
        if change.files:
            what = f"{task} was cancelled: its change ({diffstat(change.files)})"
            self._front.note(f"{what} stays in {tree.path}, on the branch {tree.branch}.")
        else:
            await self._remove(task)

    def _tell_of(self, error: ports.TreeError) -> None:
        log.error("%s\n%s", error.sentence, error.detail)
        self._front.note(error.sentence)

    async def close(self) -> None:
        """Stop; what is under way is done when the chat is opened again."""
        self._background.cancel()
        await self._background.over()


_OPEN = ("asked", "aside")
