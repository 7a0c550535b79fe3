"""A section is read back from whatever the user left of it."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from winnow.core.question import Option, Question
from winnow.core.section.form import Form, render
from winnow.core.section.reading import Left, Pick, Reading, locate, parse, rows_of_others
from winnow.core.text.text import MARKER, marker, strip_markers

from tests.unit.forms import BASH, BOTH, DATABASE, ONE, SEVERAL, asked, form

POSTGRES, MONGO, MYSQL, ELSE = 3, 4, 5, 6  # rows in ONE and BOTH


def left(asked: Form, lines: list[str], question: int = 1) -> Left:
    """What is left of a question."""
    return parse(asked, lines).questions[question - 1]


def without(lines: list[str], *rows: int) -> list[str]:
    """The lines after dd on some rows."""
    return [line for row, line in enumerate(lines) if row not in rows]


def edited(asked: Form, row: int, edit: Callable[[str], str]) -> list[str]:
    """The rendered lines, one of them edited."""
    return [edit(line) if n == row else line for n, line in enumerate(render(asked))]


def picks(left: Left) -> list[int]:
    """The options that are left."""
    assert not left.damage
    return [pick.option for pick in left.picks]


def test_looks_as_designed() -> None:
    """Rules are 60 columns wide, options one line each."""
    shown = [strip_markers(line) for line in render(BOTH)]
    assert shown == [
        "━━ Question 1/2: Database",
        "Which database should we use?",
        "",
        "PostgreSQL — Relational, ACID compliant",
        "MongoDB — Document-based, flexible schema",
        "MySQL — Popular",
        "✎ Something else:",
        "",
        "━━ Question 2/2: Features · keep any",
        "Which features?",
        "",
        "Auth",
        "Logging",
        "Search",
        "✎ Something else:",
        "━━",
    ]


def test_shows_a_permission_in_full() -> None:
    """The command stands between the question and the options; there is nothing else to write."""
    shown = [strip_markers(line) for line in render(BASH)]
    assert shown[0].startswith("━━ Permission: Bash")
    assert shown[2:7] == ["```sh ", "rm -rf build", "```", "", "Allow once"]
    assert not any(line.startswith("✎") for line in shown)


@pytest.mark.parametrize("label", ["", " ", "A\nB", "⟦ab=1=2⟧", "日本", "\x1b"])
def test_any_label_is_one_marked_line(label: str) -> None:
    """Odd labels neither break lines nor forge markers."""
    asked = form(label, "B")
    assert render(asked)[3].endswith(marker("ab", 1, 1))
    assert picks(left(asked, render(asked))) == [1, 2]


# --- the grammar ---


def test_deleted_options_are_gone() -> None:
    """dd: not that one."""
    assert picks(left(ONE, without(render(ONE), MONGO, ELSE))) == [1, 3]


def test_appended_text_is_a_note() -> None:
    """A: a note on that pick."""
    lines = edited(ONE, MONGO, lambda line: line + "  v16 only ")
    assert left(ONE, lines).picks[1] == Pick(2, "v16 only")


def test_moved_options_keep_their_order() -> None:
    """ddp: the order of the buffer, and their own question even inside another one's block."""
    lines = render(BOTH)
    lines.append(lines.pop(POSTGRES))
    assert picks(left(BOTH, lines)) == [2, 3, 1]
    assert picks(left(BOTH, lines, 2)) == [1, 2, 3]


def test_pasted_twice_counts_once() -> None:
    """yyp: one pick, with both notes."""
    lines = edited(ONE, POSTGRES, lambda line: line + " a")
    lines.insert(0, render(ONE)[POSTGRES] + " b")
    assert left(ONE, lines).picks[0] == Pick(1, "b\na")


@pytest.mark.parametrize("before", [True, False])
def test_own_words_stand_on_either_side_of_the_marker(before: bool) -> None:
    """The marker is concealed, so the cursor may be before or after it."""
    lines = edited(
        ONE, ELSE, lambda line: line.replace("⟦", " sqlite⟦") if before else line + " sqlite"
    )
    assert left(ONE, lines).own == ("sqlite",)


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("✎ sqlite", "sqlite"),
        ("sqlite", "sqlite"),
        ("✎ Something sqlite", "Something sqlite"),
        ("> ✎ SOMETHING ELSE: sqlite", "sqlite"),
        ("    ✎ Something else:", None),
    ],
)
@pytest.mark.parametrize("mark", [marker("ab", 1, "e"), ""])
def test_an_edited_else_line_loses_nothing(line: str, own: str | None, mark: str) -> None:
    """What isn't its label was typed."""
    lines = edited(ONE, ELSE, lambda _: line + mark)
    assert left(ONE, lines).own == (() if own is None else (own,))


