"""Forms of MCP servers: a field for each property, and what may stand in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.agent import Allow, Deny
from winnow.core.asking import elicitation
from winnow.core.asking.elicitation import Elicitation
from winnow.core.asking.fields import Field
from winnow.core.asking.way import Answered
from winnow.core.question import Malformed
from winnow.core.section.answer import (
    NOT_ARMED,
    Armed,
    Decided,
    Explain,
    Undecided,
    confirm,
    decide,
)
from winnow.core.section.form import Form, render
from winnow.core.section.reading import parse
from winnow.core.text.text import strip_markers

WAY = Elicitation()
NAME = {"type": "string", "title": "Your name", "minLength": 2}
SIZE = {"oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]}
TAGS = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2}


def request(properties: Any, *required: str, **more: Any) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    asked = {"mcp_server_name": "shop", "message": "Who?", "requested_schema": schema, **more}
    return elicitation.request(asked)


def form(properties: Any, *required: str) -> Form:
    read = WAY.read("ab", request(properties, *required), lambda _: None)
    assert isinstance(read, Form)
    return read


def shown(asked: Form) -> list[str]:
    return [strip_markers(line).rstrip() for line in render(asked)]


def decision(asked: Form, own: str = "", gone: tuple[str, ...] = ()) -> str | Decided:
    lines = [
        line + own * ("=e⟧" in line) for line in render(asked) if not line.startswith(gone or "\0")
    ]
    (left, *_) = parse(asked, lines).questions
    decided = decide(asked, 1, left, frozenset())
    return decided.missing if isinstance(decided, Undecided) else decided


def sent(properties: Any, own: str = "", gone: tuple[str, ...] = ()) -> Any:
    asked = form(properties)
    answers = decision(asked, own, gone)
    assert isinstance(answers, Decided)
    reply = WAY.reply(Answered(request(properties), asked, (answers,), ""))
    return elicitation.response(reply)


def test_it_names_the_server_and_says_the_rules() -> None:
    assert shown(form({"name": NAME}, "name")) == [
        "━━ Form: Your name · shop",
        "The MCP server shop asks: Who?",
        "Your name (required, at least 2 characters)",
        "✎",
        "━━",
    ]


def test_a_default_stands_there_and_is_sent() -> None:
    asked = {"n": {"type": "integer", "default": 30, "minimum": 1, "maximum": 150}}
    assert shown(form(asked))[2:4] == ["n (optional, 1 to 150, a whole number)", "✎ 30"]
    assert sent(asked) == {"action": "accept", "content": {"n": 30}}
    large = {"s": {**SIZE, "default": "l"}}
    assert shown(form(large))[4:6] == ["Large — default", "Small"]


@pytest.mark.parametrize(
    ("schema", "own", "problem"),
    [
        (NAME, "", "required: write after ✎"),
        (NAME, "B", "at least 2 characters, not 1"),
        ({"type": "string", "maxLength": 1}, "Bo", "at most 1 characters, not 2"),
        ({"type": "string", "format": "email"}, "a@b", "this must be an e-mail address"),
        ({"type": "string", "format": "uri"}, "no address", "this must be an address such as"),
        ({"type": "string", "format": "date"}, "2026-13-01", "this must be a date such as"),
        ({"type": "string", "format": "date-time"}, "noon", "this must be a time such as"),
        ({"type": "integer"}, "1.5", "this must be a whole number"),
        ({"type": "number"}, "nan", "this must be a number"),
        ({"type": "number", "minimum": 1}, "0.5", "at least 1"),
        ({"type": "number", "maximum": 1}, "1e9", "at most 1"),
        ({"type": "object"}, "{", "this must be JSON"),
        (SIZE, "", "keep one of 2"),
        (TAGS, "", "keep at most 2"),
    ],
)
def test_what_is_wrong_is_said_in_words(schema: Any, own: str, problem: str) -> None:
    asked = form({"x": schema}, "x")
    assert str(decision(asked, own)).startswith(problem)


@pytest.mark.parametrize(
    ("schema", "own", "gone", "content"),
    [
        (NAME, "Bo", (), {"x": "Bo"}),
        (NAME, "", (), {}),
        ({"type": "string", "format": "email"}, "a@b.c", (), {"x": "a@b.c"}),
        ({"type": "string", "format": "date-time"}, "2026-05-12T09:30:00Z", (), None),
        ({"type": "integer"}, "42", (), {"x": 42}),
        ({"type": "number"}, "0.5", (), {"x": 0.5}),
        ({"type": "boolean"}, "", ("Yes",), {"x": False}),
        ({"type": "boolean"}, "", ("Yes", "No"), {}),
        (SIZE, "", ("Small",), {"x": "l"}),
        ({"enum": ["r", "g"], "enumNames": ["Same", "Same"]}, "", ("Same [r]",), {"x": "g"}),
        (TAGS, "", ("a",), {"x": ["b", "c"]}),
        ({"type": "object"}, '{"a": 1}', (), {"x": {"a": 1}}),
    ],
)
def test_what_is_sent(schema: Any, own: str, gone: tuple[str, ...], content: Any) -> None:
    """Of what is optional and empty, nothing."""
    said = {"x": own} if content is None else content
    assert sent({"x": schema}, own, gone) == {"action": "accept", "content": said}


def test_decline_cancel_and_stop_are_told_apart() -> None:
    asked = request({"name": NAME})
    declined = WAY.declined(asked)
    assert declined is not None
    assert elicitation.response(declined) == {"action": "decline"}
    cancelled = WAY.cancelled(asked, "", stop=True)
    assert elicitation.response(cancelled) == {"action": "cancel"}
    assert elicitation.response(Deny("The turn was stopped.", stop=True)) == {"action": "cancel"}


@pytest.mark.parametrize(
    ("schema", "own", "problem"),
    [
        (TAGS, "", "keep at most 2"),
        ({"type": "boolean"}, " later", "a form takes no notes: u takes it back"),
    ],
)
def test_a_press_more_offers_only_what_it_can_do(schema: Any, own: str, problem: str) -> None:
    """To keep all, or this one, where that would still be wrong."""
    asked = form({"a": schema})
    lines = render(asked)
    row = next(row for row, line in enumerate(lines) if "=1⟧" in line)
    lines[row] += own
    for armed in (NOT_ARMED, Armed(1, 0, tuple(lines)), Armed(1, 1, tuple(lines))):
        outcome = confirm(asked, lines, row, armed, frozenset())
        assert outcome == Explain(problem)


@pytest.mark.parametrize(("gone", "action"), [("Decline", "accept"), ("Accept", "decline")])
def test_an_address_is_accepted_or_declined(gone: str, action: str) -> None:
    """It stands there whole, and what hides in it can be seen."""
    asked = request({}, mode="url", url="https://x.org/\u202elogin")
    read = WAY.read("ab", asked, lambda _: None)
    assert isinstance(read, Form)
    assert shown(read)[2] == "https://x.org/‹U+202E›login (gx opens it)"
    assert not any(line.startswith("✎") for line in shown(read))
    answers = decision(read, gone=(gone,))
    assert isinstance(answers, Decided)
    assert elicitation.response(WAY.reply(Answered(asked, read, (answers,), ""))) == {
        "action": action
    }


def test_the_order_is_the_server_s_own() -> None:
    asked = request({"b": {"title": "B"}, "a": NAME}, property_order=["a", "b", "a", "gone"])
    read = WAY.read("ab", asked, lambda _: None)
    assert isinstance(read, Form)
    assert [question.question.split("\n")[-1][:4] for question in read.questions] == [
        "Your",
        "B (o",
    ]


def test_a_hundred_fields_are_asked_and_a_thousand_refused() -> None:
    assert len(form({f"f{n}": NAME for n in range(100)}).questions) == 100
    read = WAY.read("ab", request({f"f{n}": NAME for n in range(1000)}), lambda _: None)
    assert isinstance(read, Malformed)
    assert WAY.refused(request({}), read.reason) == Allow({"action": "decline"})


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)
keys = st.sampled_from(
    ["type", "enum", "enumNames", "oneOf", "items", "default", "minItems", "maximum", "format"]
)


schemas = json | st.dictionaries(keys, json, max_size=4)


@given(st.dictionaries(st.text(max_size=5), schemas, max_size=2), st.text(max_size=20))
def test_nonsense_is_asked_or_refused(properties: Any, own: str) -> None:
    """Nothing that a server can send ends the host."""
    read = WAY.read("ab", request(properties), lambda _: None)
    assert isinstance(read, Form)
    parse(read, render(read))
    for name, schema in properties.items():
        field = Field.read(name, schema, required=True)
        if not field.problem((), own) and not field.values:
            field.value((), own)


def test_an_odd_format_is_none() -> None:
    """Whatever Claude Code lets through."""
    field = Field.read("a", {"type": "string", "format": ["email"]}, required=False)
    assert field.problem((), "Ada") == ""
    assert "Ada" not in field.question.question
