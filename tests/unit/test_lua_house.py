"""How the Lua side is built: its modules stand on each other, and nowhere in a circle."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

LUA = Path(__file__).parents[2] / "lua"


def _requires(path: Path) -> set[str]:
    """The modules that a file requires anywhere, inside functions too."""
    code = re.sub(r"--.*", "", path.read_text())
    return set(re.findall(r"(?:require|lazy|\))\s*\(?\s*['\"](winnow[\w.]*)['\"]", code))


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


def test_what_comes_in_is_above_all() -> None:
    """Nothing stands on the tables of commands, keys and effects."""
    above = {"winnow.command", "winnow.keys", "winnow.dispatch"}
    assert above < set(_graph())
    assert not {module: needs & above for module, needs in _graph().items() if needs & above}


_DEFINES = re.compile(
    r"( *)(?:(?:local )?function [\w.:]+|local \w+ = function|[\w]+\.[\w.]+ = function)\(([^()]*)\)"
)


def _unannotated(path: Path) -> list[str]:
    """The named functions of a file without types for what they take and give."""
    lines = path.read_text().split("\n")
    found = []
    for first, line in enumerate(lines):
        if not (define := _DEFINES.match(line)):
            continue
        above = first
        while above and lines[above - 1].lstrip().startswith("--"):
            above -= 1
        said = "\n".join(lines[above:first])
        takes = [name.strip() for name in define[2].split(",")]
        wanted = [f"---@param {name}" for name in takes if name.isidentifier() and name[0] != "_"]
        inside = itertools.takewhile(lambda one: one != f"{define[1]}end", lines[first + 1 :])
        if re.search(rf"^{define[1]}  .*\breturn [^-]", "\n".join(_own(inside)), re.MULTILINE):
            wanted.append("---@return")
        if "---@type " not in said:
            missing = [one for one in wanted if not re.search(rf"{one}\b", said)]
            found += [f"{path.name}:{first + 1} {one}" for one in missing]
    return found


def _own(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a function without those of the functions in it."""
    end = ""
    for line in lines:
        if not end and (inner := re.match(r"( *).*\bfunction\b[^()]*\([^()]*\)$", line)):
            end = f"{inner[1]}end"
        elif not end:
            yield re.sub(r"--.*|\breturn +(--.*)?$", "", line)
        elif line.startswith(end):
            end = ""


def test_every_function_is_annotated() -> None:
    """Also the local ones; what has no name gets its types from where it goes."""
    files = [*LUA.rglob("*.lua"), LUA.parent / "build.lua"]
    assert not [problem for path in sorted(files) for problem in _unannotated(path)]


def test_no_run_of_blanks_stops_neovim() -> None:
    """`vim.trim()` takes as long as the square of one; `winnow.trim` does not."""
    files = [file for file in LUA.rglob("*.lua") if file.name != "trim.lua"]
    assert not [file.name for file in files if "vim.trim" in file.read_text()]
