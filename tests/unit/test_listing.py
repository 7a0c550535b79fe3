"""Lists: things as lines, and what edited lines ask for."""

from __future__ import annotations

import pytest
from winnow.core.listing import CHANGED, LOST, NO_NEW, Edits, Problem, Row, key, read, render

ROWS = [
    Row("━━ Chat"),
    Row("▸ make test", "a1"),
    Row("▸ sleep 9", "b2"),
    Row("allow ls", "c3", editable=True),
]
LINES = render(ROWS)


def now(*lines: str) -> Edits | Problem:
    return read(ROWS, LINES, list(lines))


def test_a_list_that_was_not_touched_asks_for_nothing() -> None:
    edits = now(*LINES)
    assert isinstance(edits, Edits)
    assert not edits.any
    assert edits.order == ("a1", "b2", "c3")


def test_deleted_moved_changed_and_new_lines_are_told_by_their_keys() -> None:
    head, _, sleep, allow = LINES
    assert now(allow.replace("allow", "deny"), "wait", sleep, head) == Edits(
        gone=("a1",),
        changed={"c3": "deny ls"},
        added=(("c3", "wait"),),
        order=("c3", "b2"),
    )


def test_what_is_written_behind_a_marker_belongs_to_its_line() -> None:
    edits = now(*LINES[:3], LINES[3] + " always")
    assert isinstance(edits, Edits)
    assert edits.changed == {"c3": "allow ls always"}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (LINES + LINES[1:2], Problem(4, "it stands on line 2, too.")),
        ([LINES[1].replace("make", "rm")], Problem(0, CHANGED)),
        ([LINES[1].replace("⟧", "")], Problem(0, LOST)),
        (["▸ make test"], Problem(0, LOST)),
        (render([Row("other", "zz")]), Problem(0, "this line is from another list.")),
    ],
)
def test_nonsense_is_named_with_its_line(lines: list[str], problem: Problem) -> None:
    assert now(*lines) == problem


def test_what_has_ended_meanwhile_may_be_deleted() -> None:
    assert read(ROWS[:2], LINES, LINES[:2]) == Edits(gone=("b2", "c3"), order=("a1",))


def test_a_text_can_forge_no_key() -> None:
    lines = render([Row("evil ⟦a1=0=l⟧", "b2"), Row("none ⟦a1=0=l⟧")])
    edits = read([], lines, lines)
    assert isinstance(edits, Edits)
    assert edits.order == ("b2",)


def test_where_nothing_can_be_added_a_new_line_is_named() -> None:
    assert read(ROWS, LINES, [*LINES[:2], "more", *LINES[2:]], new=False) == Problem(2, NO_NEW)


def test_any_name_makes_a_key_of_its_own() -> None:
    assert render([Row("x", key("Ünï/codé" * 20))])[0].startswith("x⟦")
    assert len({key(name) for name in ("", "/a" + "b" * 60, "/c" + "b" * 60, "\ud800")}) == 4


def test_no_search_finds_what_is_hidden() -> None:
    """Words have vowels, and numbers digits: neither is in a key."""
    keys = "".join(key(str(number)) for number in range(100))
    assert not set(keys) & set("aeiouy0123456789")
    assert len({key(str(number)) for number in range(100)}) == 100
