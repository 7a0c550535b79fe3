"""The permission mode of a chat."""

from __future__ import annotations

from winnow.app.page import Page
from winnow.app.session import Session
from winnow.core import protocol as p

BYPASS = "bypassPermissions"


class Mode:
    """Which mode the agent works in, and how the user changes it.

    Attributes:
        name: empty while the agent has not told.
    """

    def __init__(self, name: str, page: Page, session: Session) -> None:
        self.name = name
        self._page = page
        self._session = session

    def heard(self, name: str) -> None:
        """The agent tells the mode, whoever has changed it."""
        if name != self.name:
            self.name = name
            self._page.append(p.Meta(self._page.chat, {"mode": name}))

    def change(self, name: str) -> None:
        """Change it, at once where the agent can; without a name, show it."""
        if not name:
            self._show()
        elif self._session.state != "connected":
            self.heard(name)
            self._session.renew()  # what is connecting knows only the mode before
        elif BYPASS not in (name, self.name):
            self._session.request(
                lambda agent: agent.set_mode(name),
                lambda _: None,
                lambda error: self._page.say(error.sentence, "error"),
            )
        elif self._session.working:
            self._page.say(f"{BYPASS} starts and ends between two turns: try again then.", "warn")
        else:  # the agent must be started for it
            self.heard(name)
            self._session.renew()

    def _show(self) -> None:
        """The mode, and the rules where the agent can tell them."""

        def show(rules: list[str]) -> None:
            head = f"mode: {self.name or 'default'}"
            lines = [head, "", *(rules or ["No rules are in force."])]
            self._page.apply(p.Rules(self._page.chat, lines))

        if self._session.state == "connected":
            self._session.request(
                lambda agent: agent.rules(), show, lambda error: show([error.sentence])
            )
        else:
            show(["The rules can be told while Claude is connected."])
