"""Short names of sections, as they stand on every one of their lines."""

from __future__ import annotations

import itertools
import secrets
import string
from collections.abc import Iterable

_LETTERS = string.ascii_lowercase  # no digits: <C-a> on an option must not make it another's


class Markers:
    """Gives out those that no section on disk has, as short as there still is one.

    A marker is concealed, but lines wrap as if it were visible. It is found again only in its
    chat; that no other chat has it is for lines that are pasted from one into another.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._shortest = 6  # enough not to be somebody's, while that can't be looked up

    def taken(self, markers: Iterable[str]) -> None:
        """These are on disk; called from the store's thread."""
        self._taken.update(markers)
        self._shortest = 2

    def new(self) -> str:
        """One that nobody has."""
        for length in itertools.count(self._shortest):
            for _ in range(10):
                marker = "".join(secrets.choice(_LETTERS) for _ in range(length))
                if marker not in self._taken:
                    self._taken.add(marker)
                    return marker
        raise AssertionError
