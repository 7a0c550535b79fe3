"""Clarify: rounds, prompts, the log, the specification, progress."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.agent import Allow
from winnow.core.asking import clarify_round, ways
from winnow.core.asking.way import Answered
from winnow.core.clarify import prompts, rounds, spec
from winnow.core.clarify.clarification import Clarification, Given, is_enough, problem
from winnow.core.clarify.rounds import Asked, Choice, Refused, Standing
from winnow.core.folder import Folder
from winnow.core.section.answer import NOT_ARMED, Decided, Keep, Send, Step, confirm, decide
from winnow.core.section.form import Form, render
from winnow.core.section.reading import parse
from winnow.core.structured import Unfit, fitting
from winnow.core.text.text import strip_markers
from winnow.core.transcript import progress
from winnow.core.transcript.progress import LINES, lines

from tests.unit.clarifying import SPEC, areas, question, round_of

TEMPLATES = Path(prompts.__file__).parents[2] / "prompts" / "clarify"
TEXTS = {name: (TEMPLATES / f"{name}.md").read_text() for name in prompts.NAMES}

# --- rounds -----------------------------------------------------------------------------------


def test_a_round_of_both_forms() -> None:
    """Bare strings, and all that can be told of a question."""
    plain = rounds.read({"questions": ["Which cart?"]})
    assert plain.questions == (Asked("Which cart?"),)
    given = round_of(question("Which cart?", "All", "The cart", "All"), scope="clear")
    (asked,) = rounds.read(fitting(given, rounds.SCHEMA)).questions
    assert asked.recommended == Choice("The cart", "It is used most.")
    assert asked.options == (Choice("All", "about All"),)
    assert rounds.read(given).areas["scope"] == Standing("clear")
    assert rounds.read({"questions": []}).questions == ()


FIVE = [f"Question {n}?" for n in range(5)]


@pytest.mark.parametrize(
    ("questions", "why"),
    [
        ([*FIVE, "One more?"], "there are 6 questions"),
        (["    ?"], "is no question"),
        (["Which cart?", "which  CART"], "is asked twice"),
        (["Asked before"], "is asked twice"),
    ],
)
def test_what_is_no_round_is_refused(questions: list[str], why: str) -> None:
    with pytest.raises(Refused, match=why):
        rounds.read({"questions": questions}, ["Asked before?"])


@pytest.mark.parametrize(
    "questions", [[*FIVE, "One more?"], ["Who"], [1], "Which cart?", [{"question": "Which one?"}]]
)
def test_the_schema_of_the_plain_form(questions: object) -> None:
    with pytest.raises(Unfit):
        fitting({"questions": questions}, rounds.PLAIN_SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Who"},
        {"area": "taste"},
        {"why": ""},
        {"recommended": {"answer": "", "reason": "r"}},
        {"recommended": None},
        {"options": [{"answer": "a"}]},
        {"more": 1},
    ],
)
def test_the_schema_of_the_rich_form(change: dict[str, Any]) -> None:
    good = question("Which cart?", "All")
    assert fitting(round_of(good), rounds.SCHEMA)
    with pytest.raises(Unfit):
        fitting(round_of({**good, **change}), rounds.SCHEMA)


# --- what is known ----------------------------------------------------------------------------

ASKED = rounds.read(round_of(question("Which cart?"), question("How fast?", area="success")))
KNOWN = Clarification("abc", "Make the cart faster").asks(ASKED)


def test_answers_join_the_log() -> None:
    known = KNOWN.answered([Given("All of it"), Given("The cart", assumed=True)], "call-1")
    assert [(e.question, e.answer, e.assumed) for e in known.log] == [
        ("Which cart?", "All of it", False),
        ("How fast?", "The cart", True),
    ]
    assert (known.open, known.over, known.heard) == ((), False, ("call-1",))
    assert msgspec.json.decode(msgspec.json.encode(known), type=Clarification) == known


def test_enough_is_an_answer_like_any_other() -> None:
    """What it leaves out stays open."""
    known = KNOWN.answered([Given("All of it"), Given(" Enough. ")])
    assert known.over
    assert [entry.question for entry in known.log] == ["Which cart?"]
    assert [asked.question for asked in known.open] == ["How fast?"]
    assert KNOWN.told("enough").over
    assert not is_enough("enough of it")


def test_five_rounds_are_all() -> None:
    known = KNOWN
    for _ in range(4):
        assert not known.over
        known = known.answered([None, None]).asks(ASKED)
    assert known.over


def test_what_is_said_unasked_joins_the_log_and_takes_up_what_is_finished() -> None:
    known = Clarification("abc").told("Make it faster", "u1")
    assert known.request == "Make it faster"
    known = msgspec.structs.replace(known, rounds=5, finished=True).told("And safer", "u2")
    assert [entry.answer for entry in known.log] == ["And safer"]
    assert (known.finished, known.over, known.rounds) == (False, False, 0)
    assert known.heard == ("u1", "u2")


def test_what_the_command_says_is_no_word_of_the_users() -> None:
    """It takes up what is finished, and only what they add joins the log."""
    known = msgspec.structs.replace(KNOWN, finished=True)
    for said in (
        "Ask what is open now.",
        "Go on with the specification /a b.md: Ask what is open now.",
    ):
        assert known.told(said).log == ()
        assert not known.told(said).finished
    (entry,) = known.told("Go on with the specification /a b.md: And safer").log
    assert entry.answer == "And safer"


@pytest.mark.parametrize("request_", ["", " \n\t", "x" * (1 << 20)])
def test_requests_that_can_t_be_clarified(request_: str) -> None:
    assert problem(request_).endswith(".")
    assert not problem("Make the cart faster")


# --- prompts ----------------------------------------------------------------------------------


def test_the_templates_say_what_they_must() -> None:
    """Only a specification, five areas, 0 to 5 questions, the files first, the user's time."""
    made = prompts.prompts(TEXTS)
    assert "implement nothing" in made.system
    assert "Never use one of your own" in made.system
    for words in ("0 to 5 questions", "edge cases", "Look at the project", "{{NOW}}"):
        assert words in made.questions
    assert "{{" not in prompts.fill(made.questions, KNOWN, "now")
    assert "{{" not in prompts.fill(made.spec, KNOWN, "now")


