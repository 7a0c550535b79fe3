"""Any edits on any section: nothing fails, nothing is swapped, nothing is credited elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from winnow.core.asking.ask_user_question import updated_input
from winnow.core.question import Option, Question
from winnow.core.section.answer import (
    Armed,
    Decided,
    Undecided,
    confirm,
    decide,
    verdict,
)
from winnow.core.section.form import Form, label_of, option_line, render
from winnow.core.section.reading import Reading, locate, parse
from winnow.core.text.text import MARKER, marker

from tests.unit.forms import BOTH, SEVERAL

WORDS = [
    "A",
    "A ",
    "a",
    "B",
    "A, B",
    "+",
    "-",
    "C",
    "C++",
    "Yes",
    "use redis",
    "> x",
    "",
    "é",
    "日本",
    "日本" * 9,
    "https://example.org/unbroken_words_are_long",
]
# Made once: 2,000 examples spend most of their time on being drawn.
OPTIONS = [Option(label, described) for label in WORDS for described in ("", "A", "Yes — no")]
words = st.sampled_from(WORDS) | st.text(max_size=4)
options = st.sampled_from(OPTIONS) | st.builds(Option, words, words)
questions = st.builds(
    Question,
    words,
    st.sampled_from(WORDS),
    st.lists(options, min_size=1, max_size=4).map(tuple),
    st.booleans(),
)
forms = st.lists(
    questions, min_size=1, max_size=3, unique_by=lambda question: question.question
).map(lambda questions: Form("ab", tuple(questions)))

places = st.integers(0, 30)
typed = words | st.text(st.sampled_from("⟦⟧ab=12eqhf> x"), max_size=12)

LINES: list[Callable[[list[str], int, str], list[str]]] = [
    lambda lines, row, _: [*lines[:row], *lines[row + 1 :]],  # dd
    lambda lines, row, _: [*lines, lines[row]],  # yy, and p at the end
    lambda lines, row, _: [*lines[row:], *lines[:row]],  # :move
    lambda lines, row, _: [*lines[:row], " ".join(lines[row : row + 2]), *lines[row + 2 :]],  # J
    lambda lines, row, text: [*lines[:row], text, *lines[row:]],  # O
    lambda lines, row, text: [*lines[:row], text, *lines[row + 1 :]],  # cc
    lambda lines, row, text: [*lines[:row], *_split(lines[row], len(text)), *lines[row + 1 :]],
    lambda lines, row, _: lines[:row],  # dG
    lambda lines, row, _: sorted(lines),
]
CHARACTERS: list[Callable[[str, int, str], str]] = [
    lambda line, _, text: line + text,  # A
    lambda line, at, text: line[:at] + text + line[at:],  # i
    lambda line, at, _: line[:at] + line[at + at % 9 :],  # x
    lambda line, at, _: line[: -1 - at % 20],  # X at the end
    lambda line, at, _: line.upper(),  # gUU
    lambda line, at, _: "> " + line,  # :s/^/> /
]


def _split(line: str, at: int) -> list[str]:
    """The two lines that <CR> makes."""
    return [line[: at * 3], line[at * 3 :]]


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


def squeezed(text: str) -> str:
    """Without what may change without a change of meaning."""
    return "".join(c for c in normalize("NFKC", text).casefold() if c.isalnum())


def assert_shown(form: Form, lines: list[str], reading: Reading) -> None:
    """No option is kept of which no line is left, and none is dropped whose line is untouched."""
    text = squeezed("".join(lines))
    damaged = reading.damage or any(left.damage for left in reading.questions)
    for number, left in enumerate(reading.questions, 1):
        kept = {pick.option for pick in left.picks}
        for option, asked in enumerate(form.questions[number - 1].options, 1):
            untouched = option_line(asked) + marker(form.id, number, option)
            if option in kept:
                assert squeezed(label_of(asked)) in text
            else:
                assert untouched not in lines or damaged


@given(forms, st.lists(edits(), max_size=5), places)
def test_any_edit_is_understood_or_refused(form: Form, edits: list[Edit], row: int) -> None:
    """Answers are original labels or own texts, and never hold a marker."""
    lines = apply(edits, render(form))
    before = [*lines]
    reading = parse(form, lines)
    assert (reading, lines) == (parse(form, before), before)
    assert reading == parse(structs.replace(form), lines)  # one that has read nothing before
    assert_shown(form, lines, reading)
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
    more = bool(reading.comment or reading.damage)
    assert len(verdict(form, reading, everything)) == len(form.questions) + more
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
def test_edits_in_one_block_leave_the_others_alone(
    form: Form, edits: list[Edit], data: st.DataObject
) -> None:
    """Whatever happens between a question's text and its last option stays there."""
    lines = render(form)
    number = data.draw(st.integers(1, len(form.questions)))
    rows = [n for n, line in enumerate(lines) if f"ab={number}=1⟧" in line]
    count = len(form.questions[number - 1].options)
    block = apply(edits, lines[rows[0] : rows[0] + count])
    addresses = re.findall(r"=(\d+)=[\da-z]", "\n".join(block).lower())
    if any(int(question) != number for question in addresses):
        return  # typed another question's marker, or a part of it
    reading = parse(form, lines[: rows[0]] + block + lines[rows[0] + count :])
    for other, left in enumerate(reading.questions, 1):
        if other != number:
            assert left == parse(form, lines).questions[other - 1], block


INSIDE = st.text(st.sampled_from("abno12=⟦⟧ é"), max_size=4)


@given(
    st.sampled_from([(BOTH, 3), (BOTH, 5), (SEVERAL, 4)]),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), INSIDE), min_size=1, max_size=3),
    st.booleans(),
)
def test_an_option_survives_edits_inside_its_marker(
    asked: tuple[Form, int], edits: list[tuple[int, int, str]], alone: bool
) -> None:
    """Whatever is typed, deleted or replaced there: it is kept, or its line is named, or is the
    user's own words; no other option is kept in its place."""
    form, row = asked
    lines = render(form)
    mark = MARKER.search(lines[row])
    assert mark
    inside = mark[0]
    for place, gone, text in edits:
        at = 1 + place % max(len(inside) - 1, 1)
        inside = inside[:at] + text + inside[at + gone :]
    others = [line for line in lines if re.search(r"=1=\d+⟧", line) and line != lines[row]]
    lines[row] = lines[row].replace(mark[0], inside)
    left = parse(form, [line for line in lines if not alone or line not in others]).questions
    option = int(mark[3])
    wanted = {option} if alone else {option, *range(1, len(others) + 2)}
    kept = {pick.option for pick in left[0].picks}
    label = label_of(form.questions[0].options[option - 1])
    named = any(one.damage for one in left) or any(label in text for text in left[0].own)
    assert kept == wanted or (named and kept == wanted - {option}), (inside, left)
    assert all(len(one.picks) == 3 for one in left[1:])
