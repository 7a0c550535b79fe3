"""The list of what waits for the user, over all chats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Final, Literal

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.app.chat import Chat
from winnow.app.lists import List
from winnow.app.section import Section
from winnow.core import listing
from winnow.core.asking import rules
from winnow.core.listing import Edits, Problem, Row
from winnow.core.proposal.proposal import Call
from winnow.core.question import Option
from winnow.core.section.form import label_of, render
from winnow.core.text.duration import age
from winnow.core.text.text import clean, strip_markers

NAME = "pending"
NOTHING = "Nothing waits for you."
Verb = Literal["ask", "allow", "always", "deny", "answer"]
ASK: Final = "ask"
ALLOW: Final = "allow"
ALWAYS: Final = "always"
DENY: Final = "deny"
ANSWER: Final = "answer"
_GRANTS: tuple[Verb, ...] = (ASK, ALLOW, ALWAYS, DENY)
_ANSWERS: tuple[Verb, ...] = (ASK, ANSWER)
_WIDE = 100  # characters of what stands on a line whole
_ORDER = (DENY, ANSWER, ALLOW, ALWAYS)  # a rule lets what waits run: what is denied goes first
_THERE = "<CR> goes there."
_SIGNS = " :—-"  # between a line and what is written behind it
GONE = "this waits no more."
UNSEEN = "it was not on the screen when that was typed: look, then :w again."
ONLY_VERB = "only its first word can be changed, and a reason written behind it."
ONLY_ANSWER = "write answer and an option in front of it, or ask; the rest stays."


class _Wish(msgspec.Struct, frozen=True):
    """What becomes of a line: why, where it denies; which option, where it answers."""

    verb: Verb
    reason: str = ""
    option: int = 0


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
        waited = age(self._clock.now() - section.pending.since)
        name = PurePath(section.request.folder.cwd).name
        always = f" · always {rule}" if (rule := _rule(section)) and _is_whole(section) else ""
        text = f"{ASK} {clean(_what(section))} · {name} · {waited}{always}"
        return Row(text, section.marker, editable=True)

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        known = {section.marker: (chat, section) for chat, section in self._waiting()}
        rows, shown = listing.rows_of(event.lines), listing.texts_of(event.before)
        wanted: dict[str, _Wish] = {}
        for key in edits.gone:
            if key in known and not known[key][1].form.proposes:
                row = listing.rows_of(event.before)[key]
                return Problem(row, f"a question can't be denied here: u, then {_THERE}")
            wanted[key] = _Wish(DENY)
        for key, text in edits.changed.items():
            read = _read(text, shown[key], known[key][1]) if key in known else GONE
            if isinstance(read, _Wish) and read.verb not in (ASK, DENY) and key in event.unseen:
                read = UNSEEN
            if isinstance(read, str):
                return Problem(rows[key], read)
            wanted[key] = read
        denied = [known[key][1].call for key in edits.gone if key in known]
        if denied and not event.force:
            return f"Deny {', '.join(denied)}?"
        for verb in _ORDER:
            for key, wish in wanted.items():
                if wish.verb == verb and key in known:
                    self._do(wish, *known[key])
        return None

    @staticmethod
    def _do(wish: _Wish, chat: Chat, section: Section) -> None:
        waits = any(other is section for other in chat.waiting)  # else a rule has let it run
        if waits and wish.verb != ASK:
            grant = p.Grant(chat.id, section.marker, wish.verb, wish.reason, option=wish.option)
            chat.handle(grant)

    def pick(self, key: str, *, peek: bool) -> None:
        """See `List.pick`; to go there is Neovim's."""
        for _, section in self._waiting():
            if peek and section.marker == key:
                self._tell(p.Peeked([strip_markers(line) for line in section.lines]))

    def _waiting(self) -> Iterator[tuple[Chat, Section]]:
        for chat in self._chats():
            for section in chat.waiting:
                yield chat, section


def _what(section: Section) -> str:
    """What is asked, on one line; a question with what it can be answered by."""
    pending = section.pending
    if pending.kind == "permission":
        return section.call
    labels = ", ".join(label_of(option) for option in _options(section))
    choice = f" ({labels})" if labels and len(labels) <= _WIDE else ""
    who = f" ({asker})" if (asker := section.form.agent or section.form.server) else ""
    return f"{pending.kind}: {pending.title}{choice}{who}"


def _read(text: str, shown: str, section: Section) -> _Wish | str:
    """What a changed line wants; a sentence where that can't be done."""
    word, _, rest = text.partition(" ")
    before, found, after = rest.partition(shown.partition(" ")[2].strip())
    verbs = _GRANTS if section.form.proposes else _ANSWERS
    verb = next((one for one in verbs if one == word), None)
    if verb is None:
        return f"{word} is none of {', '.join(verbs)}."
    if verb == ANSWER:
        words = f"{before.strip()} {after.strip(_SIGNS)}".strip()
        return _answer(words, section) if found else ONLY_ANSWER
    if not found or before.strip():
        return ONLY_VERB if section.form.proposes else ONLY_ANSWER
    problem = _problem(verb, section)
    return problem or _Wish(verb, after.strip(_SIGNS))


def _problem(verb: Verb, section: Section) -> str:
    """Why a verb can't be done; empty: it can."""
    if section.way.inside and verb != ASK:
        return section.way.inside
    whole = _is_whole(section)
    if verb == ALWAYS and whole and not section.form.option(ALWAYS):
        return "no rule is offered for it: allow, or deny."
    if verb in (ALLOW, ALWAYS) and not (whole and (verb == ALLOW or _rule(section))):
        return f"it can't be seen whole here: K shows it, {_THERE}"
    return ""


def _is_whole(section: Section) -> bool:
    """Whether its line says all that would be done: it is a short command, as it was asked."""
    proposal = section.form.proposal
    if not isinstance(proposal, Call) or proposal.tool != "Bash":
        return False
    command = str(proposal.input.get("command"))
    whole = proposal.input.keys() <= {"command", "description"}
    return whole and _fits(command) and section.lines == render(section.form)


def _fits(text: str) -> bool:
    return len(text) < _WIDE and clean(text) == text


def _rule(section: Section) -> str:
    """What `always` would allow, where a line can say that whole."""
    option = section.form.option(ALWAYS) if section.form.proposes else 0
    if not option:
        return ""
    rule = rules.scoped(*section.form.questions[0].options[option - 1].updates)
    return rule if _fits(rule) else ""


def _options(section: Section) -> tuple[Option, ...]:
    """Of a question that is answered by one of them, and by nothing else."""
    form = section.form
    if form.kind != "question" or len(form.questions) > 1 or form.questions[0].multi:
        return ()
    return form.questions[0].options


def _answer(words: str, section: Section) -> _Wish | str:
    """The option that is meant by these words: its label, or the only one that begins so."""
    options = [label_of(option) for option in _options(section)]
    if not options:
        return f"one word does not answer it: {_THERE}"
    if section.lines != render(section.form):
        return f"its section was edited: {_THERE}"
    for fits in (str.__eq__, _is_same, _begins):
        found = [n for n, label in enumerate(options, 1) if words and fits(clean(label), words)]
        if len(found) == 1:
            return _Wish(ANSWER, option=found[0])
    return f"“{words}” is none of {', '.join(options)}."


def _is_same(label: str, words: str) -> bool:
    return label.casefold() == words.casefold()


def _begins(label: str, words: str) -> bool:
    return label.casefold().startswith(words.casefold())
