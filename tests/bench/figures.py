"""Sections and their figures: how one is declared, and measured in rounds."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

World = TypeVar("World")
Measure = Callable[[World], "float | list[float]"]


class Row(msgspec.Struct, frozen=True):
    """A figure as it was measured: all values, and those of its floor."""

    section: str
    what: str
    unit: str
    target: float | None
    values: list[float]
    floor_is: str = ""
    floors: list[float] = []

    @property
    def figure(self) -> float:
        """The median."""
        return statistics.median(self.values)

    @property
    def floor(self) -> float | None:
        """The median of the floors."""
        return statistics.median(self.floors) if self.floors else None


class _Figure(msgspec.Struct, frozen=True):
    measure: Measure[Any]
    target: float | None
    unit: str
    floor: Measure[Any] | None


class Section(Generic[World]):
    """Figures that are measured in the same world.

    Args:
        name: several may share one.
        world: makes it, in an empty folder; once a round.
        rounds: how often each figure is measured.
    """

    all: list[Section[Any]] = []

    def __init__(
        self, name: str, world: Callable[[Path], AbstractContextManager[World]], rounds: int = 1
    ) -> None:
        self.name = name
        self._world = world
        self._rounds = rounds
        self._figures: list[_Figure] = []
        Section.all.append(self)

    def figure(
        self,
        target: float | None = None,
        unit: str = "ms",
        floor: Measure[World] | None = None,
    ) -> Callable[[Measure[World]], Measure[World]]:
        """Declare a figure; its values are those of all rounds, of which the median counts."""

        def declare(measure: Measure[World]) -> Measure[World]:
            self._figures.append(_Figure(measure, target, unit, floor))
            return measure

        return declare

    def rows(self) -> Iterator[Row]:
        """Measure all of it; each floor just before its figure."""
        values: list[list[float]] = [[] for _ in self._figures]
        floors: list[list[float]] = [[] for _ in self._figures]
        for _ in range(self._rounds):
            with tempfile.TemporaryDirectory() as folder, self._world(Path(folder)) as world:
                for number, figure in enumerate(self._figures):
                    if figure.floor:
                        floors[number] += _listed(figure.floor(world))
                    values[number] += _listed(figure.measure(world))
        for number, figure in enumerate(self._figures):
            yield Row(
                self.name,
                _named(figure.measure),
                figure.unit,
                figure.target,
                values[number],
                _named(figure.floor) if figure.floor else "",
                floors[number],
            )


def _listed(measured: float | list[float]) -> list[float]:
    return measured if isinstance(measured, list) else [measured]


def _named(measure: Measure[Any]) -> str:
    return (measure.__doc__ or measure.__name__).strip().partition("\n")[0].rstrip(".")
