"""Mentions in a message, and what goes along with it for each: text and images.

The editor says what a mention means (``lua/winnow/context``); how the agent is told is said here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

_FENCE = "```"
_TICKS = re.compile("`{3,}")


class Attachment(msgspec.Struct, frozen=True):
    """What one mention stands for.

    Args:
        mention: as the user wrote it, such as ``@buffer``; empty: these are words as any.
        name: what it is: ``src/cart.py 1-80``.
        text: of it, as it is in the editor now.
        language: of the text, as a fence names it.
        note: what else there is to know, such as ``not saved``.
        image: base64, in place of a text.
        media: what kind of image: ``image/png``.
        path: it is a file, which the words may go on to name without the ``@``.
    """

    mention: str
    name: str
    text: str = ""
    language: str = ""
    note: str = ""
    image: str = ""
    media: str = ""
    path: bool = False


def told(one: Attachment) -> str:
    """What the agent reads of it, above the words of the message."""
    if not one.mention:
        return one.text
    name, note = _line(one.name), _line(one.note)
    head = f"{_line(one.mention)} is {name}{f' ({note})' if note else ''}"
    return f"{head}." if one.image else f"{head}:\n{fenced(one.text, one.language)}"


def fenced(text: str, language: str = "") -> str:
    """A text between fences that nothing in it closes."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=0)
    fence = "`" * max(len(_FENCE), longest + 1)
    kind = language if language.isidentifier() else ""
    return f"{fence}{kind}\n{text.removesuffix(chr(10))}\n{fence}"


def words(text: str, attached: Iterable[Attachment]) -> str:
    """The user's words, in which no file that goes along is mentioned to be read once more.

    Claude Code reads what it finds mentioned, and would add the file as it was saved.
    """
    for mention in {one.mention for one in attached if one.path}:
        text = re.sub(rf"{re.escape(mention)}(?![\w/])", mention[1:].replace("\\", r"\\"), text)
    return text


def joined(text: str, attached: Sequence[Attachment]) -> str:
    """All in one text, for an agent that takes nothing else."""
    return "\n\n".join([*(told(one) for one in attached), words(text, attached)])


def _line(text: str) -> str:
    return " ".join(text.split())
