"""What a git worktree changes, as a proposal: files and hunks to keep or to delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Union

import msgspec

from winnow.core.proposal import hunks, lines
from winnow.core.proposal.blocks import Block, Gone, Malformed, Seen, Text
from winnow.core.proposal.diff import Diff, diff
from winnow.core.proposal.proposal import Change, Changed, Emptied, Kept, Kind, Proposal
from winnow.core.text.visible import show

Wanted = Mapping[str, Union[str, None]]
"""Of each file that is to be changed, its text; None for all of its change, as it was made."""


class FileChange(msgspec.Struct, frozen=True):
    """One file's change. ``old`` and ``new`` are its texts; None: there is no such file.

    ``what`` says what is changed that is no text ("binary, 3 KB", "now executable"); without
    texts, the change is taken whole or not at all. ``beside`` is what else is told of it.
    """

    path: str  # from the top of the repository
    old: str | None = None
    new: str | None = None
    what: str = ""
    beside: str = ""

    @property
    def is_text(self) -> bool:
        """Its texts differ, and that is all of its change that there is to decide on."""
        return not self.what and self.new is not None and self.new != self.old

    @property
    def counted(self) -> tuple[int, int]:
        """Lines that were added and removed."""
        before, after = lines.split(self.old or ""), lines.split(self.new or "")
        found = lines.changes(before, after)
        return (
            sum(one.new_end - one.new_start for one in found),
            sum(one.old_end - one.old_start for one in found),
        )


def diffstat(files: Sequence[FileChange]) -> str:
    """How much is changed, in short; empty where nothing is."""
    if not files:
        return ""
    added, removed = map(sum, zip(*(file.counted for file in files), strict=True))
    return f"{len(files)} file{'s' * (len(files) > 1)} +{added} −{removed}"


def narrowed(files: Sequence[FileChange], wanted: Wanted) -> tuple[FileChange, ...]:
    """The changes that are left when only this is wanted."""
    return tuple(
        msgspec.structs.replace(file, new=text) if (text := wanted[file.path]) is not None else file
        for file in files
        if file.path in wanted
    )


class Merge(Proposal, frozen=True, dict=True):
    """All that a worktree changes; ``input`` is handed on as it is, with what is ``wanted``."""

    kind: ClassVar[Kind] = "patch"
    refused: ClassVar[str] = "Not merged"
    debated: ClassVar[bool] = True

    input: dict[str, Any]
    title: str
    files: tuple[FileChange, ...]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """One for each file: see `Proposal`."""
        return tuple(map(self._block, range(len(self.files))))

    def _block(self, number: int) -> Block:
        if (made := self._diffs[number]) is not None:
            return Block("diff", tuple(line.shown for line in made.lines))
        return Block("text", (_whole(self.files[number]),))

    @cached_property
    def _diffs(self) -> tuple[Diff | None, ...]:
        return tuple(
            diff(file.path, file.old, file.new or "") if file.is_text else None
            for file in self.files
        )

    def read(self, seen: Sequence[Seen]) -> Change:
        """See `Proposal`."""
        wanted: dict[str, str | None] = {}
        left, total, edited = 0, 0, False
        for number, (file, block) in enumerate(zip(self.files, seen, strict=True)):
            made = self._diffs[number]
            whole = max(1, len(made.hunks)) if made is not None else 1
            total += whole
            match block:
                case Gone():
                    continue
                case Malformed() as malformed:
                    return malformed
                case Text(row=row, lines=rows):
                    pass
            if rows == self.blocks[number].lines:
                wanted[file.path] = None
                left += whole
            elif made is None:
                if any(line.strip() for line in rows):
                    what = "can only be kept or deleted: u brings it back"
                    return Malformed(row, f"line {row + 1}: {show(file.path)} {what}")
            else:
                match hunks.apply(made, rows):
                    case Malformed(row=at, message=message):
                        return Malformed(row + at, message)
                    case applied if applied.text != (file.old or ""):
                        wanted[file.path] = applied.text
                        left += whole - len(applied.dropped)
                        edited = edited or applied.edited
        return self._change(wanted, left, total, edited=edited)

    def _change(
        self, wanted: dict[str, str | None], left: int, total: int, *, edited: bool
    ) -> Change:
        if not wanted:
            return Emptied("all changes are gone")
        input = {**self.input, "wanted": wanted}
        words = [f"{left} of {total} hunks"] if left < total else []
        words += ["edited"] if edited else []
        return Changed(input, ", ".join(words)) if words else Kept(input)

    def told(self, change: Changed) -> str:
        """What the agent reads about what became of its change."""
        wanted: Wanted = change.input["wanted"]
        gone = [file.path for file in self.files if file.path not in wanted]
        cut = [path for path, text in wanted.items() if text is not None]
        said = f"The user merged a part of it ({change.words})."
        said += f" Not merged: {', '.join(gone)}." if gone else ""
        return said + (f" Merged in part, or edited: {', '.join(cut)}." if cut else "")


def _whole(file: FileChange) -> str:
    """A change that is no text, in one line."""
    if file.new is None and not file.what:
        return f"{show(file.path)}: deleted"
    return f"{show(file.path)}: {file.what or 'new, empty'}"
