"""What an agent wants to do, as text that the user edits: what stands there is what happens.

A proposal shows itself as blocks (`winnow.core.body`) and reads them back as a `Change`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Union

import msgspec

from winnow.core import arguments, patch, rewrite
from winnow.core.body import Block, Gone, Malformed, Seen, Text
from winnow.core.diff import Diff, diff
from winnow.core.lines import changes
from winnow.core.visible import restore, show

_FORMS = re.compile("[\u2400-\u2421⇥␊]|‹U\\+")  # how `show` makes the invisible visible
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


class Call(msgspec.Struct, frozen=True):
    """A tool call, by its arguments."""

    tool: str
    input: dict[str, Any]

    @property
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


class Patch(msgspec.Struct, frozen=True):
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

    @property
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
        rows = self._rows(lines)
        if isinstance(rows, Malformed):
            return Malformed(start + rows.row, rows.message)
        match patch.apply(self.diff, rows):
            case patch.Malformed(row=row, message=message):
                return Malformed(start + row, message)
            case applied:
                return self._change(start, applied)

    def _change(self, start: int, applied: patch.Applied) -> Change:
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

    def _rows(self, seen: Sequence[str]) -> list[patch.Row] | Malformed:
        """Which line of the diff each row is: told by comparison, since they carry no markers."""
        shown = self.blocks[0].lines
        line_of: list[int | None] = [None] * len(seen)
        typed = []
        at = old = 0
        for change in (*changes(shown, seen), None):
            stop = len(seen) if change is None else change.new_start
            for row in range(at, stop):
                line_of[row] = old + row - at
            if change is None:
                break
            at, old = change.new_end, change.old_end
            gone = range(change.old_start, change.old_end)
            new = range(change.new_start, change.new_end)
            if len(gone) == len(new):  # edited in place
                for row, line in zip(new, gone, strict=True):
                    if self._may_be(seen[row], self.diff.lines[line].sign):
                        line_of[row] = line
            typed += [row for row in new if line_of[row] is None]
        if not typed:
            return [patch.Row(text, line) for text, line in zip(seen, line_of, strict=True)]
        moved = {line.shown: at for at, line in enumerate(self.diff.lines) if line.sign == "+"}
        for row in typed:
            line_of[row] = moved.get(seen[row])
            if line_of[row] is None and _FORMS.search(seen[row]) and self._hides:
                what = "holds characters that can't be edited here: u brings it back"
                return Malformed(row, f"line {row + 1} {what}")
        return [patch.Row(text, line) for text, line in zip(seen, line_of, strict=True)]

    def _may_be(self, seen: str, sign: str) -> bool:
        if sign == "-":
            return seen[:1] in ("-", " ", "")
        if sign == "@":  # the names of the file, too
            return True
        return seen[:1] == sign or (sign == " " and not seen)

    @property
    def _hides(self) -> bool:
        return any(line.shown[1:] != line.text.rstrip("\r\n") for line in self.diff.lines)


class Plan(msgspec.Struct, frozen=True):
    """A plan, as Markdown."""

    input: dict[str, Any]
    text: str

    @property
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
        text = _restored(lines, shown, self.text.split("\n"))
        if isinstance(text, Malformed):
            return Malformed(start + text.row, text.message)
        return Changed({**self.input, "plan": text}, "edited")

    def told(self, change: Changed) -> str:
        """What the agent reads about a change."""
        return "The user edited the plan. What changed:\n" + _difference(
            "plan", self.text, self.text_of(change)
        )

    def text_of(self, change: Change | None) -> str:
        """The plan as the user left it; as it was, where nothing can be read any more."""
        return str(change.input["plan"]) if isinstance(change, Changed) else self.text


Proposal = Union[Call, Patch, Plan]


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
        name = f"cell {name}"
    else:
        return None
    if new == (old or ""):
        return None
    title = f"{path} · {name}"
    return Patch("NotebookEdit", input, path, old, new, diff(title, old, new), disk=notebook)


def _restored(
    seen: Sequence[str], shown: Sequence[str], originals: Sequence[str]
) -> str | Malformed:
    """Edited lines as they are meant; untouched ones as they were."""
    texts: list[str] = []
    at = old = 0
    for change in (*changes(shown, seen), None):
        stop = len(seen) if change is None else change.new_start
        texts += originals[old : old + stop - at]
        if change is None:
            break
        at, old = change.new_end, change.old_end
        paired = list(originals[change.old_start : change.old_end])
        for number, row in enumerate(range(change.new_start, change.new_end)):
            original = paired[number] if number < len(paired) else ""
            text = restore(seen[row], original)
            if text is None:
                what = "holds characters that can't be edited here: u brings it back"
                return Malformed(row, f"line {row + 1} {what}")
            texts.append(text)
    return "\n".join(texts)


def _difference(path: str, old: str, new: str) -> str:
    """A unified diff, cut short."""
    lines = [line.shown for line in diff(path, old, new).lines]
    if len(lines) > _TOLD:
        lines = [*lines[:_TOLD], f"… {len(lines) - _TOLD} more lines"]
    return "\n".join(lines)
