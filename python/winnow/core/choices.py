"""Questions that a model writes into its text, as JSON: found while it streams, read, answered.

Three formats, told apart by ``type``: one question, a group of them, a form of them. A model that
is asked for JSON also sends comments, trailing commas and numbers for ids; where it is clear what
is meant, it is asked. Nothing that is shown is changed: what is no question stays, byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Union

import msgspec

from winnow.core.answer import Answers, Decided
from winnow.core.form import option_line
from winnow.core.questions import Malformed, Option, Question
from winnow.core.text import clean_block

MOST = 999  # questions, and options of each: the addresses in markers have three digits
LONGEST = 1 << 18  # characters that are held back; a user who sees nothing for longer gives up
DEEPEST = 100  # brackets within brackets; a choice needs five

TYPES = frozenset({"user_choice", "user_choice_group", "user_choices"})
# What an object may begin with for it to be held back. The formats fix no order, but their fields
# are few: data with another first field is passed on at once.
FIRST = TYPES | {
    *("type", "id", "question", "context", "options", "choices", "multiSelect"),
    *("title", "description", "questions"),
}


class Choice(msgspec.Struct, frozen=True):
    """What is asked. ``questions`` have their context below their text, for the section.

    ``texts``, ``ids`` and ``picks`` (option ids) are in the same order. ``title`` and ``context``
    are about all of them.
    """

    questions: tuple[Question, ...]
    texts: tuple[str, ...]
    ids: tuple[str, ...]
    picks: tuple[tuple[str, ...], ...]
    title: str = ""
    context: str = ""


# --- the formats ------------------------------------------------------------------------------

Text = Union[str, int, float, None]


class Item(msgspec.Struct):
    """An option as it is sent."""

    id: Text = None
    label: Text = None
    description: Text = None


Items = Union[list[Union[str, int, float, Item]], None]


class Asked(msgspec.Struct, rename={"multi": "multiSelect"}):
    """A question as a form has it."""

    id: Text = None
    question: Text = None
    context: Text = None
    choices: Items = None
    multi: Union[bool, None] = None

    @property
    def items(self) -> Items:
        """The options."""
        return self.choices


class Either(Asked):
    """A question that may call its options by either name."""

    options: Items = None

    @property
    def items(self) -> Items:
        """The options."""
        if self.options and self.choices and self.options != self.choices:
            raise _Refused("has both `options` and `choices`, and they differ")
        return self.options or self.choices


class UserChoice(Either, tag_field="type", tag="user_choice"):
    """One question."""


class UserChoiceGroup(msgspec.Struct, tag_field="type", tag="user_choice_group"):
    """Questions about one thing."""

    choices: list[Either]
    question: Text = None
    context: Text = None


class UserChoices(msgspec.Struct, tag_field="type", tag="user_choices"):
    """A form."""

    questions: list[Asked]
    title: Text = None
    description: Text = None


Sent = Union[UserChoice, UserChoiceGroup, UserChoices]


class _Refused(Exception):
    """A question that can't be asked."""


def read(text: str) -> Choice | Malformed | None:
    """The choice that this JSON object is; None if it is something else."""
    if not (_looks_like_one(text) or '"question"' in text):
        return None  # soon: a message may hold thousands of small objects
    try:
        # Not strict: a line break within a string is an error, but no riddle.
        value = _typed(json.loads(_loosened(text), strict=False))
    except (ValueError, RecursionError) as error:
        return Malformed(f"its JSON is wrong: {error}") if _looks_like_one(text) else None
    if value is None:
        return None
    try:
        sent: Sent = msgspec.convert(value, Sent)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        return Malformed(f"it is not in the format: {error}")
    return _choice(sent)


def _typed(value: Any) -> dict[str, Any] | None:
    """An object with the type of a choice. It may also be the only key, or missing in a group."""
    match value:
        case {"type": str(kind)} if kind in TYPES:
            return {**value}
        case {"choices": [_, *_]} if _is_group(value):
            return {**value, "type": "user_choice_group"}
        case dict() if len(value) == 1:
            ((kind, inner),) = value.items()
            return {**inner, "type": kind} if kind in TYPES and isinstance(inner, dict) else None
    return None


def _choice(sent: Sent) -> Choice | Malformed:
    asked: Sequence[Asked]
    match sent:
        case UserChoice():
            asked, title, context = [sent], None, None
        case UserChoiceGroup():
            asked, title, context = sent.choices, sent.question, sent.context
        case UserChoices():
            asked, title, context = sent.questions, sent.title, sent.description
    if not asked or len(asked) > MOST:
        return Malformed(f"it needs 1 to {MOST} questions and has {len(asked)}")
    questions, picks = [], []
    for number, one in enumerate(asked, 1):
        try:
            options = [_option(item, place) for place, item in enumerate(one.items or [], 1)]
            text = _text(one.question)
            if not text.strip():
                raise _Refused("has no text")
            if not options or len(options) > MOST:
                raise _Refused(f"needs 1 to {MOST} options and has {len(options)}")
        except _Refused as refused:
            return Malformed(f"question {number} {refused}")
        whole = f"{text}\n{_text(one.context)}".strip("\n")
        questions.append(
            Question(whole, "", tuple(option for _, option in options), one.multi is True)
        )
        labels = [option.label for _, option in options]
        picks.append(_distinct([id for id, _ in options], labels))
    texts = [_text(one.question) for one in asked]
    ids = _distinct([_text(one.id) for one in asked], ["question"] * len(asked))
    return Choice(tuple(questions), tuple(texts), ids, tuple(picks), _text(title), _text(context))