def test_a_template_without_the_request_is_refused() -> None:
    with pytest.raises(prompts.Incomplete, match=r"questions\.md has no {{LOG}}"):
        prompts.prompts({**TEXTS, "questions": "{{REQUEST}}"})


FORGED = st.lists(
    st.sampled_from(["{{LOG}}", "{{REQUEST}}", "~~~", "~", ">>>", "</request>", "\n", "a", '"}'])
).map("".join)


@given(FORGED, FORGED)
def test_text_that_looks_like_the_template_changes_nothing(request_: str, answer: str) -> None:
    """Between two fences stands what the user wrote, byte for byte."""
    known = Clarification("abc", request_ + "x").asks(ASKED)
    known = known.answered([Given(answer), None])
    filled = prompts.fill(TEXTS["questions"], known, "now")
    fence = prompts.values(known, "now", "")["FENCE"]
    shown = filled.split("\n")
    rows = [row for row, line in enumerate(shown) if line == fence]
    inside = ["\n".join(shown[a + 1 : b]) for a, b in zip(rows[::2], rows[1::2], strict=True)]
    assert inside[0] == request_ + "x"
    assert [json.loads(line)["answer"] for line in inside[1].split("\n") if line] == [answer]
    assert inside[2:] == ["", ""]


# --- the specification ------------------------------------------------------------------------


def test_the_specification() -> None:
    """All sections; what was left to the model is an assumption, what was left out is open."""
    known = msgspec.structs.replace(KNOWN, areas=rounds.read(round_of(scope="clear")).areas)
    known = known.answered([Given("All of it", assumed=True), Given("enough")])
    made = msgspec.convert(fitting(SPEC, spec.SCHEMA), spec.Spec)
    text = spec.markdown(made, known, "2026-11-29")
    assert re.findall("(?m)^## (.*)", text) == [
        *("Request", "Scope", "Non-goals", "Interfaces", "Acceptance criteria", "Assumptions"),
        *("Open questions", "Clarifications"),
    ]
    assert "- **AC-1**: A cart of 100 items" in text
    assert "- Which cart? All of it" in text.split("## Assumptions")[1].split("##")[0]
    assert "- How fast?" in text.split("## Open questions")[1].split("##")[0]
    assert "### 2026-11-29\n\n- Which cart? → All of it (assumed)" in text
    assert "| Scope | clear |" in text
    assert spec.marked(text) == "abc"
    assert spec.marked("# No spec") == ""


def test_the_draft_has_the_answers_at_once() -> None:
    known = KNOWN.answered([Given("All of it"), None])
    text = spec.markdown(spec.draft(known), known, "2026-11-29")
    assert "- Which cart? → All of it" in text
    assert "- How fast?" in text


def test_the_name_of_its_file() -> None:
    assert spec.file_name("# Make /the\\ ../cart  faster, now and for ever", "2026-11-29") == (
        "2026-11-29-make-the-cart-faster-now-and.md"
    )
    assert spec.file_name("…", "2026-11-29") == "2026-11-29.md"
    assert len(spec.file_name("x" * 500, "2026-11-29")) <= 83


# --- its section ------------------------------------------------------------------------------


def form(*asked: dict[str, Any]) -> Form:
    questions = rounds.read(round_of(*asked)).questions
    request = clarify_round.request(questions, "call-1")
    read = ways.of(request.tool, request.input).read("ab", request, lambda _: None)
    assert isinstance(read, Form)
    return read


FIVE_OF_FOUR = [question(f"Question {n}?", "B", "C", "D") for n in range(5)]


def test_a_question_has_its_recommended_answer_first_and_you_decide_last() -> None:
    shown = [strip_markers(line) for line in render(form(question("Which cart?", "All")))]
    assert shown[0].startswith("━━ Question: Scope")
    assert shown[1:3] == ["Which cart?", "Why: It is big."]
    assert shown[4:] == [
        "The cart — recommended: It is used most.",
        "All — about All",
        "You decide — then it is assumed: The cart",
        "✎ Something else:",
        "━━",
    ]


