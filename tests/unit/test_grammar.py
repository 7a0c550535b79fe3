"""The words and signs of the buffer stand in one table, which both sides have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from winnow.core.text import grammar

ROOT = Path(__file__).parents[2]
KEPT_OUT = ("BENT", "ENDS", "RUNNING")  # are in other things, too
WORDS = [
    word
    for name, word in vars(grammar).items()
    if name.isupper() and isinstance(word, str) and len(word.encode()) > 1 and name not in KEPT_OUT
]


def _lua(text: str) -> Iterator[str]:
    """The strings of a file."""
    code = re.sub(r"(?m)(^|\s)--.*$", "", text)
    yield from re.findall(r"'[^'\n]*'|\"[^\"\n]*\"|\[\[.*?\]\]", code, re.DOTALL)


def _python(text: str) -> Iterator[str]:
    """The strings of a file that are no docstrings."""
    tree = ast.parse(text)
    said = {
        id(statement.value)
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_no_word_of_the_grammar_is_said_twice() -> None:
    """Neither in Lua nor in Python."""
    assert "━" in WORDS
    assert "## You" in WORDS
    files = {path: _lua for path in ROOT.glob("lua/**/*.lua") if path.name != "grammar.lua"}
    files |= {path: _python for path in ROOT.glob("python/**/*.py") if path.name != "grammar.py"}
    assert not [
        f"{path.relative_to(ROOT)}: {word} in {string!r}"
        for path, strings in sorted(files.items())
        for string in strings(path.read_text())
        for word in WORDS
        if word in string
    ]


def test_no_letter_of_a_marker_is_said_twice() -> None:
    """Where slots are compared, they have their names."""
    files = [*ROOT.glob("lua/**/*.lua"), *ROOT.glob("python/**/*.py")]
    compared = re.compile(r"""\bslot\b(?:\s*[=~!]=?\s*|=)['"][a-z]['"]""")
    assert not [path for path in files if compared.search(path.read_text())]


def test_the_frontmatter_has_these_keys() -> None:
    """What the host sets is read when the file is opened again."""
    source = "".join(path.read_text() for path in ROOT.glob("python/winnow/app/*.py"))
    keys = set(re.findall(r'\bMeta\([^{}]*\{"(\w+)":', source))
    assert keys
    assert keys <= set(grammar.KEYS)
