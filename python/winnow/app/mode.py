"""The permission mode of a chat."""

from __future__ import annotations

import logging

from winnow import ports
from winnow import protocol as p
from winnow.app.page import Page
from winnow.app.session import Session
from winnow.core.transcript.entries import Noted

log = logging.getLogger(__name__)

BYPASS = "bypassPermissions"
_RAISED = ("acceptEdits", "auto", "dontAsk", BYPASS)  # in these, things run unasked


class Mode:
    """Which mode the agent works in, and how the user changes it.

    Attributes:
        name: empty while the agent has not told.
    """

    def __init__(
        self, opened: p.Open, page: Page, session: Session, decided: ports.Decided
    ) -> None:
        # Anybody may have written the text, so by itself it raises nothing.
        raised = opened.mode in _RAISED and opened.mode != opened.configured
        self.name = opened.configured if raised else opened.mode or opened.configured
        self._doubted = opened.mode if raised else ""
        self._chat = opened.path
        self._page = page
        self._session = session
        self._decided = decided

    async def first(self) -> str:
        """The mode to start in: what the text says, if the user had set that in this chat."""
        before, claimed = self.name, self._doubted or "default"
        if self._doubted or not before:
            try:
                found = await self._decided.mode(self._chat)
            except ports.StoreError as error:
                log.error("%s", error.sentence)
                found = ""
            if found == claimed != BYPASS and self.name == before:
                self.name, self._doubted = found, ""
        return self.name

    def heard(self, name: str) -> None:
        """The agent tells the mode, whoever has changed it."""
        doubted, self._doubted = self._doubted, ""
        if doubted not in ("", name):
            line = (
                f"The text of this chat says mode {doubted}, which was not set here: it is {name}."
            )
            self._page.append(Noted(line))
        if name != self.name or doubted:
            self.name = name
            self._page.append(p.Meta(self._page.chat, {"mode": name}))

    def change(self, name: str) -> None:
        """Change it, at once where the agent can; without a name, show it."""
        if not name:
            self._show()
        elif self._session.state != "connected":
            self._set(name)
            self._session.renew()  # what is connecting knows only the mode before
        elif BYPASS not in (name, self.name):
            self._session.request(
                lambda agent: agent.set_mode(name),
                lambda _: self.granted(name),
                lambda error: self._page.say(error.sentence, "error"),
            )
        elif self._session.working:
            self._page.say(f"{BYPASS} starts and ends between two turns: try again then.", "warn")
        else:  # the agent must be started for it
            self._set(name)
            self._session.renew()

    def granted(self, name: str) -> None:
        """The user has set it here, so that it holds when the chat is opened again."""

        async def remember() -> None:
            try:
                await self._decided.set_mode(self._chat, name)
            except ports.StoreError as error:
                log.error("%s", error.sentence)

        self._session.spawn(remember())

    def _set(self, name: str) -> None:
        self._doubted = ""
        self.heard(name)
        self.granted(name)

    def _show(self) -> None:
        """The mode, and the rules where the agent can tell them."""

        def show(rules: list[str]) -> None:
            head = f"mode: {self.name or 'default'}"
            lines = [head, "", *(rules or ["No rules are in force."])]
            self._page.apply(p.Rules(lines))

        self._session.control(
            lambda controls: controls.rules(),
            lambda rules: show([rule.line for rule in rules]),
            lambda error: show([error.sentence]),
        )
