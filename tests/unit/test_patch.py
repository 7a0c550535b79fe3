"""What is left of a diff is what is written."""

from __future__ import annotations

import gc
import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.proposal import hunks
from winnow.core.proposal.blocks import Malformed
from winnow.core.proposal.diff import NO_NEWLINE, Diff, diff
from winnow.core.proposal.hunks import Applied, apply

LINES = [f"line {number}" for number in range(1, 31)]
OLD = "\n".join(LINES) + "\n"
NEW = OLD.replace("line 3\n", "three\n").replace("line 15\n", "").replace("line 28\n", "28\n29\n")

# Whatever can end or hide in a line, and what it looks like when it is shown.
ODD = "ab\n\n\n\r\t\x00\x0c\x1b\u2028\ufeff␍␊␀‹›U+FEF-@\\ "
STRANGE = st.text(st.sampled_from(ODD), max_size=40)
BLOCK = st.text(st.sampled_from("abcde}"), max_size=30)  # one line each


def rows_of(patch: Diff) -> list[str]:
    """Nothing is edited."""
    return [line.shown for line in patch.lines]


def edit(patch: Diff, **edits: str | None) -> list[str]:
    """Rows where each line that says this says another thing, or is gone."""
    rows = rows_of(patch)
    for said, now in edits.items():
        at = rows.index(said)
        rows[at : at + 1] = [] if now is None else [now]
    return rows


def written(result: Applied | Malformed) -> str:
    assert isinstance(result, Applied), result
    return result.text


def refused(result: Applied | Malformed) -> str:
    assert isinstance(result, Malformed), result
    assert result.message.startswith(f"line {result.row + 1} ")
    return result.message


def by_numbers(old: str, shown: list[str], kept: set[int]) -> str:
    """Apply hunks as ``patch`` would, by their line numbers, from the end."""
    lines = old.split("\n")
    starts = [at for at, line in enumerate(shown) if line.startswith("@@")]
    for number, at in reversed(list(enumerate(starts))):
        end = starts[number + 1] if number + 1 < len(starts) else len(shown)
        found = re.match(r"@@ -(\d+)(?:,(\d+))? ", shown[at])
        assert found
        size = int(found[2] or 1)
        start = int(found[1]) - (1 if size else 0)
        if number in kept:
            body = shown[at + 1 : end]
            assert [line[1:] for line in body if line[0] in " -"] == lines[start : start + size]
            lines[start : start + size] = [line[1:] for line in body if line[0] in " +"]
    return "\n".join(lines)


def test_a_diff_has_names_numbers_and_context() -> None:
    assert [line.shown for line in diff("a.txt", OLD, NEW).lines][:19] == [
        "--- a.txt",
        "+++ a.txt",
        "@@ -1,6 +1,6 @@",
        " line 1",
        " line 2",
        "-line 3",
        "+three",
        " line 4",
        " line 5",
        " line 6",
        "@@ -12,7 +12,6 @@",
        " line 12",
        " line 13",
        " line 14",
        "-line 15",
        " line 16",
        " line 17",
        " line 18",
        "@@ -25,6 +24,7 @@",
    ]


def test_a_new_file_is_all_additions() -> None:
    assert [line.shown for line in diff("a", None, "x\n\ny").lines] == [
        "--- /dev/null",
        "+++ a",
        "@@ -0,0 +1,3 @@",
        "+x",
        "+",
        "+y",
        "\\ No newline at end of file",
    ]


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a\r\nb\r\n", "a\r\nc\r\n", [" a", "-b", "+c"]),
        ("a\r\nb\r\n", "a\nb\r\n", ["-a", "+a␊", " b"]),
        ("a\nb\n", "a\r\nb\n", ["-a", "+a␍", " b"]),
        ("a\n", "\ufeffa\n", ["-a", "+‹U+FEFF›a"]),
        ("a", "a\n", ["-a", "\\ No newline at end of file", "+a"]),
        ("\tx\n", "\tx\x0c\u2028\x00\n", ["-\tx", "+\tx␌‹U+2028›␀"]),
    ],
)
def test_what_a_line_hides_is_shown(old: str, new: str, shown: list[str]) -> None:
    assert [line.shown for line in diff("a", old, new).lines[3:]] == shown


@given(STRANGE, STRANGE)
def test_what_nobody_touched_is_written_byte_for_byte(old: str, new: str) -> None:
    patch = diff("a", old, new)
    assert all("\n" not in line.shown and "\r" not in line.shown for line in patch.lines)
    assert apply(patch, rows_of(patch)) == Applied(new)
    assert written(apply(patch, [])) == old


@given(BLOCK, BLOCK, st.randoms(use_true_random=False), st.integers(0, 2))
def test_hunks_go_with_their_heads(
    old: str, new: str, chance: random.Random, lines_too: int
) -> None:
    """Dropping any of them is applying the others, whether or not their lines go, too."""
    before, after = "\n".join([*old, ""]), "\n".join([*old[:9], *new, *old[12:], ""])
    patch = diff("a", before, after)
    gone = {n for n in range(len(patch.hunks)) if chance.random() < 0.5}
    rows = [
        row
        for row, line in zip(rows_of(patch), patch.lines, strict=True)
        if line.hunk not in gone or (line.sign != "@" and chance.random() * 2 > lines_too)
    ]
    kept = set(range(len(patch.hunks))) - gone
    expected = by_numbers(before, [line.shown for line in patch.lines], kept)
    assert apply(patch, rows) == Applied(expected, tuple(sorted(gone)))


@given(BLOCK, BLOCK, st.randoms(use_true_random=False))
def test_any_edit_is_written_or_refused(old: str, new: str, chance: random.Random) -> None:
    """Lines deleted, swapped, retyped and doubled: no edit raises, and what is written is shown."""
    patch = diff("a", "\n".join([*old, ""]), "\n".join([*new, ""]))
    rows = rows_of(patch)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(rows) + 1)
        typed = chance.choice(["+new", "-a", " a", "+", "", "@@ -1 +1 @@", "x", "\\ No newline"])
        now = chance.choice([[], [], [typed], rows[at : at + 1] * 2, rows[at : at + 2][::-1]])
        rows[at : at + chance.randrange(3)] = now
    result = apply(patch, rows)
    with pytest.MonkeyPatch.context() as patched:  # read whole: nothing counts as it was shown
        patched.setattr(hunks, "common", lambda *_: 0)
        assert apply(patch, rows) == result
    if isinstance(result, Malformed):
        assert 0 <= result.row < len(rows)
    else:
        shown = {row[1:] for row in rows if row[:1] == "+"}
        assert set(result.text.split("\n")) <= {*old, *shown, ""}


def test_added_lines_can_be_edited_deleted_and_added() -> None:
    patch = diff("a", OLD, NEW)
    rows = edit(patch, **{"+three": "+THREE", "+29": None})
    at = rows.index("+THREE")
    rows.insert(at, "+before")
    expected = NEW.replace("three\n", "before\nTHREE\n").replace("\n29\n", "\n")
    assert apply(patch, rows) == Applied(expected, (), True)


@pytest.mark.parametrize("now", [None, " line 3"])
def test_a_removal_that_is_deleted_leaves_the_old_line(now: str | None) -> None:
    patch = diff("a", OLD, NEW)
    expected = NEW.replace("three\n", "line 3\nthree\n")
    assert apply(patch, edit(patch, **{"-line 3": now})) == Applied(expected, (), True)


