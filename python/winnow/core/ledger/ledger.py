"""The ledger: every question that was answered, what was kept, what was dropped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import Literal

import msgspec

from winnow.core.question import Question
from winnow.core.section.answer import Answers
from winnow.core.section.form import Form
from winnow.core.text import encoding, grammar
from winnow.core.text.text import brief, clean, clean_block

_KEPT = 100  # lines of what was permitted


class Decision(msgspec.Struct, frozen=True):
    """One answered question. Labels and texts are the original ones, byte for byte.

    ``question`` holds a permission's call, too: with another call it is another question.
    """

    question: str
    options: tuple[str, ...]  # labels
    kept: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    own: tuple[str, ...] = ()  # the user's own texts in the answer
    notes: str = ""
    multi: bool = False
    header: str = ""
    kind: Literal["question", "permission"] = "question"
    chat: str = ""  # the chat's path
    when: float = 0.0  # seconds since the epoch

    @property
    def key(self) -> str:
        """What `key` says of the question that was answered."""
        return _digest(self.question, self.options)


def key(question: Question) -> str:
    """The same for the same text with the same options' labels, and for nothing else."""
    return _digest(question.question, [option.label for option in question.options])


def asked(form: Form) -> tuple[Question, ...]:
    """The questions of a form, as the ledger knows them."""
    if not form.proposes:
        return form.questions
    (question,) = form.questions
    shown = [line for block in form.blocks for line in block.lines]
    if len(shown) > _KEPT:
        left = "\n".join(shown[_KEPT:])
        shown = [*shown[:_KEPT], f"… {len(shown) - _KEPT} more lines, {_digest(left, ())}"]
    text = "\n".join([question.question, *shown])
    return (msgspec.structs.replace(question, question=text),)


def decisions(form: Form, answers: Answers, chat: str, when: float) -> list[Decision]:
    """What these answers put into the ledger: one decision for each question.

    One that was skipped is none: the next time it is asked as if it were new.
    """
    made = []
    for question, given in zip(asked(form), answers, strict=True):
        if given.skipped:
            continue
        labels = tuple(option.label for option in question.options)
        made.append(
            Decision(
                question=question.question,
                options=labels,
                kept=tuple(labels[option - 1] for option in given.kept),
                dropped=tuple(labels[option - 1] for option in given.dropped),
                own=given.own,
                notes=", ".join(filter(None, (given.edited, given.notes))),
                multi=question.multi,
                header=question.header,
                kind="permission" if form.proposes else "question",
                chat=chat,
                when=when,
            )
        )
    return made


def about(made: Sequence[Decision], text: str = "", chat: str = "") -> list[Decision]:
    """The decisions of a chat, if one is named, in which ``text`` occurs in any case."""
    wanted = text.casefold()
    return [
        decision
        for decision in made
        if chat in ("", decision.chat) and wanted in _searched(decision).casefold()
    ]


def page(made: Sequence[Decision]) -> list[str]:
    """Decisions as a Markdown page, in the order given."""
    lines = ["# Decisions"]
    for decision in made:
        lines += ["", *_entry(decision)]
    return lines if made else [*lines, "", "There are none yet, or none of this kind."]


def to_json(made: Sequence[Decision]) -> list[str]:
    """The lines of a file from which these decisions can be replayed."""
    return encoding.to_json(made, indent=2).split("\n")


def from_json(text: bytes) -> dict[str, Decision]:
    """The decisions of such a file by their key; of several, the newest.

    Raises:
        msgspec.MsgspecError: it isn't one.
    """
    made = encoding.from_json(text, list[Decision])
    return {decision.key: decision for decision in sorted(made, key=lambda d: d.when)}


def day(when: float) -> str:
    """A day of the user's time, such as ``12 May``."""
    moment = local(when)
    return f"{moment.day} {moment:%b}"


def local(when: float) -> datetime:
    """A time as the user's clock shows it."""
    return datetime.fromtimestamp(when, timezone.utc).astimezone()


def _digest(text: str, labels: Sequence[str]) -> str:
    # JSON in ASCII tells every string from every other one, half surrogates included.
    return hashlib.sha256(json.dumps([text, *labels]).encode()).hexdigest()


def _searched(decision: Decision) -> str:
    parts = [decision.header, decision.question, *decision.options, *decision.own, decision.notes]
    return "\n".join([*parts, decision.chat.rpartition("/")[2].removesuffix(".md")])


def _entry(decision: Decision) -> Iterator[str]:
    title = brief(decision.header) or brief(decision.question) or "Question"
    yield f"## {'Permission: ' * (decision.kind == 'permission')}{title}"
    yield ""
    yield from (f"> {line}".rstrip() for line in clean_block(decision.question))
    yield ""
    yield from (f"- {grammar.KEPT} {clean(label)}" for label in decision.kept)
    yield from (f"- {grammar.OWN} {clean(text)}" for text in decision.own)
    yield from (f"- ~~{clean(label)}~~" for label in decision.dropped)
    if decision.notes:
        yield ""
        yield f"Note: {clean(decision.notes)}"
    yield ""
    yield f"{local(decision.when):%Y-%m-%d %H:%M} in {clean(decision.chat)}"
