"""Mentions in a message, and what goes along with it for each: text and images.

The editor says what a mention means (``lua/winnow/context``); how the agent is told is said here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from winnow.core.text.fences import Fences

_FENCE = "```"
_TICKS = re.compile("`{3,}")
_MENTION = re.compile(r'(?<!\S)@(?:"[^"]+"\S*|\S+)')
_ABOVE = "(The code above is quoted.)"


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


def parted(text: str) -> tuple[str, str]:
    """The user's words up to the end of code that has an ``@`` in it, and those to look through.

    In code nothing is mentioned, but Claude Code would add each file that is named there: what a
    stranger's code calls ``@~/.ssh/id_rsa`` must stay a text. What is mentioned outside is told.
    """
    lines = text.split("\n")
    inside = Fences.code(lines)
    if text.startswith("/") or not (end := _end_of_code(lines, inside)):
        return "", text
    words = (line for line, code in zip(lines[:end], inside, strict=False) if not code)
    named = [found for line in words for found in _MENTION.findall(line)]
    rest = "\n".join(lines[end:]).strip("\n")
    if named or not rest.strip() or rest.lstrip()[0] in "/!#":  # by itself, that would be a command
        rest = f"{' '.join([_ABOVE, *named])}\n\n{rest}".rstrip("\n")
    return "\n".join(lines[:end]), rest


def unparted(text: str) -> str:
    """What the user has said of a text that was looked through."""
    return text.partition("\n\n")[2] if text.startswith(_ABOVE) else text


def _end_of_code(lines: Sequence[str], inside: Sequence[bool]) -> int:
    """How many lines there are to the end of the last code with an ``@``; 0: there is none."""
    end, holds = 0, False
    for number, (line, code) in enumerate(zip(lines, inside, strict=True), 1):
        holds = code and (holds or "@" in line)
        end = number if holds else end
    return end


def joined(text: str, attached: Sequence[Attachment]) -> str:
    """All in one text, for an agent that takes nothing else."""
    return "\n\n".join([*(told(one) for one in attached), words(text, attached)])


def _line(text: str) -> str:
    return " ".join(text.split())