def test_own_lines_that_stand_together_are_one_text() -> None:
    """A blank line separates; edges are trimmed, the inside is kept."""
    lines = render(BOTH)
    lines[ELSE:ELSE] = ["", '  "x"="y"', "    ünïcode  ", "", "second"]
    assert left(BOTH, lines).own == ('"x"="y"\n    ünïcode', "second")
    assert left(BOTH, [*lines[:-1], "last", lines[-1]], 2).own == ("last",)
    assert left(ONE, [*render(ONE), "last"]).own == ("last",)
    assert left(BOTH, ["first", *lines]).own[0] == "first"


def test_own_text_after_a_fixed_line() -> None:
    """Appended to the question or the foot, it still counts; of several, for all."""
    lines = [line + " hi" if marker("ab", 1, "q") in line else line for line in render(BOTH)]
    lines[-1] = "good" + lines[-1] + " bye"
    assert left(BOTH, lines).own == ("hi",)
    assert parse(BOTH, lines).comment == "good bye"
    assert left(ONE, [*render(ONE)[:-1], "good" + render(ONE)[-1]]).own == ("good",)


def test_own_text_in_a_moved_option_s_company() -> None:
    """It belongs to the block that it stands in, not to the stranger above it."""
    lines = render(BOTH)
    lines[-1:-1] = [lines.pop(POSTGRES), "mine"]
    assert left(BOTH, lines, 2).own == ("mine",)


# --- edits over whole lines ---

OVERLOOKED: list[Callable[[str], str]] = [
    str.upper,
    lambda line: line.replace(" ", "-"),
    lambda line: "> " + line,
    lambda line: "- " + line,
    lambda line: "    " + line,
    lambda line: line.replace(",", ",  "),
    lambda line: line.split("⟦")[0],
    lambda line: line[:-5],
    lambda line: line.replace("⟦ab", "⟦a"),
    lambda line: line.replace("⟦ab", ""),
]


@pytest.mark.parametrize("edit", OVERLOOKED)
@pytest.mark.parametrize("asked", [ONE, BOTH, SEVERAL])
def test_edits_that_keep_the_meaning_change_nothing(
    edit: Callable[[str], str], asked: Form
) -> None:
    """:s, >>, gU and even markers cut off everywhere are understood."""
    assert parse(asked, [edit(line) for line in render(asked)]) == parse(asked, render(asked))


@pytest.mark.parametrize(
    "edit",
    [
        lambda line: line[1:],
        lambda line: line[-1:],
        lambda line: line[-4:],
        lambda line: line.replace("PostgreSQL", "CockroachDB"),
        lambda line: line.replace("PostgreSQL", "PostgreSQL++"),
        lambda line: line.replace("PostgreSQL", "MySQL"),
        lambda line: line.replace("PostgreSQL", "Not PostgreSQL"),
        lambda line: line.replace("PostgreSQL", "Postgre").replace("=1⟧", "1⟧"),
        lambda line: line.replace("1=1", "1=2"),
        lambda line: line.replace("1=1", "7=1"),
    ],
)
def test_a_line_that_says_another_thing_is_damage(edit: Callable[[str], str]) -> None:
    """The old label isn't sent, and the line is named with the way back."""
    (damage,) = left(ONE, edited(ONE, POSTGRES, edit)).damage
    assert damage.row == POSTGRES
    assert damage.message.startswith("“")
    assert "u brings it back" in damage.message


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("PostgreSQL — Relational, ACID compliant (v16 only)", "(v16 only)"),
        ("PostgreSQL — Relational, ACID", ""),
        ("PostgreSQL", ""),
        ("PostgreSQL, v16 only", ", v16 only"),
        ("PostgreSQL — but managed", "but managed"),
    ],
)
def test_text_inserted_before_the_marker_is_kept(text: str, note: str) -> None:
    """While the label leads the line it is the pick, and what was typed is its note."""
    lines = edited(ONE, POSTGRES, lambda _: text + marker("ab", 1, 1))
    assert left(ONE, lines).picks[0] == Pick(1, note)


@pytest.mark.parametrize("labels", [("A", "A ", "a"), ("foo", "foo"), ("C", "C++", "C#", "+", "-")])
def test_labels_that_look_alike_are_told_by_their_markers(labels: tuple[str, ...]) -> None:
    """Deleting the second leaves the others."""
    asked = form(*labels)
    rest = [n for n in range(1, len(labels) + 1) if n != 2]
    assert picks(left(asked, without(render(asked), 4))) == rest


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        (("C", "C++"), "C++"),
        (("C++", "C"), "C"),
        (("+", "-"), "-"),
        (("a", "A"), "A"),
        (("-1", "2"), "1"),
        (("Yes", "Yes, always"), "Yes, always please"),
        (("Node", "Deno"), "Node.js"),
    ],
)
def test_one_label_is_not_taken_for_another(labels: tuple[str, ...], line: str) -> None:
    """The marker says the first, the screen says something else: neither is sent."""
    asked = form(*labels)
    assert left(asked, edited(asked, 3, lambda _: line + marker("ab", 1, 1))).damage


