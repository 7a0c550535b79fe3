"""Asking a model for one object: with tools to read, and nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from winnow.ports.agent import AgentError

OnEvent = Callable[[Mapping[str, Any]], object]
"""Gets each message of the model and each result that it gets, as Claude Code's stream has it:
``{"type": "assistant" | "user", "message": {"content": …}, …}``."""


class QueryError(AgentError):
    """A query has no result; each reason is a class of its own."""


class CliNotFound(QueryError):
    """Claude Code is nowhere."""


class NotStarted(QueryError):
    """Claude Code is there, but could not be run."""


class Exited(QueryError):
    """Claude Code ended before its result; ``code`` is its exit code, where that is known."""

    def __init__(self, sentence: str, detail: str = "", code: int | None = None) -> None:
        super().__init__(sentence, detail)
        self.code = code


class BrokenStream(QueryError):
    """What Claude Code writes can't be read."""


class TurnsSpent(QueryError):
    """The result is ``error_max_turns``."""


class Failed(QueryError):
    """The result is an error: ``error_during_execution``, or one of the API's."""


class BudgetSpent(QueryError):
    """The result is ``error_max_budget_usd``."""


class RetriesSpent(QueryError):
    """The result is ``error_max_structured_output_retries``."""


class NoOutput(QueryError):
    """The result is a success without an object."""


class WrongOutput(QueryError):
    """The object does not fit the schema."""


class Cancelled(QueryError):
    """The caller wanted it no more."""


MakeQuerier = Callable[[str, str], Awaitable["Querier"]]
"""For a folder to read, and a model (empty: the default one). Raises `AgentError`: there is none,
or nothing to log in with."""


class Querier(Protocol):
    """Queries that go on from each other, in one session."""

    @property
    def cost(self) -> float:
        """What all of them have cost so far, in US dollars."""

    async def query(
        self,
        system_prompt: str,
        user_prompt: str,
        schema: Mapping[str, Any],
        on_event: OnEvent | None = None,
    ) -> Any:
        """Ask once, for an object of this JSON Schema.

        Raises:
            QueryError: there is none.
        """

    async def cancel(self) -> None:
        """End the query that runs, which raises `Cancelled`."""
