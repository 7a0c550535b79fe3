"""Lists: things as lines of a buffer, and what edited lines ask for.

A line is found again by the marker in it, as an option of a section is; its text may be edited
where the list says so, and a new line is a new thing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from winnow.core.text import grammar
from winnow.core.text.text import MARKER, clean, marker, strip_markers

LOST = "this line has lost what says which thing it is; u brings it back."
CHANGED = "this line can't be changed, only deleted; u brings it back."
NO_NEW = "nothing can be added here; delete the line."


class Row(msgspec.Struct, frozen=True):
    """One line.

    Args:
        text: what it says.
        key: lower-case letters and digits, at most 40; empty: a heading or a remark, no thing.
        editable: its text may be changed.
    """

    text: str
    key: str = ""
    editable: bool = False


class Problem(msgspec.Struct, frozen=True):
    """A line (from 0) that can't be understood; so nothing is done."""

    row: int
    sentence: str


class Edits(msgspec.Struct, frozen=True):
    """What the user wants: by keys.

    Args:
        gone: the lines that were deleted.
        changed: new texts.
        added: texts of new lines, each with the key of the thing above it, empty at the top.
        order: all that are left, as they stand now.
        back: what had been deleted before, and stands there again.
    """

    gone: tuple[str, ...] = ()
    changed: Mapping[str, str] = {}
    added: tuple[tuple[str, str], ...] = ()
    order: tuple[str, ...] = ()
    back: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Anything but an order is wanted."""
        return bool(self.gone or self.changed or self.added or self.back)


def digest(text: str) -> str:
    """A key for a thing whose name may be long, and like another one's at its end."""
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def key(text: Any) -> str:
    """A key for a thing whose name may have any character."""
    return str(text).encode().hex()[-40:] or "0"


def render(rows: Iterable[Row]) -> list[str]:
    """The lines of a list."""
    return [_line(row) for row in rows]


def _line(row: Row) -> str:
    text = clean(row.text).rstrip()
    return f"{text}{marker(row.key, 0, grammar.LINE)}" if row.key else text


def keys(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Which rows are things, and which."""
    for row, line in enumerate(lines):
        if found := _key(line):
            yield row, found


def _key(line: str) -> str:
    found = MARKER.search(line)
    return found[1].lower() if found and found[3].lower() == grammar.LINE else ""


def read(
    rows: Sequence[Row], before: Sequence[str], now: Sequence[str], past: Collection[str] = ()
) -> Edits | Problem:
    """What a list that showed ``before`` and is ``now`` asks for.

    Args:
        rows: the things as they are now; what is no longer among them is past, however it stands.
        before: the list's lines.
        now: the same, as the user has left them.
        past: the keys of things that may come back, as by ``u`` after they were deleted.
    """
    known = {row.key: row for row in rows if row.key}
    shown = {found: text_of(before[row]) for row, found in keys(before)}
    remarks = {strip_markers(line).strip() for line in before}
    seen: dict[str, int] = {}
    changed: dict[str, str] = {}
    added: list[tuple[str, str]] = []
    above = ""
    for row, line in enumerate(now):
        text = text_of(line)
        if found := _key(line):
            if found not in shown and found not in past:
                return Problem(row, "this line is from another list.")
            if found in seen:
                return Problem(row, f"this line stands twice: it is line {seen[found] + 1}, too.")
            seen[found] = row
            above = found
            if found in shown and text != shown[found]:
                if found in known and not known[found].editable:
                    return Problem(row, CHANGED)
                changed[found] = text
        elif text and text not in remarks:
            if strip_markers(line, fragments=True).strip() != text or text in shown.values():
                return Problem(row, LOST)
            added.append((above, text))
        elif text in shown.values():
            return Problem(row, LOST)
    gone = tuple(found for found in shown if found not in seen)
    back = tuple(found for found in seen if found not in shown)
    return Edits(gone, changed, tuple(added), tuple(seen), back)


def text_of(line: str) -> str:
    """What a line says, with what was written behind its marker."""
    return strip_markers(line).strip()
