"""What is left decides, and <CR> explains, steps, or sends."""

from __future__ import annotations

import pytest
from winnow.core.asking.ask_user_question import told_apart, updated_input
from winnow.core.section.answer import (
    GONE,
    NOT_ARMED,
    REVIEW,
    SKIPPED,
    SKIPS,
    Armed,
    Decided,
    Explain,
    Keep,
    Outcome,
    Part,
    Send,
    Step,
    Undecided,
    confirm,
    decide,
    verdict,
)
from winnow.core.section.form import Form, render
from winnow.core.section.reading import Damage, Left, Pick, parse
from winnow.core.text.text import MARKER

from tests.unit.forms import BASH, BOTH, DATABASE, FEATURES, ONE, SEVERAL, form
from tests.unit.forms import asked as question

NONE: frozenset[int] = frozenset()


def kept(*options: int) -> tuple[Pick, ...]:
    """Options without notes."""
    return tuple(Pick(option) for option in options)


def keep(shown: Form, *labels: str) -> list[str]:
    """The lines after every option but these was deleted."""
    options = [option.label for question in shown.questions for option in question.options]
    gone = [label for label in options if label not in labels]
    return [
        line for line in render(shown) if not MARKER.sub("", line).startswith(tuple(gone) or "\0")
    ]


# --- the table ---


@pytest.mark.parametrize(
    ("left", "answer", "notes"),
    [
        (Left(kept(1)), "PostgreSQL", ""),
        (Left((Pick(1, "v16"),), ("because", "and")), "PostgreSQL", "v16\n\nbecause\n\nand"),
        (Left((), ("sqlite", "or not")), "sqlite\n\nor not", ""),
        (Left((Pick(1, "fast"), Pick(2)), ("both",)), "both", "PostgreSQL: fast"),
    ],
)
def test_single_choice(left: Left, answer: str, notes: str) -> None:
    """One left is the answer; own text is the answer otherwise, else a note."""
    decision = decide(ONE, 1, left, NONE)
    assert isinstance(decision, Decided)
    assert (decision.answer, decision.notes) == (answer, notes)


@pytest.mark.parametrize(
    ("left", "accepted", "answer"),
    [
        (Left(kept(3, 1)), NONE, ["Search", "Auth"]),
        (Left(kept(1), ("mine", "more")), NONE, ["Auth", "mine", "more"]),
        (Left((), ("mine",)), NONE, ["mine"]),
        (Left(kept(1, 2, 3)), frozenset({1}), ["Auth", "Logging", "Search"]),
    ],
)
def test_several_choices(left: Left, accepted: frozenset[int], answer: list[str]) -> None:
    """All that are left in the buffer's order, then own texts."""
    decision = decide(SEVERAL, 1, left, accepted)
    assert isinstance(decision, Decided)
    assert decision.answer == answer


def test_labels_with_commas_stay_apart() -> None:
    """A list, not a joined string."""
    decision = decide(form("A, B", "C", "D", multi=True), 1, Left(kept(1, 2)), NONE)
    assert isinstance(decision, Decided)
    assert decision.answer == ["A, B", "C"]


@pytest.mark.parametrize(
    ("asked", "left", "missing"),
    [
        (ONE, Left(kept(1, 2, 3)), "keep one of 3"),
        (ONE, Left(), "nothing left: u brings options back, or write after ✎"),
        (SEVERAL, Left(), "nothing left: u brings options back, or write after ✎"),
        (SEVERAL, Left(kept(1, 2, 3)), "nothing deleted: <CR> keeps all 3"),
        (SEVERAL, Left(kept(2, 1, 3), ("mine",)), "nothing deleted: <CR> keeps all 3"),
        (ONE, Left(kept(1), damage=(Damage(3, "“ySQL” …"),)), "“ySQL” …"),
        (BASH, Left(), "nothing left: u brings options back"),
        (BASH, Left(kept(1, 3)), "keep one of 2"),
    ],
)
def test_undecided(asked: Form, left: Left, missing: str) -> None:
    """It says what is missing."""
    assert decide(asked, 1, left, NONE) == Undecided(missing)


