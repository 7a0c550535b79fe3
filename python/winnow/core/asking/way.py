"""What a way to ask has to know: how a request is read, and what becomes of the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Union

import msgspec

from winnow.core.agent import Deny, Reply, Request, Update
from winnow.core.proposal.proposal import Change
from winnow.core.question import Malformed, Question
from winnow.core.section import record
from winnow.core.section.answer import Answers, Decided
from winnow.core.section.form import Form


class FileError(Exception):
    """A file can't be shown.

    Args:
        sentence: why not, for the user.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


ReadFile = Callable[[str], Union[str, None]]
"""A file's text by its path, None where there is none; raises `FileError`."""


class Answered(msgspec.Struct, frozen=True):
    """What was asked and how the user has decided.

    ``call`` says in one line what was asked for; ``change`` is what became of a proposal,
    ``comment`` what the user says of all questions.
    """

    request: Request
    form: Form
    answers: Answers
    call: str
    change: Change | None = None
    comment: str = ""

    @property
    def given(self) -> Decided:
        """The answer to the only question."""
        (given,) = self.answers
        return given

    @property
    def remark(self) -> str:
        """The comment, as the agent reads it beside the answers."""
        return f"The user says about all of these questions: {self.comment}" * bool(self.comment)


class Way(ABC):
    """A way to ask. What stands here is true of a question for whose answer the agent waits.

    A new one is a subclass in a file of its own, and an entry in `winnow.core.asking.ways`.

    Attributes:
        tool: the tool that asks so, or a name of ours where it is none.
        awaited: the agent waits for the answer. What it doesn't wait for stays open when the agent
            or Neovim ends, and the user's next message closes it.
        routed: a run has asked it, and takes the answer to whom it belongs.
        wished: the user wants to be asked, and no turn waits for it.
        waits_unattended: it waits in a headless Neovim, too.
        has_line: its call has a line in the chat beside the section.
        past: why it can't be asked again once it is closed, as a sentence. Empty: it can be, and
            an answer that did not get through is sent as a message.
        says_refusal: what can't be asked so is told to the user, since the agent can't do better.
        inside: why it is answered in its section only, as a sentence. Empty: from anywhere.
    """

    tool: ClassVar[str] = ""
    awaited: ClassVar[bool] = True
    routed: ClassVar[bool] = False
    wished: ClassVar[bool] = False
    waits_unattended: ClassVar[bool] = True
    has_line: ClassVar[bool] = True
    past: ClassVar[str] = ""
    says_refusal: ClassVar[bool] = False
    inside: ClassVar[str] = ""

    def asks(self, tool: str, input: dict[str, Any]) -> bool:
        """Whether a call of this tool, with this input, asks so."""
        return tool == self.tool

    @abstractmethod
    def read(self, id: str, request: Request, file: ReadFile) -> Form | Malformed:
        """The section of this id that asks it."""

    # --- what the agent gets ---

    @abstractmethod
    def reply(self, answered: Answered) -> Reply:
        """For an answer."""

    def refused(self, request: Request, reason: str) -> Reply:
        """Where it can't be asked so."""
        return Deny(reason)

    def unanswered(self, request: Request, reason: str) -> Reply:
        """Where nobody is there to answer."""
        return Deny(reason, stop=True)

    def declined(self, request: Request) -> Reply | None:
        """Where the user wants no part in it, which is no answer; None: there is no such thing."""
        return None

    def cancelled(self, request: Request, reason: str, *, stop: bool) -> Reply:
        """Where the user cancels; ``stop``: the turn, too."""
        return Deny(reason, stop=stop)

    def talked_back(self, request: Request, text: str) -> Reply:
        """Where the user talks back, with ``text`` for the agent."""
        return Deny(text)

    def message(self, answered: Answered, *, late: bool) -> str:
        """The answer as the user's message; a ``late`` one repeats what was asked."""
        return record.late_message(answered.form, answered.answers, answered.comment)

    # --- what the chat shows ---

    def record(self, answered: Answered) -> list[str]:
        """The lines that stand for an answered section."""
        if answered.form.proposes:
            return record.granted(answered.form, answered.given, answered.call)
        return record.answered(answered.form, answered.answers, answered.comment)

    def line(self, input: dict[str, Any]) -> str:
        """A call in one line, where it is not like that of any tool; else empty."""
        return ""

    def output(self, text: str) -> list[str]:
        """The lines of a result, where they are not the text; else empty."""
        return []

    def as_text(self, request: Request) -> list[str]:
        """What is asked, with numbers, where no section can be drawn; empty: it can't be so."""
        return []

    def by_number(self, request: Request, text: str) -> int | None:
        """The option (from 1) that a message names which answers `as_text`."""
        return None

    # --- what happens meanwhile ---

    def covered(self, request: Request, updates: list[Update]) -> bool:
        """Whether it would not have been asked, had these updates held."""
        return False

    def stale(self, form: Form, file: ReadFile) -> str:
        """Why it can't be done any more as it was shown, as a sentence; empty: it can."""
        return ""


def form_of(
    id: str, request: Request, questions: tuple[Question, ...] | Malformed, *, skips: bool = False
) -> Form | Malformed:
    """The section of this id that asks these questions; ``skips``: of several, some of them."""
    if isinstance(questions, Malformed):
        return questions
    return Form(id, questions, agent=request.asker, skips=skips and len(questions) > 1)
