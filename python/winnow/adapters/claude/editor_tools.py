"""The editor's tools, as Claude Code gets them: those that read run unasked, others ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from claude_agent_sdk import HookMatcher
from msgspec.structs import replace

from winnow import ports
from winnow.adapters.claude import rules
from winnow.adapters.claude.tool_server import Tool, ToolError, ToolServer
from winnow.core import agent as a
from winnow.core.editor import tools
from winnow.core.question import Malformed


def servers(editor: ports.EditorTools) -> dict[str, Any]:
    """The MCP server with all that are offered."""
    made = [
        Tool(
            one.name,
            one.description,
            one.schema,
            _running(one.name, editor),
            reads=one.name in tools.READING,
        )
        for one in tools.of(editor.offered)
    ]
    return {tools.SERVER: ToolServer(tools.SERVER, made).config}


def _running(name: str, editor: ports.EditorTools) -> Callable[[dict[str, Any]], Awaitable[str]]:
    async def run(input: dict[str, Any]) -> str:
        call = tools.read(name, input)
        if isinstance(call, Malformed):
            raise ToolError(call.reason)
        try:
            return await editor.call(call)
        except ports.EditorError as error:
            raise ToolError(str(error)) from error

    return run


def asking(editor: ports.EditorTools | None, ask: ports.Ask) -> ports.Ask:
    """Asks for a permission with what would happen; what can't be done is not asked for."""
    if editor is None:
        return ask

    async def asked(request: a.Request) -> a.Reply:
        if (name := tools.name_of(request.tool)) not in tools.ASKING:
            return await ask(request)
        call = tools.read(name, request.input)
        if isinstance(call, Malformed):
            return a.Deny(call.reason)
        try:
            would = await editor.would(call)
        except ports.EditorError as error:
            return a.Deny(str(error))
        return await ask(replace(request, would=would))

    return asked


def allowed(editor: ports.EditorTools | None) -> list[HookMatcher]:
    """Hooks that let run what reads. A rule of the user's that denies or asks still holds.

    Only what is offered: another server may have a tool of the same name as one that is not.
    """
    names = [name for name in tools.READING if editor is not None and name in editor.offered]
    if not names:
        return []
    return [HookMatcher(f"^{tools.PREFIX}({'|'.join(names)})$", [rules.deciding("allow")])]
