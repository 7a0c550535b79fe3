"""What stays of a section: a short record in the chat, or the message that answers it late."""

from __future__ import annotations

from winnow.core.answer import Answers
from winnow.core.form import Form, label_of, name_of
from winnow.core.permission import DENY
from winnow.core.text import brief, clean, marker


def answered(form: Form, answers: Answers) -> list[str]:
    """What was asked, what was chosen, and what was not."""
    lines = []
    for number, (asked, given) in enumerate(zip(form.questions, answers, strict=True), 1):
        lines.append(f"**{name_of(form, number)}** {brief(asked.question, 200)}".rstrip())
        kept = [label_of(asked.options[option - 1]) for option in given.kept]
        own = [f"“{clean(text)}”" for text in given.own]
        note = f" — {clean(given.notes)}" if given.notes else ""
        if kept:
            lines.append(f"✓ Selected: {' · '.join(kept + own)}{note}")
        else:
            lines.append(f"✓ Own answer: {' · '.join(own)}{note}")
        struck = [f"~~{label_of(asked.options[option - 1])}~~" for option in given.dropped]
        if struck:
            lines.append(" · ".join(struck))
    return lines


def cancelled(form: Form, state: str) -> list[str]:
    """A section that was not answered: ``state`` is "cancelled" or "expired".

    A question can be asked again; a permission can't.
    """
    names = ", ".join(name_of(form, number) for number in range(1, len(form.questions) + 1))
    line = f"✗ {'Cancelled' if state == 'cancelled' else 'No longer open'}: {names}"
    if form.kind == "permission":
        return [line]
    return [f"{line} · <CR> here asks again{marker(form.id, 0, 'r')}"]


def late_message(form: Form, answers: Answers) -> str:
    """The user's message that answers questions which the agent no longer waits for."""
    blocks = ["My answer to what you asked earlier:"]
    for asked, given in zip(form.questions, answers, strict=True):
        quoted = "\n".join(f"> {line}" for line in asked.question.split("\n"))
        dropped = [asked.options[option - 1].label for option in given.dropped]
        answer = given.answer if isinstance(given.answer, list) else [given.answer]
        lines = [quoted, "", _listed("Answer", answer)]
        if given.notes:
            lines.append(_listed("Notes", [given.notes]))
        if dropped:
            lines.append(_listed("Not chosen", dropped))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def permission_record(label: str, note: str, call: str) -> list[str]:
    """What was permitted or refused: the option's label, the note on it, and the call."""
    mark, word = ("✗", "Denied") if label == DENY else ("✓", clean(label))
    return [f"{mark} {word}: {clean(call)}{f' — {clean(note)}' if note else ''}"]


def _listed(title: str, items: list[str]) -> str:
    """One item beside the title, several below it: labels may hold commas."""
    if len(items) == 1 and "\n" not in items[0]:
        return f"{title}: {items[0]}"
    return f"{title}:\n" + "\n".join("- " + item.replace("\n", "\n  ") for item in items)