def test_of_removals_that_are_alike_none_is_chosen() -> None:
    """Which of them is gone can't be seen; a blank for its sign says which one stays."""
    patch = diff("a", "a\nb\na\nc\n", "c\n")
    rows = rows_of(patch)
    assert rows[3:] == ["-a", "-b", "-a", " c"]
    assert "may be any of several lines" in refused(apply(patch, [*rows[:3], *rows[5:]]))
    assert written(apply(patch, [*rows[:3], " a", " b", *rows[5:]])) == "a\nb\nc\n"
    assert written(apply(patch, [*rows[:4], " b", " a", *rows[6:]])) == "b\na\nc\n"


def test_of_equal_removals_in_a_row_any_stays() -> None:
    patch = diff("a", "a\na\na\nc\n", "c\n")
    assert written(apply(patch, edit(patch, **{"-a": None}))) == "a\nc\n"


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({" line 4": " LINE 4"}, "line 8 was “line 4”: u brings it back"),
        ({" line 4": None}, "line 8 is next to “line 4”, which must stay: u brings it back"),
        ({" line 6": None}, "line 9 is next to “line 6”, which must stay: u brings it back"),
        ({"-line 3": "-line 4"}, "line 6 was “-line 3”: u brings it back"),
        ({"-line 3": "+line 3"}, "line 6 was “-line 3”: u brings it back"),
        ({"+three": " three"}, "line 7 was “+three”: u brings it back"),
        ({"+three": "three"}, "line 7 was “+three”: u brings it back"),
        (
            {"@@ -1,6 +1,6 @@": "@@ -1"},
            "line 3 “@@ -1” is not the head of a hunk: u brings it back",
        ),
        ({"--- a": "--- b"}, "line 1 was “--- a”: u brings it back"),
    ],
)
def test_what_the_file_does_not_have_is_refused(edits: dict[str, str | None], message: str) -> None:
    patch = diff("a", OLD, NEW)
    assert refused(apply(patch, edit(patch, **edits))) == message


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("four", "begins with neither"),
        ("", "begins with neither"),
        ("-four", "is not what the file has here"),
        ("@@ -1 +1 @@", "is not the head of a hunk"),
        ("\\ No newline at end of file", "is about a line that is gone"),
    ],
)
def test_a_typed_line_that_means_nothing_is_refused(typed: str, says: str) -> None:
    patch = diff("a", OLD, NEW)
    rows = rows_of(patch)
    assert says in refused(apply(patch, [*rows[:5], typed, *rows[5:]]))


def test_a_line_in_a_hunk_without_head_is_refused_unless_it_is_its_own() -> None:
    patch = diff("a", OLD, NEW)
    rows = edit(patch, **{"@@ -12,7 +12,6 @@": None})
    assert apply(patch, rows) == Applied(patch.compose([0, 2]), (1,))
    at = rows.index("-line 15")
    message = refused(apply(patch, [*rows[:at], "+mine", *rows[at:]]))
    assert "stands in a hunk whose @@ line is gone" in message


def test_hunks_may_be_moved() -> None:
    """Their heads say where they belong; but none is there twice."""
    patch = diff("a", OLD, NEW)
    rows = rows_of(patch)
    second, third = rows.index("@@ -12,7 +12,6 @@"), rows.index("@@ -25,6 +24,7 @@")
    moved = [*rows[:second], *rows[third:], *rows[second:third]]
    assert apply(patch, moved) == Applied(NEW)
    assert "stands twice" in refused(apply(patch, [*rows, *rows[second:third]]))


def test_a_head_without_lines_is_a_hunk_that_is_gone() -> None:
    patch = diff("a", OLD, NEW)
    rows = rows_of(patch)
    assert apply(patch, rows[:3] + rows[10:]) == Applied(patch.compose([1, 2]), (0,))
    assert apply(patch, rows[:5] + rows[10:]) == Applied(patch.compose([1, 2]), (0,))


def test_a_line_of_ones_own_beside_one_that_is_gone_has_no_place() -> None:
    patch = diff("a", OLD, NEW)
    message = refused(apply(patch, edit(patch, **{"-line 3": "+mine"})))
    assert message.startswith("line 6 may go above or below “line 3”, which stays")
    assert written(apply(patch, edit(patch, **{"-line 3": "+mine", "+three": " line 3"}))) == (
        NEW.replace("three", "mine\nline 3")
    )


