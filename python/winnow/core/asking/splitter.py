"""Choices taken out of a model's text while it streams, so that their JSON is never seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Union

import msgspec

from winnow.core.asking.choices import TYPES, Choice, looks_like_one, read
from winnow.core.question import Malformed

LONGEST = 1 << 18  # characters that are held back; a user who sees nothing for longer gives up
DEEPEST = 100  # brackets within brackets; a choice needs five
SOON = 512  # characters after which a fence that is no JSON has said whether it was meant to be

# What an object may begin with for it to be held back. The formats fix no order, but their fields
# are few: data with another first field is passed on at once.
FIRST = TYPES | {
    *("type", "id", "question", "context", "options", "choices", "multiSelect"),
    *("title", "header", "description", "questions"),
}


class _Piece(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower):
    """Base of the union. The texts of all pieces are, in order, all that was fed."""

    text: str


class Shown(_Piece, frozen=True):
    """Text to show."""


class Found(_Piece, frozen=True):
    """A choice, with the text that it stood in; ``repeated``: it is asked already."""

    choice: Choice
    repeated: bool = False


class Broken(_Piece, frozen=True):
    """Text to show that was meant to be a choice; ``why`` is a sentence for the user."""

    why: str


Piece = Union[Shown, Found, Broken]


class _Object:
    """Follows one JSON object through a stream, each character once, to where it ends.

    Only as strict as needed to notice early that what follows is no JSON any more.
    """

    def __init__(self, *, fenced: bool) -> None:
        self.ended = False
        self.wrong = ""  # why it is no JSON
        self.other = False  # it begins as no choice does
        self.meant = False  # wrong as it is, it was meant to be a choice
        self._fenced = fenced
        self._open: list[str] = []  # the brackets that must close, in order
        self._mode = ""  # '"' string, "\\" escape, "/" "//" "/*" "*" comment, "w" word
        self._word = ""
        self._first = ""
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
        if self._strings < 2:
            self._word = (self._word + text[at:here])[:_LONGEST_WORD]
        match stop and stop[0]:
            case '"':
                self._mode = ""
                self._strings += 1
                self._judge_start()
            case "\\":
                self._mode = "\\"
            case "\n" if not self._fenced:  # else the fence is what ends it
                self.wrong = "its JSON breaks off"
                return here
        return here + 1 if stop else here

    def _judge_start(self) -> None:
        if self._strings == 1:
            self._first = self._word
            self.other = self._first not in FIRST
        elif self._strings == 2 and self._first == "type":
            # A group may leave it empty or null; then the second string is the next field.
            self.other = self._word not in FIRST | {""}

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


_LONGEST_WORD = 40
_WORD = re.compile(r"[\w.+-]+")
_LITERAL = re.compile(r"true|false|null|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")
_SPACE = re.compile(r"[ \t\r,:]+")
_STRING_STOP = re.compile(r'["\\\n]')
_COMMENT_STOP = re.compile(r"[*\n]")

# The start of a line: where it is indented or in a list, and what may still become that.
_HEAD = r" {0,40}(?:(?:[-*+]|[0-9]{1,9}[.)]) {1,4}){0,9}"
_LINE = re.compile(_HEAD)
_LINE_SO_FAR = re.compile(_HEAD + r"(?:[-*+]|[0-9]{1,9}[.)]?)?")
# A fence that may hold a choice, and what may still become one.
_FENCE = re.compile(r"(?i)```[ \t]{0,9}(?:jsonc?)?[ \t]{0,9}\r?(?=\n)")
_FENCE_SO_FAR = re.compile(r"(?i)`{1,3}|```[ \t]{0,9}(?:j|js|jso|jsonc?)?[ \t]{0,9}\r?")
# An object that begins with a string: braces in code seldom do.
_GAP = r"(?:[ \t\r\n]|//[^\n]*\n|/\*[^*]*\*/)*"
_OBJECT = re.compile(r"\{" + _GAP + '"')
_OBJECT_SO_FAR = re.compile(r"\{" + _GAP + r"(?:/(?:/[^\n]*|\*[^*]*\*?)?)?")
_LONGEST_GAP = 256
_TEXT_STOP = re.compile(r"[\n`\\{]")


class _Fence(msgspec.Struct, frozen=True):
    mark: str
    length: int
    column: int


class Splitter:
    """Takes the choices out of one message of a model, while it streams.

    Text goes through at once, but for what may become a choice: that is held until it is one or
    can't be. In longer fences, other languages' fences, quotes, indented code and inline code,
    choices are examples. ``asked`` are those that need not be asked again.

    Each state reads from a place in the text and returns the next place, or None where the rest is
    too short to tell. That rest is always small, and all else is read once.
    """

    def __init__(self, asked: Collection[Choice] = ()) -> None:
        self._asked = set(asked)
        self._pieces: list[Piece] = []
        self._shown: list[str] = []
        self._held: list[str] | None = None
        self._size = 0  # of what is held
        self._object: _Object | None = None
        self._fence: _Fence | None = None
        self._column = 0
        self._list = 0  # where the text of the list item begins that indented lines belong to
        self._mark = ""  # of the run that is being counted: "`" or "~"
        self._run = 0
        self._span = 0  # backticks that opened inline code
        self._broken = False  # the rest of a paragraph with a broken object: its insides are none
        self._rest = ""
        self._over = False
        self._state: Callable[[str, int], int | None] = self._line

    def feed(self, text: str) -> list[Piece]:
        """What is certain now."""
        text = self._rest + text
        at: int | None = 0
        while at is not None and at < len(text):
            done, at = at, self._state(text, at)
        self._rest = text[done:] if at is None else ""
        return self._take()

    def finish(self) -> list[Piece]:
        """The rest: the message is complete."""
        self._over = True
        pieces = self.feed("")
        if self._held is not None:
            self._judge()
        return pieces + self._take()

    # --- text ---

    def _line(self, text: str, at: int) -> int | None:
        if not self._over and _LINE_SO_FAR.fullmatch(text, at):
            return None
        head = _LINE.match(text, at)
        assert head
        here = head.end()
        mark = text[here : here + 1]
        indent = len(head[0]) - len(head[0].lstrip(" "))
        is_code = indent > self._list + 3
        if (mark and mark in ">\r\n") or head[0].strip():
            self._new_block()
        if head[0].strip() and not is_code:
            self._list = len(head[0])
        elif not indent and mark not in ("", "\r", "\n"):
            self._list = 0
        if is_code or (mark and mark in "> \t"):
            self._state = self._literal
            return at
        self._state = self._text
        if mark and mark in "`~":
            opening = _FENCE.match(text, here)
            if not opening and not self._over and _FENCE_SO_FAR.fullmatch(text, here):
                self._state = self._line
                return None
            self._column = here - at
            self._mark, self._run, self._state = mark, 0, self._opening
            if opening:
                self._pass(head[0])
                self._open_fence("`", 3)
                self._hold(fenced=True)
                here, head = opening.end(), opening
        self._pass(head[0])
        return here

    def _text(self, text: str, at: int) -> int | None:
        stop = _TEXT_STOP.search(text, at)
        here = stop.start() if stop else len(text)
        if here > at:
            self._pass(text[at:here])
            return here
        match text[here]:
            case "\n":
                self._state = self._line
            case "`":
                self._mark, self._run, self._state = "`", 0, self._ticks
                return here
            case "\\" if not self._span:
                if here + 1 == len(text) and not self._over:
                    return None
                if text[here + 1 : here + 2] not in ("", "\n"):
                    self._pass("\\")
                    here += 1
            case "{" if not self._span and not self._broken:
                if _OBJECT.match(text, here, here + _LONGEST_GAP):
                    self._hold(fenced=False)
                    return here
                if (
                    not self._over
                    and len(text) - here < _LONGEST_GAP
                    and _OBJECT_SO_FAR.fullmatch(text, here)
                ):
                    return None
        self._pass(text[here])
        return here + 1

    def _literal(self, text: str, at: int) -> int:
        """The rest of a line in which nothing is looked for."""
        end = text.find("\n", at) + 1
        if end:
            self._state = self._fenced if self._fence else self._line
        self._pass(text[at : end or len(text)])
        return end or len(text)

    def _ticks(self, text: str, at: int) -> int:
        end = self._count(text, at)
        if end < len(text):
            self._toggle_span()
        return end

    def _toggle_span(self) -> None:
        if self._span in (0, self._run):
            self._span = 0 if self._span else self._run
        self._state = self._text

    def _new_block(self) -> None:
        self._span, self._broken = 0, False

    # --- fences ---

    def _opening(self, text: str, at: int) -> int:
        end = self._count(text, at)
        if end < len(text):
            if self._run >= 3:
                self._state = self._info
            elif self._mark == "`":
                self._toggle_span()
            else:
                self._state = self._text
        return end

    def _info(self, text: str, at: int) -> int:
        """Behind the marks of what is a fence, unless the line has another backtick."""
        end = text.find("\n", at)
        tick = text.find("`", at, end if end >= 0 else len(text)) if self._mark == "`" else -1
        if tick >= 0:
            self._toggle_span()
            end = tick
        elif end >= 0:
            self._open_fence(self._mark, self._run)
            self._state = self._literal
        self._pass(text[at : end if end >= 0 else len(text)])
        return end if end >= 0 else len(text)

    def _open_fence(self, mark: str, length: int) -> None:
        self._new_block()
        self._fence = _Fence(mark, length, self._column)

    def _fenced(self, text: str, at: int) -> int | None:
        """The start of a line in a fence: may it be the last?"""
        assert self._fence
        room = self._fence.column + 3
        end = at
        while end < len(text) and end - at <= room and text[end] == " ":
            end += 1
        if end == len(text) and end - at <= room and not self._over:
            return None
        if end - at <= room and text[end : end + 1] == self._fence.mark:
            self._mark, self._run, self._state = self._fence.mark, 0, self._closing
            self._pass(text[at:end])
            return end
        self._state = self._literal if self._held is None else self._in_object
        return at

    def _closing(self, text: str, at: int) -> int:
        assert self._fence
        end = self._count(text, at)
        if end < len(text):
            self._state = self._closed if self._run >= self._fence.length else self._not_closed
        return end

    def _closed(self, text: str, at: int) -> int:
        end = at
        while end < len(text) and text[end] in " \t\r":
            end += 1
        self._pass(text[at:end])
        if end < len(text) and text[end] == "\n":
            if self._held is not None:
                self._judge()
            self._fence, self._object, self._state = None, None, self._text
        elif end < len(text):
            self._state = self._not_closed
        return end

    def _not_closed(self, _: str, at: int) -> int:
        self._state = self._literal if self._held is None else self._in_object
        if self._object and not self._object.in_string:
            self._fail("its JSON breaks off")
        return at

    def _count(self, text: str, at: int) -> int:
        end = at
        while end < len(text) and text[end] == self._mark:
            end += 1
        self._run += end - at
        self._pass(text[at:end])
        return end

    # --- what may be a choice ---

    def _hold(self, *, fenced: bool) -> None:
        self._object = _Object(fenced=fenced)
        self._held, self._size = [], 0
        self._state = self._in_object

    def _in_object(self, text: str, at: int) -> int:
        object = self._object
        assert object
        limit = len(text)
        if self._held is not None:
            most = SOON if object.wrong and not object.meant else LONGEST
            limit = min(limit, at + max(0, most - self._size))
        if object.wrong:  # held to the end of its fence all the same, to be shown in one piece
            end = text.find("\n", at, limit) + 1 or limit
        else:
            end = object.read(text, at, limit)
        self._pass(text[at:end])
        if text[at:end].endswith("\n"):
            self._state = self._fenced if self._fence else self._object_line
        if object.other and self._held is not None:
            self._release()
        if object.wrong and self._object:  # of a fence that was let go, nothing is followed
            self._fail(object.wrong)
        elif object.ended and not self._fence:
            if self._held is not None:
                self._judge()
            self._object, self._state = None, self._text
        if self._held is not None and self._size >= LONGEST:
            self._release("it is too long")
        return end

    def _object_line(self, text: str, at: int) -> int | None:
        """The start of a line in an object without a fence: may it be something else's?"""
        end = at
        while end < len(text) and end - at <= 3 and text[end] == " ":
            end += 1
        if end == len(text) and end - at <= 3 and not self._over:
            return None
        self._state = self._in_object
        if end - at <= 3 and text[end : end + 1] in ("`", "~", ">", "-", "*", "+"):
            self._fail("its JSON breaks off")
            self._state = self._line
        return at

    def _fail(self, why: str) -> None:
        object = self._object
        assert object
        object.wrong = object.wrong or why
        if self._fence and self._held is not None:
            object.meant = object.meant or looks_like_one("".join(self._held))
            if object.meant or (object.begun and self._size < SOON):
                return
        if self._held is not None:
            self._release(why)
        if not self._fence:
            self._broken, self._object, self._state = True, None, self._text

    def _release(self, why: str = "") -> None:
        """It is no choice, so it is shown. An object without a fence is followed to its end."""
        text = "".join(self._held or [])
        self._held = None
        if why and looks_like_one(text):
            self._add(Broken(text, f"A question stays as text: {why}."))
        else:
            self._shown.append(text)
        if self._fence:
            self._object = None
            if self._state == self._in_object:
                self._state = self._literal

    def _judge(self) -> None:
        assert self._object
        if self._object.wrong or not self._object.ended:
            self._release(self._object.wrong or "its JSON is cut off")
            return
        text = "".join(self._held or [])
        start = text.find("\n") if self._fence else 0
        match read(text[start : text.rfind("}") + 1]):
            case Choice() as choice:
                self._held = None
                self._add(Found(text, choice, choice in self._asked))
                self._asked.add(choice)
            case Malformed(reason=reason):
                self._release(reason)
            case None:
                self._release()

    # --- pieces ---

    def _pass(self, text: str) -> None:
        if self._held is None:
            self._shown.append(text)
        else:
            self._held.append(text)
            self._size += len(text)

    def _add(self, piece: Piece) -> None:
        self._seal()
        self._pieces.append(piece)

    def _take(self) -> list[Piece]:
        self._seal()
        pieces, self._pieces = self._pieces, []
        return pieces

    def _seal(self) -> None:
        if shown := "".join(self._shown):
            self._pieces.append(Shown(shown))
        self._shown = []
