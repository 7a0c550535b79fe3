"""A section read back from the buffer, whatever the user did to it.

Which options are left is told by the markers, never by line numbers or labels. A line that can't
be understood becomes a `Damage`, which stops the answer; nothing is dropped or swapped silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Union

import msgspec

from winnow.core.form import ELSE, Form, Line, label_of, lines_of, option_line, render
from winnow.core.likeness import is_blank, lead, rest, same
from winnow.core.questions import Option
from winnow.core.text import MARKER, brief, has_fragment, strip_markers

__all__ = ["Damage", "Form", "Left", "Pick", "Reading", "locate", "parse", "render"]

_ELSE = re.compile(r"(?i)\s*(?:[>*+•#-]+\s+)*✎?[\s_-]*(?:something[\s_-]*else[\s_-]*:?)?")
_RULE = re.compile(r"[━\s_-]+")  # only decoration


class Pick(msgspec.Struct, frozen=True):
    """An option that is left, with what the user wrote on its line."""

    option: int
    note: str = ""


class Damage(msgspec.Struct, frozen=True):
    """A line that can't be understood; ``message`` says which and what to do."""

    row: int
    message: str


class Left(msgspec.Struct, frozen=True):
    """What is left of one question: picks in buffer order, and the user's own texts."""

    picks: tuple[Pick, ...] = ()
    own: tuple[str, ...] = ()
    damage: tuple[Damage, ...] = ()


class Reading(msgspec.Struct, frozen=True):
    """A whole section; ``ignored`` are the rows that belong to another one."""

    questions: tuple[Left, ...]
    ignored: tuple[int, ...] = ()


# What a line, or a part of a line after ``J``, turns out to be.


class Picked(msgspec.Struct, frozen=True):
    row: int
    question: int
    option: int
    note: str


class Own(msgspec.Struct, frozen=True):
    row: int
    question: int
    text: str


class Fixed(msgspec.Struct, frozen=True):
    row: int
    question: int
    slot: int | str
    text: str


class Damaged(msgspec.Struct, frozen=True):
    row: int
    question: int
    message: str


class Ignored(msgspec.Struct, frozen=True):
    row: int
    question: int


Piece = Union[Picked, Own, Fixed, Damaged, Ignored]


class Segment(msgspec.Struct, frozen=True):
    """The text up to a marker, and the text that follows it up to the next one's own."""

    question: int
    slot: int | str
    text: str
    note: str = ""


def parse(form: Form, lines: list[str]) -> Reading:
    """What the user made of ``form``. Understands any lines."""
    pieces = list(_Reader(form, lines).pieces())
    questions = tuple(
        Left(
            picks=_merge(p for p in pieces if isinstance(p, Picked) and p.question == number),
            own=_paragraphs(p for p in pieces if isinstance(p, Own) and p.question == number),
            damage=tuple(
                Damage(p.row, p.message)
                for p in pieces
                if isinstance(p, Damaged) and p.question == number
            ),
        )
        for number in range(1, len(form.questions) + 1)
    )
    if form.kind == "permission":
        questions = tuple(_whole(form, left, pieces) for left in questions)
    return Reading(questions, tuple(sorted({p.row for p in pieces if isinstance(p, Ignored)})))


def locate(form: Form, lines: list[str], row: int) -> tuple[int, int]:
    """The question (0: the foot) and the option (0: none) that a cursor on ``row`` means."""
    above = [piece for piece in _Reader(form, lines).pieces() if piece.row <= row]
    if any(isinstance(piece, Fixed) and piece.slot == "f" for piece in above):
        return 0, 0
    for piece in reversed(above):
        if isinstance(piece, Picked) and piece.row == min(row, len(lines) - 1):
            return piece.question, piece.option
    return (above[-1].question if above else 1), 0


def _merge(picked: Iterable[Picked]) -> tuple[Pick, ...]:
    """A line pasted twice counts once, with the notes of both."""
    notes: dict[int, list[str]] = {}
    for pick in picked:
        written = notes.setdefault(pick.option, [])
        if pick.note and pick.note not in written:
            written.append(pick.note)
    return tuple(Pick(option, "\n".join(written)) for option, written in notes.items())


