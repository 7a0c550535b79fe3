"""What is left decides: from a reading of the section to the answer, in words and for the wire."""

from __future__ import annotations

from typing import Any, Union

import msgspec

from winnow.core.form import Form, label_of, name_of
from winnow.core.protocol import Part
from winnow.core.section import Left, Reading, locate, parse
from winnow.core.text import clean


class Decided(msgspec.Struct, frozen=True):
    """An answer. ``kept`` and ``dropped`` are options, ``own`` the user's own texts in it.

    ``answer`` is a list for a several-choice question: joined labels with commas would fall apart.
    """

    answer: str | list[str]
    notes: str = ""
    kept: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    own: tuple[str, ...] = ()


class Undecided(msgspec.Struct, frozen=True):
    """No answer yet; ``missing`` says why, and what to do."""

    missing: str


Decision = Union[Decided, Undecided]


class Armed(msgspec.Struct, frozen=True):
    """What a second ``<CR>`` does, as long as the lines are still these."""

    question: int
    option: int
    lines: tuple[str, ...]


NOT_ARMED = Armed(0, 0, ())


class Explain(msgspec.Struct, frozen=True):
    """Tell the user what is missing."""

    text: str
    armed: Armed = NOT_ARMED


class Keep(msgspec.Struct, frozen=True):
    """Delete all other options of this question."""

    question: int
    option: int


class Step(msgspec.Struct, frozen=True):
    """Go to a question, or to the review at the foot (0); ``text`` says why, where it must."""

    question: int
    accepted: frozenset[int]
    text: str = ""


class Send(msgspec.Struct, frozen=True):
    """All is decided and confirmed: one answer per question."""

    answers: tuple[Decided, ...]


Outcome = Union[Explain, Keep, Step, Send]


def decide(form: Form, question: int, left: Left, accepted: frozenset[int]) -> Decision:
    """The answer to a question (from 1), if what is left is one.

    ``accepted`` are the questions where the user confirmed to keep everything.
    """
    if left.damage:
        return Undecided(left.damage[0].message)
    asked = form.questions[question - 1]
    kept = tuple(pick.option for pick in left.picks)
    dropped = tuple(n for n in range(1, len(asked.options) + 1) if n not in kept)
    labels = [asked.options[option - 1].label for option in kept]
    notes = "\n".join(
        f"{label}: {pick.note}" for label, pick in zip(labels, left.picks, strict=True) if pick.note
    )
    if asked.multi:
        if not kept and not left.own:
            return _nothing_left(form)
        if not dropped and question not in accepted:
            return Undecided(f"nothing deleted: <CR> keeps {_all(len(kept))}")
        return Decided([*labels, *left.own], notes, kept, dropped, left.own)
    if len(kept) == 1:
        said = "\n\n".join(text for text in (left.picks[0].note, *left.own) if text)
        return Decided(labels[0], said, kept, dropped)
    if left.own and form.kind == "questions":
        everything = tuple(range(1, len(asked.options) + 1))
        return Decided("\n\n".join(left.own), notes, (), everything, left.own)
    return Undecided(f"keep one of {len(kept)}") if kept else _nothing_left(form)


def verdict(form: Form, reading: Reading, accepted: frozenset[int]) -> list[Part]:
    """One part per question: the exact answer that would be sent, or what is missing."""
    parts = []
    for number, left in enumerate(reading.questions, 1):
        decision = decide(form, number, left, accepted)
        text = (
            in_words(form, number, decision) if isinstance(decision, Decided) else decision.missing
        )
        if len(form.questions) > 1:
            text = f"{name_of(form, number)} → {text}"
        if reading.ignored and number == len(form.questions):
            rows = ", ".join(str(row + 1) for row in reading.ignored)
            text += f" (ignored, from another section: line {rows})"
        parts.append(Part(text, isinstance(decision, Decided)))
    return parts


