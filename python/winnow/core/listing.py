"""Lists: things as lines of a buffer, and what edited lines ask for.

A line is found again by the marker in it, as an option of a section is; its text may be edited
where the list says so, and a new line is a new thing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from winnow.core.text import grammar
from winnow.core.text.text import MARKER, clean, marker, strip_markers

LOST = "this line has lost what says which thing it is; u brings it back."
CHANGED = "this line can't be changed, only deleted; u brings it back."
NO_NEW = "nothing can be added here; delete the line."

_RARE = str.maketrans("0123456789abcdef", "bdfghjkmnpqrtvwx")


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


def key(name: str) -> str:
    """A key for a thing, whose name may be of any length and have any character.

    Without digits and vowels: `/` finds what is hidden, too, and what is typed next would then be
    done to another line.
    """
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return digest.translate(_RARE)


def render(rows: Iterable[Row]) -> list[str]:
    """The lines of a list."""
    return [_line(row) for row in rows]


@lru_cache(maxsize=1 << 12)  # most lines are as they were
def _line(row: Row) -> str:
    text = clean(row.text).rstrip()
    return f"{text}{marker(row.key, 0, grammar.LINE)}" if row.key else text


def rows_of(lines: Sequence[str]) -> dict[str, int]:
    """The rows of things, by their keys."""
    return {found: row for row, line in enumerate(lines) if (found := _key(line))}


def texts_of(lines: Sequence[str]) -> dict[str, str]:
    """What the lines of things say, by their keys."""
    return {found: text_of(lines[row]) for found, row in rows_of(lines).items()}


def _key(line: str) -> str:
    found = MARKER.search(line)
    return found[1].lower() if found and found[3].lower() == grammar.LINE else ""


def read(
    rows: Sequence[Row],
    before: Sequence[str],
    now: Sequence[str],
    past: Collection[str] = (),
    *,
    new: bool = True,
) -> Edits | Problem:
    """What a list that showed ``before`` and is ``now`` asks for.

    Args:
        rows: the things as they are now; what is no longer among them is past, however it stands.
        before: the list's lines.
        now: the same, as the user has left them.
        past: the keys of things that may come back, as by ``u`` after they were deleted.
        new: something may be added.
    """
    remarks = {text_of(line) for line in before}
    fixed = {row.key for row in rows if not row.editable}
    shown = texts_of(before)
    known = _Known(shown, set(shown.values()), remarks, fixed, past, new)
    seen: dict[str, int] = {}
    changed: dict[str, str] = {}
    added: list[tuple[str, str]] = []
    above = ""
    for row, line in enumerate(now):
        found, text = _key(line), text_of(line)
        if found in seen:
            return Problem(row, f"it stands on line {seen[found] + 1}, too.")
        if sentence := known.problem(found, text, line):
            return Problem(row, sentence)
        if found:
            seen[found], above = row, found
            if text != shown.get(found, text):
                changed[found] = text
        elif text and text not in remarks:
            added.append((above, text))
    gone = tuple(found for found in shown if found not in seen)
    back = tuple(found for found in seen if found not in shown)
    return Edits(gone, changed, tuple(added), tuple(seen), back)


class _Known(NamedTuple):
    """What lines are read by; see `read`."""

    shown: dict[str, str]
    texts: set[str]  # of all of these
    remarks: set[str]
    fixed: set[str]
    past: Collection[str]
    new: bool

    def problem(self, found: str, text: str, line: str) -> str:
        """What is wrong with a line of this key, or of none; empty: nothing."""
        if found and found not in self.shown:
            return "" if found in self.past else "this line is from another list."
        if found:
            return CHANGED if found in self.fixed and text != self.shown[found] else ""
        more = text and text not in self.remarks
        scraps = more and strip_markers(line, fragments=True).strip() != text
        if scraps or text in self.texts:
            return LOST
        return NO_NEW if more and not self.new else ""


def text_of(line: str) -> str:
    """What a line says, with what was written behind its marker."""
    return strip_markers(line).strip()