# --- the verdict ---


@pytest.mark.parametrize(
    ("lines", "texts"),
    [
        (
            render(BOTH),
            ["Database → keep one of 3", "Features → nothing deleted: <CR> keeps all 3"],
        ),
        (keep(BOTH, "MySQL", "Auth", "Search"), ["Database → MySQL", "Features → Auth, Search"]),
    ],
)
def test_verdict_names_each_question(lines: list[str], texts: list[str]) -> None:
    """One part per question, in words."""
    assert [part.text for part in verdict(BOTH, parse(BOTH, lines), NONE)] == texts


@pytest.mark.parametrize(
    ("own", "note", "text"),
    [
        ("", " v16 only", "PostgreSQL (note: v16 only)"),
        ("sqlite", None, "“sqlite”"),
        ("a\nb", None, "“a ⏎ b”"),
    ],
)
def test_verdict_of_one_question(own: str, note: str | None, text: str) -> None:
    """Without a name; own words are quoted."""
    lines = keep(ONE) if note is None else keep(ONE, "PostgreSQL")
    lines = [line + (note or "") if line.startswith("PostgreSQL") else line for line in lines]
    (part,) = verdict(ONE, parse(ONE, [*lines, *own.splitlines()]), NONE)
    assert (part.text, part.decided) == (text, True)


def test_verdict_mentions_foreign_lines() -> None:
    """So that nobody wonders why they don't count."""
    lines = [*keep(ONE, "MySQL"), render(Form("zz", SEVERAL.questions))[3]]
    (part,) = verdict(ONE, parse(ONE, lines), NONE)
    assert part.text == "MySQL (ignored: a line from another section)"


# --- <CR> ---


def press(asked: Form, lines: list[str], row: int, times: int = 1) -> Outcome:
    """<CR>, and again with what the first one armed."""
    outcome = confirm(asked, lines, row, NOT_ARMED, NONE)
    for _ in range(times - 1):
        assert isinstance(outcome, Explain)
        outcome = confirm(asked, lines, row, outcome.armed, NONE)
    return outcome


def test_the_second_press_on_an_option_keeps_it() -> None:
    """The first one says so."""
    first = press(ONE, render(ONE), 3)
    assert isinstance(first, Explain)
    assert first.text == "3 left: <CR> again keeps only PostgreSQL"
    assert press(ONE, render(ONE), 3, times=2) == Keep(1, [4, 5])


def test_an_edit_or_a_step_disarms() -> None:
    """The second press means what the first one said, or nothing."""
    first = press(ONE, render(ONE), 3)
    assert isinstance(first, Explain)
    assert isinstance(confirm(ONE, render(ONE), 4, first.armed, NONE), Explain)
    assert isinstance(confirm(ONE, [*render(ONE), ""], 3, first.armed, NONE), Explain)


def test_the_second_press_accepts_all() -> None:
    """Nothing deleted: once explained, then sent, or on to the next question."""
    first = press(SEVERAL, render(SEVERAL), 4)
    assert isinstance(first, Explain)
    assert first.text == "nothing deleted: <CR> again keeps all 3"
    sent = press(SEVERAL, render(SEVERAL), 4, times=2)
    assert isinstance(sent, Send)
    assert sent.answers[0].answer == ["Auth", "Logging", "Search"]
    assert press(BOTH, render(BOTH), 12, times=2) == Step(1, frozenset({2}))


@pytest.mark.parametrize("row", [0, 1])
def test_explains_away_from_the_options(row: int) -> None:
    """There is no short way, so a second press says the same."""
    outcome = press(ONE, render(ONE), row, times=2)
    assert outcome == Explain("3 left: delete all but one, or press <CR> on the one to keep")


