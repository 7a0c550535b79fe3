"""What a tool's result says, as the Messages API has it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def plain(blocks: Iterable[Any]) -> str:
    """Its blocks as text; of what is no text, what it is."""
    return "\n".join(map(_plain, blocks))


def _plain(block: Any) -> str:
    match block:
        case {"text": str(text)}:
            return text
        case {"type": "tool_reference", "tool_name": str(name)}:
            return name
        case {"type": str(kind), "source": {"media_type": str(media)}}:
            return f"[{kind}: {media}]"
        case {"type": str(kind)}:
            return f"[{kind}]"
    return "[data]"
