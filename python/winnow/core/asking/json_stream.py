"""A JSON object, followed to its end while it streams."""

from __future__ import annotations

import re

from winnow.core.asking.choices import TYPES, UNSEEN

DEEPEST = 100  # brackets within brackets; a choice needs five

# The fields of the formats, which fix no order. A model may add some of its own, such as what it
# thinks, also before; but data with more of them than `STRANGE` is passed on at once.
FIELDS = TYPES | {
    *("type", "id", "question", "context", "options", "choices", "multiSelect"),
    *("title", "header", "description", "questions"),
}
STRANGE = 2

_LONGEST_WORD = 40
_WORD = re.compile(r"[\w.+-]+")
_LITERAL = re.compile(r"true|false|null|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")
_SPACE = re.compile(rf"[ \t\r,:{UNSEEN}]+")
_STRING_STOP = re.compile(r'["\\\n]')
_COMMENT_STOP = re.compile(r"[*\n]")


class JsonObject:
    """Follows one JSON object through a stream, each character once, to where it ends.

    Only as strict as needed to notice early that what follows is no JSON any more.
    """

    def __init__(self, *, fenced: bool) -> None:
        self.ended = False
        self.wrong = ""  # why it is no JSON
        self.other = False  # it is none, by its fields
        self.typed = False  # its type is that of a choice
        self.strange = 0  # fields that no choice has
        self.meant = False  # wrong as it is, it was meant to be a choice
        self._fenced = fenced
        self._open: list[str] = []  # the brackets that must close, in order
        self._mode = ""  # '"' string, "\\" escape, "/" "//" "/*" "*" comment, "w" word
        self._word = ""
        self._key = ""
        self._is_value = False
        self._strings = 0

    @property
    def begun(self) -> bool:
        """It is one, so far."""
        return bool(self._open) or self.ended

    @property
    def in_string(self) -> bool:
        """Only there, anything may stand."""
        return self._mode == '"'

    def read(self, text: str, at: int, end: int) -> int:
        """Go on to the end of the line, or of the object, or to where it is wrong."""
        while at < end and not self.wrong:
            before, at = at, self._step(text, at, end)
            if before < at and text[at - 1] in "}\n":
                break
        return at

    def _step(self, text: str, at: int, end: int) -> int:
        match self._mode:
            case "":
                return self._between(text, at, end)
            case '"':
                return self._string(text, at, end)
            case "\\":
                self._mode = '"'
                return at if text[at] == "\n" else at + 1
            case "w":
                word = _WORD.match(text, at, min(end, at + _LONGEST_WORD - len(self._word)))
                self._word += word[0] if word else ""
                at = word.end() if word else at
                if at < end:
                    self._mode = ""
                    if not _LITERAL.fullmatch(self._word):
                        self.wrong = "its JSON breaks off"
                return at
            case _:
                return self._comment(text, at, end)

    def _between(self, text: str, at: int, end: int) -> int:
        if space := _SPACE.match(text, at, end):
            if len(self._open) == 1 and (separators := space[0].strip(" \t\r" + UNSEEN)):
                self._is_value = separators[-1] == ":"
            return space.end()
        match text[at]:
            case "\n":
                pass
            case "/":
                self._mode = "/"
            case _ if self.ended:
                self.wrong = "something follows its JSON"
            case '"' if self._open:
                self._mode, self._word = '"', ""
            case "{" | "[" as bracket if self._may_open(bracket):
                self._open.append("}" if bracket == "{" else "]")
            case "}" | "]" as bracket if self._open and self._open[-1] == bracket:
                self._open.pop()
                self.ended = not self._open
            case _ if self._strings and _WORD.match(text, at):
                self._mode, self._word = "w", ""
                return at
            case _:
                self.wrong = "its JSON breaks off"
        return at if self.wrong else at + 1

    def _may_open(self, bracket: str) -> bool:
        if not self._strings:
            return not self._open and bracket == "{"
        return len(self._open) < DEEPEST

    def _string(self, text: str, at: int, end: int) -> int:
        stop = _STRING_STOP.search(text, at, end)
        here = stop.start() if stop else end
        if len(self._open) == 1:
            self._word = (self._word + text[at : min(here, at + _LONGEST_WORD)])[:_LONGEST_WORD]
        match stop and stop[0]:
            case '"':
                self._mode = ""
                self._strings += 1
                if len(self._open) == 1:
                    self._judge_field()
            case "\\":
                self._mode = "\\"
            case "\n" if not self._fenced:  # else the fence is what ends it
                self.wrong = "its JSON breaks off"
                return here
        return here + 1 if stop else here

    def _judge_field(self) -> None:
        """A field of its own has a name, or a text as its value."""
        if not self._is_value:
            self._key = self._word
            self.typed |= self._key in TYPES
            self.strange += self._key not in FIELDS
            self.other |= not self.typed and self.strange > STRANGE
        elif self._key == "type":
            self.typed |= self._word in TYPES
            self.other |= not self.typed and self._word != ""  # a group may leave it empty

    def _comment(self, text: str, at: int, end: int) -> int:
        char = text[at]
        match self._mode:
            case "/" if char in "/*":
                self._mode += char
            case "/":
                self.wrong, self._mode = "its JSON breaks off", ""
                return at
            case "//":
                at = text.find("\n", at, end)
                self._mode = "" if at >= 0 else "//"
                return at if at >= 0 else end
            case "/*":
                stop = _COMMENT_STOP.search(text, at, end)
                if stop and stop[0] == "*":
                    self._mode = "*"
                return stop.end() if stop else end
            case _:
                self._mode = {"/": "", "*": "*"}.get(char, "/*")
                return at if self._mode == "/*" else at + 1
        return at + 1
