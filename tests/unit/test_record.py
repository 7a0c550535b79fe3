"""What a section leaves behind."""

from __future__ import annotations

import msgspec
from winnow.core.section.answer import Decided
from winnow.core.section.form import render
from winnow.core.section.reading import parse
from winnow.core.section.record import (
    answered,
    cancelled,
    discussed,
    discussion,
    granted,
    late_message,
    late_plan,
    names,
    unknown,
)

from tests.unit.forms import BASH, BOTH, ONE, PLAN

ANSWERS = (
    Decided("PostgreSQL", "v16 only", (1,), (2, 3)),
    Decided(["Search", "my own"], "", (3,), (1, 2), ("my own",)),
)


def test_answered_shows_the_choice_and_strikes_the_rest() -> None:
    """Short, with notes and own words."""
    assert answered(BOTH, ANSWERS) == [
        "**Database** Which database should we use?",
        "✓ Selected: PostgreSQL — v16 only",
        "~~MongoDB~~ · ~~MySQL~~",
        "**Features** Which features?",
        "✓ Selected: Search · “my own”",
        "~~Auth~~ · ~~Logging~~",
    ]


def test_a_question_that_is_its_own_title_is_said_once() -> None:
    titled = msgspec.structs.replace(ONE.questions[0], question="Database")
    form = msgspec.structs.replace(ONE, questions=(titled,))
    assert answered(form, ANSWERS[:1])[0] == "**Database**"
    titled = msgspec.structs.replace(titled, question="Database (required)")
    form = msgspec.structs.replace(ONE, questions=(titled,))
    assert answered(form, ANSWERS[:1])[0] == "**Database** (required)"


def test_own_answer_is_marked() -> None:
    """Nothing was selected, so all options are struck."""
    own = Decided("a\nb", "", (), (1, 2, 3), ("a\nb",))
    assert answered(ONE, (own,))[1:] == [
        "✓ Own answer: “a ⏎ b”",
        "~~PostgreSQL~~ · ~~MongoDB~~ · ~~MySQL~~",
    ]


def test_unanswered_questions_can_be_asked_again() -> None:
    """Then the record carries the section's id."""
    again = "<CR> here asks again⟦ab=0=r⟧"
    assert cancelled(BOTH, "cancelled", again=True) == [
        f"✗ Cancelled: Database, Features · {again}"
    ]
    assert cancelled(ONE, "expired", again=True) == [f"✗ No longer open: Database · {again}"]
    assert cancelled(PLAN, "expired", again=True) == [f"✗ No longer open: {names(PLAN)} · {again}"]
    assert cancelled(BASH, "expired", again=False) == ["✗ No longer open: Bash"]


def test_late_message_repeats_the_question() -> None:
    """The agent may have forgotten what it asked."""
    assert late_message(BOTH, ANSWERS) == (
        "My answer to what you asked earlier:\n\n"
        "> Which database should we use?\n\n"
        "Answer: PostgreSQL\n"
        "Notes: v16 only\n"
        "Not chosen:\n- MongoDB\n- MySQL\n\n"
        "> Which features?\n\n"
        "Answer:\n- Search\n- my own\n"
        "Not chosen:\n- Auth\n- Logging"
    )


def test_a_late_plan_is_repeated_as_it_was_left() -> None:
    """Approved or not, with the user's words."""
    plan = "# Plan\n\n1. a"
    quoted = "> # Plan\n>\n> 1. a"
    approved = Decided("Approve, accept edits", "", (2,), (1, 3))
    assert late_plan(PLAN, approved, plan) == f"I approve this plan:\n\n{quoted}"
    edited = msgspec.structs.replace(approved, edited="edited", notes="quick")
    assert late_plan(PLAN, edited, plan) == f"I approve this plan (edited):\n\n{quoted}\n\nquick"
    refused = Decided("Keep planning", "", (3,), (1, 2))
    about = f"This is about your plan:\n\n{quoted}"
    assert late_plan(PLAN, refused, plan) == f"Keep planning.\n\n{about}"
    told = msgspec.structs.replace(refused, notes="use tabs")
    assert late_plan(PLAN, told, plan) == f"Keep planning: use tabs\n\n{about}"


def test_permission_record() -> None:
    """What was permitted or refused, and why."""
    once = Decided("Allow once", "", (1,), (2, 3))
    assert granted(BASH, once, "Bash ls") == ["✓ Allow once: Bash ls"]
    edited = msgspec.structs.replace(once, edited="edited", notes="careful")
    assert granted(BASH, edited, "Bash ls") == ["✓ Allow once, edited: Bash ls — careful"]
    refused = Decided("Deny", "use\n./conf", (3,), (1, 2))
    assert granted(BASH, refused, "Bash rm") == ["✗ Denied: Bash rm — use ⏎ ./conf"]


def test_discussion_says_what_was_decided_so_far() -> None:
    """The agent reads the user's words, and each question's state."""
    lines = [line for line in render(BOTH) if not line.startswith(("Mongo", "MySQL"))]
    lines = [line + " OAuth" * line.startswith("Auth") for line in lines]
    assert discussion(BOTH, parse(BOTH, lines), "why?", late=False) == (
        "The user wants to discuss this before deciding:\n\nwhy?\n\nSo far:\n"
        "- Which database should we use? decided: PostgreSQL\n"
        "- Which features? not decided; nothing dropped; Auth: OAuth\n\n"
        "Please clarify, then ask again. Keep the wording of whatever stays the same."
    )
    assert discussed(BOTH, "why\nso?", again=True)[0].startswith(
        "… Discussed: Database, Features — why ⏎ so? · <CR> here asks again⟦ab=0=r"
    )


def test_an_unknown_question_of_a_replay_is_named() -> None:
    """By its text, since headers are short."""
    assert "“Which features?”" in unknown(BOTH, 2)
