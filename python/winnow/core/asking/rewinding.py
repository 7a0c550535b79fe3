"""What is to be as it was before a message? The user asks for it, and so is asked what they want.

The files are shown as a patch that would bring them back: what is deleted of it stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import msgspec

from winnow.core.agent import Allow, Deny, Reply, Request
from winnow.core.asking.way import Answered, ReadFile, Way
from winnow.core.proposal.diff import diff
from winnow.core.proposal.merge import FileChange, Merge, Wanted, diffstat
from winnow.core.proposal.proposal import Change, Changed, Kept, Kind
from winnow.core.question import Option, Question
from winnow.core.section.form import Form
from winnow.core.text.text import brief, quoted

TOOL = "winnow:rewind"  # no tool: what Winnow itself asks
_TITLE = 60  # characters of the message

Action = Literal["both", "files", "conversation", "from", "before", "nothing"]

_OPTIONS: dict[Action, Option] = {
    "both": Option(
        "Files and conversation", "a branch with this message as its draft", role="allow"
    ),
    "files": Option("Files only", "this chat goes on, and Claude is told"),
    "conversation": Option(
        "Conversation only", "a branch with this message as its draft; the files stay"
    ),
    "from": Option("Summarise from here", "a branch with a summary of all from here on"),
    "before": Option("Summarise up to here", "a branch with a summary of all before"),
    "nothing": Option("Leave all as it is", role="deny"),
}


class ToRewind(msgspec.Struct, frozen=True):
    """What is asked. ``title`` is the message's; ``files`` would change, by the names shown.

    ``why`` says what can't be had. ``first``: nothing was said before that message.
    """

    title: str
    files: tuple[FileChange, ...] = ()
    why: str = ""
    first: bool = False

    @property
    def actions(self) -> list[Action]:
        """Those that there are."""
        missing = {"both", "files"} if not self.files else set()
        missing |= {"before"} if self.first else set()
        return [action for action in _OPTIONS if action not in missing]


class Rewound(Merge, frozen=True, dict=True):
    """The files; that none of them is left to be changed is no refusal."""

    kind: ClassVar[Kind] = "rewind"
    refused: ClassVar[str] = "Not rewound"
    debated: ClassVar[bool] = False

    def _change(
        self, wanted: dict[str, str | None], left: int, total: int, *, edited: bool
    ) -> Change:
        if wanted:
            return super()._change(wanted, left, total, edited=edited)
        input = {**self.input, "wanted": wanted}
        return Changed(input, "no files") if self.files else Kept(input)


class Rewinding(Way):
    """See the module."""

    tool = TOOL
    has_line = False
    wished = True
    waits_unattended = False
    past = ":Winnow rewind asks again."
    inside = "What is rewound is decided in its section."

    def read(self, id: str, request: Request, file: ReadFile) -> Form:
        """See `Way`."""
        what = msgspec.convert(request.input, ToRewind)
        text = f"Go back to before “{brief(what.title, _TITLE)}”"
        if what.files:
            text += f": that changes {diffstat(what.files)}. Delete hunks and files that shall stay"
        text += f".\n{what.why}" if what.why else "."
        options = tuple(_OPTIONS[action] for action in what.actions)
        proposal = Rewound({}, what.title, what.files)
        return Form(id, (Question(text, brief(what.title), options),), proposal)

    def reply(self, answered: Answered) -> Reply:
        """Allowed with what to ``do``, and which files are ``wanted`` (see `Merge`)."""
        given, what = answered.given, msgspec.convert(answered.request.input, ToRewind)
        match answered.change:
            case Kept(input=input) | Changed(input=input) if not answered.form.refuses(given.kept):
                (kept,) = given.kept
                return Allow({**input, "do": what.actions[kept - 1]}, note=given.notes)
        return Deny("The user does not rewind.")

    def line(self, input: dict[str, Any]) -> str:
        """See `Way`."""
        return f"back to before “{brief(str(input['title']), _TITLE)}”"


def asked(what: ToRewind) -> Request:
    """It as a request."""
    return Request(TOOL, msgspec.to_builtins(what))


def left(files: tuple[FileChange, ...], wanted: Wanted) -> dict[str, str | None]:
    """The text that each file is to get, by the names shown; None: it is to be deleted."""
    found = {file.path: file for file in files if file.path in wanted}
    return {
        name: file.new if (text := wanted[name]) is None else text for name, file in found.items()
    }


def done(files: Iterable[FileChange], wanted: Wanted) -> list[str]:
    """What was changed of these, as lines of a patch: with it, nothing that was there is lost."""
    return [
        line.shown
        for file in files
        if file.path in wanted
        for line in diff(file.path, file.old, wanted[file.path] or "").lines
    ]


# --- in words ---------------------------------------------------------------------------------

_SUMMARY = """\
Write a summary {part}. It takes the place of that part: whoever reads it goes on with the work \
from it, and has nothing else of it. Keep the goal, what was decided and why, what was found out, \
which files were changed and how, and what is still open. Leave out what was tried and given up, \
but for the reason. Begin at once, without a heading or a word about the summary itself."""
_PARTS = {
    "from": "of this conversation from the user's message on that begins with “{title}”, that "
    "message included; leave out what was said before it",
    "before": "of this conversation up to the user's message that begins with “{title}”; leave "
    "out that message and all that came after it",
}


def to_summarise(do: Literal["from", "before"], title: str, note: str) -> str:
    """What the agent is asked for; ``note`` is what the user wants of it."""
    said = _SUMMARY.format(part=_PARTS[do].format(title=brief(title, 200)))
    return f"{said}\n\n{note}" if note else said


def summary(do: Literal["from", "before"], title: str, text: str) -> str:
    """A summary as it goes on with: as the draft after what came before it, or as the start."""
    if do == "from":
        head = f"This is a summary of what was said and done from “{brief(title, _TITLE)}” on:"
    else:
        head = "This is a summary of what was said and done before:"
    return f"{head}\n\n{text.strip()}"


def told(title: str, names: list[str]) -> str:
    """What the agent reads when files are as they were, and its conversation goes on."""
    which = ", ".join(quoted(name) for name in names)
    head = f"I have put these files back to what they were before “{brief(title, _TITLE)}”"
    return f"{head}, in whole or in part: {which}. Read them again before you change them."
