"""Text on its way into a buffer, and the markers that it must never forge.

What an agent says may hold anything: control characters, half surrogates, bidi overrides, even
our own markers. All of it is made visible here, so that a line shows what is in it.
"""

from __future__ import annotations

import re

from winnow.core.text import grammar, hidden

LONGEST = 2000  # characters of agent text on one line; more only makes the editor slow

# (?a): with IGNORECASE, [a-z] would match the Kelvin sign and the long s as well.
MARKER = re.compile(
    rf"(?ai){grammar.MARKER}([a-z0-9]{{1,40}})=(\d{{1,3}})=(\d{{1,3}}|[a-z]){grammar.MARKER_END}"
)
# As it was at first.
_OLD = re.compile(r"(?ai)<!--winnow:([a-z0-9]{1,40})\.(\d{1,3})\.(\d{1,3}|[a-z])-->")
_SHORT = 24  # bytes of text that wrap in no window
_LAST = re.compile(MARKER.pattern + r"\Z")
_LONGEST_MARKER = 64

# What deleting characters leaves of a marker. Letters and digits alone are none.
_OPEN, _CLOSE = grammar.MARKER, grammar.MARKER_END
_FRAGMENT = re.compile(
    rf"(?ai){_OPEN}[a-z0-9]*(?:=\d*(?:=(?:\d+|[a-z])?)?)?{_CLOSE}?"
    rf"|(?:=\d+)?=(?:\d+|[a-z])?{_CLOSE}|{_CLOSE}"
)
# An id too long for us is one to the editor, and is bent as soon as it is: no stream waits longer.
_FORGED = re.compile(rf"(?ai){_OPEN}(?=[a-z0-9]{{1,40}}=\d|[a-z0-9]{{41}})")
# In a section, where the editor also hides what edits leave of a marker.
_SCRAPS = re.compile(f"[{_OPEN}{_CLOSE}]")
# What `clean` has to look at; most texts have none of it.
_ODD = re.compile(f"{hidden.IN_LABELS.pattern}|[\r\n\t{_OPEN}{_CLOSE}]")
_BENT = {_OPEN: grammar.BENT, _CLOSE: "›"}

# Headings that are ours if nothing follows them in their line; the others are in any case.
_ALONE = (grammar.ORCHESTRATOR, grammar.WORKER, grammar.AGENT)
_BEGUN = {head[:end] for head in (*grammar.SPEAKERS, *_ALONE) for end in range(1, len(head))}

# The end of a piece of text that, with the next piece, is a marker's head or one line break.
_UNFINISHED = re.compile(
    rf"(?ai:{_OPEN}(?:[a-z0-9]{{1,40}}=?)?)\Z|\r\Z|(?:\A|(?<=\n))"
    rf"(?:{'|'.join(sorted(_BEGUN))}|(?:{'|'.join(_ALONE)})[ \t]*)\Z"
)

# How lines begin that only the host writes. Box drawings look like the rules of a section.
_DONE = f"{grammar.KEPT}{grammar.REFUSED}{grammar.STOPPED}{grammar.ENDED}{grammar.REPLAYED}"
_SIGNS = f"{grammar.TOOL}{grammar.THOUGHT}{grammar.NOTICE}{_DONE}{grammar.OWN}"
_OURS = re.compile(
    f"(?m)^(?=[{_SIGNS}{grammar.RULE}]|{grammar.YOU}|{grammar.CLAUDE}"
    rf"|(?:{'|'.join(_ALONE)})[ \t]*$)"
)
# Before an option stands a bullet, which only Neovim draws.
_LIKE_OURS = re.compile(
    rf"^(\s*)([{_SIGNS}{grammar.DECIDED}{grammar.UNDECIDED}•…\u2500-\u257f]"
    r"|#(?=#* )|`(?=``)|~(?=~~)|\*(?=\*))"
)


def marker(section: str, question: int, slot: int | str) -> str:
    """What says which line it is, concealed: option ``1..n``, or one letter for the other lines.

    The letters are those of `grammar`.
    """
    return f"{grammar.MARKER}{section}={question}={slot}{grammar.MARKER_END}"


