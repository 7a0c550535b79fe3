"""Any edits on any section: nothing fails, nothing is swapped, nothing is credited elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from winnow.core.answer import Armed, Decided, Undecided, confirm, decide, updated_input, verdict
from winnow.core.form import Form
from winnow.core.questions import Option, Question
from winnow.core.section import locate, parse, render
from winnow.core.text import MARKER

words = st.sampled_from(
    ["A", "A ", "a", "B", "A, B", "+", "-", "C", "C++", "Yes", "use redis", "> x", "", "é", "日本"]
) | st.text(max_size=12)
options = st.builds(Option, words, st.just("") | words)
forms = st.lists(
    st.builds(Question, words, words, st.lists(options, min_size=1, max_size=5).map(tuple),
              st.booleans()),
    min_size=1, max_size=3, unique_by=lambda question: question.question,
).map(lambda questions: Form("ab", tuple(questions)))  # fmt: skip

places = st.integers(0, 30)
typed = words | st.text(st.sampled_from("<!--winow:ab.12eqhf> x"), max_size=25)

LINES: list[Callable[[list[str], int, str], list[str]]] = [
    lambda lines, row, _: [*lines[:row], *lines[row + 1 :]],  # dd
    lambda lines, row, _: [*lines, lines[row]],  # yy, and p at the end
    lambda lines, row, _: [*lines[row:], *lines[:row]],  # :move
    lambda lines, row, _: [*lines[:row], " ".join(lines[row : row + 2]), *lines[row + 2 :]],  # J
    lambda lines, row, text: [*lines[:row], text, *lines[row:]],  # O
]
CHARACTERS: list[Callable[[str, int, str], str]] = [
    lambda line, _, text: line + text,  # A
    lambda line, at, text: line[:at] + text + line[at:],  # i
    lambda line, at, _: line[:at] + line[at + at % 9 :],  # x
    lambda line, at, _: line[: -1 - at % 20],  # X at the end
    lambda line, at, _: line.upper(),  # gUU
    lambda line, at, _: "> " + line,  # :s/^/> /
]

Edit = Callable[[list[str]], list[str]]


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """One edit, of lines or within a line."""
    row, at, text = draw(places), draw(places), draw(typed)
    on_lines, on_line = draw(st.sampled_from(LINES)), draw(st.sampled_from(CHARACTERS))
    if draw(st.booleans()):
        return lambda lines: on_lines(lines, row % len(lines), text)
    return lambda lines: [
        on_line(line, at, text) if n == row % len(lines) else line for n, line in enumerate(lines)
    ]


def apply(edits: list[Edit], lines: list[str]) -> list[str]:
    """The lines after these edits; an empty buffer stays empty."""
    for edit in edits:
        lines = edit(lines) if lines else lines
    return lines


@given(forms, st.lists(edits(), max_size=5), places)
@settings(max_examples=300, deadline=None)
def test_any_edit_is_understood_or_refused(form: Form, edits: list[Edit], row: int) -> None:
    """Answers are original labels or own texts, and never hold a marker."""
    lines = apply(edits, render(form))
    reading = parse(form, lines)
    assert reading == parse(form, list(lines))
    everything = frozenset(range(1, len(form.questions) + 1))
    for number, left in enumerate(reading.questions, 1):
        decision = decide(form, number, left, everything)
        assert isinstance(decision, (Decided, Undecided))
        if isinstance(decision, Decided):
            labels = {option.label for option in form.questions[number - 1].options}
            given = decision.answer if isinstance(decision.answer, list) else [decision.answer]
            assert set(given) <= labels | set(left.own) | {"\n\n".join(left.own)}
            assert not any(MARKER.search(text) for text in left.own)
            assert not MARKER.search(decision.notes)
    assert len(verdict(form, reading, everything)) == len(form.questions)
    question, option = locate(form, lines, row)
    assert 0 <= question <= len(form.questions)
    confirm(form, lines, row, Armed(question, option, tuple(lines)), frozenset())


@given(forms)
def test_nothing_is_decided_before_the_first_edit(form: Form) -> None:
    """All options are left, and only a question with a single one is answered by that."""
    for number, left in enumerate(parse(form, render(form)).questions, 1):
        asked = form.questions[number - 1]
        assert [pick.option for pick in left.picks] == [*range(1, len(asked.options) + 1)]
        assert not left.own
        decided = isinstance(decide(form, number, left, frozenset()), Decided)
        assert decided == (len(asked.options) == 1 and not asked.multi)


@given(forms, st.data())
def test_every_label_comes_back_as_it_was(form: Form, data: st.DataObject) -> None:
    """Keep one option of each question: its label, under its question's text, byte for byte."""
    wanted = [data.draw(st.integers(1, len(asked.options))) for asked in form.questions]
    lines = [
        line
        for line in render(form)
        if not (mark := MARKER.search(line))
        or not mark[3].isdigit()
        or int(mark[3]) == wanted[int(mark[2]) - 1]
    ]
    everything = frozenset(range(1, len(form.questions) + 1))
    decisions = [
        decide(form, number, left, everything)
        for number, left in enumerate(parse(form, lines).questions, 1)
    ]
    answers = tuple(decision for decision in decisions if isinstance(decision, Decided))
    labels = [asked.options[n - 1].label for asked, n in zip(form.questions, wanted, strict=True)]
    assert updated_input({"questions": 1, "x": 2}, form, answers) == {
        "questions": 1,
        "x": 2,
        "answers": {
            asked.question: [label] if asked.multi or not label else label
            for asked, label in zip(form.questions, labels, strict=True)
        },
    }


@given(forms, st.lists(edits(), max_size=3), st.data())
@settings(deadline=None)
def test_edits_in_one_block_leave_the_others_alone(
    form: Form, edits: list[Edit], data: st.DataObject
) -> None:
    """Whatever happens between a question's text and its last option stays there."""
    lines = render(form)
    number = data.draw(st.integers(1, len(form.questions)))
    rows = [n for n, line in enumerate(lines) if f":ab.{number}.1-->" in line]
    count = len(form.questions[number - 1].options)
    block = apply(edits, lines[rows[0] : rows[0] + count])
    if any(MARKER.search(line.lower()) and f".{number}." not in line for line in block):
        return  # typed another question's marker
    reading = parse(form, lines[: rows[0]] + block + lines[rows[0] + count :])
    for other, left in enumerate(reading.questions, 1):
        if other != number:
            assert left == parse(form, lines).questions[other - 1]
