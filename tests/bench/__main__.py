"""What a user waits for, measured in a real Neovim that draws: ``make bench``.

Each module here declares a section or two. To add a figure, add a function to the section that it
belongs to: its docstring names the figure; ``floor`` is another, which tells what the figure can't
be below on this machine, and is measured in the same round. All that was measured is kept as JSON;
``make bench-compare`` shows two runs as ratios.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from tests.bench import chat, crowd, memory, runs, start, stream  # noqa: F401  they declare the sections
from tests.bench.figures import Row, Section
from tests.e2e.sandbox import NVIM

FOLDER = Path(".bench")
HEAD = ("what", "figure", "unit", "target", "floor", "×", "which is")


class Run(msgspec.Struct):
    """All of one run, as it is kept."""

    date: str
    commit: str
    versions: dict[str, str]
    cpus: int
    load: list[float]  # of the machine, before and after; what others run on it counts
    rows: list[Row]

    def shares(self, other: Run) -> bool:
        """Whether both have measured the same at least once."""
        return bool({row.what for row in self.rows} & {row.what for row in other.rows})


def measure(only: Sequence[str]) -> Run:
    """Measure these sections, or all, and print each when it is done."""
    unknown = set(only) - {section.name for section in Section.all}
    if unknown:
        sys.exit(f"There is no section {' '.join(unknown)}.")
    run = Run(
        time.strftime("%Y-%m-%d %H:%M:%S"),
        _said("git", "describe", "--always", "--dirty"),
        _versions(),
        os.cpu_count() or 1,
        [os.getloadavg()[0]],
        [],
    )
    began = time.monotonic()
    print(_line(HEAD), _line(["-" * width for width in _WIDTHS]), sep="\n", flush=True)
    for section in Section.all:
        if not only or section.name in only:
            for row in section.rows():
                run.rows.append(row)
                print(_line(_cells(row)), flush=True)
    run.load.append(os.getloadavg()[0])
    versions = ", ".join(f"{what} {version}" for what, version in run.versions.items())
    took = time.monotonic() - began
    print(f"\n{run.commit}, {versions}")
    print(f"{run.cpus} processors, load {_load(run)}, {took:.0f} seconds")
    return run


def keep(run: Run) -> None:
    """Write it where `compare` finds it."""
    FOLDER.mkdir(exist_ok=True)
    name = f"{run.date.replace(':', '').replace(' ', '-')}-{run.commit}.json"
    (FOLDER / name).write_bytes(msgspec.json.format(msgspec.json.encode(run)))
    print(f"kept as {FOLDER / name}")


def compare(old: Run, new: Run) -> str:
    """New by old: the figures, their floors, and the figures as if the floors were equal."""
    lines = [f"{run.commit} of {run.date}, load {_load(run)}" for run in (new, old)]
    lines.insert(1, "by")
    lines += ["", f"| {'what':60} |      old |      new | ratio | floors | beside the floor |"]
    lines.append(f"| {'-' * 60} | {'-' * 8} | {'-' * 8} | ----- | ------ | ---------------- |")
    before = {row.what: row for row in old.rows}
    for row in new.rows:
        if was := before.get(row.what):
            ratio, floors = _by(row.figure, was.figure), _by(row.floor, was.floor)
            beside = ratio / floors if ratio and floors else None
            told = f"{_told(ratio, 5)} | {_told(floors, 6)} | {_told(beside, 16)}"
            lines.append(f"| {row.what:60} | {was.figure:8.2f} | {row.figure:8.2f} | {told} |")
    return "\n".join(lines)


def _load(run: Run) -> str:
    return " … ".join(f"{load:.1f}" for load in run.load)


def _by(new: float | None, old: float | None) -> float | None:
    return new / old if new is not None and old else None


def _told(ratio: float | None, width: int) -> str:
    return f"{'' if ratio is None else f'{ratio:.2f}':>{width}}"


_WIDTHS = (60, 9, 4, 8, 8, 6, 45)


def _line(cells: Iterable[str]) -> str:
    first, *middle, last = zip(cells, _WIDTHS, strict=True)
    left = [f"{cell:{width}}" for cell, width in (first, last)]
    return f"| {left[0]} | " + " | ".join(f"{c:>{w}}" for c, w in middle) + f" | {left[1]} |"


def _cells(row: Row) -> list[str]:
    missed = row.target is not None and row.figure > row.target
    return [
        row.what,
        f"{'✗ ' if missed else ''}{row.figure:.2f}",
        row.unit,
        "" if row.target is None else f"≤ {row.target:g}",
        "" if row.floor is None else f"{row.floor:.2f}",
        f"{row.figure / row.floor:.1f}" if row.floor else "",
        row.floor_is,
    ]


def _versions() -> dict[str, str]:
    return {
        "Neovim": _said(NVIM, "--version").split()[1].lstrip("v"),
        "Python": platform.python_version(),
        "SDK": version("claude-agent-sdk"),
        "Claude Code": _said(start.CLI, "--version").split()[0],
    }


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _read(path: Path) -> Run:
    return msgspec.json.decode(path.read_bytes(), type=Run)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("only", nargs="*", help="sections: all, where none is named")
    parser.add_argument("--compare", nargs="?", const="", metavar="FILE", help="… with this run")
    args = parser.parse_args()
    if args.compare is None:
        keep(measure(args.only))
        return
    kept = [_read(path) for path in sorted(FOLDER.glob("*.json"))]
    earlier = [_read(Path(args.compare))] if args.compare else kept[:-1]
    old = next((run for run in reversed(earlier) if run.shares(kept[-1])), None)
    if old is None:
        sys.exit(
            f"No two runs in {FOLDER} have a figure in common; make bench keeps one each time."
        )
    print(compare(old, kept[-1]))


if __name__ == "__main__":
    main()