def in_words(form: Form, question: int, decided: Decided) -> str:
    """An answer as it can be read on one line; own words are quoted."""
    options = form.questions[question - 1].options
    items = [label_of(options[option - 1]) for option in decided.kept]
    items += [f"“{clean(text)}”" for text in decided.own]
    note = f" (note: {clean(decided.notes)})" if decided.notes else ""
    return ("; " if any("," in item for item in items) else ", ").join(items) + note


def confirm(
    form: Form, lines: list[str], row: int, armed: Armed, accepted: frozenset[int]
) -> Outcome:
    """What ``<CR>`` does with the cursor on ``row``."""
    reading = parse(form, lines)
    question, option = locate(form, lines, row)
    if len(form.questions) == 1:
        question = 1  # there is nothing to review, so its foot is as good
    if question:
        outcome = _settle(form, reading, question, option, tuple(lines), armed, accepted)
        if not isinstance(outcome, frozenset):
            return outcome
        accepted = outcome
    decisions = [decide(form, n, left, accepted) for n, left in enumerate(reading.questions, 1)]
    answers = tuple(decision for decision in decisions if isinstance(decision, Decided))
    if len(answers) == len(decisions):
        return Send(answers) if question == 0 or len(decisions) == 1 else Step(0, accepted)
    if question == 0:
        for left in reading.questions:
            if left.damage:
                return Explain(left.damage[0].message)
    # The next one after this, round the end.
    order = [*range(question, len(decisions)), *range(question)]
    following = next(n for n in order if isinstance(decisions[n], Undecided))
    decision = decisions[following]
    assert isinstance(decision, Undecided)
    said = f"{name_of(form, following + 1)}: {decision.missing}" if question == 0 else ""
    return Step(following + 1, accepted, said)


def _settle(
    form: Form,
    reading: Reading,
    question: int,
    option: int,
    lines: tuple[str, ...],
    armed: Armed,
    accepted: frozenset[int],
) -> Explain | Keep | frozenset[int]:
    """Decide the question under the cursor, or tell how; the new ``accepted`` if it is decided."""
    left = reading.questions[question - 1]
    decision = decide(form, question, left, accepted)
    if isinstance(decision, Decided):
        return accepted
    asked = form.questions[question - 1]
    count = len(left.picks)
    if left.damage or not count:
        return Explain(decision.missing)
    if asked.multi:
        press = Armed(question, 0, lines)
        if armed == press:
            return accepted | {question}
        return Explain(f"nothing deleted: <CR> again keeps {_all(count)}", press)
    if any(pick.option == option for pick in left.picks):
        press = Armed(question, option, lines)
        if armed == press:
            return Keep(question, option)
        label = label_of(asked.options[option - 1])
        return Explain(f"{count} left: <CR> again keeps only {label}", press)
    return Explain(f"{count} left: delete all but one, or press <CR> on the one to keep")


def updated_input(
    input: dict[str, Any], form: Form, answers: tuple[Decided, ...]
) -> dict[str, Any]:
    """The tool input that carries the answers.

    The CLI matches answers by the question's text, byte for byte, and wants ``questions`` back
    as they were; one space off reads as "did not answer", without an error.
    """
    pairs = list(zip(form.questions, answers, strict=True))
    result = {**input, "answers": {asked.question: given.answer for asked, given in pairs}}
    notes = {asked.question: {"notes": given.notes} for asked, given in pairs if given.notes}
    return {**result, "annotations": notes} if notes else result


def chosen(answers: tuple[Decided, ...]) -> tuple[int, str]:
    """The option of a permission that was chosen, from 1, and the note on it."""
    return answers[0].kept[0], answers[0].notes


def _nothing_left(form: Form) -> Undecided:
    own = "" if form.kind == "permission" else ", or write after ✎"
    return Undecided(f"nothing left: u brings options back{own}")


def _all(count: int) -> str:
    return f"all {count}" if count > 1 else "it"