def test_lines_can_be_stripped_by_an_editor() -> None:
    patch = diff("a", "\na  \nb\n", "\na  \nc\n")
    rows = [row.rstrip() for row in rows_of(patch)]
    assert apply(patch, rows) == Applied("\na  \nc\n")


@pytest.mark.parametrize(
    ("old", "new", "said", "now", "text"),
    [
        ("a\r\nb\r\n", "a\r\nc\r\n", "+c", "+C", "a\r\nC\r\n"),
        ("a\nb\n", "a\nc\r\n", "+c␍", "+C␍", "a\nC\r\n"),
        ("a\nb\n", "a\nc\r\n", "+c␍", "+c", "a\nc\n"),
        ("a\r\nb\r\n", "a\nb\r\n", "+a␊", "+A␊", "A\nb\r\n"),
        ("a\n", "\x1b[1m\n", "+␛[1m", "+␛[2m", "\x1b[2m\n"),
        ("a\n", "b\n", "+b", "+␛", "␛\n"),
    ],
)
def test_an_edited_line_keeps_what_was_shown_of_it(
    old: str, new: str, said: str, now: str, text: str
) -> None:
    patch = diff("a", old, new)
    assert apply(patch, edit(patch, **{said: now})) == Applied(text, (), True)


def test_a_line_with_doubtful_characters_is_not_edited() -> None:
    """Its ``␛`` may be that character or an escape."""
    patch = diff("a", "a\n", "␛\x1b\n")
    assert "can't be edited" in refused(apply(patch, edit(patch, **{"+␛␛": "+␛␛!"})))


def test_a_missing_newline_can_be_added_and_taken() -> None:
    patch = diff("a", "a\n", "b")
    rows = rows_of(patch)
    assert rows.pop() == "\\ No newline at end of file"
    assert written(apply(patch, rows)) == "b\n"
    patch = diff("a", "a\n", "b\n")
    assert written(apply(patch, [*rows_of(patch), "\\ No newline at end of file"])) == "b"


def test_nothing_follows_a_line_without_newline() -> None:
    patch = diff("a", "a", "b\n")
    rows = rows_of(patch)
    assert rows[3:] == ["-a", NO_NEWLINE, "+b"]
    assert "another line" in refused(apply(patch, [*rows, NO_NEWLINE, "+c"]))


@pytest.mark.parametrize("left", [["+b"], [NO_NEWLINE, "+b"], [" a", NO_NEWLINE, "+b"]])
def test_a_last_line_that_stays_gets_a_newline_where_another_follows(left: list[str]) -> None:
    patch = diff("a", "a", "b\n")
    assert apply(patch, [*rows_of(patch)[:3], *left]) == Applied("a\nb\n", (), True)


@pytest.mark.parametrize("kind", ["rewritten", "every second line", "new file", "repetitive"])
def test_ten_thousand_lines_take_a_moment(kind: str) -> None:
    old = [f"    call(argument_{number})  # “why”\n" for number in range(5_000)]
    match kind:
        case "rewritten":
            new = ["x" + line for line in old]
        case "new file":
            old, new = [], [*old, *old]
        case "repetitive":
            old = [random.Random(1).choice("abcde") + "\n" for _ in range(10_000)]
            new = [line if at % 40 else "z\n" for at, line in enumerate(old)]
        case _:
            new = [line if at % 2 else "x" + line for at, line in enumerate(old)]
    gc.collect()  # what other tests have left is not collected in between
    start = time.process_time()
    patch = diff("a", "".join(old), "".join(new))
    shown = time.process_time()
    assert written(apply(patch, rows_of(patch))) == "".join(new)
    assert shown - start < 0.5  # seconds; a tenth of that is usual
    assert time.process_time() - shown < 0.5
