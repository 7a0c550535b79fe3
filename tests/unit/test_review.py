"""What a review shows, what is left of it, and whose edits are whose."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.listing import Problem
from winnow.core.proposal.lines import changes, split
from winnow.core.proposal.merge import FileChange
from winnow.core.review import comments
from winnow.core.review.history import Accepted, Began, History, Over, Pair, Saved, Step
from winnow.core.review.review import Review, Shown, Wanted
from winnow.core.review.yours import put_back, rebase

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=9).map(
    lambda it: "".join(f"{x}\n" for x in it)
)
NUMBERS = "".join(f"{number}\n" for number in range(30))


def lines(*texts: str) -> str:
    return "".join(f"{text}\n" for text in texts)


@pytest.mark.parametrize(
    ("base", "agents", "users", "becomes"),
    [
        ("a b c", "a b c", "a X c", "a X c"),
        ("a b c", "a B c", "a B c", "a b c"),
        ("a b c d e", "a B c d e", "a B c d X", "a b c d X"),
        ("", "x y z", "x MINE z", "MINE"),  # in a new file
        ("a b c", "x y z", "x b z", "a b c"),  # the user undoes one line of three
        ("a b c", "x y z", "a b c", "a b c"),
        ("a b c", "x y z", "MINE", "MINE"),  # nothing of the agent's is left
        ("a b c", "a c", "a b c", "a b c"),
        ("a b c", "a c", "a MINE c", "a b MINE c"),
        ("a b c", "a c", "MINE a c", "MINE a b c"),
        ("c a", "c x", "MINE x", "MINE a"),  # beside what the agent wrote
        ("a b c", "a B c", "a b B c", "a b c"),  # the user has a line stay that it took away
        ("a b c d", "a B d", "a B c d", "a b c d"),
    ],
)
def test_what_the_user_wrote_is_part_of_what_is_compared_with(
    base: str, agents: str, users: str, becomes: str
) -> None:
    texts = [lines(*text.split()) for text in (base, agents, users)]
    assert rebase(*texts) == lines(*becomes.split())


@given(LINES, LINES, LINES)
def test_no_line_of_the_users_is_ever_a_change(base: str, agents: str, users: str) -> None:
    """All that they added is in it; with nothing of theirs, or of the agent's, it is exact."""
    made = rebase(base, agents, users)
    old, new = split(agents), split(users)
    added = Counter(line for one in changes(old, new) for line in new[one.new_start : one.new_end])
    assert not added - Counter(split(made))
    assert rebase(base, agents, agents) == base
    assert rebase(base, base, users) == users


@given(LINES, LINES, LINES)
def test_what_is_put_back_where_nothing_else_changed_is_exact(
    shown: str, wanted: str, top: str
) -> None:
    assert put_back(shown, wanted, shown).text == wanted
    far = "".join(f"{number}\n" for number in range(9))
    made = put_back(far + shown, far + wanted, top + far + shown)
    assert made.refused or made.text == top + far + wanted


def test_a_hunk_that_was_written_into_stays_and_others_go() -> None:
    shown = NUMBERS.replace("3\n", "three\n", 1).replace("20\n", "twenty\n")
    now = shown.replace("three\n", "three!\n")
    made = put_back(shown, NUMBERS, now)
    assert made.text == NUMBERS.replace("3\n", "three!\n", 1)
    assert made.refused == (4,)


FILES = (
    FileChange("/p/a.py", NUMBERS, NUMBERS.replace("3\n", "x\n", 1).replace("20\n", "y\n")),
    FileChange("/p/new.py", None, "one\ntwo\n"),
    FileChange("/p/gone.py", "was\nhere\n"),
    FileChange("/p/pic.png", what="binary, 12 bytes"),
)
REVIEW = Review("then", tuple(Shown(file, file.path[3:]) for file in FILES))


def without(*gone: str) -> list[str]:
    return [line for line in REVIEW.lines if line not in gone]


def read(rows: list[str]) -> Any:
    return REVIEW.read(rows)


