"""A section as it is shown: which lines there are, and what each one says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import msgspec

from winnow.core.proposal import blocks
from winnow.core.proposal.patch import Patch
from winnow.core.proposal.proposal import Kind, Proposal
from winnow.core.question import Option, Question, Role
from winnow.core.section.known import Known, Line
from winnow.core.text import grammar
from winnow.core.text.text import brief, clean, marker, quoted

ELSE = f"{grammar.OWN} Something else:"
# Rules are short: the editor draws the rest, since lines wrap as if their markers were visible.
FOOT = grammar.RULE * 2


class Form(msgspec.Struct, frozen=True, eq=False, dict=True):
    """What a section asks. Questions, like options, are counted from 1; 0 is the foot.

    Where it asks whether something may be done, that is its ``proposal``, which stands between the
    one question and its options; one of them refuses it. ``agent`` names who asks when it is not
    the chat's own.
    """

    id: str
    questions: tuple[Question, ...]
    proposal: Proposal | None = None
    agent: str = ""

    @property
    def kind(self) -> Kind:
        """What to call it."""
        return self.proposal.kind if self.proposal else "question"

    @property
    def proposes(self) -> bool:
        """It asks whether something may be done."""
        return self.proposal is not None

    @property
    def must_be_seen(self) -> bool:
        """Nothing of it is allowed unseen."""
        return self.proposal is not None

    @property
    def takes_own_answers(self) -> bool:
        """There is a line for them."""
        return self.proposal is None

    @property
    def offers_earlier(self) -> bool:
        """The answer of last time is offered; a habit of allowing would be none."""
        return self.proposal is None

    @property
    def patch(self) -> Patch | None:
        """The change of a file that is proposed."""
        return self.proposal if isinstance(self.proposal, Patch) else None

    @property
    def debated(self) -> bool:
        """Words alone refuse it, and what was edited is said with them."""
        return self.proposal is not None and self.proposal.debated

    @property
    def blocks(self) -> tuple[blocks.Block, ...]:
        """What stands there to be edited."""
        return self.proposal.blocks if self.proposal else ()

    def option(self, role: Role) -> int:
        """The first option that has this role; 0: none has."""
        options = self.questions[0].options
        return next((n for n, option in enumerate(options, 1) if option.role == role), 0)

    @cached_property
    def refusal(self) -> int:
        """The option that refuses what is proposed; 0: there is none."""
        return self.option("deny")

    def refuses(self, kept: tuple[int, ...]) -> bool:
        """Whether to keep these options is to refuse what is proposed."""
        return kept == (self.refusal,)

    @cached_property
    def known(self) -> Known:
        """All lines that carry a marker."""
        return Known(list(lines_of(self)))


def render(form: Form) -> list[str]:
    """The lines of a section that nobody has edited yet."""
    rendered: list[str] = []
    for line in lines_of(form):
        if line.slot == grammar.HEAD and line.question > 1:
            rendered.append("")
        if line.slot == 1:
            rendered += blocks.render(form.id, form.blocks) or [""]
        rendered.append(line.text + marker(form.id, line.question, line.slot))
    return rendered


def lines_of(form: Form) -> Iterator[Line]:
    """All lines that carry a marker, from head to foot."""
    # What a section's marker has behind the first colon is hidden wherever it stands.
    forged = re.compile(rf"(?ai):(?={re.escape(form.id)}\.\d)")

    def line(question: int, slot: int | str, text: str, label: str = "") -> Line:
        return Line(question, slot, forged.sub("∶", text), forged.sub("∶", label or text))

    for number, question in enumerate(form.questions, 1):
        yield line(number, grammar.HEAD, _head(form, number))
        for text in map(quoted, question.question.replace("\r\n", "\n").split("\n")):
            if text.strip():
                yield line(number, grammar.ASKED, text)
        for slot, option in enumerate(question.options, 1):
            yield line(number, slot, option_line(option), label_of(option))
        if form.takes_own_answers:
            yield line(number, grammar.OTHER, ELSE)
    yield line(0, grammar.FOOT, FOOT)


def label_of(option: Option) -> str:
    """The label as it can be seen."""
    return quoted(option.label) if option.label.strip() else "(empty)"


def option_line(option: Option) -> str:
    """An option is one line, so that one ``dd`` removes it with its description."""
    described = f" — {clean(option.description)}" if option.description.strip() else ""
    return label_of(option) + described


def name_of(form: Form, question: int) -> str:
    """What to call a question in a message."""
    return brief(form.questions[question - 1].header) or f"Q{question}"


def _head(form: Form, number: int) -> str:
    question = form.questions[number - 1]
    title = form.kind.capitalize()
    if len(form.questions) > 1:
        title += f" {number}/{len(form.questions)}"
    if question.header.strip():
        title += f": {brief(question.header)}"
    if form.agent:
        title += f" · {brief(form.agent, 40)}"
    return f"{FOOT} {title}" + " · keep any" * question.multi
