"""What each line of a section turns out to be: an option, own words, damage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice

import msgspec

from winnow.core.proposal import blocks
from winnow.core.question import Option
from winnow.core.section.form import ELSE, Form, straight
from winnow.core.section.known import Address, Line, Segment, Told, slot_of
from winnow.core.section.likeness import is_blank, is_left_of, lead, rest, same
from winnow.core.section.pieces import Damaged, Fixed, Ignored, Own, Picked, Piece
from winnow.core.text import grammar
from winnow.core.text.text import MARKER, brief, fragments, marker, strip_markers

BROKEN = 20  # lines that one may be broken into
MOST = 2000  # lines of a section of which it is remembered what they say
_NOWHERE: Address = (0, 0)

_ELSE = re.compile(
    rf"(?i)\s*(?:[>*+•#-]+\s+)*{grammar.OWN}?[\s_-]*(?:something[\s_-]*else[\s_-]*:?)?"
)


class Reader:
    """Goes through the lines from head to foot and remembers whose block it is in."""

    def __init__(self, form: Form, lines: list[str]) -> None:
        self.form = form
        self.known = form.known
        outside, self.seen = blocks.split(form.id, form.blocks, lines)
        self.lines = [(row, self._told(line)) for row, line in outside]
        self.options = {told.line: told.option for _, told in self.lines if told.option}
        self.block = 1
        self.present = {address for _, told in self.lines for address in told.present}
        # A moved option doesn't take the block along, unless its question's head is gone.
        self.heads = {question for question, slot in self.present if slot == grammar.HEAD}

    def pieces(self) -> Iterator[Piece]:
        """All that stands in the lines, from head to foot."""
        for row, line in self.whole:
            option = self.options.get(line)
            if option is not None and option[0] == self.block:
                yield Picked(row, *option, "")
                continue
            for piece in self._marked(row, line) if MARKER.search(line) else self._bare(row, line):
                match piece:
                    case Fixed(slot=grammar.FOOT):
                        self.block = self.form.owner
                    case Fixed(question=question, slot=grammar.HEAD):
                        self.block = question
                    case Picked(question=question) | Fixed(question=question):
                        if question not in self.heads:
                            self.block = question
                yield piece

    @cached_property
    def whole(self) -> list[tuple[int, str]]:
        """Each line and its row; what ``gq`` or a ``<CR>`` broke in two is one again."""
        whole: list[tuple[int, str]] = []
        for row, told in self.lines:
            line = told.line
            if not line and whole and not whole[-1][1]:
                continue
            parts = self._parts_before(whole, told.end) if told.end else 0
            broken = whole[len(whole) - parts :]
            del whole[len(whole) - parts :]
            start = broken[0][0] if broken else row
            whole.append((start, " ".join([*(part for _, part in broken), line])))
        return whole

    def _told(self, seen: str) -> Told:
        """What a line says wherever it stands, which is found out once."""
        if (told := self.form.told.get(seen)) is not None:
            return told
        line = straight(self.form, seen) if grammar.MARKER in seen else seen
        marks = list(MARKER.finditer(line))
        own = [mark for mark in marks if self._is_own(mark)]
        present = [(int(mark[2]), slot_of(mark[3])) for mark in own]
        option = end = None
        if marks and own[:1] == marks[:1]:
            segment = Segment(*present[0], line[: own[0].start()])
            shown = self.known.at[present[0]][0]
            if isinstance(shown.slot, int) and line == shown.text + self._mark(shown):
                option = (shown.question, shown.slot)
            elif not self._is_whole(segment):
                end = segment
        if len(self.form.told) >= MOST:
            self.form.told.clear()
        told = self.form.told[seen] = Told(line, tuple(present), option, end)
        return told

    def _is_whole(self, segment: Segment) -> bool:
        """Is all there that stands before the marker of what it is?"""
        shown, seen = self._texts_of(segment), segment.text
        whole = seen in shown or any(lead(seen, text) is not None for text in shown)
        return whole or self._is_fixed(segment)

    def _parts_before(self, above: list[tuple[int, str]], segment: Segment) -> int:
        """How many of the lines above hold the start of what this line is the end of."""
        shown, seen = self._texts_of(segment), segment.text
        for parts, (_, part) in enumerate(islice(reversed(above), BROKEN), 1):
            start = MARKER.split(part)[-1]
            if not start.strip():
                break
            seen = f"{start} {seen}"
            if any(lead(seen, text) is not None for text in shown):
                return parts
            if start != part:  # another line's marker
                break
        return 0

    # --- lines with a marker ---

    def _marked(self, row: int, line: str) -> Iterator[Piece]:
        segments: list[Segment | None] = []
        start = 0
        for mark in MARKER.finditer(line):
            text, start = line[start : mark.start()], mark.end()
            match self._addresses(mark, text):
                case []:
                    segments.append(None)
                    continue
                case [address] if address in self.known.at:
                    segment = Segment(*address, text)
                case [_]:
                    yield self._damaged(row, self.block, line)
                    return
                case _:
                    yield self._ambiguous(row, text)
                    return
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
        if fragments(note):  # another line was joined to this one
            pieces, note = list(self._bare(row, note)), ""
        match segment.slot:
            case grammar.OTHER:
                typed = _ELSE.sub("", segment.text, count=1).strip()
                yield Fixed(row, question, grammar.OTHER, segment.text)
                if typed or note:
                    yield Own(row, question, f"{typed} {note}".strip())
            case int(option):
                yield self._picked(row, segment, option, note)
            case slot:
                owner = question or self.form.owner
                fixed = self._is_fixed(segment)
                if slot == grammar.FOOT and self.form.takes_own_answers and not fixed:
                    note = f"{segment.text.replace(grammar.RULE, '').strip()} {note}".strip()
                elif not fixed:
                    shown = self._texts_of(segment)[0]
                    yield self._damaged(row, owner, segment.text, shown)
                yield Fixed(row, question, slot, segment.text)
                if note:
                    yield Own(row, owner, note)
        yield from pieces

    def _picked(self, row: int, segment: Segment, option: int, note: str) -> Picked | Damaged:
        question, seen = segment.question, segment.text
        if self._may_be_of_block(question, seen):
            return self._ambiguous(row, seen)
        edited = self._edited(question, option, seen)
        if edited is None:
            return self._damaged(row, question, seen, self.known.at[question, option][0].text)
        return Picked(row, question, option, f"{edited} {note}".strip())

    def _edited(self, question: int, number: int, seen: str) -> str | None:
        """What the user wrote into the visible text; None where it means something else now."""
        (line,) = self.known.at[question, number]
        shown, label = line.text, line.label
        if seen.strip() == shown.strip():
            return ""
        longer = (o for o in self.known.leading(question, seen) if len(o.label) > len(label))
        for other in (*self.known.same(question, seen), *longer):
            if self._option(other).label != self._option(line).label:
                return None
        if same(seen, shown):
            return ""
        written = rest(seen, shown)
        if written is None:
            written, described = rest(seen, label), shown[len(label) :]
            if written is None:
                return None
            if described.startswith(written.rstrip()):
                return ""  # only shortened
            written = written.removesuffix(described).lstrip(" —")
        return written.strip()

    def _lead(self, segment: Segment) -> str | None:
        notes = (lead(segment.text, text) for text in self._texts_of(segment))
        return next((note for note in notes if note is not None), None)

    def _texts_of(self, segment: Segment) -> list[str]:
        return [line.text for line in self.known.at.get((segment.question, segment.slot), [])]

    def _is_fixed(self, segment: Segment) -> bool:
        return self.known.is_fixed((segment.question, segment.slot), segment.text)

    # --- lines without one ---

    def _bare(self, row: int, line: str) -> Iterator[Piece]:
        if is_blank(line):
            return
        pieces = fragments(line)
        fragment = bool(pieces)
        text = strip_markers(line, fragments=True)
        found = self._recognise(line, fragment)
        if not found and (fragment or "=" in line):
            found = self._cut(line)
        if not found:
            found = self._recognise(text, fragment)
            if len(found) == 1 and not is_left_of("".join(pieces), self._mark(found[0])):
                found = []  # something was typed into the marker
        match found:
            case [Line(question=question, slot=int(option))]:
                yield Picked(row, question, option, "")
            case [Line(question=question, slot=slot)]:
                yield Fixed(row, question, slot, text)
                typed = _ELSE.sub("", text, count=1).strip() if slot == grammar.OTHER else ""
                if typed:
                    yield Own(row, question, typed)
            case []:
                yield (
                    self._damaged(row, self.block, line) if fragment else Own(row, self.block, line)
                )
            case _:
                yield self._ambiguous(row, text)

    def _cut(self, line: str) -> list[Line]:
        """The lines from which this one can come by deleting characters behind the label."""
        found = []
        for shown in self.known.starting(line):
            tail = shown.text[len(shown.label) :] + self._mark(shown)
            if is_left_of(line[len(shown.label) :], tail):
                found.append(shown)
        return found

    def _mark(self, line: Line) -> str:
        return marker(self.form.id, line.question, line.slot)

    def _recognise(self, text: str, fragment: bool) -> list[Line]:
        """The lines that this one may have been, without its marker."""
        alike = self.known.alike(text, self.block) if text.strip() else []
        exact = [line for line in alike if line.text.strip() == text.strip()]
        own = [line for line in exact or alike if line.question == self.block]
        # Another question's option without any marker is more likely typed than moved here.
        elsewhere = [line for line in alike if fragment or isinstance(line.slot, str)]
        return list({(line.question, line.slot): line for line in own or elsewhere}.values())

    # --- both ---

    def _is_own(self, mark: re.Match[str]) -> bool:
        address = (int(mark[2]), slot_of(mark[3]))
        return mark[1].lower() == self.form.id.lower() and address in self.known.at

    def _was_own(self, mark: re.Match[str], text: str) -> bool:
        """Was this a marker of ours, before a character of the id was deleted or typed there?"""
        address = (int(mark[2]), slot_of(mark[3]))
        return any(
            (is_left_of(mark[0], self._mark(line)) and same(text, line.text))
            or is_left_of(self._mark(line), mark[0])
            for line in self.known.at.get(address, [])
        )

    def _addresses(self, mark: re.Match[str], text: str) -> list[Address]:
        """What a marker is of; one that looks foreign, of a line of ours that has lost its own."""
        address = (int(mark[2]), slot_of(mark[3]))
        if mark[1].lower() == self.form.id.lower() or self._was_own(mark, text):
            return [address]
        lines = self._recognise(strip_markers(text, fragments=True), fragment=True)
        missing = [line.address for line in lines if line.address not in self.present]
        if address in missing:
            return [address]
        return missing or [_NOWHERE] * bool(fragments(text))

    def _may_be_of_block(self, question: int, seen: str) -> bool:
        """Does it stand under another question, where an option that reads the same is missing?"""
        return question != self.block and any(
            line.address not in self.present and same(seen, line.text)
            for line in self.known.same(self.block, seen)
        )

    def _option(self, line: Line) -> Option:
        assert isinstance(line.slot, int)
        return self.form.questions[line.question - 1].options[line.slot - 1]

    def _advice(self) -> str:
        own = f", own words go after {ELSE[0]}" if self.form.takes_own_answers else ""
        return f"u brings it back{own}"

    def _ambiguous(self, row: int, seen: str) -> Damaged:
        message = f"“{brief(seen)}” could be one of several: {self._advice()}"
        return Damaged(row, self.block, message)

    def _damaged(self, row: int, question: int, seen: str, shown: str = "") -> Damaged:
        seen = brief(strip_markers(seen, fragments=True)) or brief(seen)
        line = f"“{seen}”" if seen else "an empty line"
        was = f"was “{brief(shown)}”" if shown else "lost its marker"
        return Damaged(row, question, f"{line} {was}: {self._advice()}")
