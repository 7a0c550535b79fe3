"""What the user says about a change: lines of the review, each about the code above it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from winnow.core.proposal.diff import NO_NEWLINE
from winnow.core.text import grammar

FILE = "diff "
INTRO = "My comments on your changes:"
MOST = 8  # lines of a hunk that are quoted
_HEAD = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class Comment(msgspec.Struct, frozen=True):
    """``head`` is the first line of its file, empty: it is about all; ``code`` what it is about.

    ``line`` is where that stands in the file, from 1; 0: nowhere.
    """

    text: str
    head: str = ""
    line: int = 0
    code: tuple[str, ...] = ()


def anchored(rows: Sequence[str], heads: Collection[str]) -> Iterator[Comment]:
    """All that the user says; lines that follow each other are one."""
    said: list[str] = []
    above = -1  # the row that it is about
    for row, line in enumerate([*rows, ""]):
        if line.startswith(grammar.OWN):
            said.append(line.removeprefix(grammar.OWN).strip())
            continue
        if any(said):
            yield _anchored(rows, above, "\n".join(said).strip(), heads)
        said, above = [], row


def _anchored(rows: Sequence[str], at: int, text: str, heads: Collection[str]) -> Comment:
    head = ""
    for row in range(at, -1, -1):
        if rows[row].rstrip() in heads:
            head = rows[row].rstrip()
            break
    if not head or at < 0 or rows[at].rstrip() == head:
        return Comment(text, head)
    line, code = place(rows, at), rows[at : at + 1]
    if rows[at].startswith("@@"):
        code = list(_hunk(rows, at))
    return Comment(text, head, line, tuple(code))


def _hunk(rows: Sequence[str], at: int) -> Iterator[str]:
    """The first lines of one."""
    for row in range(at + 1, min(at + 1 + MOST, len(rows))):
        if rows[row][:1] not in (" ", "+", "-"):
            return
        yield rows[row]


def place(rows: Sequence[str], at: int) -> int:
    """Where this row's line is in the file as it is now, from 1; 0: it is none."""
    below = 0
    for row in range(at, -1, -1):
        line = rows[row]
        if found := _HEAD.match(line):
            return max(1, int(found[1]) + below - (below > 0 and rows[at][:1] in ("+", " ")))
        if line.startswith(FILE):
            return 0
        below += line[:1] in ("+", " ") and line != NO_NEWLINE
    return 0


def told(comments: Sequence[Comment], names: dict[str, str]) -> str:
    """The message that says them; ``names`` are those of files, by their first lines."""
    blocks = [INTRO]
    for comment in comments:
        name = names.get(comment.head, "")
        where = f"{name}:{comment.line}" if comment.line else name
        quoted = "\n".join(comment.code)
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", quoted)), default=0))
        code = f"{fence}diff\n{quoted}\n{fence}" if comment.code else ""
        blocks.append("\n".join(filter(None, [where, code, comment.text])))
    return "\n\n".join(blocks)
