"""More of a kind than every run needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

ROW = type(pytest.param())


def soak(*values: Any) -> list[Any]:
    """Further values of a parameter, which only ``make soak`` tries: each costs seconds.

    A tuple stands for several parameters, as in ``parametrize``.
    """
    return [_marked(value) for value in values]


def first(count: int, values: Iterable[Any]) -> list[Any]:
    """All values of a parameter, of which every run tries only the first ones."""
    every = list(values)
    return [*every[:count], *soak(*every[count:])]


def _marked(value: Any) -> Any:
    soaks = pytest.mark.soak
    if isinstance(value, ROW):
        return pytest.param(*value.values, marks=[*value.marks, soaks], id=value.id)
    return pytest.param(*value if isinstance(value, tuple) else (value,), marks=soaks)
