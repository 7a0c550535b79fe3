"""How figures are declared and measured, and how two runs are compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.__main__ import Run, compare
from tests.bench.figures import Row, Section


def test_a_figure_is_a_function_and_each_round_has_a_world_of_its_own() -> None:
    made = []

    @contextmanager
    def world(root: Path) -> Iterator[float]:
        made.append(root)
        yield float(len(made))

    section = Section("test", world, rounds=3)
    Section.all.remove(section)

    def bare(world: float) -> float:
        """a bare one"""
        return world / 2

    @section.figure(1, "s", floor=bare)
    def several(world: float) -> list[float]:
        """Several values.

        Of which the median counts.
        """
        return [world, 9 + world]

    (row,) = section.rows()
    assert row == Row(
        "test", "Several values", "s", 1, [1, 10, 2, 11, 3, 12], "a bare one", [0.5, 1, 1.5]
    )
    assert (row.figure, row.floor) == (6.5, 1)
    assert len(set(made)) == 3


def test_two_runs_are_compared_as_ratios_with_their_floors_allowed_for() -> None:
    def run(load: float, figure: float, floor: float, other: str) -> Run:
        both = Row("a", "Both", "ms", None, [figure], "bare", [floor])
        rows = [both, Row("a", other, "ms", 1, [1.0])]
        return Run("2026-01-01", "abc", {}, 2, [load, load], rows)

    told = compare(run(1, 10, 1, "Old"), run(9, 30, 2, "New"))
    (line,) = (line for line in told.splitlines() if "Both" in line)
    assert line.split()[3:-1:2] == ["10.00", "30.00", "3.00", "2.00", "1.50"]
    assert "Old" not in told
    assert "New" not in told
    assert "load 9.0" in told
