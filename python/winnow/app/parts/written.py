"""Files that the agent has written are shown as they are."""

from __future__ import annotations

from winnow import protocol as p
from winnow.app.parts.part import Part
from winnow.core import agent as a
from winnow.core.proposal.patch import written_by


class Written(Part):
    """Has the editor look at them again."""

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        match event:
            case a.ToolFinished(id=call, failed=False):
                started = self.around.turn.running(call)
                if started and (path := written_by(started.tool, started.input)) is not None:
                    self.around.page.apply(p.Reload(path))
            case a.TurnEnded():
                self.around.page.apply(p.Reload())  # a command may have written any file
            case _:
                pass
