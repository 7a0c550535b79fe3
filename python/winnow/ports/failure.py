"""What the world can't do, as it is told."""

from __future__ import annotations


class Failure(Exception):
    """Something can't be done. Each kind is a class of its own.

    Args:
        sentence: what happened and what to do, for the user.
        detail: everything else, for the log.
    """

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail
