"""What waits for the user, wherever it is shown, and what its answer turns into."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import msgspec

from winnow import protocol as p
from winnow.core.agent import Allow, Reply, Request
from winnow.core.asking import ways
from winnow.core.asking.way import Answered, ReadFile
from winnow.core.ledger import offer
from winnow.core.proposal.proposal import Call, Changed, Plan
from winnow.core.question import Malformed
from winnow.core.section import answer, record
from winnow.core.section.form import Form, render
from winnow.core.section.reading import parse
from winnow.core.transcript.rendering import tool_line
from winnow.ports import Message, StoredSection


class Accepted(NamedTuple):
    """An answer: for the agent that waits, for the chat, and for an agent that waits no more."""

    reply: Reply
    record: list[str]
    message: str


class Section:
    """What one request asks. It may be shown on several pages, see `winnow.app.view`.

    Attributes:
        stored: as the store has it.
        lines: as the user left them last, in whichever view: these are what is answered with,
            since who confirms a view has it be the last one edited.
        reply: what the agent awaits; None when nobody does any more (a reopened section), and then
            the answer goes out as a message.
        given: what the agent got as a reply, until it has it.
        late: asked again: the answer, as a message, repeats what was asked.
        earlier: the answers to offer.
        ready: done when it can't be lost any more; nobody sees it before.
    """

    def __init__(self, form: Form, request: Request, stored: StoredSection) -> None:
        self.way = ways.of(request.tool, request.input)
        self.form = form
        self.request = request
        self.stored = stored
        self.lines = stored.lines or render(form)
        self.reply: asyncio.Future[Reply] | None = None
        self.given: Message | None = None
        self.late = False
        self.earlier: list[offer.Earlier | None] = [None] * len(form.questions)
        self.ready: asyncio.Future[None] | None = None

    @property
    def marker(self) -> str:
        """What stands on its lines."""
        return self.form.id

    @property
    def awaited(self) -> bool:
        """The agent still waits for the answer."""
        return self.reply is not None and not self.reply.done()

    @property
    def elsewhere(self) -> bool:
        """Not the chat's own agent asks it, so it does not end with that."""
        return self.way.routed or self.way.wished or bool(self.request.worker)

    @property
    def pending(self) -> p.Pending:
        """What waits here, for a list of such things."""
        return p.Pending(
            section=self.marker,
            kind=self.form.kind,
            title=record.names(self.form),
            agent=self.form.agent,
            since=self.stored.created,
        )

    @property
    def call(self) -> str:
        """What is asked for, in one line."""
        return self._call_of(self.request.input)

    def _call_of(self, input: dict[str, Any]) -> str:
        asker = f" ({self.form.agent})" if self.form.agent else ""
        return tool_line(self.request.tool, input, self.request.folder) + asker

    def edited(self, lines: list[str]) -> None:
        """The user changed the text."""
        self.lines = lines
        self.stored = msgspec.structs.replace(self.stored, lines=lines)

    # --- answered -------------------------------------------------------------------------------

    def settle(self, reply: Reply) -> bool:
        """Answer the agent. False when it no longer waits."""
        if self.reply is None or self.reply.done():
            return False
        self.reply.set_result(reply)
        return True

    def accept(self, answers: answer.Answers) -> Accepted:
        """What becomes of these answers."""
        left = parse(self.form, self.lines)
        change, comment = left.questions[0].change, left.comment
        answered = Answered(self.request, self.form, answers, self.call, change, comment)
        reply = self.way.reply(answered)
        if isinstance(reply, Allow) and isinstance(self.form.proposal, Call):
            answered = msgspec.structs.replace(answered, call=self._call_of(reply.input))
        return Accepted(
            reply,
            self.way.record(answered),
            self.way.message(answered, late=self.late),
        )

    def decided(self, answers: answer.Answers) -> Form:
        """What these answers are about: a call that is allowed is the one that runs, as edited."""
        change = parse(self.form, self.lines).questions[0].change
        proposal = self.form.proposal
        if not isinstance(change, Changed) or self.form.refuses(answers[0].kept):
            return self.form
        if isinstance(proposal, Call):
            proposal = Call(proposal.tool, change.input)
        elif isinstance(proposal, Plan):
            proposal = Plan(change.input, proposal.text_of(change))
        return msgspec.structs.replace(self.form, proposal=proposal)

    def answered(self) -> list[str]:
        """The record of an answer that was given but not shown, if the lines still tell it."""
        if self.form.proposes:  # what was asked is not stored whole
            return []
        count = len(self.form.questions)
        every = frozenset(range(-count, count + 1))
        left = parse(self.form, self.lines)
        parts = enumerate(left.questions, 1)
        decisions = [answer.decide(self.form, n, part, every) for n, part in parts]
        decided = [one for one in decisions if isinstance(one, answer.Decided)]
        whole = len(decided) == len(decisions)
        return record.answered(self.form, tuple(decided), left.comment) if whole else []

    # --- closed without an answer ---------------------------------------------------------------

    def cancelled(self, state: str) -> list[str]:
        """The record of a section that was "cancelled", or has "expired"."""
        return record.cancelled(self.form, state, again=not self.way.past)

    def discussed(self, text: str) -> list[str]:
        """The record of a section that the user talked back about."""
        return record.discussed(self.form, text, again=not self.way.past)

    def discussion(self, text: str, *, late: bool) -> str:
        """What the agent reads when the user talks back instead of answering."""
        reading = parse(self.form, self.lines)
        return record.discussion(self.form, reading, text, late=late)


def again(stored: StoredSection, file: ReadFile) -> Section | None:
    """A section that nobody waits for, as the user left it; None when it can't be read."""
    request = Request(stored.tool, stored.input)
    form = ways.of(stored.tool, stored.input).read(stored.marker, request, file)
    if isinstance(form, Malformed):
        return None
    left = parse(form, stored.lines).questions
    # With nothing left there is nothing to answer with, and no `u` would bring it back.
    lines = stored.lines if any(part.picks or part.own for part in left) else []
    return Section(form, request, msgspec.structs.replace(stored, state="open", lines=lines))
