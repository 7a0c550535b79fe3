"""A message of a model as it works: few lines, and the rest folded beneath."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from winnow.core.folder import UNKNOWN, Folder
from winnow.core.text import grammar
from winnow.core.text.encoding import to_json
from winnow.core.text.text import clean_block
from winnow.core.transcript.rendering import FOLDED, THINKING, tool_line

LINES = 5  # of one message that are in sight
MOST = 500  # of one message, the folded ones included: a file that it has read may be long
_WIDE = 200  # characters of a line


def lines(message: Mapping[str, Any], folder: Folder = UNKNOWN) -> list[str]:
    """What a message of Claude Code's stream says; empty: nothing.

    A line for each of its blocks is in sight, at most `LINES`; the rest folds beneath these. No
    kind of block is left out.

    Args:
        message: ``{"type": "assistant" | "user", "message": {"content": …}}``.
        folder: by which files are named.
    """
    body = message.get("message")
    content = body.get("content") if isinstance(body, Mapping) else None
    blocks = content if isinstance(content, list) else [content]
    found: list[str] = []
    heads = 0
    for block in blocks:
        said = [line for line in _block(block, folder) if line.strip()]
        if said and heads < LINES:
            heads += 1
            head = said.pop(0)
            marked = head.startswith((grammar.TOOL, grammar.THOUGHT))
            found.append(head if marked else f"{grammar.TOOL} {head}")
        found += (FOLDED + line for line in said)
    more = len(found) - MOST
    return found if more <= 0 else [*found[:MOST], f"{FOLDED}… {more} more lines"]


def brief(message: Mapping[str, Any], folder: Folder = UNKNOWN) -> list[str]:
    """As `lines`, where nothing folds: at most `LINES`, and how many more there are."""
    found = lines(message, folder)
    more = len(found) - LINES + 1
    return found if more <= 1 else [*found[: LINES - 1], f"{FOLDED}… {more} more lines"]


def _block(block: object, folder: Folder) -> Iterator[str]:
    match block:
        case None:
            return
        case str(text) | {"type": "text", "text": str(text)}:
            yield from _cut(text)
        case {"type": "thinking", "thinking": str(text)}:
            yield THINKING
            yield from _cut(text)
        case {"type": "tool_use", "name": str(name), "input": dict(input)}:
            yield f"{grammar.TOOL} {tool_line(name, input, folder)}"
        case {"type": "tool_result", "content": content, **rest}:
            failed = f" {grammar.REFUSED}" if rest.get("is_error") else ""
            yield f"{grammar.TOOL} Result{failed}"
            for part in content if isinstance(content, list) else [content]:
                yield from _block(part, folder)
        case {"type": str(kind)}:
            yield f"({kind})"
        case _:
            yield from _cut(to_json(block))


def _cut(text: str) -> Iterator[str]:
    for line in clean_block(text):
        yield line if len(line) <= _WIDE else line[: _WIDE - 1] + "…"
