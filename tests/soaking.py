"""More of a kind than every run needs."""

from __future__ import annotations

from typing import Any

import pytest


def soak(*values: Any) -> list[Any]:
    """Further values of a parameter, which only ``make soak`` tries: each costs seconds."""
    return [pytest.param(value, marks=pytest.mark.soak) for value in values]