@pytest.mark.parametrize("row", [0, 3, 99])
def test_one_decided_question_sends_at_once(row: int) -> None:
    """From anywhere in its section."""
    assert press(ONE, keep(ONE, "MySQL"), row) == Send((Decided("MySQL", "", (3,), (1, 2)),))


def test_several_questions_step_to_the_review() -> None:
    """Next undecided, then the foot, and only there it sends."""
    lines = keep(BOTH, "MySQL", "Auth", "Logging", "Search")
    assert press(BOTH, lines, 3) == Step(2, NONE)
    lines = keep(BOTH, "PostgreSQL", "MongoDB", "MySQL", "Auth")
    assert press(BOTH, lines, len(lines) - 3) == Step(1, NONE)
    assert press(BOTH, lines, len(lines) - 1) == Step(1, NONE, "Database: keep one of 3")
    lines = keep(BOTH, "MySQL", "Auth")
    assert press(BOTH, lines, 3) == Step(0, NONE)
    assert isinstance(press(BOTH, lines, len(lines) - 1), Send)


@pytest.mark.parametrize("row", [3, 99])
def test_damage_stops_the_answer(row: int) -> None:
    """Under the cursor, or anywhere when it would be sent, it is named and quoted."""
    lines = [line.replace("MySQL", "ySQL") for line in keep(BOTH, "MySQL", "Auth")]
    outcome = press(BOTH, lines, row, times=2)
    assert isinstance(outcome, Explain)
    assert outcome.text.startswith("“ySQL — Popular” was “MySQL — Popular”")


def test_damage_elsewhere_is_stepped_to() -> None:
    """It isn't decided, so the review comes later."""
    lines = [line.replace("Auth", "uth") for line in keep(BOTH, "MySQL", "Auth")]
    assert press(BOTH, lines, 3) == Step(2, NONE)


def test_everything_deleted_is_explained() -> None:
    """ggdG and <CR>."""
    assert press(ONE, [], 0) == Explain("nothing left: u brings options back, or write after ✎")


# --- on the wire ---


def test_updated_input_keeps_what_was_sent() -> None:
    """Keys byte for byte, unknown keys and questions untouched, notes only where there are some."""
    sent = {"questions": [object()], "metadata": {"x": 1}}
    answers = (Decided("MySQL", notes="8 only"), Decided(["Auth"]))
    assert updated_input(sent, BOTH, answers) == {
        **sent,
        "answers": {"Which database should we use?": "MySQL", "Which features?": ["Auth"]},
        "annotations": {"Which database should we use?": {"notes": "8 only"}},
    }


def test_chosen_permission() -> None:
    """The option and the reason beside it."""
    lines = [line + " not there" * line.startswith("Deny") for line in keep(BASH, "Deny")]
    outcome = press(BASH, lines, 0)
    assert outcome == Send((Decided("Deny", "not there", (3,), (1, 2)),))


def test_without_a_foot_the_second_press_sends() -> None:
    """:v/MySQL\\|Auth/d leaves nothing to step to."""
    lines = [line for line in render(BOTH) if line.startswith(("MySQL", "Auth"))]
    assert press(BOTH, lines, 0) == Explain(REVIEW, Armed(0, 0, tuple(lines)))
    assert isinstance(press(BOTH, lines, 0, times=2), Send)


def test_a_question_of_which_nothing_is_left_is_named() -> None:
    """There is no line to step to."""
    lines = [line for line in render(BOTH) if line.startswith("MySQL")]
    outcome = press(BOTH, lines, 0)
    assert isinstance(outcome, Explain)
    assert outcome.text.startswith("Features: nothing left")


# --- several questions ---

HOST = question("Which host?", "Host", "Here", "There")
THREE = Form("ab", (DATABASE, FEATURES, HOST), skips=True)


