"""What an agent asks, as the form to show, and what the answer turns into for each way to ask.

Questions come as a tool call of Claude Code's, as one of our own tool's, or as choices in the
agent's text; Winnow itself asks whether it trusts a project; everything else is a tool that wants
permission.
"""

from __future__ import annotations

from typing import Any

import msgspec

from winnow.core import question
from winnow.core.agent import Allow, Deny, Reply, Request
from winnow.core.asking import choices, permission, question_tool, trust
from winnow.core.asking.choices import Choice
from winnow.core.proposal.proposal import Call, Plan, Proposal, cell_of, patch_of, written_by
from winnow.core.section import answer, record
from winnow.core.section.form import Form
from winnow.ports import FileError, Files

ASK = "AskUserQuestion"
TEXT = "winnow:choices"  # no tool: choices in the agent's text


def make(section_id: str, request: Request, files: Files) -> Form | question.Malformed:
    """The form of what the agent asks."""
    agent = request.agent or request.agent_id
    asked: tuple[question.Question, ...] | question.Malformed
    if request.tool == ASK:
        asked = question.read_questions(request.input)
    elif request.tool == TEXT:
        asked = choice_of(request).questions
    elif request.tool == question_tool.TOOL:
        asked = question_tool.read(request.input)
    elif request.tool == trust.TOOL:
        return trust.form(section_id, request.input)
    else:
        return _permission(section_id, request, files, agent)
    if isinstance(asked, question.Malformed):
        return asked
    return Form(section_id, asked, agent=agent)


def choice_of(request: Request) -> Choice:
    """The choice in the agent's text that was made a request by `in_text`."""
    return msgspec.convert(request.input, Choice)


def in_text(choice: Choice) -> Request:
    """A choice in the agent's text as a request that nobody waits for."""
    return Request(TEXT, msgspec.to_builtins(choice))


def answered(request: Request, form: Form, answers: answer.Answers) -> Reply:
    """What the agent gets for these answers to its questions."""
    if request.tool == question_tool.TOOL:
        return _result(request, question_tool.result(request.input, answers))
    return Allow(answer.updated_input(request.input, form, answers))


def refused(request: Request, reason: str) -> Reply:
    """What the agent gets where it can't be asked so."""
    if request.tool == question_tool.TOOL:
        return _result(request, question_tool.failed(reason))
    return Deny(reason)


def unanswered(request: Request, sentence: str) -> Reply:
    """What the agent gets where nobody is there to answer."""
    if request.tool == question_tool.TOOL:
        return _result(request, question_tool.NO_INTERFACE)
    return Deny(sentence, stop=True)


def cancelled(request: Request, message: str, *, stop: bool) -> Reply:
    """What the agent gets when the user cancels."""
    if request.tool == question_tool.TOOL:
        return _result(request, question_tool.result(request.input, None))
    return Deny(message, stop=stop)


def as_message(request: Request, form: Form, answers: answer.Answers, *, late: bool) -> str:
    """The answers as the user's next message; a late one repeats the question."""
    if request.tool == TEXT and not late:
        return choices.answer_text(choice_of(request), answers)
    return record.late_message(form, answers)


def _result(request: Request, result: dict[str, Any]) -> Allow:
    return Allow({**request.input, question_tool.RESULT: result})


def _permission(section_id: str, request: Request, files: Files, agent: str) -> Form:
    proposal, why = _proposal(request, files)
    if request.reason:
        why = (f"Why you are asked: {request.reason}", *why)
    if request.blocked and request.blocked not in request.reason:
        why = (*why, f"It touches: {request.blocked}")
    return permission.form(
        section_id, request.tool, proposal, request.suggestions, agent=agent, why=why
    )


def _proposal(request: Request, files: Files) -> tuple[Proposal, tuple[str, ...]]:
    """What is to be done, and what the user should know before."""
    call = Call(request.tool, request.input)
    match request:
        case Request(tool="ExitPlanMode", input={"plan": str(plan)}) if plan.strip():
            return Plan(request.input, plan), ()
    if (path := written_by(request.tool, request.input)) is None:
        return call, ()
    try:
        old = files.read(path)
    except FileError as error:
        return call, (error.sentence,)
    if request.tool == "NotebookEdit":
        return cell_of(request.input, old or "") or call, ()
    return patch_of(request.tool, request.input, path, old) or call, ()
