"""Choices in a model's text: found whatever the chunks, hidden, answered exactly."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from winnow.core.asking.choices import Choice, answer_text, by_number, numbered, read
from winnow.core.asking.pieces import Broken, Found, Piece, Shown
from winnow.core.asking.splitter import Splitter
from winnow.core.question import Malformed, Option, Question
from winnow.core.section.answer import Decided, decide
from winnow.core.section.form import Form, render
from winnow.core.section.reading import Left, Pick
from winnow.core.text import encoding

OPTIONS = [
    {"id": "a", "label": "Postgres", "description": "a server"},
    {"id": "b", "label": "SQLite"},
]
ONE: dict[str, Any] = {
    "type": "user_choice",
    "question": "Which DB?",
    "context": "It has to last.",
    "options": OPTIONS,
}
GROUP: dict[str, Any] = {
    "type": "user_choice_group",
    "question": "Storage",
    "context": "Before I start.",
    "choices": [
        ONE,
        {
            "type": "user_choice",
            "question": "Which auth?",
            "choices": [{"id": "1", "label": "OAuth"}],
        },
    ],
}
FORM: dict[str, Any] = {
    "type": "user_choices",
    "title": "Storage",
    "description": "Before I start.",
    "questions": [{"id": "q1", "question": "Which DB?", "context": "Now", "choices": OPTIONS}],
}
RAW = json.dumps(ONE)
FENCED = f"```json\n{json.dumps(GROUP, indent=2)}\n```"
DB = Question("Which DB?\nIt has to last.", "", (Option("Postgres", "a server"), Option("SQLite")))


def choice(value: object) -> Choice:
    """The choice that this is."""
    found = read(json.dumps(value))
    assert isinstance(found, Choice)
    return found


def split(text: str, size: int = 0) -> list[Piece]:
    """The pieces of a message that comes in deltas of this size; shown ones are joined."""
    splitter, pieces = Splitter(), []
    for at in range(0, len(text), size or len(text) or 1):
        pieces += splitter.feed(text[at : at + (size or len(text))])
    return joined(pieces + splitter.finish())


def joined(pieces: list[Piece]) -> list[Piece]:
    """Shown text in one piece between the others."""
    whole: list[Piece] = []
    for piece in pieces:
        if whole and isinstance(piece, Shown) and isinstance(whole[-1], Shown):
            whole[-1] = Shown(whole[-1].text + piece.text)
        else:
            whole.append(piece)
    return whole


def answered(value: object, *lefts: Left) -> str:
    """The message when this is left of the questions."""
    asked = choice(value)
    form = Form("ab", asked.questions)
    every = frozenset(range(1, len(lefts) + 1))
    decisions = [decide(form, n, left, every) for n, left in enumerate(lefts, 1)]
    return answer_text(asked, tuple(one for one in decisions if isinstance(one, Decided)))


# --- the formats ---


def test_reads_one_question() -> None:
    """Its context stands below it, its option ids are kept for the answer."""
    assert choice(ONE) == Choice((DB,), ("Which DB?",), ("1. question",), (("a", "b"),))
    assert choice({**ONE, "options": None, "choices": OPTIONS}) == choice(ONE)
    assert choice({**ONE, "options": [], "choices": OPTIONS}) == choice(ONE)
    assert choice({"user_choice": ONE}) == choice(ONE)


def test_reads_a_group() -> None:
    """Several questions are a form of many, a single one is a form of one."""
    group = choice(GROUP)
    assert group.questions == (DB, Question("Which auth?", "", (Option("OAuth"),)))
    assert (group.title, group.context) == ("Storage", "Before I start.")
    assert group.picks == (("a", "b"), ("1",))
    single = choice({**GROUP, "choices": [ONE]})
    assert single.questions == (DB,)
    untyped = {key: GROUP[key] for key in GROUP if key != "type"}
    for same in (untyped, {"type": None, **untyped}, {"type": "", **untyped}):
        assert split(json.dumps(same)) == [Found(json.dumps(same), group)]


def test_reads_a_form() -> None:
    """Its ids are kept; its options have one name only."""
    form = choice(FORM)
    assert form.ids == ("q1",)
    assert (form.title, form.context) == ("Storage", "Before I start.")
    assert form.questions[0].question == "Which DB?\nNow"
    options = {**FORM, "questions": [{"question": "Q?", "options": OPTIONS}]}
    assert isinstance(read(json.dumps(options)), Malformed)


def test_takes_values_as_models_send_them() -> None:
    """Numbers, texts for options, nothing for what is missing; several picks where it says so."""
    asked = choice(
        {
            "type": "user_choice",
            "question": 7,
            "context": None,
            "multiSelect": True,
            "header": "H",
            "options": ["x", 5, {"id": 3, "label": None, "description": "d"}, {"id": "only"}],
        }
    )
    options = (Option("x"), Option("5"), Option("d"), Option("only"))
    assert asked.questions == (Question("7", "", options, True),)
    assert asked.picks == (("x", "5", "3", "only"),)


def test_asks_any_number() -> None:
    """Sections have no limits of their own below three digits."""
    many = [{**ONE, "question": f"{n}", "options": list(range(40))} for n in range(30)]
    asked = choice({**GROUP, "choices": many})
    assert [len(question.options) for question in asked.questions] == [40] * 30
    assert isinstance(read(json.dumps({**ONE, "options": list(range(1000))})), Malformed)


def test_makes_equal_ids_distinct() -> None:
    """An answer of "1" would not say which."""
    options = [{"id": "1", "label": "A"}, {"id": "1", "label": "B"}, {"id": "2", "label": "C"}]
    assert choice({**ONE, "options": options}).picks == (("A", "B", "2"),)
    question = {"id": "q", "question": "Q?", "choices": OPTIONS}
    twice = choice({**FORM, "questions": [question, question]})
    assert twice.ids == ("1. question", "2. question")
    left = Left((Pick(1),))
    assert answered({**FORM, "questions": [question, question]}, left, left) == (
        "Q? (1. question): a. Postgres\nQ? (2. question): a. Postgres"
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({**ONE, "options": []}, "question 1 needs 1 to 999 options and has 0"),
        ({**ONE, "options": [{"id": ""}]}, "question 1 has no label on option 1"),
        ({**ONE, "options": ["a"], "choices": ["b"]}, "they differ"),
        ({**ONE, "question": " "}, "question 1 has no text"),
        ({**ONE, "options": "A, B"}, "not in the format"),
        ({**ONE, "options": [{"id": True, "label": "a"}]}, "not in the format"),
        ({**GROUP, "choices": []}, "it needs 1 to 999 questions and has 0"),
        ({**GROUP, "choices": [ONE, {"question": "?"}]}, "question 2 needs"),
        ({**FORM, "questions": None}, "not in the format"),
        ({**ONE, "\ud800": 1}, "not in the format"),
    ],
)
def test_says_why_it_cannot_be_asked(value: object, reason: str) -> None:
    """Such a block stays as text, with the reason."""
    text = json.dumps(value)
    malformed = read(text)
    assert isinstance(malformed, Malformed)
    assert reason in malformed.reason
    (broken,) = split(text)
    assert isinstance(broken, Broken)
    assert (broken.text, broken.why) == (text, f"A question stays as text: {malformed.reason}.")


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "{",
        '{"type": "object"}',
        '{"type": ["user_choice"]}',
        '{"user_choice": 1}',
        '{"question": "Q?", "options": ["A"]}',
        '{"question": "Q?", "choices": [{"id": "1", "label": "A"}]}',
        '{"description": "user_choice is a type"}',
        '```json\n{"host": localhost}\n```\n',
    ],
)
def test_other_json_is_no_choice(text: str) -> None:
    """It is shown without a word."""
    assert read(text) is None
    assert split(text) == [Shown(text)]


# --- found in text ---


def test_the_block_is_taken_out_and_the_rest_stays() -> None:
    """Before, between and after, whether fenced or not; every block of a message counts."""
    pieces = split(f"One.\n\n{FENCED}\n\nTwo: {RAW} three.\n")
    assert pieces == [
        Shown("One.\n\n"),
        Found(FENCED, choice(GROUP)),
        Shown("\n\nTwo: "),
        Found(RAW, choice(ONE)),
        Shown(" three.\n"),
    ]


STRANGE = ["name", "reasoning", "$schema", "version"]


@pytest.mark.parametrize(
    "text",
    [
        RAW,
        json.dumps(ONE, indent=4),
        json.dumps({"header": "DB", **ONE}),
        json.dumps(ONE, indent="\t").replace("\n", "\r\n"),
        f"```json\n{RAW}\n```",
        f"```JSON  \r\n\r\n{RAW}\r\n\r\n``` ",
        f"```\n{RAW}\n````",
        f"```jsonc\n// which {{x}}?\n{RAW}",
        f"```json\n{RAW} // {{x}}\n```",
        f"1. - ```json\n     {RAW}\n     ```",
        f"- {RAW}",
        f"it`s\n\n{RAW}",
        f"``a`` \\` \\\\{RAW}",
        f"```inline``` {RAW}",
        f"~~no fence~~ {RAW}",
        f"if (a) {{ b }}\n{RAW}",
        f'{{ "a": 1 }} {RAW}',
        f"````\n{RAW}\n```\n````\n{RAW}",
        f"~~~json\n{RAW}\n~~~\n{RAW}",
        f"```python\nx = {{}}\n    ```\n```\n{RAW}",
        f"> quoted\n{RAW}",
        f"- a\n\n    ```json\n    {RAW}\n    ```\n",
        f"1. a\n   - b:\n\n     {RAW}",
        *(f"```json\n{json.dumps({key: 'why', **ONE})}\n```" for key in STRANGE),
        f"```json\n{json.dumps(dict.fromkeys(STRANGE[:2], 'x' * 900) | ONE)}\n```",
        json.dumps({"reasoning": {"a": [1, "type"], "b": "user_choice"}, **ONE}),
        f"```json\n\ufeff{RAW}\n```",
        f"```json\n\xa0\xa0{RAW}\n```",
        "```json\n" + json.dumps(ONE, indent=2).replace("\n ", "\n\xa0") + "\n```",
        f"\ufeff{RAW}",
        f"\ufeff```json\n{RAW}\n```",
        f"Which one? ```json\n{RAW}\n```",
        f"- Which one? ```\n  {RAW}\n  ```",
        f"```json Which one?\n{RAW}\n```",
        f'```json title="choice"\n{RAW}\n```',
    ],
)
def test_finds(text: str) -> None:
    """One choice, wherever it stands."""
    assert [piece.choice for piece in split(text) if isinstance(piece, Found)] == [choice(ONE)]


@pytest.mark.parametrize(
    "text",
    [
        f"````\n{FENCED}\n````",
        f"````markdown\n{FENCED}\n````\n",
        f"~~~\n{FENCED}\n~~~",
        f"```python\nask({RAW})\n```",
        f"```json example\n{RAW}\n```",
        f"~~~json\n{RAW}\n~~~",
        f"> {RAW}",
        f"> ```json\n> {RAW}\n> ```",
        f"- > {RAW}",
        f"    {RAW}",
        f"\t{RAW}",
        f"-     {RAW}",
        f"- a\n\n      {RAW}",
        f"- a\n\nb\n\n    {RAW}",
        f"    ```json\n    {RAW}\n    ```",
        f"`{RAW}`",
        f"`` ` {RAW}``",
        f"`a\n{RAW}`",
        f"``` {RAW} ```",
        f'{{"example": {RAW}}}',
        f'```json\n{{"example": {RAW}}}\n```',
        f"```json\n[{RAW}]\n```",
        f"````\n```\n{RAW}",
        f"\\{RAW}",
    ],
)
def test_examples_are_not_questions(text: str) -> None:
    """They are shown as they are, and nothing is said about them."""
    for size in (0, 1, 7):
        assert split(text, size) == [Shown(text)]


@pytest.mark.parametrize(
    "label",
    [
        "a } b",
        "```",
        "\n```\n",
        '\\"{',
        "\\",
        "}\n```json\n{",
        "// no /* comment */",
        ",]",
        "é😀\ud83d",
    ],
)
def test_labels_may_hold_anything(label: str) -> None:
    """Ends of blocks, quotes, fences, comments, half surrogates; escaped or not."""
    value = {**ONE, "options": [{"id": "1", "label": label}]}
    for ascii in (True, False):
        text = json.dumps(value, ensure_ascii=ascii)
        for block in (text, f"```json\n{text}\n```"):
            for size in (0, 1, 2):
                assert split(block, size) == [Found(block, choice(value))]


def test_escapes_may_be_split_over_many_deltas() -> None:
    """A character of an escape at a time."""
    text = json.dumps({**ONE, "options": ["\U0001f600" * 40]})
    assert "\\ud83d" in text
    (found,) = split(f"```json\n{text}\n```", 1)
    assert isinstance(found, Found)
    assert found.choice.questions[0].options == (Option("\U0001f600" * 40),)


@pytest.mark.parametrize("fence", [True, False])
def test_comments_and_trailing_commas_are_no_errors(fence: bool) -> None:
    """What is meant is clear."""
    text = """{
  // which "one"?
  "type": "user_choice", /* } * ** */
  "question": "See http://a/*b*/ ,]?", // }
  "options": [
    { "id": "1", "label": "A", }, // the first
    "B", /* and
    so on */
  ],
}"""
    block = f"```json\n{text}\n```" if fence else text
    for size in (0, 1, 3):
        (found,) = split(block, size)
        assert isinstance(found, Found)
        assert found.choice.texts == ("See http://a/*b*/ ,]?",)
        assert found.choice.picks == (("1", "B"),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (RAW[:-1], "its JSON is cut off"),
        (f"```json\n{RAW[:-9]}", "its JSON is cut off"),
        (f"```json\n{RAW[:-9]}\n```", "its JSON is cut off"),
        (f"```json\n{RAW}\n{RAW}\n```", "something follows its JSON"),
        (f"```json\n{RAW}\n``` x\n```", "its JSON breaks off"),
        (f"```json\n{RAW.replace(':', '=', 3)}\n\n```", "its JSON breaks off"),
        ("```json\n{'type': 'user_choice', 'question': 'Q?'}\n```", "its JSON breaks off"),
        ("```json\n{x" + "x" * 600 + "\nuser_choice}\n```", ""),
        ("```json\n{x" + "x" * 600 + " user_choice}\n```", ""),
        (f"```json\n{RAW.replace('[', '(')}\n\nx\n```", "its JSON breaks off"),
        (f"```json\n{RAW.replace(', ', ' ')}\n```", "its JSON is wrong: Expecting"),
        (RAW.replace(", ", " "), "its JSON is wrong: Expecting"),
        (f'{{"type": "user_choice", "x": {"[" * 200}', "its JSON breaks off"),
    ],
)
def test_a_broken_block_stays_as_text(text: str, why: str) -> None:
    """With a notice, unless nothing says that it was meant to be a choice."""
    for size in (0, 1, 5):
        pieces = split(text, size)
        assert "".join(piece.text for piece in pieces) == text
        assert not any(isinstance(piece, Found) for piece in pieces)
        reasons = [piece.why for piece in pieces if isinstance(piece, Broken)]
        assert [why in reason for reason in reasons] == [True] * bool(why)


@pytest.mark.parametrize(
    "value",
    [
        dict.fromkeys(STRANGE, "x") | ONE,
        {"reasoning": "x" * 3000} | ONE,
        {key: GROUP[key] for key in GROUP if key != "type"}
        | {"choices": [{"question": "Q?", "options": []}]},
    ],
    ids=["fields", "long", "no type"],
)
def test_a_choice_that_stays_as_text_has_a_notice(value: object) -> None:
    """Whatever it stays for."""
    text = json.dumps(value)
    for block in (text, f"```json\n{text}\n```\n", f"```json\n{json.dumps(value, indent=1)}\n```"):
        for size in (0, 1, 50):
            pieces = split(block, size)
            assert "".join(piece.text for piece in pieces) == block
            assert [type(piece) for piece in pieces if not isinstance(piece, Shown)] == [Broken]


def test_a_broken_fence_is_shown_in_one_piece() -> None:
    """A notice would else stand in the middle of it."""
    block = FENCED.replace('"Which DB?"', "Which DB?")
    (broken, shown) = split(block + "\nNext")
    assert isinstance(broken, Broken)
    assert (broken.text, shown) == (block, Shown("\nNext"))


def test_parts_of_a_broken_object_are_not_asked() -> None:
    """But what follows in the next paragraph, or in a fence, is."""
    text = json.dumps(GROUP, indent=1).replace('"Before I start."', "Before I start.")
    for after in (f"\n\n{RAW}", f"\n```json\n{RAW}\n```\n"):
        found = [piece for piece in split(text + after) if isinstance(piece, Found)]
        assert [piece.choice for piece in found] == [choice(ONE)]


def test_an_object_that_never_closes_does_not_swallow_the_next_block() -> None:
    """A fence is no JSON, nor is a line break in a string."""
    for start in (
        '{"type": "user_choice", "options": [\n',
        '{"type": "user_choice", "question": "\n',
    ):
        broken, *_, found = split(f"{start}{FENCED}", 3)
        assert isinstance(broken, Broken)
        assert isinstance(found, Found)


def test_the_same_block_is_asked_once() -> None:
    """In one message, or when it is asked already; other spaces make no other block."""
    splitter = Splitter()
    pieces = splitter.feed(f"{RAW}\n```json\n{json.dumps(ONE, indent=2)}\n```\n")
    assert [piece.repeated for piece in pieces if isinstance(piece, Found)] == [False, True]
    (found,) = Splitter({choice(ONE)}).feed(RAW)
    assert isinstance(found, Found)
    assert found.repeated


# --- while it streams ---


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello", "Hello"),
        ("a {", "a "),
        ("a { ", "a "),
        ("a { b", "a { b"),
        ("a {{", "a {"),
        ('a {"', "a "),
        ('a {"name"', "a "),
        ('a {"name": {"type": "user_choice"', "a "),
        ('a {"name": "", "a": 1, "b"', 'a {"name": "", "a": 1, "b"'),
        ('a {"name": "%s' % ("x" * 3000), 'a {"name": "%s' % ("x" * 3000)),
        ('a {"type": "obj', "a "),
        ('a {"type": "object"', 'a {"type": "object"'),
        ('a {"type": 5', "a "),
        ('a {"id": 5}', 'a {"id": 5}'),
        ('a {"id": x ', 'a {"id": x '),
        ("```", ""),
        ("```js", ""),
        ("```json\n", ""),
        ("```json\n[", "```json\n["),
        ('```json\n{"name"', ""),
        ('```json\n{"name": 1, "type": "object"', '```json\n{"name": 1, "type": "object"'),
        ('```json\n{"id": 1}', ""),
        ('```json\n{"id": 1}\n```\n', '```json\n{"id": 1}\n```\n'),
        ("```py", "```py"),
        ("````", "````"),
        ("~~~js", "~~~js"),
        ("a `{", "a `{"),
        ("> {", "> {"),
        ("  1. x", "  1. x"),
    ],
)
def test_only_what_may_become_a_choice_is_held(text: str, shown: str) -> None:
    """Code with braces goes through, whatever the chunks."""
    for size in (len(text), 1):
        splitter = Splitter()
        pieces = [
            piece
            for at in range(0, len(text), size)
            for piece in splitter.feed(text[at : at + size])
        ]
        assert "".join(piece.text for piece in pieces) == shown
        assert "".join(piece.text for piece in pieces + splitter.finish()) == text


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({**ONE, "options": [f"{n}{'x' * 1000}" for n in range(1000)]}),
        f"```json\n{json.dumps({**ONE, 'options': ['x' * 1000000]})}\n```",
        json.dumps([[{"id": n} for n in range(100)] for _ in range(200)]),
        '{"type": "user_choice", "a": ' + "[" * 200000,
        '{"type": "user_choice", "a": [' + '{"type":' * 50000,
        '{"id": ' + "/*" * 100000,
        "{" * 200000,
        "{ " * 100000,
        "{/*" * 50000,
        "`" * 200000,
        "```json\n" + "\n" * 200000,
        '```json\n{"type": "user_choice" x\n' + "a\n" * 100000,
        '```json\n{"id": 1}' + "`" * 200000,
        "```json\n{" + " \n" * 100000,
        "- " * 100000,
        "1" * 200000,
        "\\" * 200000,
    ],
    ids=range(17),
)
def test_much_text_in_small_deltas_takes_time_by_its_length(text: str) -> None:
    """Nothing is read again with each delta, and depth costs no stack."""
    start = time.process_time()
    pieces = split(text, 40)
    assert time.process_time() - start < 10
    assert "".join(piece.text for piece in pieces) == text


def test_what_is_too_long_to_hold_is_shown() -> None:
    """A user who sees nothing for that long would think that nothing happens."""
    text = json.dumps({**ONE, "options": ["x" * 1000000]})
    for block in (text, f"```json\n{text}\n```"):
        broken, rest, found = split(f"{block}\n{RAW}", 1000)
        assert isinstance(broken, Broken)
        assert "too long" in broken.why
        assert isinstance(rest, Shown)
        assert isinstance(found, Found)


bits = [*'```~~{}[]",:/*\\\n\n\n >-1.ax', "```", "````", "~~~", "json", "```json\n", "\n```\n"]
bits += ["    ", "\r\n", "//", "/*", "*/", '{"', '"type"', '"id":', "null", "\\u", "\ud83d", "}"]
bits += [
    "```json x",
    "a ```",
    "\ufeff",
    "\xa0",
    '{"name": "',
    '"a": 1, ',
    '{"type": "',
    "}}",
    "x" * 700,
]
bits += [RAW, RAW, FENCED, RAW[:60], RAW[60:], FENCED[:90], '{"id": 1}', '{"user_choice": ']
fragments = st.lists(st.sampled_from(bits)).map("".join)


@example("```json\n{" + RAW + "x" * 700, [])
@given(fragments, st.lists(st.integers(0, 40)))
def test_chunks_change_nothing(text: str, sizes: list[int]) -> None:
    """Any split gives the same pieces, and they are the whole text."""
    splitter, pieces, at = Splitter(), [], 0
    for size in sizes:
        pieces += splitter.feed(text[at : at + size])
        at += size
    pieces += splitter.feed(text[at:]) + splitter.finish()
    assert "".join(piece.text for piece in pieces) == text
    assert joined(pieces) == split(text) == split(text, 1)


openings = st.sampled_from(["```json\n", "```\n", "```JSON  \n", "Which? ```json\n", "```json x\n"])
blanks = st.text(" \t\n\xa0\ufeff", max_size=5)
more = st.dictionaries(st.text("abc$"), st.text(max_size=9) | st.integers() | st.none(), max_size=6)


@given(openings, blanks, blanks, more, more)
def test_no_choice_is_overlooked(
    opening: str, before: str, after: str, first: dict[str, Any], last: dict[str, Any]
) -> None:
    """It is asked, or it is said that it stays as text."""
    block = f"{opening}{before}{json.dumps({**first, **ONE, **last})}{after}\n```\n"
    (piece,) = (piece for piece in split(block) if not isinstance(piece, Shown))
    if len(first) <= 2:
        assert isinstance(piece, Found)
        assert piece.choice == choice(ONE)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "label", "question", "options", "choices", "questions"]),
            children,
        )
    ),
    max_leaves=10,
)


@given(
    st.sampled_from(["user_choice", "user_choices", "user_choice_group"]),
    values,
    st.lists(values),
)
def test_any_json_is_read(kind: str, value: object, items: list[object]) -> None:
    """It is a choice that can be shown and stored, or says why not."""
    whole = {"question": "Q?", "options": items, "choices": value, "questions": items}
    text = json.dumps({"type": kind, **whole})
    found = read(text)
    assert isinstance(found, (Choice, Malformed))
    if isinstance(found, Choice):
        assert encoding.from_json(encoding.to_json(found), Choice) == found
        "\n".join(numbered(found) + render(Form("ab", found.questions))).encode()


# --- answered ---


def test_one_question_is_answered_by_the_id() -> None:
    """Own words go as they were typed; a note follows."""
    assert answered(ONE, Left((Pick(2),))) == "b"
    assert answered(ONE, Left((), ("my own:\n1", "and"))) == "my own:\n1\n\nand"
    assert answered(ONE, Left((Pick(1, "v16"),), ("on a disk",))) == "a\n\nNote: v16\n\non a disk"
    several = {**ONE, "multiSelect": True}
    assert answered(several, Left((Pick(2), Pick(1)))) == "b, a"
    assert answered(several, Left((Pick(1),), ("files, too",))) == "a; files, too"
    assert answered(several, Left((), ("files",))) == "files"


def test_several_questions_are_answered_in_a_line_each() -> None:
    """Each option with the id that the model gave it, or only its label where that has none."""
    numbers = [{"id": "2", "label": "first"}, {"id": "1", "label": "second"}]
    plain = {"question": "Why?", "options": ["x", {"label": "y"}]}
    asked = {**GROUP, "choices": [{"question": "Order?", "options": numbers}, plain]}
    assert answered(asked, Left((Pick(1),)), Left((Pick(2),))) == "Order?: 2. first\nWhy?: y"
    assert answered(GROUP, Left((Pick(1),)), Left((Pick(1),))) == (
        "Which DB?: a. Postgres\nWhich auth?: 1. OAuth"
    )
    assert answered(GROUP, Left((), ("a file",)), Left((Pick(1, "with\nPKCE"),))) == (
        "Which DB?: a file\nWhich auth?: 1. OAuth\n  Note: with\n  PKCE"
    )
    several = {**GROUP, "choices": [{**ONE, "multiSelect": True, "question": "Which\nDB?"}, ONE]}
    assert answered(several, Left((Pick(2), Pick(1))), Left((Pick(2),))) == (
        "Which DB?: b. SQLite, a. Postgres\nWhich DB?: b. SQLite"
    )


def test_the_options_can_be_listed() -> None:
    """Where no section can be shown."""
    assert numbered(choice(ONE)) == [
        "Which DB?",
        "It has to last.",
        "",
        "1. Postgres — a server",
        "2. SQLite",
    ]
    assert numbered(choice(GROUP)) == [
        *numbered(choice(ONE)),
        *("", "Which auth?", "", "1. OAuth"),
    ]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("1", 1),
        (" 2.\n", 2),
        ("2)", 2),
        ("3", None),
        ("0", None),
        ("-1", None),
        ("1 or 2", None),
        ("a", None),
        ("", None),
        ("²", None),
        ("9" * 5000, None),
    ],
)
def test_a_bare_number_answers_one_question(text: str, option: int | None) -> None:
    """Anything else is a message."""
    assert by_number(choice(ONE), text) == option
    assert by_number(choice(GROUP), text) is None
