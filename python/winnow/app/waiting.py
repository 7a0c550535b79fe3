"""A section that waits for the user, and what its answer turns into."""

from __future__ import annotations

import asyncio

import msgspec

from winnow.core import answer, offer, permission, questions, record, section
from winnow.core.form import Form, render
from winnow.core.protocol import Pending, Verdict
from winnow.core.text import clean_block
from winnow.core.transcript import tool_line
from winnow.ports import Allow, Deny, Reply, Request, StoredSection

ASK = "AskUserQuestion"


class Waiting:
    """One open or queued section.

    ``reply`` is what the agent awaits; it is None when nobody does any more (a reopened section),
    and then the answer goes out as ``message``. ``earlier`` are the answers to offer.
    """

    def __init__(self, form: Form, request: Request, stored: StoredSection) -> None:
        self.form = form
        self.request = request
        self.stored = stored
        self.reply: asyncio.Future[Reply] | None = None
        self.message = ""  # the answer, once given, for an agent that no longer waits
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
            kind="permission" if self.form.kind == "permission" else "question",
            title=record.names(self.form),
            agent=self.form.agent,
            since=self.stored.created,
        )

    @property
    def previews(self) -> dict[str, str]:
        """The options' previews, keyed as the editor wants them."""
        return {
            f"{q}.{o}": "\n".join(clean_block(option.preview))
            for q, question in enumerate(self.form.questions, 1)
            for o, option in enumerate(question.options, 1)
            if option.preview
        }

    def edited(self, lines: list[str]) -> None:
        """The user changed the text."""
        self.lines = lines
        self.stored = msgspec.structs.replace(self.stored, lines=lines)

    def verdict(self, chat: int, waiting: int) -> Verdict:
        """What ``<CR>`` would send now."""
        reading = section.parse(self.form, self.lines)
        parts = answer.verdict(self.form, reading, self._accepted)
        offered = self._offer(reading)
        return Verdict(
            chat=chat,
            section=self.form.id,
            parts=parts,
            waiting=waiting,
            offer=offered.text if offered else "",
        )

    def confirm(self, row: int) -> answer.Outcome | offer.Offer:
        """``<CR>`` with the cursor on ``row``; on the foot it takes what is offered."""
        if section.locate(self.form, self.lines, row) == (0, 0):
            offered = self._offer(section.parse(self.form, self.lines))
            if offered is not None:
                return offered
        outcome = answer.confirm(self.form, self.lines, row, self._armed, self._accepted)
        match outcome:
            case answer.Explain(armed=armed):
                self._armed = armed
            case answer.Step(accepted=accepted):
                self._accepted = accepted
        return outcome

    def _offer(self, reading: section.Reading) -> offer.Offer | None:
        return offer.offer(self.form, reading, self._accepted, self.earlier)

    def settle(self, reply: Reply) -> bool:
        """Answer the agent. False when it no longer waits."""
        if self.reply is None or self.reply.done():
            return False
        self.reply.set_result(reply)
        return True

    def accept(self, answers: answer.Answers) -> tuple[Reply, list[str]]:
        """The reply that these answers are, and the record that replaces the section."""
        self.message = record.late_message(self.form, answers)
        if self.form.kind == "questions":
            updated = answer.updated_input(self.request.input, self.form, answers)
            return Allow(updated), record.answered(self.form, answers)
        option, note = answer.chosen(self.form, answers)
        label = self.form.questions[0].options[option - 1].label
        call = tool_line(self.request.tool, self.request.input)
        reply = _permission(self.request, option, note)
        return reply, record.permission_record(label, note, call)

    def answered(self) -> list[str]:
        """The record of an answer that was given but not shown, if the lines still tell it."""
        if self.form.kind == "permission":  # its form is not stored whole
            return []
        every = frozenset(range(1, len(self.form.questions) + 1))
        left = section.parse(self.form, self.lines).questions
        decisions = [answer.decide(self.form, n, part, every) for n, part in enumerate(left, 1)]
        decided = [one for one in decisions if isinstance(one, answer.Decided)]
        whole = len(decided) == len(decisions)
        return record.answered(self.form, tuple(decided)) if whole else []

    def discussion(self, text: str) -> str:
        """What the agent reads when the user talks back instead of answering."""
        reading = section.parse(self.form, self.lines)
        return record.discussion(self.form, reading, text, late=not self.awaited)


def make(section_id: str, request: Request) -> Form | questions.Malformed:
    """The form of what the agent asks."""
    if request.tool != ASK:
        return permission.permission_form(
            section_id,
            request.tool,
            request.input,
            request.suggestions,
            agent=request.agent_id,
            reason=request.reason,
        )
    match questions.read_questions(request.input):
        case questions.Malformed() as malformed:
            return malformed
        case asked:
            return Form(section_id, asked, "questions", agent=request.agent_id)


def again(stored: StoredSection) -> Waiting | None:
    """A section that nobody waits for, as the user left it; None when it can't be read."""
    request = Request(stored.tool, stored.input)
    form = make(stored.id, request)
    if isinstance(form, questions.Malformed):
        return None
    left = section.parse(form, stored.lines).questions
    # With nothing left there is nothing to answer with, and no `u` would bring it back.
    lines = stored.lines if any(part.picks or part.own for part in left) else []
    return Waiting(form, request, msgspec.structs.replace(stored, state="open", lines=lines))


def _permission(request: Request, option: int, note: str) -> Reply:
    """Options count from 1: allow once, one for each suggestion, deny."""
    if option == 1:
        return Allow(request.input)
    if option <= 1 + len(request.suggestions):
        return Allow(request.input, updates=[request.suggestions[option - 2]])
    reason = f": {note}" if note else "."
    return Deny(f"The user denied this use of {request.tool}{reason}")
