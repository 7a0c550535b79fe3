"""Characters that can't be seen, or not be told from others: the one table of the whole product.

Letters of another script that look alike are none of them: that is what the letters are for.
"""

from __future__ import annotations

import re

# What controls a terminal, ends a line, turns text around, or is nothing but a message to a
# machine: of no use in any text.
_CONTROLS = (
    "\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
)
# What prose has reason to use: joiners and selectors, fillers, hyphens that show at the end of a
# line only, blanks that are no space to a shell, marks that belong to numbers.
_LENIENT = (
    "\xa0\xad\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5"
    "\u180b-\u180f\u2000-\u200a\u200c\u200d\u202f\u205f\u2800\u3000\u3164\ufe00-\ufe0f\uffa0"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U00016fe4\U0001d159\U000e0100-\U000e0fff"
)
IN_PROSE = re.compile(f"[{_CONTROLS}]")
ANYWHERE = re.compile(f"[{_CONTROLS}{_LENIENT}]")
# One picture may be made of several characters: one selector and a joiner belong to it.
_PICTURE = (
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_JOINS = f"(?:(?<={_PICTURE})|(?<={_PICTURE}\ufe0f))\u200d(?={_PICTURE})"
IN_LABELS = re.compile(f"(?!{_JOINS}|(?<={_PICTURE})\ufe0f|\ufe0f\u20e3){ANYWHERE.pattern}")


def shown(match: re.Match[str]) -> str:
    """A form that can be seen, of a character that can't."""
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)  # control pictures: ESC is ␛
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"
