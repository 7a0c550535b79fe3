"""The list of what waits for the user, over all chats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Literal

from winnow import ports
from winnow import protocol as p
from winnow.app.chat import Chat
from winnow.app.lists import List
from winnow.app.section import Section
from winnow.core import listing
from winnow.core.listing import Edits, Problem, Row
from winnow.core.proposal.proposal import Call
from winnow.core.run.board import age
from winnow.core.section.form import render
from winnow.core.text.text import clean, strip_markers

NAME = "pending"
NOTHING = "Nothing waits for you."
ASK, ALLOW, DENY = "ask", "allow", "deny"
_VERBS = (ASK, ALLOW, DENY)
_WIDE = 100  # characters of a command that stands on a line whole


class PendingList(List):
    """What waits, the oldest first: the first word of a line says what becomes of it.

    Args:
        clock: for how long it has waited.
        chats: all of them.
    """

    tick = 1.0

    def __init__(
        self, editor: ports.Editor, clock: ports.Clock, chats: Callable[[], Iterable[Chat]]
    ) -> None:
        super().__init__(NAME, editor)
        self._clock = clock
        self._chats = chats

    def rows(self) -> list[Row]:
        """See `List.rows`."""
        found = sorted(self._waiting(), key=lambda one: one[1].pending.since)
        return [self._row(section) for _, section in found] or [Row(NOTHING)]

    def _row(self, section: Section) -> Row:
        pending, proposes = section.pending, section.form.proposes
        what = section.call if pending.kind == "permission" else f"{pending.kind}: {pending.title}"
        waited = age(self._clock.now() - pending.since)
        text = f"{clean(what)} · {PurePath(section.request.folder.cwd).name} · {waited}"
        return Row(f"{ASK} {text}" if proposes else text, section.marker, editable=proposes)

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        known = {section.marker: (chat, section) for chat, section in self._waiting()}
        rows, shown = listing.rows_of(event.lines), listing.texts_of(event.before)
        wanted: dict[str, tuple[str, str]] = {}  # by key: what becomes of it, and why
        for key in edits.gone:
            if key in known and not known[key][1].form.proposes:
                return Problem(0, "a question can't be denied here: u, then <CR> goes there.")
            wanted[key] = DENY, ""
        for key, text in edits.changed.items():
            verb, reason = _meant(text, shown[key])
            if problem := _problem(verb, reason, known[key][1] if key in known else None):
                return Problem(rows[key], problem)
            wanted[key] = verb, reason or ""
        denied = [known[key][1].call for key in edits.gone if key in known]
        if denied and not event.force:
            return f"Deny {', '.join(denied)}?"
        for key, (verb, reason) in wanted.items():
            if key in known and verb != ASK:
                chat, section = known[key]
                choice: Literal["allow", "deny"] = "allow" if verb == ALLOW else "deny"
                chat.handle(p.Grant(chat.id, section.marker, choice, reason))
        return None

    def pick(self, key: str, *, peek: bool) -> None:
        """See `List.pick`; to go there is Neovim's."""
        for _, section in self._waiting():
            if peek and section.marker == key:
                self._tell(p.Peeked([strip_markers(line) for line in section.lines]))

    def _waiting(self) -> Iterator[tuple[Chat, Section]]:
        for chat in self._chats():
            for section in chat.waiting:
                yield chat, section


def _meant(text: str, shown: str) -> tuple[str, str | None]:
    """What a changed line wants, and the reason behind it; None: it is another line."""
    verb, _, rest = text.partition(" ")
    before = shown.partition(" ")[2].strip()
    if not rest.strip().startswith(before):
        return verb, None
    return verb, rest.strip().removeprefix(before).strip(" :—-")


def _problem(verb: str, reason: str | None, section: Section | None) -> str:
    """Why this can't be done; empty: it can."""
    if section is None:
        return "this waits no more."
    if reason is None:
        return "only its first word can be changed, and a reason written behind it."
    if verb not in _VERBS:
        return f"{verb} is none of {', '.join(_VERBS)}."
    if verb == ALLOW and not _is_whole(section):
        return "it can't be seen whole here: K shows it, <CR> goes there."
    return ""


def _is_whole(section: Section) -> bool:
    """Whether its line says all that would be done: it is a short command, as it was asked."""
    proposal = section.form.proposal
    if not isinstance(proposal, Call) or proposal.tool != "Bash":
        return False
    command = str(proposal.input.get("command"))
    whole = proposal.input.keys() <= {"command", "description"}
    short = len(command) < _WIDE and clean(command) == command
    return whole and short and section.lines == render(section.form)