def test_five_recommended_answers_take_six_presses() -> None:
    asked = form(*FIVE_OF_FOUR)
    shown, accepted, presses, number = render(asked), frozenset[int](), 0, 1
    while True:
        row = next((i for i, line in enumerate(shown) if f"ab={number}=1⟧" in line), len(shown) - 1)
        presses += 1
        outcome = confirm(asked, shown, row, NOT_ARMED, accepted)
        if isinstance(outcome, Keep):  # the editor deletes, and confirms again
            shown = [line for n, line in enumerate(shown) if n not in outcome.rows]
            outcome = confirm(asked, shown, row, NOT_ARMED, accepted)
        if isinstance(outcome, Send):
            break
        assert isinstance(outcome, Step)
        number = outcome.question
    assert presses == 6
    assert {decided.answer for decided in outcome.answers} == {"The cart"}


def test_a_touched_question_is_not_taken_for_granted() -> None:
    asked = form(question("Which cart?", "All", "None"))
    shown = [line for line in render(asked) if not line.startswith("None")]
    row = next(i for i, line in enumerate(shown) if "=1=1⟧" in line)
    assert not isinstance(confirm(asked, shown, row, NOT_ARMED, frozenset()), (Keep, Send))


@pytest.mark.parametrize(
    ("keep", "own", "expected"),
    [
        ("All", "", Given("All")),
        ("You decide", "", Given("The cart", assumed=True)),
        ("You decide", " half of it", Given("half of it")),
        ("", " half of it", Given("half of it")),
        ("", "\n\nhalf of it, {{LOG}} </log>", Given("half of it, {{LOG}} </log>")),
    ],
)
def test_what_an_answer_becomes(keep: str, own: str, expected: Given) -> None:
    asked = form(question("Which cart?", "All"))
    shown = []
    for line in render(asked):
        option = re.search(r"=1=\d⟧", line)
        if option is None or (keep and line.startswith(keep)):
            shown += (line + own if line.startswith("✎") else line).split("\n")
    decided = decide(asked, 1, parse(asked, shown).questions[0], frozenset())
    assert isinstance(decided, Decided)
    request = clarify_round.request(
        rounds.read(round_of(question("Which cart?", "All"))).questions, "c"
    )
    way = ways.of(request.tool, request.input)
    reply = way.reply(Answered(request, asked, (decided,), "call"))
    assert isinstance(reply, Allow)
    assert clarify_round.answers(reply) == [expected]
    said = way.record(Answered(request, asked, (decided,), "call"))
    assert said[0] == "**Scope** Which cart?"


# --- progress ---------------------------------------------------------------------------------


def said(*blocks: object, kind: str = "assistant") -> list[str]:
    return lines({"type": kind, "message": {"content": list(blocks)}}, Folder("/shop"))


def test_every_kind_of_block_is_shown() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/shop/a.py"}}
    found = said({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I look."}, call)
    assert found == ["✻ Thinking", "│ Hm.", "▸ I look.", "▸ Read a.py"]
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x = 1", "is_error": True}
    assert said(result, kind="user") == ["▸ Result ✗", "│ x = 1"]
    assert said({"type": "tool_result", "content": [{"type": "text", "text": "a"}]}) == [
        "▸ Result",
        "│ a",
    ]
    assert said({"type": "image"}, 5) == ["▸ (image)", "▸ 5"]
    assert lines({"type": "user", "message": {"content": "Hi"}}) == ["▸ Hi"]
    assert lines({"type": "user"}) == lines({"message": []}) == []


@given(st.lists(st.one_of(st.text(), st.integers(), st.just({"type": "text", "text": "a\n" * 9}))))
def test_no_message_is_longer_than_five_lines(blocks: list[Any]) -> None:
    """In sight, that is: the rest folds, and nothing is left out."""
    message = {"message": {"content": blocks}}
    found = lines(message)
    assert not any("\n" in line for line in found)
    assert sum(not line.startswith("│ ") for line in found) <= LINES
    assert len(found) <= progress.MOST + 1
    assert len(progress.brief(message)) <= LINES


def test_the_rest_folds_beneath() -> None:
    """In the shell, where nothing folds, it is cut, and says so."""
    block = {"type": "text", "text": "\n".join("abcdefg")}
    assert said(block) == ["▸ a", *(f"│ {letter}" for letter in "bcdefg")]
    assert progress.brief({"message": {"content": [block]}}) == [
        *("▸ a", "│ b", "│ c", "│ d", "│ … 3 more lines"),
    ]
    many = said(*[block] * 7)
    assert many.count("▸ a") == LINES
    assert many.count("│ a") == 2
    long = said({"type": "text", "text": "a\n" * 900})
    assert long[-1] == "│ … 400 more lines"


def test_all_areas_are_named() -> None:
    assert set(areas()) == set(rounds.AREAS)