def test_an_ambiguous_line_is_damage() -> None:
    """Without its marker, it could be one of two."""
    asked = form("foo", "foo")
    assert left(asked, edited(asked, 3, lambda _: "foo")).damage


def test_a_retyped_label_is_the_pick() -> None:
    """cc and the label again."""
    assert picks(left(ONE, edited(ONE, MYSQL, lambda _: "mysql"))) == [1, 2, 3]


def test_another_question_s_label_is_own_text_here() -> None:
    """Typed under the second question, it says nothing about the first."""
    twice = Form("ab", (DATABASE, asked("Cache?", "Cache", "Redis", "None")))
    lines = without(render(twice), MYSQL)
    lines.insert(-1, "MySQL")
    assert picks(left(twice, lines)) == [1, 2]
    assert left(twice, lines, 2).own == ("MySQL",)


# --- joined lines ---


@pytest.mark.parametrize("count", [2, 3])
def test_joined_options_stay_options(count: int) -> None:
    """J."""
    lines = render(ONE)
    lines[POSTGRES : POSTGRES + count] = [" ".join(lines[POSTGRES : POSTGRES + count])]
    assert picks(left(ONE, lines)) == [1, 2, 3]


def test_notes_survive_a_join() -> None:
    """The text between two markers is the first one's note and the second one's option."""
    lines = render(ONE)
    lines[POSTGRES : MONGO + 1] = [f"{lines[POSTGRES]} only v16 {lines[MONGO]} maybe"]
    assert left(ONE, lines).picks[:2] == (Pick(1, "only v16"), Pick(2, "maybe"))


def test_a_join_with_a_damaged_line_drops_nothing() -> None:
    """The second option lost the end of its marker, but it can still be read."""
    lines = render(ONE)
    lines[POSTGRES : MONGO + 1] = [f"{lines[POSTGRES]} {lines[MONGO][:-6]}"]
    assert picks(left(ONE, lines)) == [1, 2, 3]


def test_else_line_joined_with_the_next_head() -> None:
    """Own words before the head belong to the question above it."""
    lines = render(BOTH)
    lines[ELSE : ELSE + 3] = [f"{lines[ELSE]} sqlite {lines[ELSE + 2]}"]
    assert left(BOTH, lines).own == ("sqlite",)
    assert not parse(BOTH, lines).questions[1].damage


# --- broken and cut lines ---


def formatted(line: str, width: int) -> list[str]:
    """As gq breaks a line: at blanks only."""
    return wrap(line, width, break_long_words=False, break_on_hyphens=False)


@pytest.mark.parametrize("width", [8, 12, 20, 60])
def test_broken_lines_are_whole_again(width: int) -> None:
    """gq: on each of them, or on all of them as one paragraph."""
    lines = render(BOTH)
    broken = [part for line in lines for part in formatted(line, width) or [""]]
    assert [left.picks for left in parse(BOTH, broken).questions] == [
        left.picks for left in parse(BOTH, lines).questions
    ]
    paragraph = formatted(" ".join(lines[POSTGRES : ELSE + 1]), width)
    joined = left(BOTH, [*lines[:POSTGRES], *paragraph, *lines[ELSE + 1 :]])
    assert joined == left(BOTH, lines)


def test_the_rows_of_a_broken_option_go_together() -> None:
    """Keeping one option deletes both halves of another one."""
    lines = render(ONE)
    lines[MONGO : MONGO + 1] = lines[MONGO].split(" ", 1)
    assert rows_of_others(ONE, lines, 1, 1) == [MONGO, MONGO + 1, MYSQL + 1]
    assert locate(ONE, lines, MONGO + 1) == (1, 2)


@pytest.mark.parametrize("start", range(-8, 0))
@pytest.mark.parametrize("length", [1, 2, 5])
def test_an_option_whose_marker_was_cut_is_still_there(start: int, length: int) -> None:
    """x, anywhere in the marker."""
    lines = edited(ONE, POSTGRES, lambda line: line[:start] + line[start:][length:])
    assert picks(left(ONE, lines)) == [1, 2, 3]


@pytest.mark.parametrize("cut", ["⟧", "=1⟧", "ab=1=1⟧"])
def test_what_is_typed_into_a_marker_is_not_lost(cut: str) -> None:
    """It can't be told from the marker's rest, so the line is named."""
    lines = edited(ONE, POSTGRES, lambda line: line.replace(cut, "") + "note")
    assert left(ONE, lines).damage


