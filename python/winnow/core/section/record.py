"""What stays of a section: a short record in the chat, or the message that answers it late."""

from __future__ import annotations

from winnow.core.section.answer import Answers, Decided, decide, in_words
from winnow.core.section.form import Form, label_of, name_of
from winnow.core.section.reading import Reading
from winnow.core.text import grammar
from winnow.core.text.text import brief, clean, marker

_LONGEST = 2000  # characters of a question: it stays readable above its answer

REPLAYED = f"{grammar.REPLAYED} Replayed."


def answered(form: Form, answers: Answers, comment: str = "") -> list[str]:
    """What was asked, what was chosen, and what was not; ``comment`` is on all of it."""
    lines = []
    for number, (asked, given) in enumerate(zip(form.questions, answers, strict=True), 1):
        name, text = name_of(form, number), brief(asked.question, _LONGEST)
        text = "" if text == name else text.removeprefix(f"{name} ")
        asker = f" ({clean(form.agent)})" if form.agent and number == 1 else ""
        lines.append(f"**{name}** {text}".rstrip() + asker)
        kept = [label_of(asked.options[option - 1]) for option in given.kept]
        own = [f"“{clean(text)}”" for text in given.own]
        note = f" — {clean(given.notes)}" if given.notes else ""
        if given.skipped:
            lines.append(f"{grammar.REFUSED} Skipped")
        elif not (given.kept or given.own):
            lines.append(f"{grammar.REFUSED} Left out")
        elif kept:
            lines.append(f"{grammar.KEPT} Selected: {' · '.join(kept + own)}{note}")
        else:
            lines.append(f"{grammar.KEPT} Own answer: {' · '.join(own)}{note}")
        struck = [f"~~{label_of(asked.options[option - 1])}~~" for option in given.dropped]
        if struck:
            lines.append(" · ".join(struck))
    return [*lines, f"{grammar.OWN} All of it: “{clean(comment)}”"] if comment else lines


def cancelled(form: Form, state: str, *, again: bool) -> list[str]:
    """A section that was not answered: ``state`` is "cancelled", "declined" or "expired".

    ``again``: the user can have it asked again.
    """
    what = {"cancelled": "Cancelled", "declined": "Declined"}.get(state, "No longer open")
    line = f"{grammar.REFUSED} {what}: {names(form)}"
    return _reopening(form, line) if again else [line]


def discussed(form: Form, text: str, *, again: bool) -> list[str]:
    """A section that the user talked back about instead of answering it; see `cancelled`."""
    line = f"… Discussed: {names(form)} — {clean(text)}"
    return _reopening(form, line) if again else [line]


def discussion(form: Form, reading: Reading, text: str, *, late: bool) -> str:
    """What the agent reads then: the user's words, and how far they had come.

    ``late``: as the user's message, since the agent no longer waits for an answer.
    """
    opening = "I want" if late else "The user wants"
    lines = [f"{opening} to discuss this before deciding:", "", text, "", "So far:"]
    for number, left in enumerate(reading.questions, 1):
        asked = form.questions[number - 1]
        decision = decide(form, number, left, frozenset())
        if isinstance(decision, Decided):
            said = "decided: " + in_words(form, number, decision)
        else:
            picked = [pick.option for pick in left.picks]
            labels = {n: label_of(option) for n, option in enumerate(asked.options, 1)}
            dropped = ", ".join(labels[n] for n in labels if n not in picked)
            said = "not decided; " + (f"dropped: {dropped}" if dropped else "nothing dropped")
            notes = [f"{labels[pick.option]}: {pick.note}" for pick in left.picks if pick.note]
            said += "".join(f"; {note}" for note in (*notes, *left.own))
        lines.append(f"- {asked.question} {said}")
    if reading.comment:
        lines.append(f"- About all of it: {reading.comment}")
    if not form.offers_earlier:
        return "\n".join([*lines, "", "Please clarify, then try again."])
    # The same text and labels are how the user's edits are found again.
    wish = "Please clarify, then ask again. Keep the wording of whatever stays the same."
    return "\n".join([*lines, "", wish])


def unknown(form: Form, question: int) -> str:
    """A question that a replay has no answer to."""
    text = brief(form.questions[question - 1].question, 200)
    return f"The replay has no answer to “{text}”: answer it once without, and export anew."


def names(form: Form) -> str:
    """What to call a form's questions in a message; a single one without a name, by its text."""
    if len(form.questions) == 1 and not form.questions[0].header.strip():
        return brief(form.questions[0].question.strip().partition("\n")[0], 60)
    return ", ".join(name_of(form, number) for number in range(1, len(form.questions) + 1))


def late_message(form: Form, answers: Answers, comment: str = "") -> str:
    """The user's message that answers questions which the agent no longer waits for."""
    blocks = ["My answer to what you asked earlier:"]
    for asked, given in zip(form.questions, answers, strict=True):
        quoted = "\n".join(f"> {line}" for line in asked.question.split("\n"))
        dropped = [asked.options[option - 1].label for option in given.dropped]
        answer = given.answer if isinstance(given.answer, list) else [given.answer]
        lines = [quoted, "", _listed("Answer", answer)]
        if given.notes:
            lines.append(_listed("Notes", [given.notes]))
        if dropped and not given.skipped:
            lines.append(_listed("Not chosen", dropped))
        blocks.append("\n".join(lines))
    if comment:
        blocks.append(f"About all of it: {comment}")
    return "\n\n".join(blocks)


def late_plan(form: Form, given: Decided, plan: str) -> str:
    """The user's message that decides on a plan, here as the user left it."""
    quoted = "\n".join(f"> {line}".rstrip() for line in plan.split("\n"))
    edited = f" ({given.edited})" if given.edited else ""
    if form.refuses(given.kept):
        told = f": {given.notes}" if given.notes else "."
        return f"Keep planning{told}\n\nThis is about your plan{edited}:\n\n{quoted}"
    note = f"\n\n{given.notes}" if given.notes else ""
    return f"I approve this plan{edited}:\n\n{quoted}{note}"


def granted(form: Form, given: Decided, call: str) -> list[str]:
    """What was permitted or refused, as edited, by which rule, and the note on it."""
    mark, word = grammar.KEPT, clean(str(given.answer))
    if form.proposal and form.refuses(given.kept):
        mark, word = grammar.REFUSED, form.proposal.refused
    edited = f", {given.edited}" if given.edited else ""
    note = f" — {clean(given.notes)}" if given.notes else ""
    return [f"{mark} {word}{edited}: {clean(call)}{note}"]


def covered(label: str, call: str) -> list[str]:
    """What a rule permits that was granted for another call."""
    return [f"{grammar.KEPT} {clean(label)}, granted before: {clean(call)}"]


def _reopening(form: Form, line: str) -> list[str]:
    return [f"{line} · <CR> here asks again{marker(form.id, 0, grammar.RECORD)}"]


def _listed(title: str, items: list[str]) -> str:
    """One item beside the title, several below it: labels may hold commas."""
    if len(items) == 1 and "\n" not in items[0]:
        return f"{title}: {items[0]}"
    return f"{title}:\n" + "\n".join("- " + item.replace("\n", "\n  ") for item in items)