def renewed(line: str) -> str:
    """A line of an older version's, with its markers as they are now."""
    return _OLD.sub(rf"{_OPEN}\1=\2=\3{_CLOSE}", line)


def sewn(text: str, mark: str) -> str:
    """A line with its marker, where it does not get a row of its own when the line wraps.

    That is behind the last word, but before what ends a sentence, since Neovim may break a line
    there; and before a word so long that it is broken itself, as in scripts without blanks, be it
    the only one.
    """
    at = place(text)
    return text[:at] + mark + text[at:]


def place(text: str) -> int:
    """Where the marker stands in a line; see `sewn`."""
    stem = text.rstrip(grammar.ENDS)
    if not stem or len(text.encode()) <= _SHORT:
        return len(text)
    word = re.split(r"[ \t!@*+;:,./?-]", stem)[-1]
    return stem.rfind(" ") + 1 if len(word.encode()) > _SHORT else len(stem)


def strip_markers(text: str, *, fragments: bool = False) -> str:
    """Remove whole markers, of any section; with ``fragments`` also what is left of others."""
    if MARKER.search(text):
        left: list[str] = []
        for char in text:
            left.append(char)
            if char == _CLOSE and (found := _LAST.search("".join(left[-_LONGEST_MARKER:]))):
                del left[-len(found[0]) :]  # which can make another one whole
        text = "".join(left)
    return _FRAGMENT.sub("", text) if fragments else text


def fragments(text: str) -> list[str]:
    """The pieces of damaged markers that stand in this line."""
    return [found[0] for found in _FRAGMENT.finditer(text)]


def clean(text: str, longest: int = LONGEST) -> str:
    """Agent text as it may stand on one line of a buffer, all that it hides included."""
    if len(text) > longest:
        size = f"… ({len(text):,} characters)"
        text = text[: longest - len(size)] + size
    if is_plain(text) or _ODD.search(text) is None:
        return text
    text = text.replace("\r\n", "\n").replace("\n", " ⏎ ").replace("\t", "⇥")
    return _bent(_SCRAPS, hidden.IN_LABELS.sub(hidden.shown, text))


def is_plain(text: str) -> bool:
    """Whether it is a line that hides nothing and has no sign of ours, as most of any output is.

    It need not be, where that is False: this is only quick.
    """
    return text.isascii() and text.isprintable()


def quoted(text: str) -> str:
    """Agent text as a whole line of a section, which doesn't begin as those do that are ours."""
    return _LIKE_OURS.sub(r"\1‹\2›", clean(text))


def prose(text: str, *, starts: bool = True) -> str:
    """What an agent says, as it may stand in the transcript.

    A line that begins as only the host's do is moved by one blank, which tells the two apart, also
    when the file is read again.

    Args:
        text: of one or more lines; the first is one only if it ``starts`` there.
        starts: whether it follows a line break.
    """
    block = "\n".join(clean_block(text))
    first = 0 if starts else block.find("\n") + 1 or len(block)
    return block[:first] + _OURS.sub(" ", block[first:])


def clean_block(text: str) -> list[str]:
    """Agent text as lines of a buffer. Lines end at newlines only, not where splitlines() cuts."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [
        line
        if is_plain(line)
        else disarm("\t".join(hidden.IN_PROSE.sub(hidden.shown, cell) for cell in line.split("\t")))
        for line in lines
    ]


def split_unfinished(text: str) -> tuple[str, str]:
    """A streamed piece of text without the end that `clean_block` can't judge yet, and that end."""
    if (found := _UNFINISHED.search(text)) is None:
        return text, ""
    return text[: found.start()], found[0]


def disarm(line: str) -> str:
    """Bend the brackets of whatever looks like a marker, so that it neither parses nor conceals."""
    return _bent(_FORGED, line)


def _bent(pattern: re.Pattern[str], line: str) -> str:
    return pattern.sub(lambda match: _BENT[match[0]], line)


def brief(text: str, columns: int = 40) -> str:
    """One short line of it, to quote in a message."""
    text = clean(text.strip())
    return text if len(text) <= columns else text[: columns - 1] + "…"
