"""What the ledger keeps, and how it reads."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from winnow.core.ledger import adr, ledger
from winnow.core.ledger.ledger import Decision
from winnow.core.proposal.proposal import Call
from winnow.core.section.answer import Decided

from tests.unit.forms import BASH, BOTH, DATABASE, asked

NOON = 1_715_515_200.0  # 12 May 2024, 12:00 UTC
POSTGRES = Decision(
    question=DATABASE.question,
    options=("PostgreSQL", "MongoDB", "MySQL"),
    kept=("PostgreSQL",),
    dropped=("MongoDB", "MySQL"),
    notes="v16 only",
    header="Database",
    chat="/chats/20240512-shop.md",
    when=NOON,
)
OWN = msgspec.structs.replace(POSTGRES, kept=(), dropped=POSTGRES.options, own=("SQLite\n3",))


def test_a_form_becomes_a_decision_for_each_question() -> None:
    """With the original labels, and where and when they were chosen."""
    answers = (
        Decided("PostgreSQL", "v16 only", (1,), (2, 3)),
        Decided(["Search", "my own"], "", (3,), (1, 2), ("my own",)),
    )
    first, second = ledger.decisions(BOTH, answers, POSTGRES.chat, NOON)
    assert first == POSTGRES
    assert (second.kept, second.dropped) == (("Search",), ("Auth", "Logging"))
    assert (second.own, second.multi) == (("my own",), True)


def test_a_permission_is_kept_with_its_call() -> None:
    """Another command is another question."""
    (made,) = ledger.decisions(BASH, (Decided("Deny", "no", (3,), (1, 2)),), "", 0)
    assert made.kind == "permission"
    assert made.question == "Claude wants to use Bash.\nrm -rf build"
    assert made.key == ledger.key(*ledger.asked(BASH))
    other = msgspec.structs.replace(BASH, proposal=Call("Bash", {"command": "rm -rf /"}))
    assert made.key != ledger.key(*ledger.asked(other))


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (asked("Q?", "Another head", "A — described", "B", multi=True), True),
        (asked("Q? ", "One", "A", "B"), False),
        (asked("Q?", "One", "A", "b"), False),
        (asked("Q?", "One", "B", "A"), False),
        (asked("Q?", "One", "A", "B", "C"), False),
        (asked("Q?A", "One", "B"), False),
        (asked("Q?\ud83d", "One", "A", "B"), False),
    ],
)
def test_the_key_is_the_text_and_the_labels(other: Any, same: bool) -> None:
    """Byte for byte."""
    assert (ledger.key(asked("Q?", "One", "A", "B")) == ledger.key(other)) is same


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", 2),
        ("postgres", 2),
        ("WHICH DATABASE", 2),
        ("v16", 2),
        ("sqlite", 1),
        ("-SHOP", 2),
        ("chats", 0),
    ],
)
def test_decisions_are_found_by_text(text: str, found: int) -> None:
    """In the question, the options, own words, notes, and the chat's name."""
    assert len(ledger.about([POSTGRES, OWN], text)) == found


def test_decisions_are_found_by_chat() -> None:
    """The whole path counts."""
    assert ledger.about([POSTGRES], chat=POSTGRES.chat) == [POSTGRES]
    assert ledger.about([POSTGRES], chat="/chats/other.md") == []


def test_the_page_shows_kept_and_dropped() -> None:
    """The dropped ones are struck out."""
    page = ledger.page([POSTGRES])
    assert page[:12] == [
        "# Decisions",
        "",
        "## Database",
        "",
        "> Which database should we use?",
        "",
        "- ✓ PostgreSQL",
        "- ~~MongoDB~~",
        "- ~~MySQL~~",
        "",
        "Note: v16 only",
        "",
    ]
    assert page[12].startswith("2024-05-1")
    assert page[12].endswith(" in /chats/20240512-shop.md")
    assert "- ✎ SQLite ⏎ 3" in ledger.page([OWN])
    assert ledger.page([])[2].startswith("There are none")


def test_json_can_be_read_again() -> None:
    """Of two answers to one question the newer one counts."""
    newer = msgspec.structs.replace(OWN, when=NOON + 1)
    text = "\n".join(ledger.to_json([newer, POSTGRES])).encode()
    assert ledger.from_json(text) == {POSTGRES.key: newer}
    short = ledger.from_json(b'[{"question": "Q?", "options": ["A", "B"], "kept": ["A"]}]')
    assert list(short) == [ledger.key(asked("Q?", "", "A", "B"))]
    with pytest.raises(msgspec.MsgspecError):
        ledger.from_json(b'{"question": "Q?"}')


def test_a_decision_record_has_context_decision_and_alternatives() -> None:
    """As such records usually have them."""
    text = "\n".join(adr.render(POSTGRES))
    assert text.startswith("# Database: PostgreSQL\n\nStatus: accepted\n\nDate: 2024-05-1")
    assert "## Context\n\nWhich database should we use?\n\n## Decision\n\n- PostgreSQL\n" in text
    assert text.endswith("\n\nv16 only\n\n## Alternatives\n\n- MongoDB\n- MySQL")


@pytest.mark.parametrize(
    ("header", "slug"),
    [("Data base!", "data-base"), ("../../etc", "etc"), ("Größe", "größe"), ("…", "decision")],
)
def test_a_slug_is_a_file_name(header: str, slug: str) -> None:
    """Nothing in it leads out of the folder."""
    assert adr.slug(msgspec.structs.replace(POSTGRES, header=header)) == slug
