"""What is left decides: from a reading of the section to the answer, in words and for the wire."""

from __future__ import annotations

from typing import Union

import msgspec

from winnow.core.proposal.blocks import Malformed
from winnow.core.proposal.proposal import Changed, Emptied
from winnow.core.section.form import Form, label_of, name_of
from winnow.core.section.reading import Left, Reading, locate, parse, questions_of, rows_of_others
from winnow.core.text import grammar
from winnow.core.text.text import clean


class Part(msgspec.Struct, frozen=True):
    """What would be answered to one question now."""

    text: str
    decided: bool


class Decided(msgspec.Struct, frozen=True):
    """An answer. ``kept`` and ``dropped`` are options, ``own`` the user's own texts in it.

    ``answer`` is a list for a several-choice question: joined labels with commas would fall apart.
    ``edited`` says what became of a proposal, if it is not as it was. ``skipped``: the user left
    the question out; ``answer`` says so to an agent.
    """

    answer: str | list[str]
    notes: str = ""
    kept: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    own: tuple[str, ...] = ()
    edited: str = ""
    skipped: bool = False


class Undecided(msgspec.Struct, frozen=True):
    """No answer yet; ``missing`` says why, and what to do."""

    missing: str


Decision = Union[Decided, Undecided]
Answers = tuple[Decided, ...]
"""One for each question of a form."""


class Armed(msgspec.Struct, frozen=True):
    """A first ``<CR>``, for the second to compare: the lines must still be these.

    On an option, the second keeps only that one; else (0) it keeps all.
    """

    question: int
    option: int
    lines: tuple[str, ...]


SKIPPED = "(The user skipped this question.)"
UNSEEN = -1  # as `Armed.option`: the second grants what was not on the screen
GONE = -2  # the second skips a question of which no line is left
SKIPS = "nothing left: <CR> again skips it"
REVIEW = "all is decided: <CR> again sends it"  # where the foot is gone
NOT_ARMED = Armed(0, 0, ())


class Explain(msgspec.Struct, frozen=True):
    """Tell the user what is missing; ``reveal``: what was not on the screen, so show it.

    ``accepted`` are questions that count as accepted now, see `decide`.
    """

    text: str
    armed: Armed = NOT_ARMED
    reveal: bool = False
    accepted: frozenset[int] = frozenset()


class Keep(msgspec.Struct, frozen=True):
    """Delete these rows: all other options of this question."""

    question: int
    rows: list[int]


class Step(msgspec.Struct, frozen=True):
    """Go to a question, or to the review at the foot (0); ``text`` says why, where it must."""

    question: int
    accepted: frozenset[int]
    text: str = ""


class Send(msgspec.Struct, frozen=True):
    """All is decided and confirmed: one answer per question."""

    answers: Answers


Outcome = Union[Explain, Keep, Step, Send]


def decide(form: Form, question: int, left: Left, accepted: frozenset[int]) -> Decision:
    """The answer to a question (from 1), if what is left is one.

    ``accepted`` are the questions where the user confirmed to keep everything, and those that they
    skip, as negative numbers.
    """
    if left.damage:
        return Undecided(left.damage[0].message)
    if form.proposes:
        return _grant(form, left)
    asked = form.questions[question - 1]
    everything = tuple(range(1, len(asked.options) + 1))
    kept = tuple(pick.option for pick in left.picks)
    dropped = tuple(option for option in everything if option not in kept)
    labels = [asked.options[option - 1].label for option in kept]
    own = left.own
    if asked.field is not None:
        return _filled(left, asked.field(kept, "\n\n".join(own)), dropped, labels)
    notes = "\n".join(
        f"{label}: {pick.note}" for label, pick in zip(labels, left.picks, strict=True) if pick.note
    )
    answer: Decision
    match len(kept):
        case 0 if not own and form.skips and -question in accepted:
            answer = Decided(SKIPPED, dropped=everything, skipped=True)
        case 0 if not own:
            answer = Undecided(_nothing_left(form, question))
        case count if asked.multi and not dropped and question not in accepted:
            answer = Undecided(f"nothing deleted: <CR> keeps {_all(count)}")
        case _ if asked.multi:
            answer = Decided([*labels, *own], notes, kept, dropped, own)
        case 1:
            notes = "\n\n".join(text for text in (left.picks[0].note, *left.own) if text)
            answer = Decided(labels[0], notes, kept, dropped)
        case _ if own:
            answer = Decided("\n\n".join(own), notes, (), everything, own)
        case count:
            answer = Undecided(f"keep one of {count}")
    return answer


