"""The loop: ask, wait for the answers, ask what is still open; then the specification."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from winnow import ports
from winnow.core.clarify import prompts, rounds
from winnow.core.clarify import spec as specs
from winnow.core.clarify.clarification import Clarification, Given, problem
from winnow.core.clarify.prompts import Prompts
from winnow.core.clarify.rounds import Refused, Round
from winnow.ports.query import OnEvent, WrongOutput

TRIES = 3  # for a round that can be used


class Front(Protocol):
    """Who answers, and where it is kept."""

    async def ask(self, known: Clarification) -> tuple[list[Given | None], str] | None:
        """Have `Clarification.open` answered, with a name for that; None: not now.

        What gets no answer is asked again, unless the user has had *enough*.
        """

    async def keep(self, known: Clarification) -> Clarification:
        """Something is known now, not to be lost. It may get a place for its draft."""


class Loop:
    """From a request to a specification.

    Attributes:
        known: all that is known; who hears of something adds it.

    Args:
        plain: the model gives questions as bare strings.
        now: the time, in words.
    """

    def __init__(
        self,
        known: Clarification,
        querier: ports.Querier,
        templates: Prompts,
        front: Front,
        now: Callable[[], str],
        *,
        on_event: OnEvent | None = None,
        plain: bool = False,
    ) -> None:
        self.known = known
        self._querier = querier
        self._templates = templates
        self._front = front
        self._now = now
        self._on_event = on_event
        self._schema = rounds.PLAIN_SCHEMA if plain else rounds.SCHEMA

    async def run(self, spec: str = "") -> specs.Spec | None:
        """Ask until nothing is open; the specification, or None where nobody answers now.

        Args:
            spec: the one that is there, as the user has left it.

        Raises:
            AgentError: the request can't be clarified, or the model gives nothing of use.
        """
        if why := problem(self.known.request):
            raise ports.AgentError(why)
        if not await self._answers():  # to what was asked before this began
            return None
        while not self.known.over:
            found = await self._round(spec)
            self.known = self.known.asks(found)
            self.known = await self._front.keep(self.known)
            if not found.questions:
                break
            if not await self._answers():
                return None
        given = await self._query(self._templates.spec, specs.SCHEMA, spec)
        return msgspec.convert(given, specs.Spec)

    async def _answers(self) -> bool:
        """To all that is open, unless the user has had *enough*; False: nobody answers now."""
        while self.known.open and not self.known.enough:
            answered = await self._front.ask(self.known)
            if answered is None:
                return False
            given, call = answered
            self.known = self.known.answered(given, call)
            self.known = await self._front.keep(self.known)
        return True

    async def _round(self, spec: str) -> Round:
        """What is still open; asked again where that can't be used."""
        reason = ""
        for _ in range(TRIES):
            before = prompts.again(reason) if reason else ""
            try:
                given = await self._query(self._templates.questions, self._schema, spec, before)
                return rounds.read(given, self.known.questions)
            except Refused as refused:
                reason = str(refused)
            except WrongOutput as wrong:
                reason = wrong.sentence.rstrip(".")
        raise WrongOutput(f"Claude's questions can't be used: {reason}.")

    async def _query(
        self, template: str, schema: Mapping[str, Any], spec: str, before: str = ""
    ) -> Any:
        prompt = before + prompts.fill(template, self.known, self._now(), spec)
        return await self._querier.query(self._templates.system, prompt, schema, self._on_event)
