"""A section that waits for the user, and what its answer turns into."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import msgspec

from winnow.core.agent import Reply, Request
from winnow.core.asking import ways
from winnow.core.asking.way import Answered, ReadFile
from winnow.core.ledger import offer
from winnow.core.never import assert_never
from winnow.core.proposal import blocks
from winnow.core.proposal.lines import split
from winnow.core.proposal.proposal import Change
from winnow.core.question import Malformed, Role
from winnow.core.section import answer, record
from winnow.core.section.form import Form, render
from winnow.core.section.reading import (
    Left,
    Pick,
    Reading,
    blocks_of,
    locate,
    parse,
    rows_of_others,
)
from winnow.core.text.visible import show
from winnow.core.transcript.rendering import tool_line
from winnow.ports import Message, StoredSection
from winnow.protocol import Pending, Section, Sides, Verdict


class Place(msgspec.Struct, frozen=True):
    """A line of a file, from 1."""

    path: str
    line: int


class Accepted(NamedTuple):
    """An answer: for the agent that waits, for the chat, and for an agent that waits no more."""

    reply: Reply
    record: list[str]
    message: str


class Waiting:
    """One open or queued section.

    ``reply`` is what the agent awaits; it is None when nobody does any more (a reopened section),
    and then the answer goes out as a message. ``earlier`` are the answers to offer.
    """

    def __init__(self, form: Form, request: Request, stored: StoredSection) -> None:
        self.way = ways.of(request.tool, request.input)
        self.form = form
        self.request = request
        self.stored = stored
        self.reply: asyncio.Future[Reply] | None = None
        self.given: Message | None = None  # what the agent got as a reply, until it has it
        self.wanted = False  # reopened: the user asked for it
        self.lines = stored.lines or render(form)
        self.earlier: list[offer.Earlier | None] = [None] * len(form.questions)
        self._armed = answer.NOT_ARMED
        self._accepted: frozenset[int] = frozenset()

    @property
    def awaited(self) -> bool:
        """The agent still waits for the answer."""
        return self.reply is not None and not self.reply.done()

    @property
    def pending(self) -> Pending:
        """What waits here, for a list of such things."""
        return Pending(
            section=self.form.id,
            kind=self.form.kind,
            title=record.names(self.form),
            agent=self.form.agent,
            since=self.stored.created,
        )

    def shown(self, chat: int) -> Section:
        """What opens it."""
        lines, edited = render(self.form), list(self.lines)
        while edited and not edited[-1]:  # the blanks that follow it in the buffer
            edited.pop()
        previews = {
            f"{q}.{o}": "\n".join(map(show, option.preview.replace("\r\n", "\n").split("\n")))
            for q, question in enumerate(self.form.questions, 1)
            for o, option in enumerate(question.options, 1)
            if option.preview
        }
        if edited == lines:
            edited = []
        return Section(chat, self.form.id, lines, previews, self.wanted, edited)

    def edited(self, lines: list[str]) -> None:
        """The user changed the text."""
        self.lines = lines
        self.stored = msgspec.structs.replace(self.stored, lines=lines)

    def verdict(self, chat: int, waiting: int) -> Verdict:
        """What ``<CR>`` would send now."""
        reading = parse(self.form, self.lines)
        parts = answer.verdict(self.form, reading, self._accepted)
        offered = self._offer(reading)
        return Verdict(
            chat=chat,
            section=self.form.id,
            parts=parts,
            waiting=waiting,
            offer=offered.text if offered else "",
        )

    @property
    def call(self) -> str:
        """What is asked for, in one line."""
        asker = f" ({self.form.agent})" if self.form.agent else ""
        return tool_line(self.request.tool, self.request.input) + asker

    def confirm(self, row: int, unseen: int = 0) -> answer.Outcome | offer.Offer | Place:
        """``<CR>`` with the cursor on ``row``; on the foot it takes what is offered."""
        if (place := self._place(row)) is not None:
            return place
        if locate(self.form, self.lines, row) == (0, 0):
            offered = self._offer(parse(self.form, self.lines))
            if offered is not None:
                return offered
        outcome = answer.confirm(self.form, self.lines, row, self._armed, self._accepted, unseen)
        match outcome:
            case answer.Explain(armed=armed):
                self._armed = armed
            case answer.Step(accepted=accepted):
                self._accepted = accepted
            case answer.Keep() | answer.Send():
                pass
            case _:
                assert_never(outcome)
        return outcome

    def keep(self, row: int) -> answer.Keep | None:
        """What goes when only the option on ``row`` stays; None: there is none."""
        question, option = locate(self.form, self.lines, row)
        if not option:
            return None
        return answer.Keep(question, rows_of_others(self.form, self.lines, question, option))

    def _offer(self, reading: Reading) -> offer.Offer | None:
        return offer.offer(self.form, reading, self._accepted, self.earlier)

    def settle(self, reply: Reply) -> bool:
        """Answer the agent. False when it no longer waits."""
        if self.reply is None or self.reply.done():
            return False
        self.reply.set_result(reply)
        return True

    def choose(self, choice: Role, reason: str, unseen: int) -> answer.Decision | answer.Explain:
        """The answer to a proposal from outside its section."""
        option = self.form.option(choice)
        if not option:
            return answer.Undecided("Claude offers no rule for this: :Winnow allow, or deny.")
        left = Left((Pick(option, reason),), change=self._change)
        decision = answer.decide(self.form, 1, left, frozenset())
        if isinstance(decision, answer.Decided):
            again = f":Winnow next goes there, :Winnow {choice}"
            warning = answer.warn_unseen(
                self.form, self.lines, decision, self._armed, unseen, again
            )
            if warning is not None:
                self._armed = warning.armed
                return warning
        return decision

    def accept(self, answers: answer.Answers) -> Accepted:
        """What becomes of these answers."""
        answered = Answered(self.request, self.form, answers, self.call, self._change)
        return Accepted(
            self.way.reply(answered),
            self.way.record(answered),
            self.way.message(answered, late=self.wanted),
        )

    @property
    def _change(self) -> Change | None:
        """What became of the proposal."""
        return parse(self.form, self.lines).questions[0].change

    @property
    def broken(self) -> str:
        """Why the proposal can't be understood any more; empty: it can."""
        change = self._change
        return change.message if isinstance(change, blocks.Malformed) else ""

    def sides(self, chat: int) -> Sides | None:
        """The file as it is and as it would be; None where nothing would be written."""
        patch, change = self.form.patch, self._change
        if patch is None or change is None or (text := patch.text_of(change)) is None:
            return None
        sides = (
            [show(line.rstrip("\r\n")) for line in split(side)] for side in (patch.old or "", text)
        )
        return Sides(chat, patch.path, *sides)

    def _place(self, row: int) -> Place | None:
        """The place in the file that a row of a diff is about."""
        if (patch := self.form.patch) is not None:
            match blocks_of(self.form, self.lines):
                case [blocks.Text(row=start, lines=lines)] if 0 <= row - start < len(lines):
                    return Place(patch.path, patch.place(lines, row - start))
        return None

    def answered(self) -> list[str]:
        """The record of an answer that was given but not shown, if the lines still tell it."""
        if self.form.proposes:  # what was asked is not stored whole
            return []
        every = frozenset(range(1, len(self.form.questions) + 1))
        left = parse(self.form, self.lines).questions
        decisions = [answer.decide(self.form, n, part, every) for n, part in enumerate(left, 1)]
        decided = [one for one in decisions if isinstance(one, answer.Decided)]
        whole = len(decided) == len(decisions)
        return record.answered(self.form, tuple(decided)) if whole else []

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


def again(stored: StoredSection, file: ReadFile) -> Waiting | None:
    """A section that nobody waits for, as the user left it; None when it can't be read."""
    request = Request(stored.tool, stored.input)
    form = ways.of(stored.tool, stored.input).read(stored.marker, request, file)
    if isinstance(form, Malformed):
        return None
    left = parse(form, stored.lines).questions
    # With nothing left there is nothing to answer with, and no `u` would bring it back.
    lines = stored.lines if any(part.picks or part.own for part in left) else []
    return Waiting(form, request, msgspec.structs.replace(stored, state="open", lines=lines))
