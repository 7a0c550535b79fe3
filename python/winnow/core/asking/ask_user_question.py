"""Claude Code's own tool to ask with.

The wire promises 1–4 questions with 2–4 options; models send other things. Whatever can be
understood is asked, the rest is refused with a sentence from which a model can do better.
"""

from __future__ import annotations

from typing import Any

from winnow.core.agent import Allow, Reply, Request
from winnow.core.asking.way import Answered, ReadFile, Way, form_of
from winnow.core.question import Malformed, Option, Question
from winnow.core.section.answer import Answers, Decided
from winnow.core.section.form import Form

# Of an answer's annotations: how it went unanswered, "skipped", "replied_in_chat" or "dismissed".
# The model does not see it. A CLI whose `init` doesn't list the capability
# ``ask_user_question_unanswered_v1`` (2.1.332 does) may refuse the whole answer for it, so the
# adapter leaves it out there.
UNANSWERED = "unanswered"


class AskUserQuestion(Way):
    """See the module."""

    tool = "AskUserQuestion"
    has_line = False  # its section is its line

    def read(self, id: str, request: Request, file: ReadFile) -> Form | Malformed:
        """See `Way`."""
        return form_of(id, request, read_questions(request.input), skips=True)

    def reply(self, answered: Answered) -> Reply:
        """See `Way`."""
        input = updated_input(answered.request.input, answered.form, answered.answers)
        return Allow(input, note=answered.remark)

    def talked_back(self, request: Request, text: str) -> Reply:
        """See `Way`. The agent reads the text as the user's response, not as a tool's error."""
        return Allow(_unanswered(request.input, "replied_in_chat") | {"response": text})

    def cancelled(self, request: Request, reason: str, *, stop: bool) -> Reply:
        """See `Way`. A turn that stops has no result to say it in."""
        if stop:
            return super().cancelled(request, reason, stop=stop)
        return Allow(_unanswered(request.input, "dismissed", reason))


def _unanswered(input: dict[str, Any], how: str, said: str = "") -> dict[str, Any]:
    """The input of a call that none of whose questions is answered."""
    read = read_questions(input)
    texts = [] if isinstance(read, Malformed) else [one.question for one in read]
    notes = {text: {UNANSWERED: how} for text in texts}
    answers = dict.fromkeys(texts, said) if said else {}
    return {**input, "answers": answers, "annotations": notes}


def told_apart(tool: str, input: dict[str, Any], *, capable: bool) -> dict[str, Any]:
    """An answered input for this CLI: one that is not ``capable`` of it refuses `UNANSWERED`."""
    notes = input.get("annotations")
    if capable or tool != AskUserQuestion.tool or not isinstance(notes, dict):
        return input
    without = {
        text: {key: value for key, value in note.items() if key != UNANSWERED}
        for text, note in notes.items()
    }
    return {**input, "annotations": without}


def read_questions(input: dict[str, Any]) -> tuple[Question, ...] | Malformed:
    """The questions of a call."""
    asked = input.get("questions")
    if isinstance(asked, dict):
        asked = [asked]
    if not isinstance(asked, list) or not asked:
        return Malformed("There is no question: `questions` must be a list of 1 to 4 questions.")
    questions = []
    for number, item in enumerate(asked, 1):
        if not isinstance(item, dict):
            return Malformed(f"Question {number} is not an object with `question` and `options`.")
        question = _question(item)
        if not question.options:
            return Malformed(
                f"Question {number} has no options: give it 2 to 4, each with a `label`."
            )
        questions.append(question)
    # Answers are keyed by the text, so one of two equal questions could never be answered.
    if len({question.question for question in questions}) < len(questions):
        return Malformed("Two questions have the same text: make each text distinct.")
    return tuple(questions)


def _question(item: dict[str, Any]) -> Question:
    text, header = _text(item.get("question")), _text(item.get("header"))
    options = item.get("options")
    read = [_option(option) for option in options] if isinstance(options, list) else []
    return Question(
        question=header or "" if text is None else text,
        header=header or "",
        options=tuple(option for option in read if option is not None),
        multi=item.get("multiSelect") in (True, "true"),
    )


def _option(item: object) -> Option | None:
    if not isinstance(item, dict):
        label = _text(item)
        return None if label is None else Option(label)
    label, description = _text(item.get("label")), _text(item.get("description"))
    if label is None:
        return None if description is None else Option(description)
    return Option(label, description or "", _text(item.get("preview")) or "")


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return str(value)


def updated_input(input: dict[str, Any], form: Form, answers: Answers) -> dict[str, Any]:
    """The tool input that carries the answers.

    The CLI matches answers by the question's text, byte for byte, and wants ``questions`` back
    as they were; one space off reads as "did not answer", without an error.
    """
    pairs = list(zip(form.questions, answers, strict=True))
    result = {**input, "answers": {asked.question: _wire(given) for asked, given in pairs}}
    notes = {asked.question: found for asked, given in pairs if (found := _annotation(given))}
    return {**result, "annotations": notes} if notes else result


def _annotation(given: Decided) -> dict[str, str]:
    """What goes beside an answer. The model reads the notes only, see `UNANSWERED`."""
    if given.skipped:
        return {UNANSWERED: "skipped"}
    return {"notes": given.notes} if given.notes else {}


def _wire(given: Decided) -> str | list[str]:
    """An empty text reads as no answer; a list with one does not."""
    return given.answer or [""]
