"""A review: files and their hunks as lines of one patch, and what of them is left by the user.

A file begins with a line of its own, and a hunk with its ``@@`` line; either goes with that line.
How a hunk is read: `winnow.core.proposal.hunks`. What the user says is a line with a sign in front.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from winnow.core.listing import Problem
from winnow.core.proposal import hunks
from winnow.core.proposal.blocks import Malformed
from winnow.core.proposal.diff import Diff, diff
from winnow.core.proposal.merge import FileChange
from winnow.core.review.comments import Comment, anchored, told
from winnow.core.text import grammar
from winnow.core.text.text import brief
from winnow.core.text.visible import show

FILE = "diff "
HINT = "dd undoes, A comments, :w does both"
NO_FILE = "stands below no file: u brings its line back"
STRANGE = "“{}” is no file of this review: u brings back what it was"
TWICE = "stands twice: delete one of the two, with what is below it"
WHOLE = "is below a change that can only be kept or deleted: u brings back what was there"
NAMES = 2  # lines of a diff that name its file


class Wanted(msgspec.Struct, frozen=True):
    """What the user wants: of files that are to be changed their texts, None: as they were; and
    what they say.
    """

    texts: Mapping[str, str | None] = {}
    comments: tuple[Comment, ...] = ()
    taken: int = 0  # hunks and whole changes that are taken back
    edited: tuple[str, ...] = ()  # files in which they wrote, too


class Shown(msgspec.Struct, frozen=True, dict=True):
    """One file of a review; ``name`` is how the user knows it."""

    file: FileChange
    name: str

    @cached_property
    def diff(self) -> Diff | None:
        """None: its change is taken back whole or not at all."""
        if not self.file.is_text:
            return None
        return diff(self.name, self.file.old, self.file.new or "")

    @cached_property
    def lines(self) -> list[str]:
        """Those of its hunks."""
        return [line.shown for line in self.diff.lines[NAMES:]] if self.diff else []

    @cached_property
    def head(self) -> str:
        """Its first line."""
        return f"{FILE}{show(self.name)} · {self._what}"

    @property
    def _what(self) -> str:
        file = self.file
        if file.new is None and not file.what:
            return f"deleted, {_lines(self.counted[1])}"
        if self.diff is None:
            return file.what or "new, empty"
        new = "new, " * (file.old is None)
        crlf = ", CRLF" * (self.diff.end == "\r\n") + f", {file.beside}" * bool(file.beside)
        added, removed = self.counted
        return f"{new}+{added} −{removed}{crlf}"

    @cached_property
    def counted(self) -> tuple[int, int]:
        """Lines that were added and removed."""
        if self.diff is None:
            return 0, (self.file.old or "").count("\n") if self.file.new is None else 0
        signs = [line.sign for line in self.diff.lines]
        return signs.count("+"), signs.count("-")


def _lines(count: int) -> str:
    return f"{count} line{'s' * (count != 1)}"


class Review(msgspec.Struct, frozen=True, dict=True):
    """All that changed; ``since`` says from when on, ``name`` is that of the answer it shows."""

    since: str
    files: tuple[Shown, ...]
    name: str = ""

    @cached_property
    def title(self) -> str:
        """The first line."""
        if not self.files:
            return f"Nothing has changed since {self.since}."
        added, removed = (
            sum(counts) for counts in zip(*(it.counted for it in self.files), strict=True)
        )
        count = len(self.files)
        return f"Since {self.since}: {count} file{'s' * (count > 1)} +{added} −{removed} · {HINT}"

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the buffer."""
        made = [self.title]
        for shown in self.files:
            made += [shown.head, *shown.lines]
        return made

    def file(self, head: str) -> Shown | None:
        """The one with this first line."""
        return self._heads.get(head.rstrip())

    @cached_property
    def _heads(self) -> dict[str, Shown]:
        return {shown.head.rstrip(): shown for shown in self.files}

    def read(self, rows: Sequence[str]) -> Wanted | Problem:
        """What the user wants, who has left these lines."""
        comments: list[Comment] = []
        texts: dict[str, str | None] = {}
        taken, edited = 0, []
        try:
            lines = [row for row, line in enumerate(rows) if not line.startswith(grammar.OWN)]
            parts = self._divide(rows, lines)
            comments = list(anchored(rows, self._heads))
            for shown in self.files:
                if (part := parts.get(shown.file.path)) is None:
                    texts[shown.file.path] = None
                    taken += max(1, len(shown.diff.hunks) if shown.diff else 1)
                    continue
                applied = _applied(shown, [rows[row] for row in part], part)
                if applied is None:
                    continue
                taken += len(applied.dropped)
                if applied.edited:
                    edited.append(shown.file.path)
                if applied.text != shown.file.new:
                    gone = shown.file.old is None and not applied.text
                    texts[shown.file.path] = None if gone else applied.text
        except _Refused as refused:
            return Problem(refused.row, f"{refused}.")
        return Wanted(texts, tuple(comments), taken, tuple(edited))

    def told(self, wanted: Wanted) -> str:
        """What the agent is to know of what the user did; empty: nothing."""
        names = [
            shown.name + " (a part of it)" * (wanted.texts[shown.file.path] is not None)
            for shown in self.files
            if shown.file.path in wanted.texts
        ]
        how = "undone or edited" if wanted.edited else "undone"
        return f"I have {how} some of your changes: {', '.join(names)}." if names else ""

    def said(self, wanted: Wanted) -> str:
        """The message that says the comments, and that."""
        names = {head: shown.name for head, shown in self._heads.items()}
        text = told(wanted.comments, names)
        done = self.told(wanted)
        return f"{text}\n\n{done}" if done else text

    def _divide(self, rows: Sequence[str], lines: Sequence[int]) -> dict[str, list[int]]:
        """The rows of each file that stays, which of those are left over aside."""
        parts: dict[str, list[int]] = {}
        heads: dict[str, int] = {}
        part: list[int] = []  # above all files
        for row in lines:
            line = rows[row]
            if not line.startswith(FILE):
                part.append(row)
                continue
            shown = self.file(line)
            if shown is None:
                raise _Refused(row, STRANGE.format(brief(line)))
            if shown.file.path in parts:
                raise _Refused(row, TWICE)
            part = parts[shown.file.path] = []
            heads[shown.file.path] = row
        above = [row for row in lines if not heads or row < min(heads.values())]
        self._check(rows, above, self._gone_after(-1, parts))
        for number, shown in enumerate(self.files):
            if shown.file.path in parts:
                rows_of = parts[shown.file.path]
                gone = self._gone_after(number, parts)
                parts[shown.file.path] = _without_left_over(rows, rows_of, shown, gone)
        return parts

    def _gone_after(self, number: int, parts: Mapping[str, object]) -> list[str]:
        """The lines of the files that come next, as long as their first lines are gone."""
        gone: list[str] = []
        for shown in self.files[number + 1 :]:
            if shown.file.path in parts:
                break
            gone += shown.lines
        return gone

    def _check(self, rows: Sequence[str], above: Sequence[int], gone: Sequence[str]) -> None:
        """Above all files nothing may be added."""
        left = [row for row in above if rows[row].strip() and rows[row].rstrip() != self.title]
        if left and not _are_left_of([rows[row] for row in left], gone):
            raise _Refused(left[0], NO_FILE)


