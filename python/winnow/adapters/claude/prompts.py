"""A message of the user's as Claude Code takes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from winnow.adapters.claude import private
from winnow.core.context import attachment
from winnow.core.context.attachment import Attachment


def content(text: str, attached: Sequence[Attachment], *, command: bool) -> Any:
    """The content of a message: a text, or blocks.

    Only in the last block Claude Code looks for commands and mentions of files: those are the
    user's own words.
    """
    before = [block for one in attached for block in _blocks(one)]
    words = attachment.words(text, attached)
    if not command:
        return [*before, _text(words), _text(private.LITERAL)]
    quoted, words = attachment.parted(words)
    before += [_text(quoted)] * bool(quoted)
    return [*before, _text(words)] if before else text


def _blocks(one: Attachment) -> Iterator[dict[str, Any]]:
    yield _text(attachment.told(one))
    if one.image:
        source = {"type": "base64", "media_type": one.media, "data": one.image}
        yield {"type": "image", "source": source}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