@pytest.mark.parametrize("row", [0, -1])
def test_an_option_that_may_be_of_either_question_is_damage(row: int) -> None:
    """Under the other question, where one that reads the same is missing."""
    twice = Form("ab", tuple(asked(text, text, "Yes", "No") for text in ("One", "Two")))
    lines = render(twice)
    yes = [n for n, line in enumerate(lines) if line.startswith("Yes")]
    lines[yes[row]] = lines[yes[-1 - row]]
    assert any(left.damage for left in parse(twice, lines).questions)


# --- lines from elsewhere ---


def test_foreign_lines_are_ignored_and_reported() -> None:
    """Even where they look like an option that is left."""
    foreign = render(Form("zz", ONE.questions))[POSTGRES] + " note"
    lines = [*without(render(ONE), MYSQL), foreign]
    reading = parse(ONE, lines)
    assert picks(reading.questions[0]) == [1, 2]
    assert reading.questions[0].own == ()
    assert reading.ignored == (len(lines) - 1,)


# --- the edges ---


@pytest.mark.parametrize("start", [0, 1, POSTGRES, ELSE])
def test_everything_deleted_from_some_line_on(start: int) -> None:
    """dG, ggdG: nothing is left, and nothing fails."""
    lines = render(ONE)[:start]
    assert parse(ONE, lines) == Reading((Left(picks=parse(ONE, lines).questions[0].picks),))
    assert locate(ONE, lines, 40) == (1, 3 if start == ELSE else 0)


@pytest.mark.parametrize(
    ("row", "place"),
    [
        (-3, (1, 0)),
        (0, (1, 0)),
        (2, (1, 0)),
        (POSTGRES, (1, 1)),
        (MYSQL, (1, 3)),
        (ELSE, (1, 0)),
        (7, (1, 0)),
        (8, (2, 0)),
        (12, (2, 2)),
        (15, (0, 0)),
        (99, (0, 0)),
    ],
)
def test_locate(row: int, place: tuple[int, int]) -> None:
    """The cursor's row says which question and which option."""
    assert locate(BOTH, render(BOTH), row) == place


@pytest.mark.parametrize("text", ["-", "⟦", "ab=", "=1", "a=", "> ", "⟦ab=", "word "])
def test_long_lines_are_read_at_once(text: str) -> None:
    """No pattern backtracks for minutes, as the time limit of all tests would show."""
    asked = form(text * 400, text * 300)
    parse(asked, [text * 9000, *(line[:-3] for line in render(asked)), " ".join(render(asked))])


# What looks like a marker, whole or damaged, of this section or another one.
SCRAPS = (
    "⟦",
    "⟧",
    "ab=1=2",
    "=1=2",
    "ab",
    "=1",
    "=",
    "-",
    ".",
    "a long description, ",
    "1",
    "q",
    "✎",
    " ",
)
scraps = st.lists(st.sampled_from(SCRAPS), min_size=1, max_size=6).map("".join)


@given(scraps, scraps, scraps)
@example("ab=1=2", "⟦", "a long description, ab=1=2-")
@example("-⟦a long description, ⟦⟦", "⟦", "-⟦a long description, ⟦⟦-")
def test_what_looks_like_a_marker_is_none(label: str, description: str, other: str) -> None:
    """It is shown, stays an option, takes notes, and comes back byte for byte."""
    options = (Option(label, description), Option(other), Option("MySQL"))
    asked = Form("ab", (Question(f"{label}\n{other}", label, options),))
    lines = render(asked)
    for line in lines:
        assert MARKER.sub("", line) == strip_markers(line)
        assert not line.startswith(("✎ Something else: ", "━━━"))
    (left,) = parse(asked, lines).questions
    assert left == Left((Pick(1), Pick(2), Pick(3)))
    places = [row for row, line in enumerate(lines) if "=1=1⟧" in line or "=1=2⟧" in line]
    (left,) = parse(asked, [line for row, line in enumerate(lines) if row not in places]).questions
    assert left == Left((Pick(3),))
    lines[places[0]] += " a note"
    (left,) = parse(asked, lines).questions
    assert left == Left((Pick(1, "a note"), Pick(2), Pick(3)))


@pytest.mark.parametrize(
    "hidden", "\u200d\xad\u034f\U000e0041\u3164\u2800\xa0\ufe0f\u2060\u2003\u200b"
)
def test_labels_that_differ_in_what_is_hidden_look_different(hidden: str) -> None:
    """And each of them comes back as it was."""
    asked = form("Delete", f"Del{hidden}ete", f"Delete{hidden}")
    shown = [MARKER.sub("", line) for line in render(asked)[-5:-2]]
    assert len(set(shown)) == 3
    assert all(hidden not in line for line in shown)
