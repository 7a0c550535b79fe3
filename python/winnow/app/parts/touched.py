"""Where the agent is in the project's files."""

from __future__ import annotations

from winnow import protocol as p
from winnow.app.parts.part import Part
from winnow.core import agent as a
from winnow.core.proposal.patch import written_by


class Touched(Part):
    """Tells which file it reads, and which it has written: see ``lua/winnow/chat/follow.lua``."""

    def hear(self, event: a.AgentEvent) -> None:
        """See `Part.hear`."""
        match event:
            case a.ToolStarted(name="Read", input={"file_path": str(path), **given}):
                line = given.get("offset")
                self._tell(path, line if isinstance(line, int) else 1)
            case a.ToolFinished(id=call, failed=False):
                started = self.around.turn.running(call)
                if started and (written := written_by(started.tool, started.input)) is not None:
                    self._tell(written, 0, str(started.input.get("new_string") or ""))
            case _:
                pass

    def _tell(self, path: str, line: int, text: str = "") -> None:
        first = next((line for line in text.split("\n") if line.strip()), "")
        self.around.page.apply(p.Touched(self.around.page.chat, path, max(0, line), first))
