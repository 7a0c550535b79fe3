"""The git worktree that a chat works in, and how what is changed there comes home."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.outbox import WITH_NEXT
from winnow.app.parts.part import Around, Part
from winnow.core import agent as a
from winnow.core.asking import merging
from winnow.core.asking.merging import ToMerge
from winnow.core.proposal.merge import narrowed
from winnow.core.text import grammar
from winnow.core.transcript.entries import Noted, Recorded

log = logging.getLogger(__name__)

NO_TREE = "This chat has no worktree: :Winnow new ++worktree opens one that has."
NOTHING = "There is nothing to merge: {} holds no change that your files have not."
CONFLICTS = "It could not be merged: your files have changed in the same places."
FAILED = "It was not merged:"
MARKED = "What the user's files have become is in your worktree now, with both sides marked."


class Tree(Part):
    """See the module; implements `winnow.app.sections.delivery.Routes`."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._trees = around.world.trees
        self._cwd, self._of = around.opened.cwd, around.opened.worktree
        self._tree: ports.Tree | None = None
        self._fresh = False  # nothing was said in it before
        self._making = asyncio.Lock()
        if self._of.project:
            around.sections.route(self)

    async def prepare(self) -> None:
        """See `Part.prepare`: it is there, whatever has become of it."""
        if self._of.project:
            async with self._making:
                await self._prepare()

    async def _prepare(self) -> None:
        uncommitted = self.around.opened.limits.uncommitted
        try:
            project, branch = self._of.project, self._of.branch
            made = await self._trees.ensure(project, self._cwd, branch, uncommitted=uncommitted)
        except ports.TreeError as error:
            raise ports.AgentError(error.sentence, error.detail) from error
        if not branch:
            self._fresh = True
            self._of = msgspec.structs.replace(self._of, branch=made.tree.branch)
            page = self.around.page
            page.append(p.Meta(page.chat, {"branch": made.tree.branch}))
        self._tree = made.tree
        if made.said and self.around.opened.session:
            self.around.page.append(Noted(made.said))

    # --- asked ----------------------------------------------------------------------------------

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        if not isinstance(event, p.Merge):
            return False
        if self._of.project:
            self.around.session.spawn(self._ask())
        else:
            self.around.page.say(NO_TREE, "warn")
        return True

    async def _ask(self, *why: str, **more: Any) -> None:
        """Ask the user about its whole change; ``more``: of the last time."""
        cut = more.pop("wanted", None)
        try:
            await self.prepare()
            assert self._tree is not None
            change = await self._trees.change(self._tree)
        except (ports.AgentError, ports.TreeError) as error:
            self._warn(error)
            return
        for section in self.around.sections.routed():  # which is about what was there before
            self.around.sections.withdraw(section)
        files = change.files if cut is None else narrowed(change.files, cut)
        if not files:
            self.around.page.say(NOTHING.format(self._tree.branch))
            return
        cut = {path: text for path, text in (cut or {}).items() if text is not None}
        base, name = self._tree.base, self._tree.branch
        what = ToMerge("", "", name, change.commit, files, why, cut=cut, base=base, **more)
        self.around.sections.ask(merging.asked(what))
        self.around.moved()

    def answered(self, request: a.Request, reply: a.Reply, text: str) -> list[ports.Kept]:  # noqa: ARG002
        """See `Routes.answered`."""
        what = merging.of(request)
        if isinstance(reply, a.Allow):
            self.around.session.spawn(self._merge(what, reply))
            return []
        said = "\n\n".join(filter(None, (reply.message, *what.why, "\n".join(what.shown))))
        return self._tell(f"{said}\n\n{MARKED}" if what.conflicts else said, what)

    def returned(self, request: a.Request, reason: str) -> list[ports.Kept]:  # noqa: ARG002
        """See `Routes.returned`: it stays where it is."""
        return []

    def discussed(self, request: a.Request, text: str) -> list[ports.Kept]:
        """See `Routes.discussed`."""
        return self._tell(text, merging.of(request))

    def _tell(self, text: str, what: ToMerge) -> list[ports.Kept]:
        """Have the agent go on, after a conflict with what the user's files have become."""
        message = self.around.outbox.message(text)

        async def go_on() -> None:
            try:
                if what.conflicts and self._tree is not None:
                    self._tree = await self._trees.update(self._tree)
            except ports.TreeError as error:
                self._warn(error)
            self.around.outbox.queue(message)
            self.around.moved()

        self.around.session.spawn(go_on())
        return [message]

    # --- merged ---------------------------------------------------------------------------------

    async def _merge(self, what: ToMerge, reply: a.Allow) -> None:
        """What the user wants; or they are asked again."""
        wanted = reply.input["wanted"]
        try:
            await self.prepare()
            assert self._tree is not None
            if self._tree.base != what.base:  # a part of that is merged meanwhile
                await self._ask()
                return
            merged = await self._trees.merge(self._tree, what.commit, wanted)
        except (ports.AgentError, ports.TreeError) as error:
            log.error("%s\n%s", error.sentence, error.detail)
            await self._ask(error.sentence, wanted=wanted)
            return
        if merged.conflicts:
            shown = merging.conflicts(merged.conflicts)
            await self._ask(CONFLICTS, wanted=wanted, shown=shown, conflicts=True)
        elif merged.failed:
            await self._ask(FAILED, wanted=wanted, shown=merging.failure(merged.failed))
        else:
            self._merged(merged.done, reply.note)

    def _merged(self, done: tuple[str, ...], note: str) -> None:
        page, project = self.around.page, self.around.world.folder("").name(self._of.project)
        files = ", ".join(done) or "all of it was there already"
        page.append(Recorded([f"{grammar.KEPT} Merged into {project}: {files}"]))
        page.apply(p.Reload())
        if note:
            said = f"What you have changed here was merged into {self._of.project}. {note}"
            self.around.outbox.hold(self.around.outbox.message(said, about=WITH_NEXT))

    def _warn(self, error: ports.AgentError | ports.TreeError) -> None:
        log.error("%s\n%s", error.sentence, error.detail)
        self.around.page.say(error.sentence, "warn")

    def close(self) -> None:
        """See `Part.close`: a chat in which nothing was said leaves nothing behind."""
        super().close()
        if self._fresh and not self.around.session.used:
            self.around.session.spawn(self._tidy())

    async def _tidy(self) -> None:
        assert self._tree is not None
        try:
            if not await self._trees.holds(self._tree):
                await self._trees.remove(self._tree)
        except ports.TreeError as error:
            log.error("%s\n%s", error.sentence, error.detail)
