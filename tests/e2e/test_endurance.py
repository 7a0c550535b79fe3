"""A day in which things go wrong: see `tests.endurance.day`, of which ``make soak`` has more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.endurance.day import day


@pytest.mark.parametrize(
    ("agent", "seed", "rounds"), [("scripted", "627", 7), ("claude", "209", 3)]
)
def test_nothing_is_lost_on_such_a_day(tmp_path: Path, agent: str, seed: str, rounds: int) -> None:
    """In ten rounds all that can go wrong does, once or more."""
    with day(tmp_path, seed, agent) as today:
        for number in range(1, rounds + 1):
            today.round(number)