class _Refused(Exception):
    """A row, from 0, can't be understood."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def _applied(shown: Shown, rows: Sequence[str], at: Sequence[int]) -> hunks.Applied | None:
    """What is left of a file; None: all."""
    if shown.diff is None:
        for row, line in zip(at, rows, strict=True):
            if line.strip():
                raise _Refused(row, WHOLE)
        return None
    if list(rows) == shown.lines:
        return None
    names = [line.shown for line in shown.diff.lines[:NAMES]]
    match hunks.apply(shown.diff, [*names, *rows]):
        case Malformed(row=row, message=message):
            number = min(max(0, row - NAMES), len(at) - 1)
            _, _, words = message.partition(f"line {row + 1} ")
            raise _Refused(at[number] if at else 0, words or message)
        case applied:
            return applied


def _without_left_over(
    rows: Sequence[str], part: list[int], shown: Shown, gone: Sequence[str]
) -> list[int]:
    """The rows of a file without those below, of files whose first lines are gone."""
    if not gone:
        return part
    heads = {line for line in shown.lines if line.startswith("@@")}
    for number, row in enumerate(part):
        if not rows[row].startswith("@@"):
            continue
        if rows[row].rstrip() not in heads:
            left = [rows[row] for row in part[number:]]
            return part[:number] if _are_left_of(left, gone) else part
        heads.discard(rows[row].rstrip())
    return part


def _are_left_of(rows: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether these rows are some of the lines, in order; blank ones don't count."""
    wanted: Iterator[str] = (line.rstrip() for line in lines)
    return all(row.rstrip() in wanted for row in rows if row.strip())
