"""Text on its way into a buffer, and the markers that it must never forge.

What an agent says may hold anything: control characters, half surrogates, bidi overrides, even
our own markers. All of it is made visible here, so that a line shows what is in it.
"""

from __future__ import annotations

import re

LONGEST = 2000  # characters of agent text on one line; more only makes the editor slow

# (?a): with IGNORECASE, [a-z] would match the Kelvin sign and the long s as well.
MARKER = re.compile(r"(?ai)<!--winnow:([a-z0-9]{1,40})\.(\d{1,3})\.(\d{1,3}|[a-z])-->")
_LAST = re.compile(MARKER.pattern + r"\Z")
_LONGEST_MARKER = 64

# What deleting characters leaves of a marker. Prose such as "a --> b" or "<!-- note" is none.
_FRAGMENT = re.compile(
    r"""(?aixm)
      <!-{0,2} w i?n?n?o?w? (?![a-z]) (?: :[a-z0-9.]* )? -{0,2} >?  # its head
    | <!-{0,2} i?n?n?o?w? :[a-z0-9.]* -{0,2} >?
    | [<!-]{0,4} [inow]{4,6} : [a-z0-9]+ \.\d+ (?: \.(?:\d+|[a-z]) )? -{0,2} >?  # its middle
    | (?: [<!-]{0,4} w?i?n?n?o?w? :[a-z0-9]+ )? \.\d+ \.(?:\d+|[a-z]) -->  # its tail
    | < (?: !-{0,2} )? $  # a last scrap
    | ^ \.? (?:\d+\.)? (?:\d+|[a-z])? -{0,2} > $
    """
)
_FORGED = re.compile(
    r"""(?aix)
      < (?= !-{0,2} winn)
    | (?<! [<‹]!-) - (?= winnow:)  # what an edit can leave of one is concealed as well
    | > (?: (?<= \.[0-9a-z]-->) | (?<= \.\d\d-->) | (?<= \.\d\d\d-->) )
    """
)
_BENT = {"<": "‹", "-": "‐", ">": "›"}

# The end of a piece of text that, with the next piece, is a marker's head or one line break.
_UNFINISHED = re.compile(r"(?ai)(?:<(?:!-{0,2}(?:w(?:in?)?)?)?|\r)\Z")

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def marker(section: str, question: int, slot: int | str) -> str:
    """The concealed end of a line: option ``1..n``, or one letter for the other lines.

    The letters: ``h`` head, ``q`` question text, ``e`` "something else", ``f`` foot, ``r`` record.
    """
    return f"<!--winnow:{section}.{question}.{slot}-->"


def strip_markers(text: str, *, fragments: bool = False) -> str:
    """Remove whole markers, of any section; with ``fragments`` also what is left of damaged ones.

    Without, prose that merely says ``-->`` is safe.
    """
    if MARKER.search(text):
        left: list[str] = []
        for char in text:
            left.append(char)
            if char == ">" and (found := _LAST.search("".join(left[-_LONGEST_MARKER:]))):
                del left[-len(found[0]) :]  # which can make another one whole
        text = "".join(left)
    return _FRAGMENT.sub("", text) if fragments else text


def fragments(text: str) -> list[str]:
    """The pieces of damaged markers that stand in this line."""
    return [found[0] for found in _FRAGMENT.finditer(text)]


def clean(text: str) -> str:
    """Agent text as it may stand on one line of a buffer."""
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    text = text.replace("\r\n", "\n").replace("\n", " ⏎ ").replace("\t", "⇥")
    return _disarm(_UNSEEN.sub(_visible, text))


def clean_block(text: str) -> list[str]:
    """Agent text as lines of a buffer. Lines end at newlines only, not where splitlines() cuts."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [
        _disarm("\t".join(_UNSEEN.sub(_visible, cell) for cell in line.split("\t")))
        for line in lines
    ]


def split_unfinished(text: str) -> tuple[str, str]:
    """A streamed piece of text without the end that `clean_block` can't judge yet, and that end."""
    if (found := _UNFINISHED.search(text)) is None:
        return text, ""
    return text[: found.start()], found[0]


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)  # control pictures: ESC is ␛
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"


def _disarm(line: str) -> str:
    """Bend the brackets of whatever looks like a marker, so that it neither parses nor conceals."""
    return _FORGED.sub(lambda match: _BENT[match[0]], line)


def brief(text: str, columns: int = 40) -> str:
    """One short line of it, to quote in a message."""
    text = clean(text.strip())
    return text if len(text) <= columns else text[: columns - 1] + "…"
