"""The earlier answer to a question that comes again: offered, never sent by itself."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from winnow.core.ledger.ledger import Decision, day
from winnow.core.question import Question
from winnow.core.section.answer import Answers, Decided, Undecided, decide, in_words
from winnow.core.section.form import ELSE, Form, label_of, marked, name_of, render
from winnow.core.section.reading import Left, Pick, Reading, parse
from winnow.core.text import grammar
from winnow.core.text.text import MARKER, marker, strip_markers


class Earlier(msgspec.Struct, frozen=True):
    """What was left of the same question before; ``said`` is how to call it: "as on 12 May"."""

    left: Left
    said: str
    when: float  # seconds since the epoch


class Offer(msgspec.Struct, frozen=True):
    """The section's ``lines`` as the user could have them, and what that would mean."""

    text: str
    lines: list[str]


def offer(
    form: Form,
    reading: Reading,
    accepted: frozenset[int],
    earlier: Sequence[Earlier | None],
) -> Offer | None:
    """The earlier answers to the questions that are undecided now, if there are any."""
    lefts, words = list(reading.questions), []
    for number, (left, before) in enumerate(zip(reading.questions, earlier, strict=True), 1):
        if before and isinstance(decide(form, number, left, accepted), Undecided):
            lefts[number - 1] = before.left
            name = f"{name_of(form, number)} → " if len(form.questions) > 1 else ""
            words.append(f"{before.said}: {name}{_in_words(form, number, before.left)}")
    if not words:
        return None
    lines = written(form, lefts)
    if parse(form, lines).questions == reading.questions:
        return None
    return Offer(" · ".join(words) + ", <CR> here takes it", lines)


def replayed(form: Form, earlier: Sequence[Earlier | None]) -> Answers | int:
    """The answers that were given before, or the first question (from 1) without one."""
    answers = []
    for number, before in enumerate(earlier, 1):
        if before is None:
            return number
        decision = decide(form, number, before.left, frozenset({number}))
        if isinstance(decision, Undecided):  # such as two of what is a single choice now
            return number
        answers.append(decision)
    return tuple(answers)


def decided(question: Question, decision: Decision) -> Earlier:
    """What the answer in the ledger left of a question."""
    labels = [option.label for option in question.options]
    notes, own = _apart(decision)
    picks = tuple(
        Pick(labels.index(label) + 1, note)
        for label, note in zip(decision.kept, notes, strict=True)
        if label in labels  # a file to replay may have been written by hand
    )
    return Earlier(Left(picks, own), f"as on {day(decision.when)}", decision.when)


def discussed(form: Form, question: int, lines: list[str], when: float) -> Earlier | None:
    """What the user had left of a question (from 1) when they wanted to discuss it, if not all."""
    left = parse(form, lines).questions[question - 1]
    if left == parse(form, render(form)).questions[question - 1]:
        return None
    rows = {damage.row: lines[damage.row] for damage in left.damage}
    # A line that said something else than its option: those are the user's own words.
    own = [strip_markers(line, fragments=True).strip() for line in rows.values()]
    left = Left(left.picks, (*left.own, *filter(None, own)))
    return Earlier(left, "as you left it", when)


def written(form: Form, lefts: Sequence[Left]) -> list[str]:
    """The lines of a section of which this is left: `parse` reads the same from them."""
    lines = []
    for line in render(form):
        mark = MARKER.search(line)
        number, slot = (int(mark[2]), mark[3]) if mark else (0, "")
        left = lefts[number - 1]
        if slot == "1":  # all options that are left, in the user's order
            for pick in left.picks:
                option = marked(form, form.known.at[number, pick.option][0])
                note = " ".join(pick.note.split("\n"))
                lines.append(f"{option} {note}".rstrip())
        elif slot == grammar.OTHER and left.own:
            first, *rest = "\n\n".join(left.own).split("\n")
            lines += [f"{ELSE}{marker(form.id, number, slot)} {first}", *rest]
        elif not slot.isdigit():
            lines.append(line)
    return lines


def _in_words(form: Form, number: int, left: Left) -> str:
    decision = decide(form, number, left, frozenset({number}))
    if isinstance(decision, Decided):
        return in_words(form, number, decision)
    options = form.questions[number - 1].options
    return ", ".join(label_of(options[pick.option - 1]) for pick in left.picks) or "nothing"


def _apart(decision: Decision) -> tuple[list[str], tuple[str, ...]]:
    """The note on each kept option, and the own texts: `answer.decide` had joined them."""
    notes, own = decision.notes, decision.own
    if not decision.kept:  # the notes were on options that lost against the user's own answer
        return [], (*own, notes) if notes else own
    if len(decision.kept) == 1 and not decision.multi:
        first, *rest = notes.split("\n\n")
        return ([""], (notes,)) if "\n" in first else ([first], tuple(rest))
    apart = dict.fromkeys(decision.kept, "")
    label = decision.kept[0]
    for line in notes.split("\n") if notes else []:
        starts = [kept for kept in decision.kept if line.startswith(f"{kept}: ")]
        label = max(starts, key=len, default=label)
        note = line.removeprefix(f"{label}: ")
        apart[label] = f"{apart[label]} {note}".strip()
    return [apart[label] for label in decision.kept], own
