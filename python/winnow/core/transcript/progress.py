"""A message of a model as it works, in few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from winnow.core.folder import UNKNOWN, Folder
from winnow.core.text import grammar
from winnow.core.text.encoding import to_json
from winnow.core.text.text import clean_block
from winnow.core.transcript.rendering import FOLDED, THINKING, tool_line

LINES = 5  # of one message
_WIDE = 200  # characters of a line


def lines(message: Mapping[str, Any], folder: Folder = UNKNOWN) -> list[str]:
    """What a message of Claude Code's stream says, at most `LINES` lines; empty: nothing.

    The first line stands for it, the others fold beneath. No kind of block is left out.

    Args:
        message: ``{"type": "assistant" | "user", "message": {"content": …}}``.
        folder: by which files are named.
    """
    body = message.get("message")
    content = body.get("content") if isinstance(body, Mapping) else None
    blocks = content if isinstance(content, list) else [content]
    found = [line for block in blocks for line in _block(block, folder) if line.strip()]
    if len(found) > LINES:
        more = len(found) - LINES + 1
        found = [*found[: LINES - 1], f"… {more} more lines"]
    head = found[:1]
    if head and not head[0].startswith((grammar.TOOL, grammar.THOUGHT)):
        head = [f"{grammar.TOOL} {head[0]}"]
    return [*head, *(FOLDED + line for line in found[1:])]


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
