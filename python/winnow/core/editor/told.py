"""What Neovim tells for a call, and how Claude and the user read that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from winnow.core.editor import tools as t
from winnow.core.folder import Folder
from winnow.core.text.text import brief

LONGEST = 300  # characters of a line that names a place; a line of a buffer may have more
_TEXT = 2000
_FILES = 20  # that a permission names

# By severity, worst first.
_PROBLEMS = ("error", "warning", "info", "hint")


class Spot(msgspec.Struct, frozen=True):
    """A place, or a buffer; what it has no use for is empty.

    Attributes:
        path: absolute, or what stands for the name of a buffer without one.
        line: from 1; of a buffer: how many it has; of a file to be changed: how many places.
        text: what stands there, or is said of it.
        kind: such as ``error``, or ``function``.
        depth: of a symbol in others.
    """

    path: str = ""
    line: int = 0
    text: str = ""
    kind: str = ""
    depth: int = 0


class Told(msgspec.Struct, frozen=True):
    """What came of a call.

    Attributes:
        problem: why nothing did, as a sentence; else empty.
        spots: as many as are told.
        total: how many there are.
        lines: text, from the line ``first`` on; ``total`` is then how many lines there are.
        note: one more sentence.
        title: of a list; or the command of a test.
        code: how that ended.
    """

    problem: str = ""
    spots: list[Spot] = []
    total: int = 0
    lines: list[str] = []
    first: int = 1
    note: str = ""
    title: str = ""
    code: int = 0


def worded(call: t.Call, told: Told, folder: Folder) -> str:
    """What Claude reads: a line that sums it up, then all of it."""
    head, *rest = _lines(call, told, folder)
    hidden = told.total - len(told.spots)
    more = [f"… and {hidden:,} more"] if told.spots and hidden > 0 else []
    note = [told.note] if told.note else []
    text = "\n".join([head + ":" * bool(rest), *rest, *more, *note])
    return text.encode(errors="replace").decode()  # a file may hold half characters


def would(call: t.Call, told: Told, folder: Folder) -> tuple[str, ...]:
    """What a call would do: what follows "Claude", as a sentence, and more sentences."""
    match call:
        case t.Rename(symbol=symbol, new_name=new):
            places, files = sum(spot.line for spot in told.spots), len(told.spots)
            many = f"{_count(places, 'place')} in {_count(files, 'file')}"
            named = [
                f"{folder.name(spot.path)}: {_count(spot.line, 'place')}{_beside(spot, folder)}"
                for spot in told.spots[:_FILES]
            ]
            more = [f"… and {files - _FILES} more files"] if files > _FILES else []
            return f"wants to rename {symbol} to {new}: {many}.", *named, *more
        case t.FillQuickfix(title=title, entries=entries):
            many = _count(len(entries), "place")
            return (f"wants to give you a quickfix list of {many}: {brief(title, 80)}.",)
        case t.Jump(path=path, line=line):
            return (f"wants to take your cursor to {folder.name(path)}:{line}.",)
        case t.RunTest():
            return "wants to run your test command:", told.title
        case _:
            return ()


def _lines(call: t.Call, told: Told, folder: Folder) -> Iterator[str]:
    """Its lines, of which there is at least one."""
    match call:
        case t.Diagnostics():
            yield _counted(told)
            yield from (_problem(spot, folder) for spot in told.spots)
        case t.Buffers():
            yield _count(told.total, "buffer")
            yield from (_buffer(spot, folder) for spot in told.spots)
        case t.ReadBuffer():
            yield from _numbered(told)
        case t.Definition() | t.References():
            yield _count(told.total, "place")
            yield from (_found(spot, folder) for spot in told.spots)
        case t.Symbols(path=path):
            yield _count(told.total, "symbol")
            yield from (_symbol(spot, folder, whole=not path) for spot in told.spots)
        case t.Quickfix():
            named = f" of “{brief(told.title, 80)}”" if told.title else ""
            yield _count(told.total, "entry") + named
            yield from (_found(spot, folder) for spot in told.spots)
        case t.Rename():
            places = _count(sum(spot.line for spot in told.spots), "place")
            yield f"{places} in {_count(told.total, 'file')} renamed"
            for spot in told.spots:
                counted = _count(spot.line, "place")
                yield f"{folder.name(spot.path)}: {counted}{_beside(spot, folder)}"
        case t.FillQuickfix(entries=entries):
            yield f"the user has {_count(len(entries), 'place')} in the quickfix list"
        case t.Jump():
            yield "the user is there now"
        case t.RunTest():
            yield f"{_ended(told)}: {told.title}"
            yield from (line[:_TEXT] for line in told.lines)


def _counted(told: Told) -> str:
    """How many problems of each kind; of those not told nobody knows."""
    if not told.total:
        return "no problems"
    if told.total > len(told.spots):
        return _count(told.total, "problem")
    kinds = Counter(spot.kind for spot in told.spots)
    return ", ".join(_count(kinds[kind], kind) for kind in _PROBLEMS if kinds[kind])


def _problem(spot: Spot, folder: Folder) -> str:
    return f"{_at(spot, folder)}: {spot.kind}: {_short(spot.text)}"


def _found(spot: Spot, folder: Folder) -> str:
    kind = f" {spot.kind}:" if spot.kind else ""
    said = f"{_at(spot, folder)}:{kind} {_short(spot.text)}" if spot.path else _short(spot.text)
    return said.rstrip(": ")


def _symbol(spot: Spot, folder: Folder, *, whole: bool) -> str:
    where = _at(spot, folder) if whole else str(spot.line)
    return f"{'  ' * min(spot.depth, 10)}{where}: {spot.kind} {_short(spot.text)}"


def _buffer(spot: Spot, folder: Folder) -> str:
    said = [folder.name(spot.path), _count(spot.line, "line"), spot.kind, spot.text]
    return " · ".join(filter(None, said))


def _numbered(told: Told) -> Iterator[str]:
    last, whole = told.first + len(told.lines) - 1, len(told.lines) == told.total
    yield ("" if whole else f"lines {told.first}–{last} of ") + _count(told.total, "line")
    for number, line in enumerate(told.lines, told.first):
        yield f"{number}\t{line[:_TEXT]}{'…' * (len(line) > _TEXT)}"


def _at(spot: Spot, folder: Folder) -> str:
    return f"{folder.name(spot.path)}:{spot.line}" if spot.line else folder.name(spot.path)


def _beside(spot: Spot, folder: Folder) -> str:
    """That a file has unsaved changes, say, or the path that it moves to."""
    words, _, path = spot.kind.partition(" /")
    where = f" {folder.name(f'/{path}')}" if path else ""
    return f", {words}{where}" if words else ""


def _ended(told: Told) -> str:
    if told.title.startswith(":"):  # a command of Neovim's, which only begins it
        return "begun"
    return f"exit {told.code}" if told.code else "passed"


def _short(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def _count(number: int, what: str) -> str:
    plural = {"entry": "entries", "info": "infos"}.get(what, what + "s")
    return f"{number:,} {what if number == 1 else plural}"


def outcome(output: str) -> tuple[str, str]:
    """Of what `worded` has made: the line that sums it up, and the rest."""
    head, _, rest = output.partition("\n")
    return head.removesuffix(":"), rest
