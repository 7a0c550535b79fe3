"""Lines that show all that is in them, and the way back.

What looks harmless must be harmless: `show` lets nothing hide in a line, be it a terminal escape,
a bidirectional override, a character without a width, or more blanks than a window is wide. What
the user leaves alone stays exact, since the original is kept beside what is shown; an edited line
is taken back by `restore`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from winnow.core.text import grammar, hidden
from winnow.core.text.text import disarm

# What `str.isprintable` lets pass, though it can't be seen or may look like a marker of ours.
_DOUBTFUL = re.compile(f"{hidden.ANYWHERE.pattern}|{grammar.MARKER}")
# So many blanks push what follows them out of sight.
_FEW = {" ": 49, "\t": 9}
_RUN = re.compile("|".join(f"{blank}{{{few + 1},}}" for blank, few in _FEW.items()))
# What `show` puts in the place of others.
FORMS = re.compile("[‹›‐\u2400-\u2421]")


def show(line: str) -> str:
    """A line of text as it may stand in a buffer."""
    if "\n" not in line and is_plain(line):
        return line
    cells = (hidden.ANYWHERE.sub(hidden.shown, cell) for cell in line.split("\t"))
    return _RUN.sub(_counted, disarm("\t".join(cells)))


def _counted(run: re.Match[str]) -> str:
    return f"‹{len(run[0])} {'tabs' if run[0][0] == chr(9) else 'blanks'}›"


def is_plain(text: str) -> bool:
    """Whether all lines of a text are shown as they are: nearly always, and quick to tell."""
    if not text.replace("\t", " ").replace("\n", " ").isprintable():
        return False
    if any(blank * (few + 1) in text for blank, few in _FEW.items()):
        return False
    return text.isascii() or not _DOUBTFUL.search(text)


def restore(seen: str, original: str) -> str | None:
    """The text that ``seen`` stands for, where ``show(original)`` stood before.

    None where that can't be told: the line was edited, and a form such as ``␛`` may be meant as
    it is, or for the character that it shows.
    """
    if seen == show(original):
        return original
    back = way_back(original)
    return back(seen) if back else None


def way_back(original: str) -> Callable[[str], str] | None:
    """What makes of each form the character that it shows in ``show(original)``.

    None where a form there may be meant as it is.
    """
    pieces = {*original, *_RUN.findall(original)}
    forms = {show(piece): piece for piece in pieces if show(piece) != piece}
    form = re.compile("|".join(map(re.escape, forms)) or r"\Z(?!\Z)")

    def back(seen: str) -> str:
        return form.sub(lambda match: forms[match[0]], seen)

    return back if back(show(original)) == original else None
