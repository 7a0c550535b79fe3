"""Lines that show all that is in them, and the way back.

What looks harmless must be harmless: `show` lets nothing hide in a line, be it a terminal escape,
a bidirectional override or a character without a width. What the user leaves alone stays exact,
since the original is kept beside what is shown; an edited line is taken back by `restore`.
"""

from __future__ import annotations

import re

from winnow.core.text import clean_block

# Formats, tags, blanks that are no space to a shell, and letters and marks that have no shape. A
# joiner or selector after a wide character is part of an emoji or of a word, and hides nothing.
_SHAPELESS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0"
_HIDDEN = re.compile(
    f"[{_SHAPELESS}\xa0\xad\u0600-\u0605\u06dd\u070f\u1680\u2000-\u200a\u202f\u205f\u206a-\u206f"
    "\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f\u3000\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?:(?<=[\x00-\u02ff])|^)[\u200c\u200d\ufe0e\ufe0f]"
    "|[\u200c\u200d\ufe0e\ufe0f](?=[\u200c\u200d\ufe0e\ufe0f])"
)
# What `str.isprintable` lets pass, though it can't be seen or may look like a marker of ours.
_DOUBTFUL = re.compile(f"(?i)[{_SHAPELESS}\ufe0e\ufe0f\U000e0100-\U000e01ef]|-->|winn")
# What `show` puts in the place of others.
FORMS = re.compile("[‹›‐\u2400-\u2421]")


def show(line: str) -> str:
    """A line of text as it may stand in a buffer."""
    if "\n" not in line and is_plain(line):
        return line
    shown = "␊".join(clean_block(line))
    return _HIDDEN.sub(lambda match: f"‹U+{ord(match[0]):04X}›", shown)


def is_plain(text: str) -> bool:
    """Whether all lines of a text are shown as they are: nearly always, and quick to tell."""
    if not text.replace("\t", " ").replace("\n", " ").isprintable():
        return False
    if text.isascii():  # the pattern, in any case, takes five times as long
        return "-->" not in text and "winn" not in text.lower()
    return not _DOUBTFUL.search(text)


def restore(seen: str, original: str) -> str | None:
    """The text that ``seen`` stands for, where ``show(original)`` stood before.

    None where that can't be told: the line was edited, and a form such as ``␛`` may be meant as
    it is, or for the character that it shows.
    """
    shown = show(original)
    if seen == shown:
        return original
    forms = {show(char): char for char in set(original) if show(char) != char}
    if not forms and shown == original:
        return seen
    form = re.compile("|".join(map(re.escape, forms)) or r"\Z(?!\Z)")
    if form.sub(lambda match: forms[match[0]], shown) != original:
        return None
    return form.sub(lambda match: forms[match[0]], seen)
