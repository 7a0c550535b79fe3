"""A section read back from the buffer, whatever the user did to it.

Which options are left is told by the markers, never by line numbers or labels. A line that can't
be understood becomes a `Damage`, which stops the answer; nothing is dropped or swapped silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from winnow.core.proposal.blocks import Seen
from winnow.core.proposal.proposal import Change
from winnow.core.section.form import Form
from winnow.core.section.pieces import Damaged, Fixed, Ignored, Own, Picked, Piece
from winnow.core.section.reader import Reader
from winnow.core.text import grammar


class Pick(msgspec.Struct, frozen=True):
    """An option that is left, with what the user wrote on its line."""

    option: int
    note: str = ""


class Damage(msgspec.Struct, frozen=True):
    """A line that can't be understood; ``message`` says which and what to do."""

    row: int
    message: str


class Left(msgspec.Struct, frozen=True):
    """What is left of one question: picks in buffer order, and the user's own texts.

    ``change`` is what became of a proposal; None: there is none.
    """

    picks: tuple[Pick, ...] = ()
    own: tuple[str, ...] = ()
    damage: tuple[Damage, ...] = ()
    change: Change | None = None

    @property
    def has_words(self) -> bool:
        """The user has written something to the question."""
        return bool(self.own) or any(pick.note for pick in self.picks)


class Reading(msgspec.Struct, frozen=True):
    """A whole section; ``ignored`` are the rows that belong to another one.

    ``comment`` is the user's text at the foot, about all questions; ``damage`` what stands there.
    """

    questions: tuple[Left, ...]
    ignored: tuple[int, ...] = ()
    comment: str = ""
    damage: tuple[Damage, ...] = ()


def parse(form: Form, lines: list[str]) -> Reading:
    """What the user made of ``form``. Understands any lines."""
    return _parse(form, tuple(lines))


# Both are kept for a moment: one key asks several things about the same lines.


@lru_cache(maxsize=2)
def _parse(form: Form, lines: tuple[str, ...]) -> Reading:
    reader, pieces = _read(form, lines)
    change = form.proposal.read(reader.seen) if form.proposal else None
    of: dict[int, list[Piece]] = {}
    for piece in pieces:
        of.setdefault(piece.question, []).append(piece)
    questions = tuple(
        _left(of.get(number, []), change) for number in range(1, len(form.questions) + 1)
    )
    foot = _left(of.get(0, []), None)
    ignored = tuple(sorted({p.row for p in pieces if isinstance(p, Ignored)}))
    return Reading(questions, ignored, "\n\n".join(foot.own), foot.damage)


def _left(pieces: Sequence[Piece], change: Change | None) -> Left:
    pieces = _with_whole_notes(pieces)
    return Left(
        picks=_merge(p for p in pieces if isinstance(p, Picked)),
        own=_paragraphs(p for p in pieces if isinstance(p, Own)),
        damage=tuple(Damage(p.row, p.message) for p in pieces if isinstance(p, Damaged)),
        change=change,
    )


def locate(form: Form, lines: list[str], row: int) -> tuple[int, int]:
    """The question (0: the foot) and the option (0: none) that a cursor on ``row`` means."""
    reader, pieces = _read(form, tuple(lines))
    above = [piece for piece in pieces if piece.row <= row]
    if any(isinstance(piece, Fixed) and piece.slot == grammar.FOOT for piece in above):
        return 0, 0
    here = max((start for start, _ in reader.whole if start <= row), default=0)
    match [piece for piece in above if isinstance(piece, Picked) and piece.row == here]:
        case [Picked(question=question, option=option)]:
            return question, option
        case _:  # after J a line may hold several
            return (above[-1].question if above else 1), 0


def blocks_of(form: Form, lines: list[str]) -> list[Seen]:
    """What is left of each block of a proposal."""
    return _read(form, tuple(lines))[0].seen


def questions_of(form: Form, lines: list[str]) -> set[int]:
    """The questions of which something still stands in these lines; 0 is the foot."""
    return {question for question, _ in _read(form, tuple(lines))[0].present}


def rows_of_others(form: Form, lines: list[str], question: int, option: int) -> list[int]:
    """The rows of a question's other options, for a user who keeps only this one."""
    reader, pieces = _read(form, tuple(lines))
    others = {
        piece.row
        for piece in pieces
        if isinstance(piece, Picked) and piece.question == question and piece.option != option
    }
    starts = [start for start, _ in reader.whole]
    ends = [*starts[1:], len(lines)]
    spans = zip(starts, ends, strict=True)
    return [row for start, end in spans if start in others for row in range(start, end)]


@lru_cache(maxsize=2)
def _read(form: Form, lines: tuple[str, ...]) -> tuple[Reader, list[Piece]]:
    reader = Reader(form, list(lines))
    return reader, list(reader.pieces())


def _with_whole_notes(pieces: Sequence[Piece]) -> list[Piece]:
    """Lines directly below a note belong to it: one that was pasted may have several."""
    whole: list[Piece] = []
    for piece in pieces:
        match whole[-1:], piece:
            case [Picked(row=row, note=note) as picked], Own(row=below, text=text) if (
                note and below == row + 1 + note.count("\n")
            ):
                whole[-1] = msgspec.structs.replace(picked, note=f"{note}\n{text.rstrip()}")
            case _:
                whole.append(piece)
    return whole


def _merge(picked: Iterable[Picked]) -> tuple[Pick, ...]:
    """A line pasted twice counts once, with the notes of both."""
    notes: dict[int, list[str]] = {}
    for pick in picked:
        written = notes.setdefault(pick.option, [])
        if pick.note and pick.note not in written:
            written.append(pick.note)
    return tuple(Pick(option, "\n".join(written)) for option, written in notes.items())


def _paragraphs(said: Iterable[Own]) -> tuple[str, ...]:
    """Lines that stand together are one text; only where all begins, an indentation means none."""
    texts: list[list[str]] = []
    last = -2
    for own in said:
        if own.row - last > 1:
            texts.append([])
        texts[-1].append(own.text)
        last = own.row
    joined = ["\n".join(text).rstrip() for text in texts]
    return (*(text.lstrip() for text in joined[:1]), *joined[1:])
