"""How the Lua side is built: its modules stand on each other, and nowhere in a circle."""

from __future__ import annotations

import re
from pathlib import Path

LUA = Path(__file__).parents[2] / "lua"


def _requires(path: Path) -> set[str]:
    """The modules that a file requires anywhere, inside functions too."""
    code = re.sub(r"--.*", "", path.read_text())
    return set(re.findall(r"require\s*\(?\s*['\"](winnow[\w.]*)['\"]", code))


def _graph() -> dict[str, set[str]]:
    graph = {}
    for path in sorted(LUA.rglob("*.lua")):
        name = ".".join(path.relative_to(LUA).with_suffix("").parts).removesuffix(".init")
        graph[name] = _requires(path) - {name}  # another Neovim is told to, which is none
    return graph


def _circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one circle, in order; empty: there is none."""
    done: set[str] = set()

    def walk(module: str, way: list[str]) -> list[str]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module not in done:
            for other in sorted(graph[module]):
                if circle := walk(other, [*way, module]):
                    return circle
            done.add(module)
        return []

    return next(filter(None, (walk(module, []) for module in graph)), [])


def test_no_module_requires_itself_by_a_detour() -> None:
    """A lazy `require` that breaks a circle at load time is still part of it."""
    graph = _graph()
    assert len(graph) > 30
    assert not {module: missing for module in graph if (missing := graph[module] - set(graph))}
    assert not (circle := _circle(graph)), " → ".join(circle)
