"""What Claude Code tells of subagents and of what runs in the background, as events.

Seen with Claude Code 2.1.332:

- A subagent begins with ``task_started``, one in the background after ``background_tasks_changed``,
  which has the full set each time. A command of the foreground has a ``task_started`` after about
  three seconds. ``parent_task_id`` names the subagent that started it.
- An end is told by ``task_updated`` with a status, then by ``task_notification``; then the full set
  is without it. Children of what was stopped may have only one of the two, and after the set.
- A call that leaves something running returns at once: its ``tool_use_result`` has the task's id.
- What a subagent says has the ``parent_tool_use_id`` of the call that started it, at any depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from winnow.core import agent as a
from winnow.core.tasks import events as t

_KINDS = {"local_agent": t.AGENT, "local_bash": t.COMMAND}


def told(subtype: str, data: dict[str, Any]) -> Iterator[a.Side]:
    """What a system message tells of tasks."""
    match subtype, data:
        case "task_started", {"task_id": str()}:
            yield _began(data, background=bool(data.get("is_backgrounded", True)))
        case "task_progress", {"task_id": str(id)}:
            tokens, calls = _usage(data)
            yield t.Progress(id, str(data.get("description") or ""), tokens, calls)
        case "task_updated", {"task_id": str(id), "patch": dict(patch)}:
            background = patch.get("is_backgrounded")
            known = background if isinstance(background, bool) else None
            yield t.Changed(id, str(patch.get("status") or ""), known)
        case "task_notification", {"task_id": str(id), "status": status}:
            summary, call = str(data.get("summary") or ""), str(data.get("tool_use_id") or "")
            yield t.Ended(id, str(status), summary, call, *_usage(data))
        case "background_tasks_changed", {"tasks": list(tasks)}:
            known_ids = (one for one in tasks if isinstance(one.get("task_id"), str))
            yield t.InBackground(tuple(_began(one, background=True) for one in known_ids))


def _began(data: dict[str, Any], *, background: bool) -> t.Began:
    kind = str(data.get("task_type") or "")

    def text(name: str) -> str:
        return str(data.get(name) or "")

    return t.Began(
        data["task_id"],
        text("description"),
        _KINDS.get(kind, kind),
        text("tool_use_id"),
        text("subagent_type"),
        text("parent_task_id"),
        background,
        text("prompt"),
    )


def _usage(data: dict[str, Any]) -> tuple[int, int]:
    """Tokens, and calls of tools."""
    usage = data.get("usage")
    found = usage if isinstance(usage, dict) else {}
    return int(found.get("total_tokens") or 0), int(found.get("tool_uses") or 0)


def beside(message: UserMessage, plain: Callable[[Any], str]) -> Iterator[a.Side]:
    """What results and prompts tell of tasks; see `said`."""
    yield from _launched(message)
    if message.parent_tool_use_id is not None:
        yield from said(message, plain)


def _launched(message: UserMessage) -> Iterator[a.Side]:
    """Whether a result only says that something goes on."""
    match message.tool_use_result, message.content:
        case (
            ({"agentId": str(id), "isAsync": True} | {"backgroundTaskId": str(id)}),
            list(blocks),
        ):
            for block in blocks:
                if isinstance(block, ToolResultBlock):
                    yield t.Launched(block.tool_use_id, id)


def said(
    message: AssistantMessage | UserMessage, plain: Callable[[Any], str]
) -> Iterator[t.FromSubagent]:
    """What a subagent says and does, or is told. Its messages come whole.

    Args:
        plain: makes a tool's output a text that can be encoded, and also a text.
    """
    call = message.parent_tool_use_id or ""
    model = message.model if isinstance(message, AssistantMessage) else ""
    content = message.content
    blocks = [TextBlock(content)] if isinstance(content, str) else content
    for block in blocks:
        match block:
            case TextBlock(text=text) if isinstance(message, UserMessage):
                yield t.FromSubagent(call, t.Prompted(plain(text)))
            case TextBlock(text=text):
                yield t.FromSubagent(call, a.Text(plain(text)), model)
                yield t.FromSubagent(call, a.Pause(), model)
            case ThinkingBlock(thinking=text):
                yield t.FromSubagent(call, a.Thinking(plain(text)), model)
                yield t.FromSubagent(call, a.Pause(), model)
            case ToolUseBlock(id=id, name=name, input=input):
                started = a.ToolStarted(id, name, input if isinstance(input, dict) else {})
                yield t.FromSubagent(call, started, model)
            case ToolResultBlock(tool_use_id=id, content=output, is_error=failed):
                finished = a.ToolFinished(id, plain(output), bool(failed))
                yield t.FromSubagent(call, finished)
