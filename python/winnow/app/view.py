"""One page's showing of a section: its text there, and what ``<CR>`` would do to it."""

from __future__ import annotations

import msgspec

from winnow import protocol as p
from winnow.app.section import Section
from winnow.core.ledger import offer
from winnow.core.never import assert_never
from winnow.core.proposal import blocks
from winnow.core.proposal.lines import split
from winnow.core.proposal.proposal import Change
from winnow.core.question import Role
from winnow.core.section import answer
from winnow.core.section.form import render
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


def spliced(lines: list[str], edit: p.Edit) -> list[str] | None:
    """The lines after an edit, which tells only what has changed; None: it was of other lines."""
    if edit.after < 0:
        return edit.lines
    while len(lines) > edit.size and not lines[-1]:  # the blanks that follow in the buffer
        lines = lines[:-1]
    lines = [*lines, *[""] * (edit.size - len(lines))]
    if len(lines) != edit.size or not 0 <= edit.first <= edit.after <= edit.size:
        return None
    return [*lines[: edit.first], *edit.lines, *lines[edit.after :]]


class Place(msgspec.Struct, frozen=True):
    """A line of a file, from 1."""

    path: str
    line: int


class View:
    """A section as it stands on one page, open or queued. It can end and the section go on.

    Args:
        focus: the user asked for it here.

    Attributes:
        lines: as the user left them here; at first, as they were left last elsewhere.
    """

    def __init__(self, section: Section, *, focus: bool = False) -> None:
        self.section = section
        self.lines = section.lines
        self._form = section.form
        self._focus = focus
        self._armed = answer.NOT_ARMED
        self._accepted: frozenset[int] = frozenset()

    def shown(self, chat: int) -> p.Section:
        """What opens it."""
        form, edited = self._form, list(self.lines)
        lines = render(form)
        while edited and not edited[-1]:  # the blanks that follow it in the buffer
            edited.pop()
        previews = {
            f"{q}.{o}": "\n".join(map(show, option.preview.replace("\r\n", "\n").split("\n")))
            for q, question in enumerate(form.questions, 1)
            for o, option in enumerate(question.options, 1)
            if option.preview
        }
        if edited == lines:
            edited = []
        return p.Section(chat, form.id, lines, previews, self._focus, edited)

    def edited(self, lines: list[str]) -> None:
        """The user changed the text here."""
        self.lines = lines
        self.section.edited(lines)

    def verdict(self, chat: int, waiting: int, *, acted: bool = False) -> p.Verdict:
        """What ``<CR>`` would send now."""
        reading = parse(self._form, self.lines)
        parts = answer.verdict(self._form, reading, self._accepted)
        offered = self._offer(reading)
        return p.Verdict(
            chat=chat,
            section=self._form.id,
            parts=parts,
            waiting=waiting,
            offer=offered.text if offered else "",
            acted=acted,
        )

    def confirm(
        self, row: int, unseen: int = 0, *, anew: bool = False
    ) -> answer.Outcome | offer.Offer | Place:
        """``<CR>`` with the cursor on ``row``; on the foot it takes what is offered.

        ``anew`` it is no second press, whatever the first one has said.
        """
        if anew:
            self._armed = answer.NOT_ARMED
        if (place := self._place(row)) is not None:
            return place
        if locate(self._form, self.lines, row) == (0, 0):
            offered = self._offer(parse(self._form, self.lines))
            if offered is not None:
                return offered
        outcome = answer.confirm(self._form, self.lines, row, self._armed, self._accepted, unseen)
        match outcome:
            case answer.Explain(armed=armed, accepted=accepted):
                self._armed = armed
                self._accepted |= accepted
            case answer.Step(accepted=accepted):
                self._accepted = accepted
            case answer.Keep() | answer.Send():
                pass
            case _:
                assert_never(outcome)
        return outcome

    def keep(self, row: int) -> answer.Keep | None:
        """What goes when only the option on ``row`` stays; None: there is none."""
        question, option = locate(self._form, self.lines, row)
        if not option:
            return None
        return answer.Keep(question, rows_of_others(self._form, self.lines, question, option))

    def pick(self, option: int) -> answer.Decided | None:
        """The answer that is this option of its only question; None: it is none."""
        form = self._form
        if form.proposes or len(form.questions) > 1 or not 0 < option <= form.size:
            return None
        decision = answer.decide(form, 1, Left((Pick(option),)), frozenset())
        return decision if isinstance(decision, answer.Decided) else None

    def choose(self, choice: Role, reason: str, unseen: int) -> answer.Decision | answer.Explain:
        """The answer to a proposal from outside its section."""
        option = self._form.option(choice)
        if not option:
            return answer.Undecided("Claude offers no rule for this: :Winnow allow, or deny.")
        left = Left((Pick(option, reason),), change=self._change)
        decision = answer.decide(self._form, 1, left, frozenset())
        if isinstance(decision, answer.Decided):
            again = f":Winnow next goes there, :Winnow {choice}"
            warning = answer.warn_unseen(
                self._form, self.lines, decision, self._armed, unseen, again
            )
            if warning is not None:
                self._armed = warning.armed
                return warning
        return decision

    @property
    def broken(self) -> str:
        """Why the proposal can't be understood any more; empty: it can."""
        change = self._change
        return change.message if isinstance(change, blocks.Malformed) else ""

    def sides(self, chat: int) -> p.Sides | None:
        """The file as it is and as it would be; None where nothing would be written."""
        patch, change = self._form.patch, self._change
        if patch is None or change is None or (text := patch.text_of(change)) is None:
            return None
        sides = (
            [show(line.rstrip("\r\n")) for line in split(side)] for side in (patch.old or "", text)
        )
        return p.Sides(chat, patch.path, *sides)

    @property
    def _change(self) -> Change | None:
        """What became of the proposal."""
        return parse(self._form, self.lines).questions[0].change

    def _offer(self, reading: Reading) -> offer.Offer | None:
        return offer.offer(self._form, reading, self._accepted, self.section.earlier)

    def _place(self, row: int) -> Place | None:
        """The place in the file that a row of a diff is about."""
        if (patch := self._form.patch) is not None:
            match blocks_of(self._form, self.lines):
                case [blocks.Text(row=start, lines=lines)] if 0 <= row - start < len(lines):
                    return Place(patch.path, patch.place(lines, row - start))
        return None
