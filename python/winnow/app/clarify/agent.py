"""Clarify as the agent of a chat: it is told the request, asks in sections, and writes a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import msgspec

from winnow import ports
from winnow.app.clarify.loop import Loop
from winnow.app.clarify.paper import Paper
from winnow.app.sections.delivery import STALE
from winnow.core import agent as a
from winnow.core.asking import clarify_round
from winnow.core.asking.way import FileError
from winnow.core.clarify import spec as specs
from winnow.core.clarify.clarification import Clarification, Given, is_enough
from winnow.core.context import attachment
from winnow.core.context.attachment import Attachment
from winnow.ports.query import Cancelled

NEXT = "In it, `:Winnow run` or `:Winnow new` has it built, `:Winnow clarify` goes on."

Show = Callable[[Mapping[str, Any]], None]
Wrote = Callable[[str], None]


class ClarifyAgent:
    """Implements `ports.Agent`, and `winnow.app.clarify.loop.Front` for the loop.

    Args:
        id: of the clarification.
        spec: what it is made from.
        ask: shows a section, and waits for it.
        world: the world.
        paper: where the specification is written.
        templates: the folder of the user's own.
        show: takes each message of the model.
        wrote: is told of the file when it is whole.
        one_by_one: each question has a section of its own.
    """

    name = "claude"
    controls = None

    def __init__(
        self,
        id: str,
        spec: ports.AgentSpec,
        ask: ports.Ask,
        world: ports.World,
        paper: Paper,
        *,
        templates: str = "",
        show: Show,
        wrote: Wrote,
        one_by_one: bool = False,
    ) -> None:
        self.one_by_one = one_by_one
        self._id = id
        self._spec = spec
        self._ask = ask
        self._world = world
        self._paper = paper
        self._templates = templates
        self._show = show
        self._wrote = wrote
        self._loop: Loop | None = None
        self._querier: ports.Querier | None = None
        self._cost = 0.0  # of its queries, as far as it was told; US dollars
        self._asking: asyncio.Future[a.Reply] | None = None
        self._working: asyncio.Task[None] | None = None
        self._prompts: list[str] = []  # uuids that the turn takes in
        self._events: asyncio.Queue[a.AgentEvent | None] = asyncio.Queue()

    # --- as an agent ----------------------------------------------------------------------------

    async def connect(self) -> None:
        """See `ports.Agent.connect`."""
        known = await self._load()
        try:
            templates = self._world.templates.clarify(self._templates)
        except FileError as error:
            raise ports.AgentError(error.sentence) from error
        self._querier = await self._world.make_querier(self._spec.cwd, self._spec.model)
        self._loop = Loop(
            known, self._querier, templates, self, self._paper.now, on_event=self._show
        )

    async def events(self) -> AsyncIterator[a.AgentEvent]:
        """See `ports.Agent.events`."""
        while (event := await self._events.get()) is not None:
            yield event

    async def heard(self) -> ports.Heard | None:
        """See `ports.Agent.heard`."""
        return dict.fromkeys((await self._load()).heard, "")

    async def prompt(
        self,
        text: str,
        uuid: str,
        *,
        command: bool = True,  # noqa: ARG002
        attached: Sequence[Attachment] = (),
    ) -> None:
        """See `ports.Agent.prompt`: the request, an answer that comes late, or *enough*."""
        assert self._loop is not None
        text = attachment.joined(text, attached)
        self._prompts.append(uuid)
        if text.strip() != self._loop.known.request.strip():  # else it is sent again
            known = self._loop.known
            given = clarify_round.late(text, known.open)
            known = known.told(text, uuid) if given is None else known.answered(given, uuid)
            self._loop.known = await self._keep(known)
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work(self._loop))

    async def interrupt(self) -> None:
        """See `ports.Agent.interrupt`."""
        if self._querier is not None:
            await self._querier.cancel()

    async def set_mode(self, mode: str) -> None:
        """See `ports.Agent.set_mode`: it only ever reads."""
        raise ports.AgentError(f"Clarify only reads, so the mode {mode} means nothing here.")

    async def close(self) -> None:
        """See `ports.Agent.close`."""
        if self._asking is not None:
            self._asking.cancel()
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait({self._working})
        self._events.put_nowait(None)

    # --- a turn ---------------------------------------------------------------------------------

    async def _work(self, loop: Loop) -> None:
        """From what the user has said to a specification, or to where nobody answers."""
        error, stopped = "", False
        try:
            there = self._paper.read(loop.known)
            spec = await loop.run(there or "")
            stopped = spec is None
            if spec is not None:
                await self._finish(loop, spec)
        except Cancelled:
            stopped = True
        except (ports.AgentError, FileError) as failure:
            error = failure.sentence
        prompts, self._prompts = self._prompts, []
        before, self._cost = self._cost, self._querier.cost if self._querier else 0.0
        self._events.put_nowait(a.TurnEnded(prompts, error, stopped, self._cost - before))

    async def _finish(self, loop: Loop, spec: specs.Spec) -> None:
        """The specification into its file, or as a patch for what the user has made of it."""
        known = loop.known
        text, there = self._paper.text(known, spec), self._paper.read(known)
        while there not in (None, known.written):
            request = a.Request("Write", {"file_path": known.path, "content": text}, "spec")
            reply = await self._ask(request)
            if isinstance(reply, a.Deny) and STALE not in reply.message:
                self._say("The specification stays as you have it.")
                return
            if isinstance(reply, a.Allow) and self._paper.read(known) == there:
                text = reply.input["content"]
                break
            there = self._paper.read(known)  # it has changed since it was shown: ask about that
        known = self._paper.write(known, text, there)
        loop.known = await self._keep(msgspec.structs.replace(known, finished=True))
        self._say(f"The specification is {known.path}. {NEXT}")
        self._wrote(known.path)

    def _say(self, sentence: str) -> None:
        self._events.put_nowait(a.Text(sentence))
        self._events.put_nowait(a.Pause())

    async def _load(self) -> Clarification:
        try:
            return await self._world.clarified.load(self._id) or Clarification(self._id)
        except ports.StoreError as error:
            raise ports.AgentError(error.sentence) from error

    async def _keep(self, known: Clarification) -> Clarification:
        try:
            return await self._world.clarified.save(known)
        except ports.Overtaken as error:
            if self._loop is not None:
                self._loop.known = await self._load()  # from where the next message goes on
            raise ports.AgentError(error.sentence) from error
        except ports.StoreError as error:  # it goes on without
            self._events.put_nowait(a.Notice(error.sentence))
        return known

    # --- for the loop ---------------------------------------------------------------------------

    async def keep(self, known: Clarification) -> Clarification:
        """See `Front.keep`: on record, then in the draft."""
        known = await self._keep(known)
        if known.log:
            known = await self._keep(self._paper.draft(known))
        if not known.open and not known.log:
            self._say("There is nothing to ask: the specification follows.")
        for call in known.heard:
            self._events.put_nowait(a.ToolFinished(call, ""))
        return known

    async def ask(self, known: Clarification) -> tuple[list[Given | None], str] | None:
        """See `Front.ask`: all at once, or one by one."""
        assert self._loop is not None
        asked = known.open[:1] if self.one_by_one else known.open
        call = f"{self._id}-{known.rounds}-{len(known.log)}-{len(known.heard)}"
        self._asking = asyncio.ensure_future(self._ask(clarify_round.request(asked, call)))
        await asyncio.wait({self._asking})
        if self._asking.cancelled():  # to be asked otherwise
            return [None] * len(known.open), call
        reply = self._asking.result()
        if isinstance(reply, a.Allow):
            given = clarify_round.answers(reply)
            return [*given, *[None] * (len(known.open) - len(given))], call
        if reply.stop:
            return None
        words = reply.message.split("\n\n")[1]  # the user talks back
        said = words if is_enough(words) else reply.message
        self._loop.known = self._loop.known.told(said, call)
        return [None] * len(self._loop.known.open), call

    def pace(self, *, one_by_one: bool) -> None:
        """Ask so from now on; what is asked now is asked again."""
        if one_by_one != self.one_by_one:
            self.one_by_one = one_by_one
            if self._asking is not None:
                self._asking.cancel()