def test_it_reads_as_one_patch() -> None:
    assert REVIEW.lines[:4] == [
        "Since then: 4 files +4 −4 · dd undoes, A comments, :w does both",
        "diff a.py · +2 −2",
        "@@ -1,7 +1,7 @@",
        " 0",
    ]
    assert REVIEW.lines[-6:] == [
        "diff new.py · new, +2 −0",
        "@@ -0,0 +1,2 @@",
        "+one",
        "+two",
        "diff gone.py · deleted, 2 lines",
        "diff pic.png · binary, 12 bytes",
    ]
    assert read(REVIEW.lines) == Wanted()


HUNK = "@@ -18,7 +18,7 @@"
BACK = NUMBERS.replace("3\n", "x\n", 1)


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        (without(HUNK), {"/p/a.py": BACK}),  # the rest of a hunk goes with its head
        (without("diff new.py · new, +2 −0"), {"/p/new.py": None}),
        (without("@@ -0,0 +1,2 @@", "+one", "+two"), {"/p/new.py": None}),
        (without("diff a.py · +2 −2"), {"/p/a.py": None}),
        (without("diff gone.py · deleted, 2 lines"), {"/p/gone.py": None}),
        ([], dict.fromkeys(file.path for file in FILES)),
        (without("+two"), {"/p/new.py": "one\n"}),
    ],
    ids=str,
)
def test_what_is_gone_is_to_be_put_back(rows: list[str], texts: dict[str, str | None]) -> None:
    assert read(rows).texts == texts


@pytest.mark.parametrize(
    ("rows", "row", "says"),
    [
        ([*REVIEW.lines, "diff other.py · +1 −0"], len(REVIEW.lines), "is no file of this review"),
        ([*REVIEW.lines, "diff pic.png · binary, 12 bytes"], len(REVIEW.lines), "stands twice"),
        ([*REVIEW.lines, "nonsense"], len(REVIEW.lines), "can only be kept or deleted"),
        (["nonsense", *REVIEW.lines], 0, "stands below no file"),
        ([*REVIEW.lines[:3], "nonsense", *REVIEW.lines[3:]], 3, "nonsense"),
        ([*REVIEW.lines[:2], "✎ why", "@@ -1 +1 @@", *REVIEW.lines[2:]], 3, "head of a hunk"),
    ],
)
def test_nonsense_is_named_by_its_line(rows: list[str], row: int, says: str) -> None:
    found = read(rows)
    assert isinstance(found, Problem)
    assert (found.row, says in found.sentence) == (row, True), found.sentence


def test_comments_are_about_the_code_above_them() -> None:
    rows = list(REVIEW.lines)
    rows.insert(rows.index("+y") + 1, "✎ Why not z?")
    rows.insert(rows.index("+two") + 1, "✎ A name\n".strip())
    rows.insert(rows.index("+two") + 2, "✎ for this")
    rows.insert(1, "✎ All in all")
    wanted = read(rows)
    assert wanted.texts == {}
    names = {shown.head: shown.name for shown in REVIEW.files}
    assert comments.told(wanted.comments, names) == (
        "My comments on your changes:\n\nAll in all\n\n"
        "a.py:21\n```diff\n+y\n```\nWhy not z?\n\n"
        "new.py:2\n```diff\n+two\n```\nA name\nfor this"
    )


def test_what_is_whose_between_turns() -> None:
    saved = Saved("a", "1", "2")
    steps: list[Step] = [
        Began("s1"),
        saved,
        Over("e1"),
        Began("s2"),
        Over("e2"),
        Accepted("a"),
        Began("s3"),
    ]
    history = History("", steps)
    assert [history.find(mark) for mark in ("session", "turn", "accepted")] == [0, 6, 5]
    assert history.yours(0, "now") == [saved, Pair("e1", "s2"), Pair("a", "s3")]
    assert history.yours(5, "now") == [Pair("a", "s3")]
    history.steps.append(Over("e3"))
    assert history.yours(6, "now") == [Pair("e3", "now")]
