"""Earlier answers, offered as lines that the user could have left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.ledger import ledger, offer
from winnow.core.section.answer import NOT_ARMED as ONCE
from winnow.core.section.answer import Decided, Send, confirm, decide
from winnow.core.section.form import Form, render
from winnow.core.section.reading import Left, Pick, parse

from tests.unit.forms import BOTH, ONE, SEVERAL, form

NOTHING: frozenset[int] = frozenset()
WORDS = st.text("ab c.", min_size=1, max_size=8).map(str.strip).filter(bool)


def edited(form: Form, *drop: str) -> list[str]:
    """The lines without those that start with one of these."""
    return [line for line in render(form) if not line.startswith(drop)] if drop else render(form)


def taken(form: Form, lines: list[str]) -> Decided:
    """The answer to a form's only question, when everything that is left is meant."""
    (left,) = parse(form, lines).questions
    decision = decide(form, 1, left, frozenset({1}))
    assert isinstance(decision, Decided)
    return decision


def again(form: Form, lines: list[str], *, of: Form | None = None) -> list[str] | None:
    """What is offered when the same question comes after these lines were sent."""
    made = ledger.decisions(form, (taken(form, lines),), "", 0)
    earlier = [offer.decided(form.questions[0], made[0])]
    offered = offer.offer(of or form, parse(form, render(form)), NOTHING, earlier)
    return offered.lines if offered else None


def test_the_earlier_answer_is_offered_as_lines() -> None:
    """Just the dropped options are gone."""
    lines = edited(ONE, "Mongo", "MySQL")
    assert again(ONE, lines) == lines
    other = Form("xy", ONE.questions)
    assert again(ONE, lines, of=other) == [line.replace("⟦ab=", "⟦xy=") for line in lines]


@pytest.mark.parametrize(
    ("asked", "drop", "notes"),
    [
        (ONE, ["Mongo", "MySQL"], {"Postgre": " v16 only"}),
        (ONE, ["Mongo", "MySQL"], {"✎": " why\nand how\n\nmore"}),
        (ONE, ["Mongo", "MySQL"], {"Postgre": " v16", "✎": " why\n\nmore"}),
        (ONE, ["Mongo", "MySQL", "Postgre"], {"✎": " none\nof these\n\nreally"}),
        (ONE, ["Mongo"], {"✎": " rather both"}),
        (SEVERAL, ["Search"], {"Auth": " OAuth", "Logging": " to: a file"}),
        (SEVERAL, ["Auth", "Logging"], {"✎": " my own\n\nanother"}),
        (form("A", "A: B", multi=True), [], {"A⟦": " 1", "A: B": " 2"}),
    ],
)
def test_notes_and_own_words_come_back(asked: Form, drop: list[str], notes: dict[str, str]) -> None:
    """The lines that are offered mean what was sent."""
    lines = []
    for line in edited(asked, *drop):
        added = [note for start, note in notes.items() if line.startswith(start)]
        lines += (line + "".join(added)).split("\n")
    offered = again(asked, lines)
    assert offered is not None
    assert taken(asked, offered) == taken(asked, lines)


def test_notes_on_options_that_lost_are_not_lost() -> None:
    """The user's own answer won; what was noted on the others comes as own words."""
    lines = [line + " fast" * line.startswith("Mongo") for line in render(ONE)]
    own = [line + " neither" * line.startswith("✎") for line in lines]
    offered = again(ONE, own)
    assert offered is not None
    assert taken(ONE, offered).own == ("neither", "MongoDB: fast")


def test_what_is_decided_by_now_stays() -> None:
    """Only the undecided questions are filled, and <CR> then sends all."""
    made = ledger.decisions(
        BOTH, (Decided("MySQL", "", (3,), (1, 2)), Decided(["Auth"], "", (1,), (2, 3))), "", 0
    )
    earlier = [offer.decided(q, m) for q, m in zip(BOTH.questions, made, strict=True)]
    lines = edited(BOTH, "Mongo", "MySQL")
    offered = offer.offer(BOTH, parse(BOTH, lines), NOTHING, earlier)
    assert offered is not None
    assert offered.text.startswith("as on ")
    assert "Features → Auth" in offered.text
    assert "Database" not in offered.text
    sent = confirm(BOTH, offered.lines, len(offered.lines) - 1, ONCE, NOTHING)
    assert isinstance(sent, Send)
    assert [answer.answer for answer in sent.answers] == ["PostgreSQL", ["Auth"]]
    assert offer.offer(BOTH, parse(BOTH, offered.lines), NOTHING, earlier) is None


def test_no_answer_and_the_same_answer_are_not_offered() -> None:
    """There is nothing to take then."""
    reading = parse(SEVERAL, render(SEVERAL))
    assert offer.offer(SEVERAL, reading, NOTHING, [None]) is None
    assert again(SEVERAL, render(SEVERAL)) is None


def test_a_discussed_section_is_offered_as_it_was_left() -> None:
    """Undecided as it may be; a line that was made to say something else is the user's own."""
    lines = edited(ONE, "Mongo")
    before = offer.discussed(ONE, 1, lines, 0)
    assert before is not None
    offered = offer.offer(ONE, parse(ONE, render(ONE)), NOTHING, [before])
    assert offered == offer.Offer("as you left it: PostgreSQL, MySQL, <CR> here takes it", lines)
    assert offer.discussed(ONE, 1, render(ONE), 0) is None
    damaged = [line.replace("MySQL — Popular", "Maria") for line in lines]
    before = offer.discussed(ONE, 1, damaged, 0)
    assert before is not None
    assert before.left == Left((Pick(1),), ("Maria",))


def test_a_replay_answers_or_names_the_question() -> None:
    """A question that became a single choice can't take two."""
    (made,) = ledger.decisions(SEVERAL, (taken(SEVERAL, edited(SEVERAL, "Auth")),), "", 0)
    earlier = offer.decided(SEVERAL.questions[0], made)
    answers = offer.replayed(SEVERAL, [earlier])
    assert answers == (taken(SEVERAL, edited(SEVERAL, "Auth")),)
    assert offer.replayed(BOTH, [None, earlier]) == 1
    single = form("Auth", "Logging", "Search")
    assert offer.replayed(single, [earlier]) == 1


@given(
    st.permutations([1, 2, 3]),
    st.integers(0, 3),
    st.lists(WORDS, min_size=3, max_size=3),
    st.lists(WORDS.map("x {}".format), max_size=3),
)
def test_what_is_written_is_read(
    order: list[int], count: int, notes: list[str], own: list[str]
) -> None:
    """`written` and `parse` are each other's inverse, for every question of a form."""
    picks = tuple(Pick(option, notes[option - 1]) for option in order[:count])
    lefts = (Left(picks, tuple(own)), Left(picks[::-1]))
    assert parse(BOTH, offer.written(BOTH, lefts)).questions == lefts
