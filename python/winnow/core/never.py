"""The end of a `match` that knows every case."""

from __future__ import annotations

from typing import NoReturn


def assert_never(value: NoReturn) -> NoReturn:
    """As in `typing` since Python 3.11: a case that was forgotten is a type error.

    Raises:
        AssertionError: it came all the same.
    """
    raise AssertionError(f"no case for {type(value).__name__}")
