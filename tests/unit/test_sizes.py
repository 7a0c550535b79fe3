"""No file is longer than can be read at once, and no function longer than a screen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE, FUNCTION = 350, 40  # lines

# Longer than that, and why.
LONG_FILES = {
    "lua/winnow/messages.lua",  # made by `make types`
}
LONG_FUNCTIONS = {
    "python/winnow/adapters/claude/options.py options",  # one call, an argument a line
}


def _files(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


SOURCES = {
    ".lua": _files("lua/**/*.lua", "plugin/*.lua", "*.lua"),
    ".py": _files("python/**/*.py", "rplugin/**/*.py", "scripts/*.py"),
}


def _python(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def _lua(text: str) -> Iterator[tuple[str, int]]:
    """StyLua has put the end of a function below its start."""
    lines = text.split("\n")
    for first, line in enumerate(lines):
        start = re.match(r"( *)(?!--).*\bfunction\b *([\w.:]*)\([^()]*\)$", line)
        if start:
            last = lines[first:].index(
                next(one for one in lines[first:] if re.match(start[1] + r"end\b", one))
            )
            yield start[2] or line.strip(), last + 1


def test_files_and_functions_are_short() -> None:
    """What is longer is named above."""
    files, functions = set(), set()
    for suffix, paths in SOURCES.items():
        assert len(paths) > 30
        for path in paths:
            name, text = str(path.relative_to(ROOT)), path.read_text()
            if text.count("\n") > FILE:
                files.add(name)
            found = _python(text) if suffix == ".py" else _lua(text)
            functions |= {f"{name} {function}" for function, size in found if size > FUNCTION}
    assert not files - LONG_FILES
    assert not functions - LONG_FUNCTIONS
