"""What an MCP server asks the user: a form with a field for each property, or an address to open.

The CLI passes it on as the control request ``elicitation`` (2.1.332), which the SDK does not know;
it has held the schema against MCP's before, and drops what that lacks, such as ``pattern``. Its
reply says accept, decline or cancel, and has the content of what was accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from winnow.core.agent import Allow, Reply, Request
from winnow.core.asking.fields import Field
from winnow.core.asking.way import Answered, ReadFile, Way
from winnow.core.question import Malformed, Option, Question
from winnow.core.section.answer import Answers
from winnow.core.section.form import Form
from winnow.core.text.text import brief, clean
from winnow.core.text.visible import show

TOOL = "elicitation"
MOST = 200  # fields
_VALUES = 999  # of one: the addresses in markers have three digits

_Object = dict[str, Any]

_OPEN = Option("Accept", "you open it yourself; the server is told that you agree")
_NOTHING = Option("Accept", "it asks for nothing more")
_DECLINE = Option("Decline", "the server is told that you don't want to")


class Elicitation(Way):
    """See the module."""

    tool = TOOL
    has_line = False
    waits_unattended = False
    says_refusal = True
    past = "What a server asked is past: it asks anew when it needs to know."

    def read(self, id: str, request: Request, file: ReadFile) -> Form | Malformed:
        """See `Way`."""
        input = request.input
        server, message = brief(str(input.get("server")), 40), str(input.get("message") or "")
        asks = f"The MCP server {server} asks: {message}"
        if (url := input.get("url")) is not None:
            text = f"{asks}\n{clean(show(str(url)))} (gx opens it)"
            return Form(id, (_accept(text, "Address", _OPEN),), server=server)
        fields = _fields(input)
        if len(fields) > MOST:
            return Malformed(f"The form of {server} has {len(fields)} fields, more than {MOST}")
        if (most := max((len(field.values) for field in fields), default=0)) > _VALUES:
            return Malformed(
                f"A field of the form of {server} has {most} values, more than {_VALUES}"
            )
        if not fields:
            return Form(id, (_accept(asks, "Form", _NOTHING),), server=server)
        first, *others = (field.question for field in fields)
        first = field_of(first, f"{asks}\n{first.question}")
        return Form(id, (first, *others), server=server)

    def reply(self, answered: Answered) -> Reply:
        """See `Way`."""
        fields = _fields(answered.request.input)
        if answered.request.input.get("url") is not None or not fields:
            (given,) = answered.answers
            return _action("accept" if given.kept == (1,) else "decline")
        return _action("accept", dict(_content(fields, answered.answers)))

    def refused(self, request: Request, reason: str) -> Reply:
        """See `Way`."""
        return _action("decline")

    def declined(self, request: Request) -> Reply:
        """See `Way`."""
        return _action("decline")

    def unanswered(self, request: Request, reason: str) -> Reply:
        """See `Way`."""
        return _action("cancel")

    def cancelled(self, request: Request, reason: str, *, stop: bool) -> Reply:
        """See `Way`. What becomes of the turn is the server's to say."""
        return _action("cancel")


def request(asked: _Object) -> Request:
    """What the CLI asks as a request."""
    known = {"message": asked.get("message"), "server": asked.get("mcp_server_name")}
    if asked.get("mode") == "url":
        return Request(TOOL, {**known, "url": str(asked.get("url") or "")})
    schema = asked.get("requested_schema")
    order = asked.get("property_order")
    return Request(TOOL, {**known, "schema": schema or {}, "order": order or []})


def response(reply: Reply) -> _Object:
    """What the CLI gets for a reply. Nobody has decided what was denied: the turn stopped, say."""
    if not isinstance(reply, Allow):
        return {"action": "cancel"}
    return {key: reply.input[key] for key in ("action", "content") if key in reply.input}


def _accept(text: str, header: str, yes: Option) -> Question:
    """Yes or no: the server reads no words."""
    choice = Field("", "string", {}, required=True, values=((True, ""), (False, "")))
    return Question(text, header, (yes, _DECLINE), field=choice.problem)


def field_of(question: Question, text: str) -> Question:
    """The question with another text."""
    return Question(
        text,
        question.header,
        question.options,
        question.multi,
        question.recommended,
        field=question.field,
        filled=question.filled,
    )


def _action(action: str, content: _Object | None = None) -> Allow:
    return Allow({"action": action} if content is None else {"action": action, "content": content})


def _fields(input: _Object) -> list[Field]:
    schema, order = input.get("schema"), input.get("order")
    found = schema.get("properties") if isinstance(schema, dict) else None
    properties: _Object = found if isinstance(found, dict) else {}
    required = schema.get("required") if isinstance(schema, dict) else None
    must = required if isinstance(required, list) else []
    names = [name for name in order if name in properties] if isinstance(order, list) else []
    names = list(dict.fromkeys([*names, *properties]))
    return [Field.read(name, properties[name], required=name in must) for name in names]


def _content(fields: list[Field], answers: Answers) -> Iterator[tuple[str, Any]]:
    for field, given in zip(fields, answers, strict=True):
        kept, own = given.kept, "\n\n".join(given.own)
        if kept or own:
            yield field.name, field.value(kept, own)
