"""What an agent wants to do, as text that the user edits: what stands there is what happens.

A proposal shows itself as `blocks` and reads them back as a `Change`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Union

import msgspec

from winnow.core.proposal import arguments, settings
from winnow.core.proposal.blocks import Block, Gone, Malformed, Seen, Text
from winnow.core.proposal.diff import diff
from winnow.core.proposal.origins import Refused, restored
from winnow.core.text.visible import show

_TOLD = 200  # lines of a change that the agent is told


class Kept(msgspec.Struct, frozen=True):
    """It stands as proposed; ``input`` is what the tool is to be called with."""

    input: dict[str, Any]


class Changed(msgspec.Struct, frozen=True):
    """The user made something else of it; ``words`` say so in short: "edited"."""

    input: dict[str, Any]
    words: str


class Emptied(msgspec.Struct, frozen=True):
    """Nothing of it is left, which refuses it; ``words`` say what is gone."""

    words: str


Change = Union[Kept, Changed, Emptied, Malformed]

Kind = Literal["question", "permission", "patch", "plan", "trust", "form", "rewind"]
"""What a section is called."""


class Proposal(msgspec.Struct, frozen=True, dict=True):
    """Base of all proposals.

    Attributes:
        kind: what to call it.
        refused: what its record says when it was refused.
        debated: to refuse it is to say what else is wanted, so words alone refuse it, and what was
            edited is said with them.
    """

    kind: ClassVar[Kind]
    refused: ClassVar[str] = "Denied"
    debated: ClassVar[bool] = False

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """What is shown to be edited."""
        raise NotImplementedError

    def read(self, seen: Sequence[Seen]) -> Change:
        """What became of it, as it is seen in the buffer: one for each of its blocks."""
        raise NotImplementedError

    def told(self, change: Changed) -> str:  # noqa: ARG002
        """What the agent reads about a change, when it may have it so."""
        return ""


class Call(Proposal, frozen=True, dict=True):
    """A tool call, by its arguments."""

    kind = "permission"

    tool: str
    input: dict[str, Any]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See `Proposal`."""
        return arguments.blocks(self.tool, self.input)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See `Proposal`."""
        match arguments.read(self.tool, self.input, seen):
            case Malformed() as malformed:
                return malformed
            case input if input is self.input:
                return Kept(self.input)
            case input:
                return Changed(input, "edited")

    def told(self, change: Changed) -> str:
        """What the agent reads about a change."""
        command = change.input.get("command")
        if self.tool == "Bash" and isinstance(command, str):
            ran = f"What ran is this command:\n{command}"
        else:
            shown = [line for block in Call(self.tool, change.input).blocks for line in block.lines]
            ran = "\n".join(["What ran is:", *shown])
        return f"The user edited this call before allowing it. {ran}"


class Plan(Proposal, frozen=True, dict=True):
    """A plan, as Markdown."""

    kind = "plan"
    refused = "Kept planning"
    debated = True

    input: dict[str, Any]
    text: str

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See `Proposal`."""
        return (Block("markdown", tuple(show(line) for line in self.text.split("\n"))),)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See `Proposal`."""
        match seen[0]:
            case Gone():
                return Emptied("nothing is left of the plan")
            case Malformed() as malformed:
                return malformed
            case Text(row=start, lines=lines):
                pass
        shown = self.blocks[0].lines
        if lines == shown:
            return Kept(self.input)
        if not "".join(lines).strip():
            return Emptied("nothing is left of the plan")
        try:
            kept = restored(self.text.split("\n"), Text(start, lines))
        except Refused as refused:
            return Malformed(refused.row, str(refused))
        return Changed({**self.input, "plan": "\n".join(line.text for line in kept)}, "edited")

    def told(self, change: Changed) -> str:
        """What the agent reads about a change."""
        return "The user edited the plan. What changed:\n" + difference(
            "plan", self.text, self.text_of(change)
        )

    def text_of(self, change: Change | None) -> str:
        """The plan as the user left it; as it was, where nothing can be read any more."""
        return str(change.input["plan"]) if isinstance(change, Changed) else self.text


class Settings(Proposal, frozen=True, dict=True):
    """What a project would have Claude Code do by itself: entries to keep or delete."""

    kind = "trust"
    refused = "Without its settings"

    tool: str
    input: dict[str, Any]
    project: str
    entries: tuple[str, ...]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See `Proposal`."""
        return (Block("text", tuple(li for one in self.entries for li in settings.lines_of(one))),)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See `Proposal`."""
        match settings.left(self.entries, seen[0]):
            case Malformed() as malformed:
                return malformed
            case []:
                return Emptied("all are gone")
            case kept if len(kept) == len(self.entries):
                return Kept(self.input)
            case kept:
                words = f"{len(kept)} of {len(self.entries)} settings"
                return Changed({**self.input, "entries": kept}, words)


def difference(path: str, old: str, new: str) -> str:
    """A unified diff, cut short."""
    lines = [line.shown for line in diff(path, old, new).lines]
    if len(lines) > _TOLD:
        lines = [*lines[:_TOLD], f"… {len(lines) - _TOLD} more lines"]
    return "\n".join(lines)
