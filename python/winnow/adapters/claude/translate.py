"""The messages of a session as events. What a newer Claude Code says beside them costs nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ConversationResetMessage,
    Message,
    RateLimitEvent,
    RateLimitInfo,
    ResultMessage,
    ServerToolResultBlock,
    ServerToolUseBlock,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from winnow.adapters.claude import failures, tasks
from winnow.core import agent as a
from winnow.core.text import blocks
from winnow.core.text.encoding import joined
from winnow.core.usage import context, meter, plan
from winnow.core.usage.meter import number

log = logging.getLogger(__name__)


class Translator:
    """Turns the messages of one session into events.

    What a subagent says is told aside; the results of its tools also as all others are, since the
    user may have allowed them.
    """

    def __init__(self) -> None:
        self.mode = ""  # the permission mode that was told last
        self.session = ""  # its id
        self.capabilities: list[str] = []  # what the CLI says that it can do
        self._streamed = ""  # the id of the message that came as deltas
        self._half = ""  # the first half of a surrogate pair
        self._compacted = False  # and that was said, since the last result
        self._reset = False  # the conversation is a new one, since the last result
        self._failed: set[str] = set()  # MCP servers that were told of
        self._refusal = ""  # why the API refused, said just before the result
        self._until: Any = None  # when a limit of the plan is over that was reached
        self.meter = meter.Meter()

    def translate(self, message: Message) -> Iterator[a.AgentEvent]:
        """What a message tells.

        Raises:
            AttributeError, KeyError, TypeError, ValueError: it is not what it seems to be.
        """
        match message:
            case StreamEvent():
                if message.parent_tool_use_id is None:
                    yield from self._delta(message.event)
            case AssistantMessage(parent_tool_use_id=None):
                yield from self._assistant(message)
            case AssistantMessage():
                yield from tasks.said(message, _text)
            case UserMessage():
                yield from tasks.beside(message, _text)
                yield from self._user(message)
            case SystemMessage(subtype=subtype, data=data):
                yield from self._system(subtype, data)
            case RateLimitEvent(rate_limit_info=info):
                yield self._limited(info)
            case ResultMessage():
                yield from self._silent(message)
                cost, models = self.meter.hear(message.total_cost_usd, message.model_usage)
                yield meter.Spent(models, self.meter.before)
                yield self._result(message, cost)
            case ConversationResetMessage():
                self._reset = True  # the next "init" tells the new session
            case _:
                _unknown(type(message).__name__)

    def change_mode(self, mode: str | None) -> Iterator[a.AgentEvent]:
        """Tell of a mode, unless it is the one that was told last."""
        if mode and mode != self.mode:
            self.mode = mode
            yield a.Mode(mode)

    def _system(self, subtype: str, data: dict[str, Any]) -> Iterator[a.AgentEvent]:
        match subtype, data:
            case "init", {"session_id": str(session)}:
                self.session = session
                self.capabilities = data.get("capabilities") or []
                yield a.Started(session, data.get("model", ""))
                yield from self.change_mode(data.get("permissionMode"))
                yield from self._servers(data.get("mcp_servers"))
            case "status", _:
                yield from self.change_mode(data.get("permissionMode"))
            case "permission_denied", _:
                yield a.Notice(failures.denied(data))
            case "api_retry", _:
                yield failures.retry(data)
            case "compact_boundary", _:
                yield a.Notice("Claude now has a summary in place of the conversation so far.")
                yield context.Compacted()
                self._compacted = True
            case _:
                yield from tasks.told(subtype, data)

    def _delta(self, event: dict[str, Any]) -> Iterator[a.AgentEvent]:
        match event:
            case {"type": "message_start", "message": {"id": str(id), **message}}:
                self._streamed = id
                yield from _filled(message.get("usage"))
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}:
                if text := self._complete(text):
                    yield a.Text(text)
            case {"delta": {"type": "thinking_delta", "thinking": text}}:
                if text := self._complete(text):
                    yield a.Thinking(text)
            case {"type": "content_block_stop"} if self._half:
                self._half = ""
                yield a.Text("\ufffd")
            case {"type": "message_stop"}:
                yield a.Pause()

    def _assistant(self, message: AssistantMessage) -> Iterator[a.AgentEvent]:
        """One block of a message; each block comes as a message of its own."""
        if message.error:
            self._refusal = message.error  # its text is the result's, which shows it
            return
        streamed = message.message_id == self._streamed
        for block in message.content:
            match block:
                case ToolUseBlock():
                    yield a.ToolStarted(block.id, block.name, as_object(block.input))
                case TextBlock():
                    if not streamed:
                        yield a.Text(joined(block.text))
                case ThinkingBlock() | ServerToolUseBlock() | ServerToolResultBlock():
                    pass
                case _:
                    _unknown(type(block).__name__)
        if not streamed:
            yield a.Pause()

    def _user(self, message: UserMessage) -> Iterator[a.AgentEvent]:
        """The results of tools; what the user said comes back in the same kind of message."""
        for block in message.content if isinstance(message.content, list) else []:
            match block:
                case ToolResultBlock():
                    output, failed = _text(block.content), bool(block.is_error)
                    result = message.tool_use_result
                    yield a.ToolFinished(block.tool_use_id, output, failed, result)
                    if message.parent_tool_use_id is None:
                        yield a.Pause()
                case TextBlock():
                    pass
                case _:
                    _unknown(type(block).__name__)

    def _limited(self, info: RateLimitInfo) -> plan.Limited:
        """How much of the plan is used; a turn that fails for that says when it is over."""
        full = info.status == "rejected"
        self._until = info.resets_at if full else None
        kind, share = info.rate_limit_type, info.utilization
        return plan.Limited(plan.window(kind, share=share, until=info.resets_at, full=full))

    def _result(self, result: ResultMessage, cost: float) -> a.TurnEnded:
        reason = result.terminal_reason or ""
        stopped = reason.startswith("aborted")
        refusal, self._refusal = self._refusal, ""
        error, trouble = "", a.TurnEnded().trouble
        if result.is_error and not stopped:
            detail = "; ".join(result.errors or []) or result.result or ""
            trouble = failures.kind(reason, refusal, result.api_error_status)
            error = failures.turn(reason, refusal, result.api_error_status, detail)
        until = number(self._until) if trouble == "limit" else 0.0
        answered = result.user_message_uuids or _woken(result)
        seconds = (result.duration_ms or 0) / 1000
        return a.TurnEnded(answered, error, stopped, cost, trouble, until, seconds)

    def _silent(self, result: ResultMessage) -> Iterator[a.AgentEvent]:
        """A command such as `/clear` is done, and has not said so."""
        reset, self._reset = self._reset, False
        said, self._compacted = self._compacted or bool(result.result), False
        silent = not said and result.num_turns == 0 and result.subtype == "success"
        if silent and not _woken(result):
            yield a.Notice(failures.FORGOTTEN if reset else failures.SILENT)

    def _servers(self, servers: list[dict[str, Any]] | None) -> Iterator[a.AgentEvent]:
        """Tell once of those that don't work."""
        for server in servers or []:
            name, failed = str(server.get("name")), server.get("status") == "failed"
            if failed and name not in self._failed:
                yield a.Notice(failures.server(name))
            (self._failed.add if failed else self._failed.discard)(name)

    def _complete(self, text: str) -> str:
        """The text so far without the half of a character that the next delta completes."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return joined(text.removesuffix(self._half))


def _woken(result: ResultMessage) -> list[str]:
    """What has woken Claude, such as a task in the background: the turn answers no prompt."""
    kind = result.origin["kind"] if result.origin else "human"
    return [] if result.user_message_uuids or kind == "human" else [kind]


def _filled(usage: Any) -> Iterator[context.Filled]:
    """What the model has read, as the API counts it: cached or not."""
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    if isinstance(usage, dict) and (tokens := sum(number(usage.get(part)) for part in parts)):
        yield context.Filled(int(tokens))


@cache  # once for each kind, however many there are
def _unknown(kind: str) -> None:
    log.warning("a newer SDK has a %s, which is not shown", kind)


def as_object(input: Any) -> dict[str, Any]:
    """A tool's input as the object that it should be; a model may write anything."""
    return input if isinstance(input, dict) else {"input": input}


def _text(content: str | list[dict[str, Any]] | None) -> str:
    """What a tool's result says."""
    return joined(blocks.plain(content) if isinstance(content, list) else content or "")
