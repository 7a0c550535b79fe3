"""What an agent wants to do, as text that the user edits: what stands there is what happens.

A proposal shows itself as blocks (`winnow.core.body`) and reads them back as a `Change`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Union

import msgspec

from winnow.core.proposal import arguments, hunks, rewrite, settings
from winnow.core.proposal.blocks import Block, Gone, Malformed, Seen, Text
from winnow.core.proposal.diff import Diff, diff
from winnow.core.proposal.origins import Refused, restored
from winnow.core.text.visible import show

_HEAD = re.compile(r"@@ -(\d+)")
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


class Call(msgspec.Struct, frozen=True, dict=True):
    """A tool call, by its arguments."""

    tool: str
    input: dict[str, Any]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See the module."""
        return arguments.blocks(self.tool, self.input)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See the module."""
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


class Patch(msgspec.Struct, frozen=True, dict=True):
    """A call that writes a file, by the difference that it makes.

    ``old`` is the file's text, None where there is none; ``new`` what the call proposes. Both are
    those of one cell where ``tool`` is NotebookEdit.
    """

    tool: str
    input: dict[str, Any]
    path: str
    old: str | None
    new: str
    diff: Diff
    disk: str | None  # the whole file, as it was when this was asked

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See the module."""
        return (Block("diff", tuple(line.shown for line in self.diff.lines)),)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See the module."""
        match seen[0]:
            case Gone():
                return Emptied("all hunks are gone")
            case Malformed() as malformed:
                return malformed
            case Text(row=start, lines=lines):
                pass
        if lines == self.blocks[0].lines:
            return Kept(self._input(self.new) or self.input)
        match hunks.apply(self.diff, lines):
            case Malformed(row=row, message=message):
                return Malformed(start + row, message)
            case applied:
                return self._change(start, applied)

    def _change(self, start: int, applied: hunks.Applied) -> Change:
        total = len(self.diff.hunks)
        if len(applied.dropped) == total or applied.text == (self.old or ""):
            return Emptied("all hunks are gone" if applied.dropped else "no change is left")
        if applied.text == self.new and not applied.dropped:
            return Kept(self._input(self.new) or self.input)
        input = self._input(applied.text)
        if input is None:
            return Malformed(start, f"{self.tool} can't write exactly this: u brings it back")
        words = []
        if applied.dropped:
            words.append(f"{total - len(applied.dropped)} of {total} hunks")
        if applied.edited:
            words.append("edited")
        return Changed(input, ", ".join(words))

    def _input(self, text: str) -> dict[str, Any] | None:
        if self.tool == "NotebookEdit":
            return {**self.input, "new_source": text}
        return rewrite.rewrite(self.tool, self.input, self.old, text)

    def told(self, change: Changed) -> str:
        """What the agent reads about a change."""
        if self.tool == "NotebookEdit":
            text = str(change.input["new_source"])
        else:
            text = rewrite.proposed(self.tool, change.input, self.old) or ""
        return (
            f"The user changed this edit before allowing it ({change.words}). "
            "What was written differs from what you proposed:\n"
            + _difference(self.path, self.new, text)
        )

    def text_of(self, change: Change) -> str | None:
        """What the file will hold, None where nothing is written."""
        if not isinstance(change, (Kept, Changed)):
            return None
        if self.tool == "NotebookEdit":
            return str(change.input["new_source"])
        return rewrite.proposed(self.tool, change.input, self.old)

    def place(self, lines: Sequence[str], row: int) -> int:
        """The line of the file, from 1, that this row of the diff (from 0) stands at."""
        stays = (" ", "", "+" if lines[row].startswith("+") else "-")
        above = 0
        for at in range(row, -1, -1):
            if head := _HEAD.match(lines[at]):
                return max(1, int(head[1])) + above
            above += at < row and lines[at][:1] in stays
        return 1


class Plan(msgspec.Struct, frozen=True, dict=True):
    """A plan, as Markdown."""

    input: dict[str, Any]
    text: str

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See the module."""
        return (Block("markdown", tuple(show(line) for line in self.text.split("\n"))),)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See the module."""
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
        return "The user edited the plan. What changed:\n" + _difference(
            "plan", self.text, self.text_of(change)
        )

    def text_of(self, change: Change | None) -> str:
        """The plan as the user left it; as it was, where nothing can be read any more."""
        return str(change.input["plan"]) if isinstance(change, Changed) else self.text


class Settings(msgspec.Struct, frozen=True, dict=True):
    """What a project would have Claude Code do by itself: entries to keep or delete."""

    tool: str
    input: dict[str, Any]
    project: str
    entries: tuple[str, ...]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See the module."""
        return (Block("text", tuple(li for one in self.entries for li in settings.lines_of(one))),)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See the module."""
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

    def told(self, change: Changed) -> str:  # noqa: ARG002
        """No agent reads about it."""
        return ""


Proposal = Union[Call, Patch, Plan, Settings]


def written_by(tool: str, input: dict[str, Any]) -> str | None:
    """The path of the file that a call writes; None where it writes none, or no one knows which."""
    match tool, input:
        case "Write" | "Edit", {"file_path": str(path)}:
            return path
        case "NotebookEdit", {"notebook_path": str(path)}:
            return path
    return None


def patch_of(tool: str, input: dict[str, Any], path: str, old: str | None) -> Patch | None:
    """What a call of Write or Edit does to a file; None where that can't be shown as a diff."""
    new = rewrite.proposed(tool, input, old)
    if new is None or new == (old or "") or rewrite.rewrite(tool, input, old, new) is None:
        return None  # what is shown must be what is written
    return Patch(tool, input, path, old, new, diff(path, old, new), disk=old)


def cell_of(input: dict[str, Any], notebook: str) -> Patch | None:
    """What a call of NotebookEdit does to a cell; None where that can't be shown as a diff."""
    match input:
        case {"notebook_path": str(path), "new_source": str(new)}:
            pass
        case _:
            return None
    mode, name = input.get("edit_mode") or "replace", str(input.get("cell_id") or "")
    if mode == "insert":
        old: str | None = None
        name = f"new {input.get('cell_type') or ''} cell".replace("  ", " ") + (
            f" after {name}" if name else ""
        )
    elif mode == "replace":
        if (old := rewrite.cell(notebook, name)) is None:
            return None
        name = f"cell {name}" + (f" as {kind}" if (kind := input.get("cell_type")) else "")
    else:
        return None
    if new == (old or ""):
        return None
    title = f"{path} · {name}"
    return Patch("NotebookEdit", input, path, old, new, diff(title, old, new), disk=notebook)


def _difference(path: str, old: str, new: str) -> str:
    """A unified diff, cut short."""
    lines = [line.shown for line in diff(path, old, new).lines]
    if len(lines) > _TOLD:
        lines = [*lines[:_TOLD], f"… {len(lines) - _TOLD} more lines"]
    return "\n".join(lines)
