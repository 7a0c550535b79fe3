"""The context is almost full: shall a summary take its place? Asked before Claude Code does so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from winnow.core.agent import Allow, Deny, Reply, Request
from winnow.core.asking.way import Answered, ReadFile, Way
from winnow.core.proposal.blocks import Block, Malformed, Seen, Text
from winnow.core.proposal.origins import Refused, restored
from winnow.core.proposal.proposal import Change, Changed, Kept, Proposal
from winnow.core.question import Option, Question
from winnow.core.section import record
from winnow.core.section.form import Form
from winnow.core.text.visible import show

TOOL = "winnow:compact"  # no tool: what a hook of Claude Code asks
WANTED = """\
Keep the goal, what was decided and why, and what is still open.
Keep the names of the files that were changed, and the commands that work.
Leave out what was tried and given up, but for the reason."""

_TEXT = (
    "The context is almost full, so a summary is to take the place of what was said.\n"
    "What stands here is what Claude is told about it."
)
_STOP = 3
_OPTIONS = (
    Option("Compact", "then it goes on", role="allow"),
    Option("Go on without", "asked again in the next turn", role="deny"),
    Option("Stop", "the turn ends", role="answer"),
)


class Wanted(Proposal, frozen=True, dict=True):
    """Instructions for a summary; there need be none."""

    kind = "permission"
    refused = "Went on without"

    input: dict[str, Any]
    text: str

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See `Proposal`."""
        return (Block("markdown", tuple(show(line) for line in self.text.split("\n"))),)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See `Proposal`."""
        match seen[0]:
            case Malformed() as malformed:
                return malformed
            case Text(lines=lines) as now if "".join(lines).strip():
                if lines == self.blocks[0].lines:
                    return Kept(self.input)
                try:
                    left = restored(self.text.split("\n"), now)
                except Refused as refused:
                    return Malformed(refused.row, str(refused))
                return Changed({"instructions": "\n".join(line.text for line in left)}, "edited")
        return Changed({"instructions": ""}, "no instructions")


class Compaction(Way):
    """See the module."""

    tool = TOOL
    has_line = False
    waits_unattended = False
    past = "Whether to compact is asked again when the context is full."

    def read(self, id: str, request: Request, file: ReadFile) -> Form:
        """See `Way`."""
        wanted = Wanted(request.input, str(request.input["instructions"]))
        return Form(id, (Question(_TEXT, "Compact", _OPTIONS),), wanted, request.asker)

    def reply(self, answered: Answered) -> Reply:
        """Allowed with the instructions, or denied: then it goes on, or stops."""
        given = answered.given
        if given.kept == (_STOP,):
            return Deny("The user stopped.", stop=True)
        match answered.change:
            case Kept(input=input) | Changed(input=input) if not answered.form.refuses(given.kept):
                return Allow(input)
        return Deny("The user wants to go on without it.")

    def unanswered(self, request: Request, reason: str) -> Reply:
        """See `Way`: what Claude Code does where nobody decides."""
        return Allow(request.input)

    def record(self, answered: Answered) -> list[str]:
        """See `Way`."""
        call = "the context" if answered.given.kept != (_STOP,) else "the context is full"
        return record.granted(answered.form, answered.given, call)

    def line(self, input: dict[str, Any]) -> str:
        """See `Way`."""
        return "compact the context"


def asked() -> Request:
    """Ask, with instructions to begin with."""
    return Request(TOOL, {"instructions": WANTED})
