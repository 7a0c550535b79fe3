"""Whatever a model sends is asked if it can be understood."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.asking.ask_user_question import read_questions
from winnow.core.question import Malformed, Option, Question


def ask(**question: Any) -> dict[str, Any]:
    """The input of a call with one question."""
    return {"questions": [question]}


@pytest.mark.parametrize(
    ("input", "read"),
    [
        (
            ask(
                question="Q?",
                header="H",
                multiSelect=True,
                options=[{"label": "A", "description": "a", "preview": "p"}],
            ),
            Question("Q?", "H", (Option("A", "a", "p"),), True),
        ),
        (ask(question="Q?", options=["A", 5]), Question("Q?", "", (Option("A"), Option("5")))),
        (
            ask(question="Q? ", header=None, multiSelect=None, options=[{"label": "A "}], x=1),
            Question("Q? ", "", (Option("A "),)),
        ),
        (
            ask(header="H", options=[{"description": "only"}, None, {"label": ""}]),
            Question("H", "H", (Option("only"), Option(""))),
        ),
        (
            {"questions": {"question": "Q?", "options": ["A"]}},
            Question("Q?", "", (Option("A"),)),
        ),
    ],
)
def test_reads_what_can_be_understood(input: dict[str, Any], read: Question) -> None:
    """Missing, extra and odd values don't stop a question."""
    assert read_questions(input) == (read,)


def test_reads_more_than_the_wire_promises() -> None:
    """Nine questions of forty options are questions."""
    many = {"questions": [{"question": f"{n}", "options": list(range(40))} for n in range(9)]}
    read = read_questions(many)
    assert not isinstance(read, Malformed)
    assert [len(question.options) for question in read] == [40] * 9


@pytest.mark.parametrize(
    ("input", "reason"),
    [
        ({}, "no question"),
        ({"questions": []}, "no question"),
        ({"questions": "Which?"}, "no question"),
        ({"questions": [None]}, "Question 1 is not an object"),
        (ask(question="Q?", options=[]), "Question 1 has no options"),
        (ask(question="Q?", options="A, B"), "Question 1 has no options"),
        ({"questions": [{"question": "Q?", "options": ["A"]}] * 2}, "same text"),
    ],
)
def test_says_why_it_cannot_be_asked(input: dict[str, Any], reason: str) -> None:
    """The sentence tells the model what to change."""
    read = read_questions(input)
    assert isinstance(read, Malformed)
    assert reason in read.reason


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(["question", "header", "options", "label", "multiSelect"]), children
        )
    ),
    max_leaves=10,
)


@given(json)
def test_never_fails(questions: object) -> None:
    """Any JSON is either questions or malformed."""
    assert isinstance(read_questions({"questions": questions}), (tuple, Malformed))
