"""Back to before a message of the user's: its files, its conversation, or a summary in its place.

What is left stays: the conversation goes on in a branch, and files are written only as they were
shown, where they are still what they were then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal, NamedTuple

from winnow import ports
from winnow import protocol as p
from winnow.app.outbox import WITH_NEXT
from winnow.app.parts.aside import answer
from winnow.app.parts.part import Around, Part
from winnow.app.parts.review import Reviewing, Since
from winnow.core import agent as a
from winnow.core.asking import rewinding
from winnow.core.asking.rewinding import ToRewind
from winnow.core.asking.way import FileError
from winnow.core.proposal.merge import FileChange
from winnow.core.text import grammar
from winnow.core.transcript import history
from winnow.core.transcript.entries import Paused, Recorded, Said
from winnow.core.transcript.history import Cut
from winnow.core.transcript.transcript import Transcript

log = logging.getLogger(__name__)

RUN = "The chat of a run is not rewound, since its tasks have gone on; :Winnow fork branches off."
BUSY = "Nothing is rewound while a turn runs: :Winnow stop ends it."
ASKED = "A rewind is under way in this chat already."
CANT = "The scripted agent keeps no session, so nothing can be rewound."
NOTHING = "There is no message of yours here that could be rewound."
UNKNOWN = "Claude Code's session doesn't hold this message any more, so it can't be rewound to."
UNTRACKED = "Of files nothing is known there: they are kept since a later message, or not any more."
BESIDE = "What else commands or subagents have changed since then is not known, so it stays."
NO_TEXT = "These are no text, so they stay: {}. :Winnow review session can undo them."
UNREAD = "Of these there is no copy that can be read, so they stay: {}."
UNSAVED = "{} changed in a buffer and not saved: :w or :e! first."
STOPPED = "No summary was made."
_PATIENCE = 10.0  # seconds in which the editor says what is unsaved


class Target(NamedTuple):
    """What is rewound to: what the user pointed at, and where that is in the session."""

    event: p.Rewind
    cut: Cut
    title: str
    changes: Mapping[str, tuple[str, FileChange]]  # by the name shown: the path, and the change
    why: str


class _Found(NamedTuple):
    """As in `Target`."""

    changes: dict[str, tuple[str, FileChange]]
    why: str


class Rewind(Part):
    """One at a time."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._books: ports.Sessions | None = None
        self._task: asyncio.Task[None] | None = None
        self._unsaved: asyncio.Future[list[str]] | None = None  # while the editor is asked
        self._summing = False
        self._count = 0  # of times that files were put back

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        match event:
            case p.Rewind():
                self._want(event)
            case p.Unsaved(paths=paths):
                if self._unsaved is not None and not self._unsaved.done():
                    self._unsaved.set_result(paths)
            case p.Stop() if self._summing and self._task is not None:
                self._task.cancel()
                self._say(STOPPED)
            case _:
                return False
        return True

    def close(self) -> None:
        """See `Part.close`."""
        if self._task is not None:
            self._task.cancel()

    def _want(self, event: p.Rewind) -> None:
        busy = self._task is not None and not self._task.done()
        problems = (
            (CANT, self.around.opened.agent == "scripted"),
            (RUN, bool(self.around.opened.run)),
            (BUSY, self.around.session.working),
            (ASKED, busy),
            (NOTHING, not event.text.strip()),
        )
        if problem := next((sentence for sentence, holds in problems if holds), ""):
            self._say(problem)
        else:
            self._task = self.around.session.spawn(self._rewind(event))

    async def _rewind(self, event: p.Rewind) -> None:
        try:
            target = await self._find(event)
            what = ToRewind(
                target.title,
                tuple(change for _, change in target.changes.values()),
                target.why,
                first=not target.cut.last,
            )
            reply = await self.around.ask(rewinding.asked(what))
            if isinstance(reply, a.Allow):
                await self._do(target, reply.input, reply.note)
        except (_Refused, ports.LibraryError, ports.AgentError) as error:
            self._say(error.sentence)

    # --- what there is --------------------------------------------------------------------------

    async def _find(self, event: p.Rewind) -> Target:
        """Where the message is, and what was changed since.

        Raises:
            _Refused: nothing can be rewound.
        """
        if self._books is None and self.around.world.make_sessions is not None:
            self._books = await self.around.world.make_sessions()
        books, id = self._books, self.around.session.id
        past = await books.messages(id) if books and id else ()
        cut = history.before(past, event.text, event.nth)
        if books is None or cut is None:
            raise _Refused(UNKNOWN)
        title = next(line.strip() for line in event.text.split("\n") if line.strip())
        copies = await books.checkpoint(id, cut.prompt)
        reviewing = self.beside.of(Reviewing)
        since = await reviewing.changed_since(cut.prompt) if reviewing else None
        if copies is None and since is None:
            return Target(event, cut, title, {}, UNTRACKED)
        found = await asyncio.to_thread(self._changes, copies or {}, since or Since())
        self._refuse([path for path, _ in found.changes.values()], event.unsaved)
        return Target(event, cut, title, found.changes, found.why)

    def _changes(self, copies: Mapping[str, str | None], since: Since) -> _Found:
        """What would bring files back, and why others stay.

        What Claude Code has copied is as its tools have found it; other files as the turn has.
        """
        changes, unread, no_text = {}, {}, []
        name_of, read = self.around.page.folder.name, self.around.world.files.read
        for path, copy in copies.items():
            name = name_of(path)
            try:
                now, then = read(path), read(copy) if copy else None
            except FileError as error:
                log.warning("%s", error.sentence)
                unread[path] = name
                continue
            if copy is None or (copy and then is None):
                unread[path] = name
            elif now != then:
                changes[name] = (path, FileChange(name, now, then))
        for file in since.files:
            if file.path in copies and file.path not in unread:
                continue
            unread.pop(file.path, None)
            name = name_of(file.path)
            if file.what:
                no_text.append(name)
            else:
                changes[name] = (file.path, FileChange(name, file.new, file.old))
        why = [
            UNREAD.format(", ".join(unread.values())) * bool(unread),
            NO_TEXT.format(", ".join(no_text)) * bool(no_text),
            BESIDE * (not since.whole),
        ]
        return _Found(changes, "\n".join(filter(None, why)))

    def _refuse(self, paths: Sequence[str], unsaved: Sequence[str]) -> None:
        if names := [self.around.page.folder.name(path) for path in paths if path in unsaved]:
            are = "is" if len(names) == 1 else "are"
            raise _Refused(UNSAVED.format(f"{', '.join(names)} {are}"))

    # --- what the user wants of it --------------------------------------------------------------

    async def _do(self, target: Target, input: Mapping[str, Any], note: str) -> None:
        do: rewinding.Action = input["do"]
        match do:
            case "both" | "files":
                wanted = rewinding.left(
                    tuple(change for _, change in target.changes.values()), input["wanted"]
                )
                done = await self._write(target, wanted)
                if done and do == "both":
                    await self._branch(target)
                elif done and wanted:
                    self._tell(target, list(wanted))
            case "conversation":
                await self._branch(target)
            case "from" | "before":
                await self._summarise(target, do, note)
            case _:
                pass

    async def _write(self, target: Target, wanted: Mapping[str, str | None]) -> bool:
        """All of it, or nothing."""
        files = [(*target.changes[name], text) for name, text in wanted.items()]
        try:
            self._refuse([path for path, _, _ in files], await self._unsaved_now())
            await asyncio.to_thread(self._put, [(path, it.old, text) for path, it, text in files])
        except (_Refused, FileError) as error:
            sentence = f"Nothing was rewound: {error.sentence}"
            self.around.page.append(Recorded([f"{grammar.REFUSED} {sentence}"]))
            self._say(sentence)
            return False
        for path, _, _ in files:
            self.around.page.apply(p.Reload(path))
        count = f"{len(files)} files" if len(files) > 1 else "1 file" if files else "no file"
        line = f"{grammar.TOOL} Rewind: {count} put back {grammar.KEPT} {', '.join(wanted)}"
        page, self._count = self.around.page, self._count + 1
        undone = rewinding.done((it for _, it, _ in files), wanted)
        lines = [f"{grammar.OUTPUT} {one}" for one in undone]
        page.append(Paused(), p.Tool(page.chat, f"rewind.{self._count}", line.rstrip(), lines))
        page.append(p.Save(page.chat))
        return True

    async def _unsaved_now(self) -> list[str]:
        """Which files are changed in a buffer, as the editor has it now."""
        self._unsaved = asyncio.get_running_loop().create_future()
        page = self.around.page
        page.apply(p.AskUnsaved(page.chat))
        try:
            return await asyncio.wait_for(self._unsaved, _PATIENCE)
        except asyncio.TimeoutError:
            raise _Refused("Neovim did not say which files are unsaved.") from None

    def _put(self, changes: Sequence[tuple[str, str | None, str | None]]) -> None:
        """Write files that hold what they held; where one can't be, all are as they were.

        Raises:
            FileError: one has changed, or can't be written.
        """
        files, done = self.around.world.files, []
        for path, before, _ in changes:
            if files.read(path) != before:
                raise FileError(f"{path} has changed meanwhile.")
        try:
            for path, before, text in changes:
                self._put_one(path, before, text)
                done.append((path, before, text))
        except FileError:
            for path, before, text in reversed(done):
                self._put_one(path, text, before)
            raise

    def _put_one(self, path: str, before: str | None, text: str | None) -> None:
        if text is not None:
            self.around.world.files.write(path, text, before)
        elif before is not None:
            self.around.world.files.remove(path, before)

    def _tell(self, target: Target, names: list[str]) -> None:
        """Claude goes on with files that are not as it left them."""
        outbox = self.around.outbox
        outbox.hold(outbox.message(rewinding.told(target.title, names), about=WITH_NEXT))

    async def _branch(self, target: Target, summary: str = "") -> None:
        """A chat of its own that goes on from before the message: it is the draft, or this is."""
        assert self._books is not None
        last, event = target.cut.last, target.event
        session = await self._books.fork(self.around.session.id, last, "") if last else ""
        draft = summary or event.text
        self._adopt(event, session, event.lines[: event.row], draft, late=bool(summary))

    async def _summarise(self, target: Target, do: Literal["from", "before"], note: str) -> None:
        """A branch with a summary of one part, and the other as it is."""
        assert self._books is not None
        self._say("Claude writes a summary; a chat with it opens then, and :Winnow stop ends it.")
        asked, self._summing = rewinding.to_summarise(do, target.title, note), True
        try:
            async with aclosing(answer(self, self.around.session.id, asked)) as pieces:
                text = "".join([piece async for piece in pieces])
        finally:
            self._summing = False
        if not text.strip():
            raise _Refused(STOPPED)
        summary = rewinding.summary(do, target.title, text)
        if do == "from":
            await self._branch(target, f"{summary}\n\n")
            return
        session = await self._books.cut(self.around.session.id, target.cut.prompt, summary)
        event = target.event
        head = Transcript([Said(summary)], self.around.page.folder).text.split("\n")
        all_ = [*head, "", *event.lines[event.row :]]
        # It is the first message there.
        self._adopt(event, session, all_, "", at=f"{event.nth} 0", late=True)

    def _adopt(
        self,
        event: p.Rewind,
        session: str,
        lines: list[str],
        draft: str,
        *,
        at: str = "",
        late: bool,
    ) -> None:
        o = self.around.opened
        here = {"fork": o.path.rpartition("/")[2], "at": at or str(event.nth)}
        values = {**event.values, **here, **({"session": session} if session else {})}
        above = "\n".join(lines).strip("\n").split("\n") if any(lines) else []
        self.around.page.apply(p.Adopt(event.cwd or o.cwd, values, above, draft, late=late))

    def _say(self, sentence: str) -> None:
        self.around.page.say(sentence, "warn")


class _Refused(ports.AgentError):
    """It can't be done; the sentence says why."""
