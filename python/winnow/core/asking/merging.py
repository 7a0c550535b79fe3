"""Shall what was changed in a worktree be merged? Asked as one patch of many files.

No agent waits for it in a call: the run has asked it, or the user, who decides what is merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from winnow.core.agent import Allow, Deny, Reply, Request
from winnow.core.asking.permission import because, sentences
from winnow.core.asking.way import Answered, ReadFile, Way
from winnow.core.proposal.merge import FileChange, Merge, diffstat
from winnow.core.proposal.proposal import Changed, Kept
from winnow.core.question import Option, Question
from winnow.core.section.form import Form
from winnow.core.text.text import brief
from winnow.core.text.visible import show

TOOL = "winnow:merge"  # no tool: what Winnow itself asks
_SHOWN = 60  # lines of what stood in the way
_AROUND = 2  # lines that are shown around a conflict
_BEGIN, _END = "<<<<<<< ", ">>>>>>> "
_SIDES = {_BEGIN: "in the project", _END: "in the worktree"}  # git names commits there


class ToMerge(msgspec.Struct, frozen=True):
    """What is asked: of the task, what ``commit`` holds. Without a task, of the chat.

    ``base`` is where the change of a chat begins.
    ``cut`` are the texts that the user wanted of files the last time; ``shown`` are lines that say
    what stood in the way then.
    """

    run: str
    task: str
    title: str
    commit: str
    files: tuple[FileChange, ...]
    why: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    cut: dict[str, str] = {}
    conflicts: bool = False
    base: str = ""


class Merging(Way):
    """See the module."""

    tool = TOOL
    has_line = False
    routed = True

    def read(self, id: str, request: Request, file: ReadFile) -> Form:
        """See `Way`."""
        return form(id, of(request))

    def reply(self, answered: Answered) -> Reply:
        """Allowed with what is ``wanted`` (see `Merge`), which may be nothing; else denied."""
        form, given = answered.form, answered.given
        if form.refuses(given.kept):
            return Deny(because("The user did not merge this", answered))
        if given.kept == (_DROP,):  # only of a task
            return Allow({"wanted": {}}, note=given.notes)
        match answered.change:
            case Kept(input=input) | Changed(input=input):
                cut = of(answered.request).cut
                wanted = {
                    path: cut.get(path) if text is None else text
                    for path, text in input["wanted"].items()
                }
                told = answered.change
                said = (
                    form.proposal.told(told) if form.proposal and isinstance(told, Changed) else ""
                )
                return Allow({"wanted": wanted}, note=f"{said}\n\n{given.notes}".strip())
        return Deny("There was nothing to merge.")

    def line(self, input: dict[str, Any]) -> str:
        """See `Way`."""
        return f"the change of “{brief(str(input['title']))}”"


_OPTIONS = (
    Option("Merge what is left", role="allow"),
    Option("Drop it", "`:Winnow restore` brings it back"),
    Option("Send it back", "write what to change after this line", role="deny"),
)
_DROP = 2
_OF_CHAT = (_OPTIONS[0], _OPTIONS[2])  # which goes on in its worktree


def asked(what: ToMerge) -> Request:
    """It as a request that no call waits for."""
    return Request(TOOL, msgspec.to_builtins(what))


def of(request: Request) -> ToMerge:
    """What was `asked` so."""
    return msgspec.convert(request.input, ToMerge)


def form(form_id: str, what: ToMerge) -> Form:
    """The section that asks."""
    proposal = Merge({}, what.title, what.files)
    wants = "wants to merge" if what.task else f"has changed in {what.title}:"
    wish = f"{wants} {diffstat(what.files)}. Delete hunks and files that shall stay out."
    who = f"{what.task} {what.title}" if what.task else ""
    why = (*what.why, *_unresolved(what.files))
    text = "\n".join((sentences(who, wish, why, proposal, "Worker"), *what.shown))
    options = _OPTIONS if what.task else _OF_CHAT
    return Form(form_id, (Question(text, brief(what.title), options),), proposal, what.task)


def _unresolved(files: Sequence[FileChange]) -> list[str]:
    """A sentence about the files in which it leaves conflicts as git marks them."""
    marked = [show(file.path) for file in files if _marks(file.new or "") > _marks(file.old or "")]
    return [f"Conflicts are still marked in it: {', '.join(marked)}."] if marked else []


def _marks(text: str) -> int:
    return f"\n{text}".count(f"\n{_BEGIN}")


def conflicts(marked: Mapping[str, str]) -> tuple[str, ...]:
    """Lines that show the conflicts in these texts, by path, as git marks them."""
    return _cut(chain.from_iterable(_around(path, text) for path, text in marked.items()))


def failure(said: str) -> tuple[str, ...]:
    """Lines that show what a command wrote."""
    return _cut(said.split("\n"))


def _cut(lines: Iterable[str]) -> tuple[str, ...]:
    found = tuple(lines)
    more = len(found) - _SHOWN
    return found if more <= 0 else (*found[:_SHOWN], f"… {more} more lines")


def _around(path: str, text: str) -> Iterator[str]:
    lines = text.split("\n")
    shown, inside = set(), False
    for row, line in enumerate(lines):
        sign = line[: len(_BEGIN)]
        inside = inside or sign == _BEGIN
        if inside:
            shown |= set(range(row - _AROUND, row + _AROUND + 1))
            lines[row] = sign + _SIDES[sign] if sign in _SIDES else line
        inside = inside and sign != _END
    yield f"{path}:"
    yield from (f"{row + 1} {line}" for row, line in enumerate(lines) if row in shown)
