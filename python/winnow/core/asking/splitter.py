"""Choices taken out of a model's text while it streams, so that their JSON is never seen."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from winnow.core.asking import openings
from winnow.core.asking.choices import Choice, looks_like_one
from winnow.core.asking.json_stream import JsonObject
from winnow.core.asking.pieces import Output, Piece

LONGEST = 1 << 18  # characters that are held back; a user who sees nothing for longer gives up
SOON = 512  # characters after which a fence that is no JSON has said whether it was meant to be
PATIENCE = 2048  # characters after which data with a field that no choice has, has said so


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
        self._out = Output(asked)
        self._object: JsonObject | None = None
        self._fence: _Fence | None = None
        self._column = 0
        self._list = 0  # where the text of the list item begins that indented lines belong to
        self._mark = ""  # of the run that is being counted: "`" or "~"
        self._run = 0
        self._span = 0  # backticks that opened inline code
        self._told = False  # why the object stays as text
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
        return self._out.take()

    def finish(self) -> list[Piece]:
        """The rest: the message is complete."""
        self._over = True
        pieces = self.feed("")
        self._judge()
        return pieces + self._out.take()

    # --- text ---

    def _line(self, text: str, at: int) -> int | None:
        if not self._over and openings.LINE_SO_FAR.fullmatch(text, at):
            return None
        head = openings.LINE.match(text, at)
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
            opening = openings.FENCE.match(text, here)
            if not opening and not self._over and openings.FENCE_SO_FAR.fullmatch(text, here):
                self._state = self._line
                return None
            self._column = here - at
            self._mark, self._run, self._state = mark, 0, self._opening
            if opening:
                self._open_fence("`", 3)
                self._hold(fenced=True)
                self._out.write(head[0])  # of a choice, what indents it goes, too
                here, head = opening.end(), opening
        self._out.write(head[0])
        return here

    def _text(self, text: str, at: int) -> int | None:
        stop = openings.TEXT_STOP.search(text, at)
        here = stop.start() if stop else len(text)
        if here > at:
            self._out.write(text[at:here])
            return here
        match text[here]:
            case "\n":
                self._state = self._line
            case "`":
                return self._late_fence(text, here)
            case "\\" if not self._span:
                if here + 1 == len(text) and not self._over:
                    return None
                if text[here + 1 : here + 2] not in ("", "\n"):
                    self._out.write("\\")
                    here += 1
            case "{" if not self._span and not self._broken:
                if openings.OBJECT.match(text, here, here + openings.LONGEST_GAP):
                    self._hold(fenced=False)
                    return here
                if (
                    not self._over
                    and len(text) - here < openings.LONGEST_GAP
                    and openings.OBJECT_SO_FAR.fullmatch(text, here)
                ):
                    return None
        self._out.write(text[here])
        return here + 1

    def _late_fence(self, text: str, at: int) -> int | None:
        """Backticks behind text: code in a line, or a fence that has no line of its own."""
        if not self._span and (opening := openings.LATE_FENCE.match(text, at)):
            self._column = self._list
            self._open_fence("`", 3)
            self._hold(fenced=True)
            self._out.write(opening[0])
            return opening.end()
        if not self._span and not self._over and openings.LATE_FENCE_SO_FAR.fullmatch(text, at):
            return None
        self._mark, self._run, self._state = "`", 0, self._ticks
        return at

    def _literal(self, text: str, at: int) -> int:
        """The rest of a line in which nothing is looked for."""
        end = text.find("\n", at) + 1
        if end:
            self._state = self._fenced if self._fence else self._line
        self._out.write(text[at : end or len(text)])
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
        self._out.write(text[at : end if end >= 0 else len(text)])
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
            self._out.write(text[at:end])
            return end
        self._state = self._in_object if self._object else self._literal
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
        self._out.write(text[at:end])
        if end < len(text) and text[end] == "\n":
            self._judge()
            self._fence, self._object, self._state = None, None, self._text
        elif end < len(text):
            self._state = self._not_closed
        return end

    def _not_closed(self, _: str, at: int) -> int:
        self._state = self._in_object if self._object else self._literal
        if self._object and not self._object.in_string:
            self._fail("its JSON breaks off")
        return at

    def _count(self, text: str, at: int) -> int:
        end = at
        while end < len(text) and text[end] == self._mark:
            end += 1
        self._run += end - at
        self._out.write(text[at:end])
        return end

    # --- what may be a choice ---

    def _hold(self, *, fenced: bool) -> None:
        self._object, self._told = JsonObject(fenced=fenced), False
        self._out.hold()
        self._state = self._in_object

    def _in_object(self, text: str, at: int) -> int:
        object = self._object
        assert object
        limit = len(text)
        if self._out.holds:
            most = SOON if object.wrong and not object.meant else LONGEST
            if not (object.typed or object.wrong) and self._out.size < PATIENCE:
                most = PATIENCE  # a place to stop, whatever the chunks
            limit = min(limit, at + max(0, most - self._out.size))
        if object.wrong:  # held to the end of its fence all the same, to be shown in one piece
            end = text.find("\n", at, limit) + 1 or limit
        else:
            end = object.read(text, at, limit)
        self._out.write(text[at:end])
        if text[at:end].endswith("\n"):
            self._state = self._fenced if self._fence else self._object_line
        if object.other and self._out.holds:
            self._release()
        if object.wrong and self._object:  # of a fence that was let go, nothing is followed
            self._fail(object.wrong)
        elif object.ended and not self._fence:
            self._judge()
            self._object, self._state = None, self._text
        if object.meant:
            most = LONGEST  # also when it was seen only now, in the last piece of what is read
        strange = object.strange and not object.typed
        if self._out.holds and self._out.size >= most and (strange or most != PATIENCE):
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
        if self._fence and self._out.holds:
            object.meant = object.meant or looks_like_one(self._out.held)
            if object.meant or (object.begun and self._out.size < SOON):
                return
        if self._out.holds:
            self._release(why)
        if self._fence:
            self._let_go()
        else:
            self._broken, self._object, self._state = True, None, self._text

    def _release(self, why: str = "") -> None:
        """It is no choice, so it is shown. What nothing is said of is followed to its end."""
        self._told = self._out.release(why)
        if self._told and self._fence:
            self._let_go()

    def _let_go(self) -> None:
        self._object = None
        if self._state == self._in_object:
            self._state = self._literal

    def _judge(self) -> None:
        """The end of what may be a choice."""
        if not (object := self._object):
            return
        if not self._out.holds:
            if object.typed and object.ended and not self._told:
                self._out.miss("too much stands before its type")
        elif object.wrong or not object.ended:
            self._release(object.wrong or "its JSON is cut off")
        else:
            self._out.judge(fenced=self._fence is not None)
