"""The `question` tool: what is asked, what comes back, and what the chat shows of it."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.agent import Allow, Request
from winnow.core.asking import question_tool
from winnow.core.asking.question_tool import (
    NO_INTERFACE,
    SCHEMA,
    QuestionTool,
    call_line,
    read,
    result,
    result_lines,
)
from winnow.core.question import Malformed, Option, Question
from winnow.core.section.answer import Decided, decide
from winnow.core.section.form import Form, name_of, render
from winnow.core.section.reading import Left, Pick, parse
from winnow.core.text.encoding import to_json

DB: dict[str, Any] = {
    "id": "db",
    "label": "Database",
    "prompt": "Which database?",
    "options": [
        {"value": "pg", "label": "PostgreSQL", "description": "a server"},
        {"value": 3, "label": "SQLite"},
        {"value": None, "label": "None"},
    ],
}
FEATURES: dict[str, Any] = {
    "id": "features",
    "prompt": "Which features?",
    "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}],
    "multiSelect": True,
}
TWO = {"questions": [DB, FEATURES]}


def answer(input: dict[str, Any], *lefts: Left) -> dict[str, Any]:
    """The result when this is left of the questions."""
    asked = read(input)
    assert not isinstance(asked, Malformed)
    form = Form("ab", asked)
    every = frozenset(range(1, len(asked) + 1))
    decisions = [decide(form, n, left, every) for n, left in enumerate(lefts, 1)]
    return result(input, tuple(one for one in decisions if isinstance(one, Decided)))


def test_reads_questions_and_their_options_as_given() -> None:
    """Labels default to Q1, Q2…; every question ends in a place for own words."""
    asked = read(TWO)
    assert asked == (
        Question(
            "Which database?",
            "Database",
            (Option("PostgreSQL", "a server"), Option("SQLite"), Option("None")),
        ),
        Question("Which features?", "Q2", (Option("A"), Option("B")), True),
    )
    assert not isinstance(asked, Malformed)
    form = Form("ab", asked)
    assert [name_of(form, 1), name_of(form, 2)] == ["Database", "Q2"]
    assert sum(line.startswith("✎ Something else:") for line in render(form)) == 2


def test_the_schema_names_what_is_read() -> None:
    """Nothing is required that has a default, nothing is sent that the schema doesn't know."""
    question = SCHEMA["properties"]["questions"]["items"]
    option = question["properties"]["options"]["items"]
    assert question["required"] == ["id", "prompt", "options"]
    assert option["required"] == ["value", "label"]
    assert set(DB) | set(FEATURES) == set(question["properties"])
    assert set(DB["options"][0]) == set(option["properties"])


def test_equal_prompts_can_be_asked() -> None:
    """Each gets its id, so that the user can tell them apart."""
    asked = read({"questions": [{**DB, "id": "old"}, {**DB, "id": "new"}]})
    assert not isinstance(asked, Malformed)
    assert [one.question for one in asked] == ["Which database? (old)", "Which database? (new)"]


@pytest.mark.parametrize(
    ("input", "reason"),
    [
        ({}, "No questions"),
        ({"questions": []}, "No questions"),
        ({"questions": "Which?"}, "No questions"),
        ({"questions": [None]}, "Question 1 is not an object"),
        ({"questions": [{"id": "a"}]}, "Question 1 has no `prompt`"),
        ({"questions": [DB, DB]}, "Two questions have the id “db”"),
        ({"questions": [{**DB, "options": "A, B"}]}, "`options` of question 1 must be a list"),
        ({"questions": [{**DB, "options": [{}]}]}, "Option 1 of question 1 has no `label`"),
        ({"questions": [{**DB, "options": [{"value": []}]}]}, "`value` of option 1 of question 1"),
        ({"questions": [DB] * 1000}, "1000 questions are too many"),
    ],
)
def test_says_why_it_cannot_be_asked(input: dict[str, Any], reason: str) -> None:
    """The sentence is for the model, and the result says the same without an exception."""
    malformed = read(input)
    assert isinstance(malformed, Malformed)
    assert reason in malformed.reason
    for answers in (None, ()):
        given = result(input, answers)
        assert given == {
            "questions": [],
            "answers": [],
            "cancelled": True,
            "error": malformed.reason,
        }
        assert result_lines(given) == [f"✗ {malformed.reason}"]
    assert call_line(input) == "question"