def _option(item: str | float | Item, place: int) -> tuple[str, Option]:
    if not isinstance(item, Item):
        item = Item(label=item)
    id, label, description = _text(item.id), _text(item.label), _text(item.description)
    for text in (label, description, id):  # what there is names it
        if text.strip():
            return id, Option(text, "" if text == description else description)
    raise _Refused(f"has no label on option {place}")


def _distinct(ids: list[str], names: list[str]) -> tuple[str, ...]:
    """The ids; where several are equal, each says its place and name instead, as it is shown."""
    return tuple(
        id if id.strip() and ids.count(id) == 1 else f"{place}. {name}"
        for place, (id, name) in enumerate(zip(ids, names, strict=True), 1)
    )


def _is_group(value: dict[str, Any]) -> bool:
    """Only a group may leave its type out, so it must have the shape of one."""
    return value.get("type") in (None, "") and all(
        isinstance(one, dict) and "question" in one and ("options" in one or "choices" in one)
        for one in value["choices"]
    )


_STRING = r'("[^"\\]*(?:\\.[^"\\]*)*")'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)


def _loosened(text: str) -> str:
    """JSON without comments and without commas after the last item."""
    for pattern in (_COMMENT, _TRAILING):
        text = pattern.sub(lambda found: found[1] or "", text)
    return text


def _looks_like_one(text: str) -> bool:
    return "user_choice" in text  # all three types begin so


def _text(value: Text) -> str:
    return "" if value is None else str(value)


# --- the answer -------------------------------------------------------------------------------


def answer_text(choice: Choice, answers: Answers) -> str:
    """The user's next message: one question's id, or a line for each of several."""
    if len(choice.questions) == 1:
        (given,) = answers
        said = _joined([choice.picks[0][option - 1] for option in given.kept], given)
        return f"{said}\n\nNote: {given.notes}" if given.notes else said
    lines = []
    for number, (asked, given) in enumerate(zip(choice.questions, answers, strict=True)):
        text = choice.texts[number]
        name = f"{text} ({choice.ids[number]})" if choice.texts.count(text) > 1 else text
        labels = [
            f"{option}. {_on_one_line(asked.options[option - 1].label)}" for option in given.kept
        ]
        lines.append(f"{_on_one_line(name)}: {_joined(labels, given)}")
        if given.notes:
            lines.append("  Note: " + given.notes.replace("\n", "\n  "))
    return "\n".join(lines)


def numbered(choice: Choice) -> list[str]:
    """The questions as text, where no section can be shown."""
    lines = [text for text in (*clean_block(choice.title), *clean_block(choice.context)) if text]
    for asked in choice.questions:
        options = [f"{n}. {option_line(option)}" for n, option in enumerate(asked.options, 1)]
        lines += [*([""] if lines else []), *clean_block(asked.question), "", *options]
    return lines


def by_number(choice: Choice, text: str) -> int | None:
    """The option (from 1) of the only question that this message names by a bare number."""
    number = re.fullmatch(r"\s*([0-9]{1,3})[.)]?\s*", text)
    if number is None or len(choice.questions) > 1:
        return None
    return int(number[1]) if 0 < int(number[1]) <= len(choice.picks[0]) else None


def _joined(picked: list[str], given: Decided) -> str:
    """Picks and own words; an own answer alone stays as it was typed."""
    items = [*picked, *given.own]
    if not picked:
        return "\n\n".join(items)
    return ("; " if any("," in item for item in items) else ", ").join(items)


def _on_one_line(text: str) -> str:
    return " ".join(text.split("\n"))


# --- in a stream ------------------------------------------------------------------------------


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
        self._fenced = fenced
        self._open: list[str] = []  # the brackets that must close, in order
        self._mode = ""  # '"' string, "\\" escape, "/" "//" "/*" "*" comment, "w" word
        self._word = ""
        self._first = ""
        self._strings = 0

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
            case _ if self.ended:
                self.wrong = "something follows its JSON"
            case "/":
                self._mode = "/"
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
            self.other = self._word not in TYPES

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
_HEAD = r" {0,3}(?:(?:[-*+]|[0-9]{1,9}[.)]) {1,4}){0,9}"
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
        if (mark and mark in ">\r\n") or head[0].strip():
            self._new_block()
        if mark and mark in "> \t":
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
            limit = min(limit, at + max(0, LONGEST - self._size))
        if object.wrong:  # held to the end of its fence all the same, to be shown in one piece
            end = text.find("\n", at, limit) + 1 or limit
        else:
            end = object.read(text, at, limit)
        self._pass(text[at:end])
        if text[at:end].endswith("\n"):
            self._state = self._fenced if self._fence else self._object_line
        if object.other and self._held is not None:
            self._release()
        if object.wrong:
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
        assert self._object
        if self._fence and self._held is not None and _looks_like_one("".join(self._held)):
            self._object.wrong = self._object.wrong or why
            return
        if self._held is not None:
            self._release(why)
        if not self._fence:
            self._broken, self._object, self._state = True, None, self._text

    def _release(self, why: str = "") -> None:
        """It is no choice, so it is shown. An object without a fence is followed to its end."""
        text = "".join(self._held or [])
        self._held = None
        if why and _looks_like_one(text):
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
        self._pieces = [*self._take(), piece]

    def _take(self) -> list[Piece]:
        if shown := "".join(self._shown):
            self._pieces.append(Shown(shown))
        pieces, self._pieces, self._shown = self._pieces, [], []
        return pieces
