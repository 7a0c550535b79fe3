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
from winnow.core import agent
from winnow.core.asking import pieces
from winnow.core.run import events, tools
from winnow.core.section import answer
from winnow.core.transcript import entries

LUA = Path(__file__).parents[2] / "lua" / "winnow"


def tags(union: object) -> list[str]:
    """Those of a union of messages."""
    return sorted(kind.__struct_config__.tag for kind in get_args(union))


def test_lua_handles_every_effect() -> None:
    """Its table has their tags, no more and no less."""
    source = (LUA / "dispatch.lua").read_text()
    body = re.search(r"^M\.effects = {\n(.*?)^}", source, re.MULTILINE | re.DOTALL)
    assert body is not None
    assert sorted(re.findall(r"^  (\w+) =", body[1], re.MULTILINE)) == tags(protocol.Effect)


def test_lua_sends_every_event() -> None:
    """Somewhere; and nothing that the host does not know."""
    source = "".join(path.read_text() for path in LUA.rglob("*.lua"))
    sent = set(re.findall(r"\b(?:tell|notify)\('(\w+)'", source))
    assert sorted(sent) == tags(protocol.Event)


UNIONS = [
    *(protocol.Event, protocol.Effect, agent.AgentEvent, agent.Reply, ports.Kept),
    *(events.Event, tools.Call),
    *(entries.Entry, scripted.Step, pieces.Piece, answer.Decision, answer.Outcome),
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
