"""A change of a file as a proposal: its diff, of which hunks can be deleted and lines edited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from winnow.core.proposal import hunks, rewrite
from winnow.core.proposal.blocks import Block, Gone, Malformed, Seen, Text
from winnow.core.proposal.diff import Diff, diff
from winnow.core.proposal.proposal import Change, Changed, Emptied, Kept, Proposal, difference

_HEAD = re.compile(r"@@ -(\d+)")


class Patch(Proposal, frozen=True, dict=True):
    """A call that writes a file, by the difference that it makes.

    ``old`` is the file's text, None where there is none; ``new`` what the call proposes.
    """

    kind = "patch"

    tool: str
    input: dict[str, Any]
    path: str
    old: str | None
    new: str
    diff: Diff
    disk: str | None  # the whole file, as it was when this was asked

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """See `Proposal`."""
        return (Block("diff", tuple(line.shown for line in self.diff.lines)),)

    def read(self, seen: Sequence[Seen]) -> Change:
        """See `Proposal`."""
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
        """The call that writes this; None: there is none."""
        return rewrite.rewrite(self.tool, self.input, self.old, text)

    def _written(self, input: dict[str, Any]) -> str | None:
        """What a call with this input writes."""
        return rewrite.proposed(self.tool, input, self.old)

    def told(self, change: Changed) -> str:
        """What the agent reads about a change."""
        text = self._written(change.input) or ""
        return (
            f"The user changed this edit before allowing it ({change.words}). "
            "What was written differs from what you proposed:\n"
            + difference(self.path, self.new, text)
        )

    def text_of(self, change: Change) -> str | None:
        """What the file will hold, None where nothing is written."""
        return self._written(change.input) if isinstance(change, (Kept, Changed)) else None

    def place(self, lines: Sequence[str], row: int) -> int:
        """The line of the file, from 1, that this row of the diff (from 0) stands at."""
        stays = (" ", "", "+" if lines[row].startswith("+") else "-")
        above = 0
        for at in range(row, -1, -1):
            if head := _HEAD.match(lines[at]):
                return max(1, int(head[1])) + above
            above += at < row and lines[at][:1] in stays
        return 1


class CellPatch(Patch, frozen=True, dict=True):
    """As `Patch`, for one cell of a notebook: ``old`` and ``new`` are that cell's."""

    def _input(self, text: str) -> dict[str, Any] | None:
        return {**self.input, "new_source": text}

    def _written(self, input: dict[str, Any]) -> str | None:
        return str(input["new_source"])


def written_by(tool: str, input: dict[str, Any]) -> str | None:
    """The path of the file that a call writes; None where it writes none, or no one knows which."""
    match tool, input:
        case "Write" | "Edit", {"file_path": str(path)}:
            return path
        case "NotebookEdit", {"notebook_path": str(path)}:
            return path
    return None


def proposed_by(tool: str, input: dict[str, Any], path: str, old: str | None) -> Patch | None:
    """What a call does to the file of this path; None where that can't be shown as a diff."""
    if tool == "NotebookEdit":
        return cell_of(input, old or "")
    return patch_of(tool, input, path, old)


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
    return CellPatch("NotebookEdit", input, path, old, new, diff(title, old, new), disk=notebook)
