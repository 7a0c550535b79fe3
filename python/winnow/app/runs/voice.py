"""What the orchestrator says: of its text, only this reaches the user as a question."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from winnow.core.run import query
from winnow.core.run.query import Query
from winnow.core.run.run import Run

log = logging.getLogger(__name__)


class Voice:
    """The orchestrator's words, message by message.

    Attributes:
        about: what its turn is about: a question, a task, or nothing.
        before: what its last turn was about.
    """

    def __init__(self, run: Run) -> None:
        self.about = ""
        self.before = ""
        self._run = run
        self._said: list[str] = []  # its message so far
        self._near: list[str] = []  # what in its turn seemed to ask the user
        self._reminded: set[str] = set()

    def hear(self, text: str) -> None:
        """A piece of a message."""
        self._said.append(text)

    def asks(self) -> Iterator[tuple[Query | None, str]]:
        """The message is whole: what it asks, about a worker's question or for itself."""
        said, self._said = "".join(self._said), []
        parsed = query.parse_human_query(said)
        if parsed.near:
            log.warning("nearly asked the user, %d times", len(parsed.near))
            self._near += parsed.near
        about = self._run.queries.get(self.about)
        if about is not None and about.state == "asked" and parsed.questions:
            yield about, "\n\n".join(parsed.questions)
        else:
            yield from ((None, question) for question in parsed.questions)

    def over(self) -> list[str]:
        """Its turn is over: what in it seemed to ask, and reached nobody."""
        near, self._near = self._near, []
        self.before, self.about = self.about, ""
        return near

    def is_reminded(self, id: str) -> bool:
        """Whether it was told once more of this question; from now on it was."""
        before = id in self._reminded
        self._reminded.add(id)
        return before

    def lost(self) -> None:
        """Its agent is gone."""
        self._said, self._near, self.about = [], [], ""