def _nothing_left(form: Form, question: int) -> str:
    """What to do where neither an option nor own text is left."""
    if form.skips:
        return "nothing left: <CR> skips it, u brings options back"
    options = form.questions[question - 1].options
    back = "nothing left: u brings options back, or " if options else ""
    return f"{back}write after {grammar.OWN}"


def _filled(left: Left, problem: str, dropped: tuple[int, ...], labels: list[str]) -> Decision:
    """As `decide`, for a field of which ``problem`` says what is wrong."""
    kept = tuple(pick.option for pick in left.picks)
    if any(pick.note for pick in left.picks):
        return Undecided("a form takes no notes: u takes it back")
    return Undecided(problem) if problem else Decided(labels, "", kept, dropped, left.own)


def _grant(form: Form, left: Left) -> Decision:
    """As `decide`, for a proposal."""
    kept = _kept(form, left)
    edited = left.change.words if isinstance(left.change, (Changed, Emptied)) else ""
    if not kept:
        return Undecided("nothing left: u brings options back")
    if isinstance(left.change, Malformed) and kept != [form.refusal]:
        return Undecided(left.change.message)
    if len(kept) > 1:
        several = f"keep one of {len(kept)}"
        return Undecided(f"{edited} · {several}" if edited else several)
    (option,) = kept
    notes = [pick.note for pick in left.picks if pick.option == option]
    options = form.questions[0].options
    told = option != form.refusal or form.debated or isinstance(left.change, Emptied)
    return Decided(
        options[option - 1].label,
        "\n\n".join(filter(None, (*notes, *left.own))),
        (option,),
        tuple(n for n in range(1, len(options) + 1) if n != option),
        edited=edited if told else "",
    )


def _kept(form: Form, left: Left) -> list[int]:
    """The options of a proposal that are left, or the refusal that something else amounts to."""
    kept = [pick.option for pick in left.picks]
    if isinstance(left.change, Malformed):  # without its fences, a command would look like words
        return kept
    refused_by_words = left.own and (form.debated or len(kept) != 1)
    return [form.refusal] if refused_by_words or isinstance(left.change, Emptied) else kept


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
            count = len(reading.ignored)
            lines = "a line" if count == 1 else f"{count} lines"
            text += f" (ignored: {lines} from another section)"
        parts.append(Part(clean(text), isinstance(decision, Decided)))
    if reading.damage:
        parts.append(Part(clean(reading.damage[0].message), decided=False))
    elif reading.comment:
        parts.append(Part(f"all of it: “{clean(reading.comment)}”", decided=True))
    return parts


def in_words(form: Form, question: int, decided: Decided) -> str:
    """An answer as it can be read on one line; own words are quoted."""
    if decided.skipped:
        return "skipped"
    if not (decided.kept or decided.own):
        return "left out"
    options = form.questions[question - 1].options
    items = [label_of(options[option - 1]) for option in decided.kept]
    items += [f"“{clean(text)}”" for text in decided.own]
    edited = f" ({decided.edited})" if decided.edited else ""
    note = f" (note: {clean(decided.notes)})" if decided.notes else ""
    return ("; " if any("," in item for item in items) else ", ").join(items) + edited + note


def confirm(  # noqa: PLR0917  all that a <CR> depends on
    form: Form,
    lines: list[str],
    row: int,
    armed: Armed,
    accepted: frozenset[int],
    unseen: int = 0,
) -> Outcome:
    """What ``<CR>`` does with the cursor on ``row``; see `unseen`."""
    reading = parse(form, lines)
    question, option = locate(form, lines, row)
    if len(form.questions) == 1:
        question = 1  # there is nothing to review, so its foot is as good
    left = reading.questions[question - 1]
    if armed.option == GONE and armed.lines == tuple(lines):
        accepted |= {-armed.question}
    if question and isinstance(undecided := decide(form, question, left, accepted), Undecided):
        press = Armed(question, option, tuple(lines))
        at_once = option == 1 and _is_recommended(form, question, left)
        offer = _offer(form, left, press, undecided.missing, unseen)
        if not at_once and (offer.armed != armed or armed == NOT_ARMED):
            return offer
        if option and (at_once or armed.option):
            return Keep(question, rows_of_others(form, lines, question, option))
        accepted |= {question if left.picks else -question}
    decisions = [decide(form, n, left, accepted) for n, left in enumerate(reading.questions, 1)]
    answers = tuple(decision for decision in decisions if isinstance(decision, Decided))
    shown = questions_of(form, lines)
    damage = [*(damage for left in reading.questions for damage in left.damage), *reading.damage]
    if damage and question == 0:
        return Explain(damage[0].message)
    if len(answers) < len(decisions):
        return _next(form, question, decisions, (lines, shown), accepted)
    review = Armed(0, 0, tuple(lines))
    if (question == 0 or len(decisions) == 1 or armed == review) and not reading.damage:
        return warn_unseen(form, lines, answers[0], armed, unseen, "<CR>") or Send(answers)
    return Step(0, accepted) if 0 in shown else Explain(REVIEW, review)


def _is_recommended(form: Form, question: int, left: Left) -> bool:
    """The first option is the one to be confirmed, and the user has touched none."""
    asked = form.questions[question - 1]
    whole = len(left.picks) == len(asked.options) and not left.damage
    return asked.recommended and whole and not left.has_words


def warn_unseen(  # noqa: PLR0917
    form: Form, lines: list[str], given: Decided, armed: Armed, unseen: int, again: str
) -> Explain | None:
    """What must be said before something is granted of which lines were not on the screen.

    ``again`` is what the user does to grant it all the same.
    """
    text = "\n".join(lines).rstrip()  # before it is in its buffer, no blank follows it
    press = Armed(1, UNSEEN, tuple(text.split("\n")))
    if not (unseen and form.must_be_seen) or form.refuses(given.kept) or armed == press:
        return None
    return Explain(f"{_unseen(unseen)}: {again} again allows it unseen", press)


def _next(
    form: Form,
    question: int,
    decisions: list[Decision],
    left: tuple[list[str], set[int]],
    accepted: frozenset[int],
) -> Outcome:
    """To the next undecided question after this one, round the end.

    ``left`` are the lines, and of which questions there are some, so that they can be gone to.
    """
    lines, shown = left
    order = [*range(question, len(decisions)), *range(question)]
    following = next(n for n in order if isinstance(decisions[n], Undecided))
    decision = decisions[following]
    assert isinstance(decision, Undecided)
    said = f"{name_of(form, following + 1)}: {decision.missing}"
    if following + 1 not in shown and form.skips:
        gone = Armed(following + 1, GONE, tuple(lines))
        return Explain(f"{name_of(form, following + 1)}: {SKIPS}", gone, accepted=accepted)
    if following + 1 not in shown:
        return Explain(said)
    return Step(following + 1, accepted, said if question == 0 else "")


def _offer(form: Form, left: Left, press: Armed, missing: str, unseen: int) -> Explain:
    """What is missing, and the short way that a second press takes, where there is one."""
    count = len(left.picks)
    asked = form.questions[press.question - 1]
    if left.damage or not count:
        skips = form.skips and not (left.damage or left.own)
        all_gone = Explain(SKIPS, msgspec.structs.replace(press, option=0))
        return all_gone if skips else Explain(missing)
    malformed = isinstance(left.change, Malformed) and press.option != form.refusal
    if malformed or (asked.field and (asked.multi or count == 1 or left.has_words)):
        return Explain(missing)  # a press more would not mend it
    if form.must_be_seen and unseen and press.option != form.refusal:
        shown = form.patch is None  # in a diff, <CR> goes to the file
        return Explain(f"{_unseen(unseen)}: read on, then <CR>", reveal=shown)
    if asked.multi:
        everything = msgspec.structs.replace(press, option=0)
        return Explain(f"nothing deleted: <CR> again keeps {_all(count)}", everything)
    if any(pick.option == press.option for pick in left.picks):
        label = label_of(asked.options[press.option - 1])
        return Explain(f"{count} left: <CR> again keeps only {label}", press)
    return Explain(f"{count} left: delete all but one, or press <CR> on the one to keep")


def _unseen(count: int) -> str:
    lines = "1 line was" if count == 1 else f"{count:,} lines were"
    return f"{lines} not on the screen yet"


def _all(count: int) -> str:
    return f"all {count}" if count > 1 else "it"
