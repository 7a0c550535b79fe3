"""What the orchestrator asks the user in its text, and what only looks like that."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.agent import Request
from winnow.core.asking import human_query, ways
from winnow.core.run.query import TOKEN, Parsed, parse_human_query
from winnow.core.section.answer import Decided, decide
from winnow.core.section.form import Form, render
from winnow.core.section.reading import Left, parse


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("[NEED_HUMAN: Which store?]", ("Which store?",)),
        ("I see.\n\n[NEED_HUMAN:Which?]\n\nThanks.", ("Which?",)),
        ("[NEED_HUMAN: a [b] or [c [d]]?]", ("a [b] or [c [d]]?",)),
        ("[NEED_HUMAN: one?] and [NEED_HUMAN: two?]", ("one?", "two?")),
        ("[NEED_HUMAN: over\n\ntwo lines?]", ("over\n\ntwo lines?",)),
        ("[NEED_HUMAN: one [NEED_HUMAN: in?] other]", ("one [NEED_HUMAN: in?] other",)),
        (f"[NEED_HUMAN: {'x' * 20_000}]", ("x" * 20_000,)),
        ("[NEED_HUMAN: really?]\n```\n[NEED_HUMAN: shown]\n```", ("really?",)),
        ("[NEED_HUMAN: ]", ()),
        ("[NEED_HUMAN:]", ()),
        ("Nothing here needs a human.", ()),
        ("It says so, in code: `[NEED_HUMAN: x]`", ()),
        ("So they write:\n\n> [NEED_HUMAN: x]", ()),
        ("So they write:\n\n~~~\n[NEED_HUMAN: x]\n~~~", ()),
        ("", ()),
    ],
)
def test_what_is_asked(text: str, questions: tuple[str, ...]) -> None:
    """And nothing else is near it."""
    assert parse_human_query(text) == Parsed(questions)


@pytest.mark.parametrize(
    "text",
    [
        "[need_human: which?]",
        "[Need Human: which?]",
        "[NEED-HUMAN: which?]",
        "[NEED_HUMAN: which?",
        "NEED_HUMAN: which?]",
        "NEED_HUMAN: which?",
        "(NEED_HUMAN which?)",
        "**NEED_HUMAN**: which?",
        "**[NEED_HUMAN: which?]**",
        "__[NEED_HUMAN: which?]__",
        "[NEED_HUMAN which?]",
        "[ NEED_HUMAN: which?]",
        "```\n[NEED_HUMAN: which?]\n```",
        "> [NEED_HUMAN: which?]",
        "`[NEED_HUMAN: which?]`",
        "~~~~text\n[NEED_HUMAN: which?]",
    ],
)
def test_near_misses_are_told_apart(text: str) -> None:
    """From a question, and from nothing."""
    found = parse_human_query(text)
    assert found.questions == ()
    assert len(found.near) == 1
    assert "which?" in found.near[0]


def test_a_question_and_a_near_miss() -> None:
    assert parse_human_query("[NEED_HUMAN: a?] [need_human: b?]") == Parsed(
        ("a?",), ("[need_human: b?]",)
    )


PIECES = st.sampled_from(["[", "]", TOKEN, ":", f"[{TOKEN}: ", " ", "\n", "`", "```\n", "> ", "**"])


@given(st.lists(st.one_of(PIECES, st.text(max_size=3))).map("".join))
def test_any_text_is_understood(text: str) -> None:
    """What is asked stands in it, and is never empty."""
    found = parse_human_query(text)
    for question in found.questions:
        assert question.strip() == question
        assert question
        assert question in text or "`" in text
    assert TOKEN in text or not found.questions


def test_a_text_that_is_all_brackets_takes_no_time() -> None:
    before = time.process_time()
    parse_human_query(f"[{TOKEN}: " * 3_000 + "]" * 1_000)
    assert time.process_time() - before < 0.5


# --- its section ------------------------------------------------------------------------------


def form(*options: str) -> Form:
    asked = human_query.HumanQuery("abcd", "q1", "Which?", "t1", "Cart", options)
    request = human_query.asked(asked)
    assert human_query.query_of(request) == asked
    read = ways.of(request.tool, request.input).read("ab", request, lambda _: None)
    assert isinstance(read, Form)
    return read


def test_a_question_without_options_takes_own_words() -> None:
    shown = render(form())
    assert shown[0].startswith("━━ Question: t1 Cart")
    assert not any("=1=1⟧" in line for line in shown)
    at = next(row for row, line in enumerate(shown) if line.startswith("✎"))
    undecided = decide(form(), 1, parse(form(), shown).questions[0], frozenset())
    assert undecided.missing == "write after ✎"  # type: ignore[union-attr]
    lines = [*shown[:at], f"{shown[at]} SQLite, as before", *shown[at + 1 :]]
    decided = decide(form(), 1, parse(form(), lines).questions[0], frozenset())
    assert isinstance(decided, Decided)
    assert decided.answer == "SQLite, as before"


def test_options_can_be_picked() -> None:
    asked = form("A", "B", "A")
    lines = [line for line in render(asked) if not line.startswith("B")]
    decided = decide(asked, 1, parse(asked, lines).questions[0], frozenset())
    assert isinstance(decided, Decided)
    assert decided.answer == "A"


def test_own_questions_have_no_task_in_their_head() -> None:
    request = human_query.asked(human_query.HumanQuery("abcd", "q1", "Which?"))
    read = ways.of(request.tool, {}).read("ab", request, lambda _: None)
    assert isinstance(read, Form)
    assert render(read)[0].startswith("━━ Question: Claude asks")
    assert decide(read, 1, Left(), frozenset()) != Decided("")


def test_a_runs_tools_are_no_ways_to_ask_here() -> None:
    """Where there is no run, they are refused."""
    request = Request("mcp__winnow__reply", {"task": "t1", "text": "A"})
    way = ways.of(request.tool, request.input)
    assert way.line(request.input) == "reply to t1: A"
    assert not isinstance(way.read("ab", request, lambda _: None), Form)
