"""Both sides of the wire know the same messages, and who gets one knows all of its kind."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
import winnow
from winnow import ports, protocol
from winnow.adapters import scripted
from winnow.core.asking import splitter
from winnow.core.section import answer
from winnow.core.transcript import entries

LUA = Path(__file__).parents[2] / "lua" / "winnow"


@pytest.mark.parametrize(
    ("union", "file", "table"),
    [(protocol.Event, "host", "events"), (protocol.Effect, "dispatch", "effects")],
)
def test_lua_knows_every_message(union: object, file: str, table: str) -> None:
    """Its table has the tags of our union, no more and no less."""
    source = (LUA / f"{file}.lua").read_text()
    body = re.search(rf"^M\.{table} = {{\n(.*?)^}}", source, re.MULTILINE | re.DOTALL)
    assert body is not None
    known = re.findall(r"^  (\w+) =", body[1], re.MULTILINE)
    assert sorted(known) == sorted(kind.__struct_config__.tag for kind in get_args(union))


UNIONS = [
    *(protocol.Event, protocol.Effect, ports.AgentEvent, ports.Reply, ports.Kept),
    *(entries.Entry, scripted.Step, splitter.Piece, answer.Decision, answer.Outcome),
]
MEMBERS = {member for union in UNIONS for member in get_args(union)}
MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(winnow.__path__, "winnow.")
    if not found.ispkg
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_message_is_forgotten(module: ModuleType) -> None:
    """Where the kind of one decides what happens, others are named, not passed over in silence.

    A match that returns in every case is seen to by mypy, and so is `assert_never`.
    """
    tree = ast.parse(Path(str(module.__file__)).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Match) and kinds(node, module) & MEMBERS:
            last = node.cases[-1]
            captures = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
            returns = all(isinstance(case.body[-1], ast.Return) for case in node.cases)
            assert (captures and last.guard is None) or returns, f"line {node.lineno}"


def kinds(node: ast.Match, module: ModuleType) -> set[object]:
    """The classes that its cases name."""
    patterns = [part for case in node.cases for part in ast.walk(case.pattern)]
    names = [ast.unparse(part.cls) for part in patterns if isinstance(part, ast.MatchClass)]
    return {eval(name, vars(module)) for name in names}  # they are names of classes
