"""Nothing that an agent sends or a user types makes the core slow: as much more, as much longer."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import pytest
from winnow.core import listing, todo
from winnow.core.asking import choices
from winnow.core.asking.fields import Field
from winnow.core.asking.splitter import Splitter
from winnow.core.proposal import arguments
from winnow.core.proposal.blocks import Text
from winnow.core.proposal.lines import changes
from winnow.core.proposal.patch import Patch, patch_of
from winnow.core.proposal.proposal import Call, Plan
from winnow.core.question import Option, Question
from winnow.core.run.query import TOKEN, parse_human_query
from winnow.core.section import record
from winnow.core.section.answer import NOT_ARMED, confirm, verdict
from winnow.core.section.form import Form, render
from winnow.core.section.reading import locate, parse
from winnow.core.text.secrets import hidden
from winnow.core.text.text import brief, clean, clean_block, fragments, strip_markers
from winnow.core.text.visible import restore, show
from winnow.core.transcript import rendering

TIMES = 4  # as much, in the second run
MOST = 9  # times as long; what is quadratic takes 16 times, and what grows as it should 4
SOON = 0.005  # seconds, long enough to be measured
LARGEST = 1 << 14


def several(questions: int, options: int, *, multi: bool = True) -> Form:
    """A form of many questions with many options."""
    asked = (
        Question(
            f"Which thing number {q} should be used?",
            f"Q{q}",
            tuple(Option(f"Option {q} {o}", f"the description {o}") for o in range(options)),
            multi,
        )
        for q in range(questions)
    )
    return Form("ab", tuple(asked))


def judged(form: Form, lines: list[str]) -> None:
    """All that a key asks about a section."""
    verdict(form, parse(form, lines), frozenset())
    locate(form, lines, len(lines) // 2)
    confirm(form, lines, len(lines) // 2, NOT_ARMED, frozenset())


def with_own(count: int, line: str, options: int = 40) -> tuple[Form, list[str]]:
    """A section of four questions with so many options, in which the user wrote lines."""
    form = several(4, options)
    lines = render(form)
    return form, [*lines[:-1], *(line.format(n) for n in range(count)), lines[-1]]


def own(line: str) -> Callable[[int], Any]:
    """Judges a section with so many lines of the user's."""
    return lambda size: judged(*with_own(size, line))


def edited(edit: Callable[[str], str]) -> Callable[[int], Any]:
    """Judges a question of so many options, each of them edited."""

    def run(size: int) -> None:
        form = several(1, size)
        judged(form, [edit(line) for line in render(form)])

    return run


def written(tool: str, text: Callable[[int], str], old: str | None = None) -> Callable[[int], Any]:
    """Shows what a tool writes, and reads it back."""

    def run(size: int) -> None:
        patch = patch_of(tool, {"file_path": "/f", "content": text(size)}, "/f", old)
        assert isinstance(patch, Patch)
        shown = patch.blocks[0].lines
        patch.read([Text(0, shown)])
        patch.read([Text(0, (*shown[:-1], shown[-1] + "!"))])

    return run


