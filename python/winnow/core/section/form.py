"""A section as it is shown: which lines there are, and what each one says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile

import msgspec

from winnow.core.proposal import blocks
from winnow.core.proposal.patch import Patch
from winnow.core.proposal.proposal import Kind, Proposal
from winnow.core.question import Option, Question, Role
from winnow.core.section.known import Known, Line, Told, slot_of
from winnow.core.text import grammar
from winnow.core.text.text import MARKER, brief, clean, marker, quoted, sewn

ELSE = f"{grammar.OWN} Something else:"
# Rules are short: the editor draws the rest, since lines wrap as if their markers were visible.
FOOT = grammar.RULE * 2


class Form(msgspec.Struct, frozen=True, eq=False, dict=True):
    """What a section asks. Questions, like options, are counted from 1; 0 is the foot.

    Where it asks whether something may be done, that is its ``proposal``, which stands between the
    one question and its options; one of them refuses it. ``agent`` names who asks when it is not
    the chat's own. ``skips``: of several questions, some may be left out. ``server``: the
    one of MCP whose form it is.
    """

    id: str
    questions: tuple[Question, ...]
    proposal: Proposal | None = None
    agent: str = ""
    skips: bool = False
    server: str = ""

    @property
    def kind(self) -> Kind:
        """What to call it."""
        if self.proposal:
            return self.proposal.kind
        return "form" if self.server else "question"

    @property
    def size(self) -> int:
        """How many options its only question has."""
        (question,) = self.questions
        return len(question.options)

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
    def takes_comment(self) -> bool:
        """What stands at its foot is about all of its questions."""
        return self.takes_own_answers and len(self.questions) > 1 and not self.server

    @property
    def owner(self) -> int:
        """The question to which text at the foot belongs; 0: to all of them."""
        return 0 if self.takes_comment else len(self.questions)

    @property
    def offers_earlier(self) -> bool:
        """The answer of last time is offered; a habit of allowing would be none."""
        return self.proposal is None and not self.server

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

    @cached_property
    def told(self) -> dict[str, Told]:
        """What lines were found to say, as they stood in the buffer."""
        return {}


def render(form: Form) -> list[str]:
    """The lines of a section that nobody has edited yet."""
    rendered: list[str] = []
    for line in lines_of(form):
        if line.slot == grammar.HEAD and line.question > 1:
            rendered.append("")
        if line.slot == 1:
            rendered += blocks.render(form.id, form.blocks) or [""]
        filled = form.questions[line.question - 1].filled if line.slot == grammar.OTHER else ""
        rendered.append(f"{marked(form, line)} {filled}".rstrip() if filled else marked(form, line))
    return rendered


def marked(form: Form, line: Line) -> str:
    """A line with its marker. What the user writes behind the signs of ours goes behind that."""
    mark = marker(form.id, line.question, line.slot)
    ours = line.slot in (grammar.OTHER, grammar.FOOT)
    return line.text + mark if ours else sewn(line.text, mark)


def lines_of(form: Form) -> Iterator[Line]:
    """All lines that carry a marker, from head to foot."""
    # What a section's marker has between its brackets is hidden wherever it stands.
    forged = re.compile(rf"(?ai)(?<={re.escape(form.id)})=(?=\d)")

    def line(question: int, slot: int | str, text: str, label: str = "") -> Line:
        return Line(question, slot, forged.sub("꞊", text), forged.sub("꞊", label or text))

    for number, question in enumerate(form.questions, 1):
        yield line(number, grammar.HEAD, _head(form, number))
        for text in map(quoted, question.question.replace("\r\n", "\n").split("\n")):
            if text.strip():
                yield line(number, grammar.ASKED, text)
        for slot, option in enumerate(question.options, 1):
            yield line(number, slot, option_line(option), label_of(option))
        if form.takes_own_answers and question.takes_own:
            yield line(number, grammar.OTHER, grammar.OWN if question.field else ELSE)
    yield line(0, grammar.FOOT, FOOT)


def straight(form: Form, line: str) -> str:
    """A line with each marker behind all of what it marks: what `marked` has sewn, undone.

    Such an end counts as left, so that `$x`, or a note in its place, changes no label.
    """
    straight, start = "", 0
    for mark in MARKER.finditer(line):
        text, start = line[start : mark.start()], mark.end()
        tail = form.known.tail((int(mark[2]), slot_of(mark[3])), text, line[start:])
        pairs = zip(line[start:], tail, strict=False)
        left = sum(1 for _ in takewhile(lambda p: p[0].casefold() == p[1].casefold(), pairs))
        start += left
        straight += text + (tail if not tail.strip(grammar.ENDS) else tail[:left]) + mark[0]
    return straight + line[start:]


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
    if asker := form.agent or form.server:
        title += f" · {brief(asker, 40)}"
    return f"{FOOT} {title}" + " · keep any" * question.multi