def test_a_question_is_skipped_by_a_second_press() -> None:
    """Only where others are answered: the foot says so, and goes on."""
    lines = keep(THREE, "MySQL", "Here")
    (_, features, _) = verdict(THREE, parse(THREE, lines), NONE)
    assert features == Part(
        "Features → nothing left: <CR> skips it, u brings options back", decided=False
    )
    row = next(row for row, line in enumerate(lines) if line.startswith("Which features"))
    assert press(THREE, lines, row) == Explain(SKIPS, Armed(2, 0, tuple(lines)))
    step = press(THREE, lines, row, times=2)
    assert step == Step(0, frozenset({-2}))
    assert verdict(THREE, parse(THREE, lines), step.accepted)[1].text == "Features → skipped"
    sent = confirm(THREE, lines, len(lines) - 1, NOT_ARMED, step.accepted)
    assert isinstance(sent, Send)
    assert sent.answers[1] == Decided(SKIPPED, "", (), (1, 2, 3), skipped=True)
    assert [one.answer for one in sent.answers] == ["MySQL", SKIPPED, "Here"]


def test_an_option_that_is_back_is_not_skipped() -> None:
    lines = keep(THREE, "MySQL", "Auth", "Here")
    sent = confirm(THREE, lines, len(lines) - 1, NOT_ARMED, frozenset({-2}))
    assert isinstance(sent, Send)
    assert sent.answers[1].answer == ["Auth"]


def test_own_words_are_no_skip() -> None:
    lines = [line + " mine" * ("⟦ab=2=e" in line) for line in keep(THREE, "MySQL", "Here")]
    sent = confirm(THREE, lines, len(lines) - 1, NOT_ARMED, frozenset({-2}))
    assert isinstance(sent, Send)
    assert sent.answers[1].answer == ["mine"]


def test_questions_deleted_whole_are_skipped_from_anywhere() -> None:
    """As `dap` does; each is named before it is."""
    lines = [line for line in keep(THREE, "MySQL") if "⟦ab=2" not in line and "⟦ab=3" not in line]
    outcome = confirm(THREE, lines, len(lines) - 1, NOT_ARMED, NONE)
    assert outcome == Explain("Features: " + SKIPS, Armed(2, GONE, tuple(lines)))
    outcome = confirm(THREE, lines, len(lines) - 1, outcome.armed, NONE)
    assert isinstance(outcome, Explain)
    assert (outcome.text, outcome.accepted) == ("Host: " + SKIPS, frozenset({-2}))
    sent = confirm(THREE, lines, len(lines) - 1, outcome.armed, outcome.accepted)
    assert isinstance(sent, Send)
    assert [one.skipped for one in sent.answers] == [False, True, True]
    undone = [*lines, ""]
    assert isinstance(confirm(THREE, undone, 0, outcome.armed, NONE), (Explain, Step))


@pytest.mark.parametrize(("behind", "below"), [("keep it small", ""), ("", "keep it small")])
def test_text_at_the_foot_is_about_all_questions(behind: str, below: str) -> None:
    lines = keep(BOTH, "MySQL", "Auth")
    lines = [*lines[:-1], lines[-1] + behind, *filter(None, [below])]
    reading = parse(BOTH, lines)
    assert (reading.comment, [left.own for left in reading.questions]) == (
        "keep it small",
        [(), ()],
    )
    assert verdict(BOTH, reading, NONE)[-1].text == "all of it: “keep it small”"
    assert isinstance(confirm(BOTH, lines, len(lines) - 1, NOT_ARMED, NONE), Send)


def test_what_is_no_answer_is_told_apart() -> None:
    """But not to a CLI that would refuse it; the model reads it in the answers."""
    answers = (Decided("MySQL"), Decided(SKIPPED, skipped=True))
    input = updated_input({}, BOTH, answers)
    assert input["answers"]["Which features?"] == SKIPPED
    assert input["annotations"] == {"Which features?": {"unanswered": "skipped"}}
    assert told_apart("AskUserQuestion", input, capable=True) == input
    spared = told_apart("AskUserQuestion", input, capable=False)
    assert spared == {**input, "annotations": {"Which features?": {}}}