def test_asks_what_can_be_understood() -> None:
    """One question without its list, and values that are their own labels."""
    sent = {"prompt": "Q?", "options": ["x", 5, {"value": 7}, {"label": "only"}]}
    assert read({"questions": sent}) == (
        Question("Q?", "Q1", (Option("x"), Option("5"), Option("7"), Option("only"))),
    )
    entries = answer({"questions": sent}, Left((Pick(3),)))["answers"]
    assert entries == [{"id": "q1", "value": 7, "label": "7", "wasCustom": False, "index": 3}]


def test_an_option_comes_back_with_value_label_and_place() -> None:
    """Places count from 1, values are as they were sent."""
    assert answer({"questions": [DB]}, Left((Pick(2),))) == {
        "questions": [DB],
        "answers": [
            {"id": "db", "value": 3, "label": "SQLite", "wasCustom": False, "index": 2},
        ],
        "cancelled": False,
    }
    assert answer({"questions": [DB]}, Left((Pick(3),)))["answers"][0]["value"] is None


def test_own_words_come_back_without_a_place() -> None:
    """They are the value and the label."""
    given = answer({"questions": [DB]}, Left((), ("my own", "and more")))
    text = "my own\n\nand more"
    assert given["answers"] == [{"id": "db", "value": text, "label": text, "wasCustom": True}]


def test_several_picks_are_several_entries() -> None:
    """Each with the id of its question, in the user's order; own words follow."""
    given = answer(TWO, Left((Pick(1, "v16"),)), Left((Pick(2), Pick(1)), ("C",)))
    assert given["answers"] == [
        {
            "id": "db",
            "value": "pg",
            "label": "PostgreSQL",
            "wasCustom": False,
            "index": 1,
            "notes": "v16",
        },
        {"id": "features", "value": "b", "label": "B", "wasCustom": False, "index": 2},
        {"id": "features", "value": "a", "label": "A", "wasCustom": False, "index": 1},
        {"id": "features", "value": "C", "label": "C", "wasCustom": True},
    ]
    assert given["questions"] == [DB, {**FEATURES, "label": "Q2"}]
    assert result_lines(given) == [
        "✓ Database: PostgreSQL — v16",
        "✓ Q2: B",
        "✓ Q2: A",
        "✓ Q2: ✎ “C”",
    ]


def test_without_options_own_words_are_the_answer() -> None:
    """Also where several could be picked, if there were any."""
    input = {"questions": [{**FEATURES, "options": []}]}
    asked = read(input)
    assert not isinstance(asked, Malformed)
    form = Form("ab", asked)
    assert not parse(form, render(form)).questions[0].damage
    decision = decide(form, 1, Left((), ("mine",)), frozenset())
    assert isinstance(decision, Decided)
    assert result(input, (decision,))["answers"][0]["value"] == "mine"


def test_cancelled_and_no_interface_are_results() -> None:
    """Nothing is raised, and the chat says so in a line."""
    given = result(TWO, None)
    assert (given["answers"], given["cancelled"]) == ([], True)
    assert result_lines(given) == ["✗ Cancelled"]
    assert NO_INTERFACE["cancelled"]
    assert result_lines(NO_INTERFACE) == [
        "✗ Nobody can answer here: there is no user interface. Decide yourself."
    ]


def test_a_call_is_one_short_line() -> None:
    """Its name, how many questions, what they are called."""
    assert call_line(TWO) == "question · 2: Database, Q2"
    many = {"questions": [{**DB, "id": n, "label": "long\nname"} for n in range(90)]}
    assert len(call_line(many)) < 100
    assert "\n" not in call_line(many)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "label", "prompt", "options", "value", "multiSelect"]), children
        )
    ),
    max_leaves=10,
)
questions = st.lists(
    st.fixed_dictionaries({"prompt": json, "options": json}, optional={"id": json}), max_size=3
)


@given(json | questions)
def test_never_fails(sent: object) -> None:
    """Any JSON is questions or malformed, and has a result that can be written down."""
    input = {"questions": sent}
    asked = read(input)
    given = result(input, None)
    assert isinstance(asked, Malformed) == ("error" in given)
    assert isinstance(asked, Malformed) or len({one.question for one in asked}) <= len(asked)
    to_json(given)
    # What the tool is called with then, whoever sent what: the SDK holds it against the schema.
    reply = QuestionTool().refused(Request(question_tool.TOOL, input), "no")
    assert isinstance(reply, Allow)
    jsonschema.validate(reply.input, SCHEMA)
    assert "\n" not in call_line(input) + result_lines(given)[0]
    assert question_tool.NAME in call_line(input)
