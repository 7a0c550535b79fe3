"""Who answers stands at the top of the chat."""

from __future__ import annotations

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.part import Around, Part


class Named(Part):
    """Tells it, whenever it is another one."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._name = ""

    def connected(self, agent: ports.Agent) -> None:
        """See `Part.connected`."""
        if agent.name != self._name:
            self._name = agent.name
            self.around.page.append(p.Meta(self.around.page.chat, {"agent": agent.name}))