def nested(size: int, noise: str) -> list[str]:
    """Lines where, once the middle is set apart, only the next one occurs once."""
    lines = ["1"]
    for number in range(2, size // 3):
        lines += [noise, str(number), str(number - 1)]
    return lines


def counted(word: str, size: int) -> str:
    """Lines that all differ."""
    return "".join(f"{word}{number}\n" for number in range(size))


def fed(pieces: Callable[[int], list[str]]) -> Callable[[int], Any]:
    """Looks for choices in a stream."""

    def run(size: int) -> None:
        splitter = Splitter()
        for piece in pieces(size):
            splitter.feed(piece)
        splitter.finish()

    return run


def scraps(piece: str) -> Callable[[int], Any]:
    """Looks for what is left of markers."""
    return lambda size: (fragments(piece * size), clean_block(piece * size))


def listed(edit: Callable[[list[str]], list[str]]) -> Callable[[int], Any]:
    """Reads a list of so many things to do that was edited."""

    def run(size: int) -> None:
        items = tuple(todo.Item(str(n), f"do {n}", "pending") for n in range(size))
        rows = todo.rows(items)
        lines = listing.render(rows)
        edits = listing.read(rows, lines, edit(lines[:size]))
        assert isinstance(edits, listing.Edits)
        made = todo.edited(items, edits, 1)
        todo.changes(items, made)
        todo.merged(items, items, made)

    return run


SCRAPS = ("⟦", "⟧", "a=", "=1", "=", "⟦a", "a=1=", "⟦a=1=1")
CHOICE = '{"type": "user_choice", "question": "Q%d?", "options": ["a", "b"]}\n\n'

ROWS: dict[str, Callable[[int], Any]] = {
    "own lines": own("own words number {} of mine"),
    "as many own lines as options": lambda n: judged(*with_own(n, "Option 1 {} x", n // 4)),
    "own lines apart": lambda n: judged(form := several(2, 3), [*render(form), *["own", ""] * n]),
    "own lines like options": own("Option 1 {} the"),
    "own lines like a label": own("Option 1 1, and {}"),
    "own lines like markers": own("word {0} ⟦ab=1={0}"),
    "own lines with ends": own("{} ⟧"),
    "own lines all dots": own("Option 1 1" + "." * 300 + "{}"),
    "prefixed options": edited(lambda line: "x " + line),
    "prefixed options without a blank": edited(lambda line: "x" + line),
    "options without markers": edited(lambda line: line.partition("⟦")[0]),
    "options with half markers": edited(lambda line: line[:-3]),
    "options in capitals": edited(str.upper),
    "options broken in two": lambda n: judged(*broken(n)),
    "questions": lambda n: judged(several(n, 2), render(several(n, 2))),
    "dots behind a label": (
        lambda n: judged(form := several(1, 3), [*render(form), "Option 0 1" + "." * n + "x"])
    ),
    "nested markers": (lambda n: strip_markers("⟦a=" * n + "⟦a=1=1⟧" + "1=1⟧" * n)),
    "ends of markers": lambda n: strip_markers("⟦a=1=1⟧" + "⟧" * n),
    **{f"pieces of markers: {piece}": scraps(piece) for piece in SCRAPS},
    "a long label": lambda n: (clean("\u200b\x1b⟦a=" * n), brief("\x1b" * n)),
    "hidden characters": lambda n: show("a\u200d\xa0\x1b\U000e0041" * n),
    "hidden characters, restored": (
        lambda n: restore(show("a\u200d\xa0\x1b" * n) + "!", "a\u200d\xa0\x1b" * n)
    ),
    "open comments": lambda n: choices.read('{"question": 1' + "/* " * n + "}"),
    "an open string": lambda n: choices.read('{"question": "' + '\\"' * n + "}"),
    "commas": lambda n: choices.read('{"question": [1' + ", " * n + "}"),
    "comments": lambda n: choices.read('{"question": 1' + "/* , */" * n + "}"),
    "one id for all": (
        lambda n: choices.read(
            '{"type": "user_choice", "question": "Q", "options": ['
            + ",".join(f'{{"id": "x", "label": "{i}"}}' for i in range(n))
            + "]}"
        )
    ),
    "values of a field": (lambda n: Field.read("x", {"enum": [*range(n)]}, required=True).question),
    "choices, at once": fed(lambda n: ["".join(CHOICE % i for i in range(n))]),
    "choices, by the character": fed(lambda n: [*"".join(CHOICE % i for i in range(n))]),
    "braces": fed(lambda n: ['{"' * n]),
    "open fences": fed(lambda n: ["```json\n" * n]),
    "brackets in a fence": fed(lambda n: ["```json\n" + '{"id": [' * n]),
    "list marks": fed(lambda n: ["- " * n + "\n" + "1. " * n]),
    "backticks": fed(lambda n: ["`" * n + " `" * n]),
    "blank lines in an object": fed(lambda n: ['{"question": [\n' + " \n" * n]),
    "a file, line by line": written("Write", lambda n: "line\n" * n),
    "a file that is rewritten": written("Write", lambda n: counted("b", n), counted("a", 1500)),
    "lines that occur once at each depth": (lambda n: changes(nested(n, "x"), nested(n, "y"))),
    "two lines over and over": (
        lambda n: changes(["a", "b", "b"] * (n // 3), ["b", "a", "a"] * (n // 3))
    ),
    "lines in reverse": (
        lambda n: changes([str(i) for i in range(n)], [str(i) for i in range(n, 0, -1)])
    ),
    "backticks in a file": written("Write", lambda n: "`" * n + "\n" + "` " * n),
    "a deep argument": lambda n: arguments.blocks("X", {"a": deep(n)}),
    "arguments": lambda n: read_back(Call("X", {f"k{i}": [i] * 9 for i in range(n)})),
    "a plan": lambda n: read_back(Plan({}, "step\n" * n)),
    "a command": (lambda n: read_back(Call("Bash", {"command": "echo \x1b\u200b\n" * n}))),
    "tool output": lambda n: rendering.tool_output("\x1b[31m\u200b line\n" * n),
    "a question of many lines": (lambda n: judged(form := Form("ab", (asked(n),)), render(form))),
    "questions for the user": lambda n: parse_human_query(f"[{TOKEN}: a] **[{TOKEN}: b]** " * n),
    "no questions for the user": lambda n: parse_human_query(f"(need human: x [{TOKEN}:" * n),
    "new lines of a list": listed(lambda lines: [*lines, *(f"new {line[:5]}" for line in lines)]),
    "lines of a list, moved": listed(lambda lines: [*reversed(lines)]),
    "secrets": lambda n: hidden("token=abcdefgh1 ://a:b@c Bearer -----BEGIN eyJ sk-" * n),
    "secrets that only begin": lambda n: hidden("eyJ-" * n),
    "late answers": (lambda n: record.names(Form("ab", (asked(n),)))),
}


def asked(lines: int) -> Question:
    """A question with a long text."""
    return Question("A line of text\n" * lines, "", (Option("a"), Option("b")))


def deep(levels: int) -> Any:
    """A value that holds a value that holds a value."""
    value: Any = ["x"]
    for _ in range(levels):
        value = {"a": value, "b": ["x"] * 200}
    return value


def broken(options: int) -> tuple[Form, list[str]]:
    """A question whose options were broken in two lines each."""
    form = several(1, options)
    return form, [half for line in render(form) for half in (line[:6], line[6:])]


def read_back(proposal: Call | Plan) -> None:
    """What it shows, edited in one line, is read."""
    (block,) = proposal.blocks
    proposal.read([Text(0, (*block.lines[:-1], block.lines[-1] + " "))])
    proposal.read([Text(0, tuple(reversed(block.lines)))])


def seconds(run: Callable[[int], Any], size: int) -> float:
    """The time that it takes, at best: the machine does other things, too."""
    times = []
    gc.disable()  # it would look through all that other tests have left in memory
    for _ in range(3):
        start = time.process_time()
        run(size)
        times.append(time.process_time() - start)
    gc.enable()
    return min(times)


@pytest.mark.parametrize("run", ROWS.values(), ids=ROWS)
def test_time_grows_with_size(run: Callable[[int], Any]) -> None:
    """Four times as much takes some four times as long, not sixteen times."""
    size = 64
    while seconds(run, size) < SOON and size < LARGEST:
        size *= 2
    # What is quadratic is so each time; a busy machine makes one of them slow.
    assert any(seconds(run, size * TIMES) < MOST * max(seconds(run, size), SOON) for _ in range(3))


def test_a_file_may_be_made_to_be_hard_to_compare() -> None:
    """1,800 lines, of which each gap has another one between anchors, are shown and written."""
    old, new = ("\n".join(nested(1800, noise)) for noise in "xy")
    patch = patch_of("Write", {"file_path": "/f", "content": new}, "/f", old)
    assert isinstance(patch, Patch)
    assert patch.diff.compose(range(len(patch.diff.hunks))) == new
