"""Which model answers, with how much effort, and how fast."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.part import Around, Part
from winnow.core.controls import EFFORTS, Model

Change = Callable[[ports.Controls], Coroutine[Any, Any, None]]

DEFAULT = "default"
ON, OFF = "on", "off"
NO_EFFORT = "{model} has no effort {effort}: it is one of {efforts}."
UNKNOWN_EFFORT = "There is no effort {}: it is one of {}."
NOT_FAST = "{model} has no fast mode."
UNLISTED = "{} is no model that Claude Code lists; if there is none, the next turn fails."
NEXT = "{what} is {value} from the next turn on."


class Engine(Part):
    """Changes them in mid session, and keeps them over the lives of the agent."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        opened = around.opened
        self.values = {
            "model": opened.model or DEFAULT,
            "effort": opened.effort if opened.effort in EFFORTS else DEFAULT,
            "fast": ON if opened.fast else OFF,
        }
        self._models: list[Model] = []
        self._told: p.Offers | None = None

    def spec(self, spec: ports.AgentSpec) -> ports.AgentSpec:
        """See `Part.spec`."""
        model, effort = (self.values[name].replace(DEFAULT, "") for name in ("model", "effort"))
        fast = self.values["fast"] == ON
        return msgspec.structs.replace(spec, model=model, effort=effort, fast=fast)

    def connected(self, agent: ports.Agent) -> None:
        """See `Part.connected`."""
        session = self.around.session
        if agent.controls is not None:
            session.control(lambda controls: controls.models(), self._know, lambda _: None)

    def _know(self, models: list[Model]) -> None:
        self._models = models
        self._offer()

    def _offer(self) -> None:
        """Tell what can be chosen."""
        efforts = [*(model.efforts if (model := self._model()) else ()), DEFAULT]
        names = {model.name: model.about for model in self._models}
        offers = p.Offers(self.around.page.chat, names, list(dict.fromkeys(efforts)))
        if self._models and offers != self._told:
            self._told = offers
            self.around.page.apply(offers)

    def _model(self) -> Model | None:
        name = self.values["model"]
        return next((model for model in self._models if model.name == name), None)

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        match event:
            case p.Choose(what=what, value=value):
                self._choose(what, value)
                return True
        return False

    def _choose(self, what: str, value: str) -> None:
        page, session = self.around.page, self.around.session
        if problem := self._problem(what, value):
            page.say(problem, "warn")
        elif session.state == "connected":
            session.control(
                _change(what, value),
                lambda _: self._set(what, value),
                lambda error: page.say(error.sentence, "error"),
            )
        else:
            self._set(what, value)
            session.renew()  # what is connecting knows only what was before

    def _problem(self, what: str, value: str) -> str:
        model = self._model()
        if what == "effort" and value not in (*EFFORTS, DEFAULT):
            return UNKNOWN_EFFORT.format(value, ", ".join(EFFORTS))
        if model is None or value in (DEFAULT, OFF):
            return ""
        if what == "effort" and value not in model.efforts:
            efforts = ", ".join(model.efforts) or "none"
            return NO_EFFORT.format(model=model.name, effort=value, efforts=efforts)
        return NOT_FAST.format(model=model.name) if what == "fast" and not model.fast else ""

    def _set(self, what: str, value: str) -> None:
        self.values[what] = value
        page = self.around.page
        page.append(p.Meta(page.chat, {what: value}))
        names = {"model": "The model", "effort": "The effort", "fast": "Fast mode"}
        page.say(NEXT.format(what=names[what], value=value))
        self._offer()
        known = [model.name for model in self._models]
        if what == "model" and known and value not in known:
            page.say(UNLISTED.format(value), "warn")


def _change(what: str, value: str) -> Change:
    """What asks the agent for it."""
    if what == "model":
        return lambda controls: controls.set_model(value)
    return lambda controls: controls.set_flag(what, value)