def _paragraphs(said: Iterable[Own]) -> tuple[str, ...]:
    """Lines that stand together are one text."""
    texts: list[str] = []
    last = -2
    for own in said:
        if own.row - last > 1:
            texts.append(own.text)
        else:
            texts[-1] += "\n" + own.text
        last = own.row
    return tuple(text.strip() for text in texts)


def _whole(form: Form, left: Left, pieces: list[Piece]) -> Left:
    """What runs is what was asked, so all of it must be on screen when it is permitted."""
    shown = [line.text.strip() for line in lines_of(form) if line.slot == "q"]
    seen = [
        piece.text.strip() for piece in pieces if isinstance(piece, Fixed) and piece.slot == "q"
    ]
    if left.damage or not left.picks or seen == shown:
        return left
    message = "what is asked for is not whole: u brings it back"
    return msgspec.structs.replace(left, damage=(Damage(0, message),))


class _Reader:
    """Goes through the lines from head to foot and remembers whose block it is in."""

    def __init__(self, form: Form, lines: list[str]) -> None:
        self.form = form
        self.lines = lines
        self.shown = list(lines_of(form))
        self.slots = {(line.question, line.slot) for line in self.shown}
        self.fixed = {(line.question, line.slot, line.text.strip()) for line in self.shown}
        self.block = 1
        # A moved option doesn't take the block along, unless its question's head is gone.
        self.heads = {
            int(mark[2])
            for line in lines
            for mark in MARKER.finditer(line)
            if self._is_own(mark) and mark[3].lower() == "h"
        }

    def pieces(self) -> Iterator[Piece]:
        for row, line in enumerate(self.lines):
            for piece in self._marked(row, line) if MARKER.search(line) else self._bare(row, line):
                match piece:
                    case Fixed(slot="f"):
                        self.block = len(self.form.questions)
                    case Fixed(question=question, slot="h"):
                        self.block = question
                    case Picked(question=question) | Fixed(question=question):
                        if question not in self.heads:
                            self.block = question
                yield piece

    # --- lines with a marker ---

    def _marked(self, row: int, line: str) -> Iterator[Piece]:
        segments: list[Segment | None] = []
        start = 0
        for mark in MARKER.finditer(line):
            text, start = line[start : mark.start()], mark.end()
            if mark[1].lower() != self.form.id.lower():
                segments.append(None)
                continue
            if not self._is_own(mark):
                yield self._damaged(row, self.block, line)
                return
            segment = Segment(int(mark[2]), _slot(mark[3]), text)
            if segments and segments[-1]:  # after J, what precedes may be a note on the former
                note = self._lead(segment)
                if note is not None:
                    segments[-1] = msgspec.structs.replace(segments[-1], note=note)
                    segment = msgspec.structs.replace(segment, text=text[len(note) :])
            segments.append(segment)
        if segments[-1]:
            segments[-1] = msgspec.structs.replace(segments[-1], note=line[start:])
        for read in segments:
            if read:
                yield from self._segment(row, read)
            else:
                yield Ignored(row, self.block)

    def _segment(self, row: int, segment: Segment) -> Iterator[Piece]:
        question, note = segment.question, segment.note.strip()
        pieces: Iterable[Piece] = ()
        if has_fragment(note):  # another line was joined to this one
            pieces, note = list(self._bare(row, note)), ""
        match segment.slot:
            case "e":
                typed = _ELSE.sub("", segment.text, count=1).strip()
                yield Fixed(row, question, "e", segment.text)
                if typed or note:
                    yield Own(row, question, f"{typed} {note}".strip())
            case int(option):
                edited = self._edited(question, option, segment.text)
                if edited is None:
                    yield self._damaged(
                        row, question, segment.text, option_line(self._option(question, option))
                    )
                else:
                    yield Picked(row, question, option, f"{edited} {note}".strip())
            case slot:
                owner = question or len(self.form.questions)
                if self._is_fixed(segment):
                    yield Fixed(row, question, slot, segment.text)
                else:
                    shown = self._texts_of(segment)[0]
                    yield self._damaged(row, owner, segment.text, shown)
                if note:
                    yield Own(row, owner, note)
        yield from pieces

    def _edited(self, question: int, number: int, seen: str) -> str | None:
        """What the user wrote into the visible text; None where it means something else now."""
        option = self._option(question, number)
        shown = option_line(option)
        if seen.strip() == shown.strip():
            return ""
        label = label_of(option)
        for other in self.form.questions[question - 1].options:
            if other.label != option.label and _fits_better(seen, other, label):
                return None
        if same(seen, shown):
            return ""
        written = rest(seen, shown)
        if written is None:
            written = rest(seen, label)
            if written is None:
                return None
            if shown[len(label) :].startswith(written.rstrip()):
                return ""  # only shortened
            written = written.lstrip(" —")
        return written.strip()

    def _lead(self, segment: Segment) -> str | None:
        notes = (lead(segment.text, text) for text in self._texts_of(segment))
        return next((note for note in notes if note is not None), None)

    def _texts_of(self, segment: Segment) -> list[str]:
        address = (segment.question, segment.slot)
        return [line.text for line in self.shown if (line.question, line.slot) == address]

    def _is_fixed(self, segment: Segment) -> bool:
        # Thousands of lines, when a file is to be written: most are as they were.
        if (segment.question, segment.slot, segment.text.strip()) in self.fixed:
            return True
        return any(self._same_fixed(segment.text, text) for text in self._texts_of(segment))

    # --- lines without one ---

    def _bare(self, row: int, line: str) -> Iterator[Piece]:
        if is_blank(line):
            return
        fragment = has_fragment(line)
        text = strip_markers(line, fragments=True)
        found = self._recognise(line, fragment) or self._recognise(text, fragment)
        match found:
            case [Line(question=question, slot=int(option))]:
                yield Picked(row, question, option, "")
            case [Line(question=question, slot=slot)]:
                yield Fixed(row, question, slot, text)
                typed = _ELSE.sub("", text, count=1).strip() if slot == "e" else ""
                if typed:
                    yield Own(row, question, typed)
            case []:
                yield (
                    self._damaged(row, self.block, line) if fragment else Own(row, self.block, line)
                )
            case _:
                yield Damaged(
                    row,
                    self.block,
                    f"line {row + 1} “{brief(text)}” could be one of several: {self._advice()}",
                )

    def _recognise(self, text: str, fragment: bool) -> list[Line]:
        """The lines that this one may have been, without its marker."""
        alike = [line for line in self.shown if text.strip() and self._may_be(text, line)]
        exact = [line for line in alike if line.text.strip() == text.strip()]
        own = [line for line in exact or alike if line.question == self.block]
        # Another question's option without any marker is more likely typed than moved here.
        elsewhere = [line for line in alike if fragment or isinstance(line.slot, str)]
        return list({(line.question, line.slot): line for line in own or elsewhere}.values())

    def _may_be(self, text: str, line: Line) -> bool:
        match line.slot:
            case int(option):
                label = label_of(self._option(line.question, option))
                return same(text, line.text) or same(text, label)
            case "e":
                return line.question == self.block and text.lstrip(" >").startswith("✎")
            case _:
                return self._same_fixed(text, line.text)

    # --- both ---

    def _is_own(self, mark: re.Match[str]) -> bool:
        return (
            mark[1].lower() == self.form.id.lower() and (int(mark[2]), _slot(mark[3])) in self.slots
        )

    def _option(self, question: int, option: int) -> Option:
        return self.form.questions[question - 1].options[option - 1]

    def _same_fixed(self, seen: str, shown: str) -> bool:
        if self.form.kind == "permission":  # one character can make it another command
            return seen.strip() == shown.strip()
        return same(_RULE.sub(" ", seen), _RULE.sub(" ", shown))

    def _advice(self) -> str:
        own = "" if self.form.kind == "permission" else f", own words go after {ELSE[0]}"
        return f"u brings it back{own}"

    def _damaged(self, row: int, question: int, seen: str, shown: str = "") -> Damaged:
        seen = brief(strip_markers(seen, fragments=True)) or brief(seen)
        was = f" was “{brief(shown)}”" if shown else " lost its marker"
        return Damaged(row, question, f"line {row + 1} “{seen}”{was}: {self._advice()}")


def _slot(text: str) -> int | str:
    return int(text) if text.isdigit() else text.lower()


def _fits_better(seen: str, other: Option, label: str) -> bool:
    shown = label_of(other)
    if same(seen, option_line(other)) or same(seen, shown):
        return True
    return len(shown) > len(label) and rest(seen, shown) is not None
