"""Claude Code as an agent, through the Agent SDK. No other module imports the SDK.

Importing this takes a second or two (the SDK imports ``mcp``), so do it off the main path.
"""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from tempfile import NamedTemporaryFile
from typing import Any, cast

from claude_agent_sdk import (
    AssistantMessage,
    CanUseToolShadowedWarning,
    ClaudeAgentOptions,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    Message,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ProcessError,
    RateLimitEvent,
    ResultMessage,
    SdkMcpTool,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolAnnotations,
    ToolPermissionContext,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    create_sdk_mcp_server,
)
from claude_agent_sdk._errors import MessageParseError
from claude_agent_sdk.types import HookEvent, PermissionMode

from winnow import ports
from winnow.adapters.claude import ask_user, failures, process, session_file
from winnow.core import agent as a
from winnow.core.asking import question_tool
from winnow.core.text.encoding import to_json

_LOGGER = logging.getLogger(__name__)

_LINE = 200  # characters of a line of stderr that the log gets
_LITERAL = "(The user picked or wrote this as an answer.)"

_TOOL_ENDS: tuple[HookEvent, ...] = ("PostToolUse", "PostToolUseFailure")

_CONFIG_CHANGE = cast(HookEvent, "ConfigChange")  # the CLI has it, the SDK's types don't yet

_SOURCES = {
    "userSettings": "all your projects (settings.json of Claude Code)",
    "projectSettings": "this project, for everybody (.claude/settings.json)",
    "localSettings": "this project, for you (.claude/settings.local.json)",
    "policySettings": "your organisation",
    "session": "this session",
    "flagSettings": "this project, as you decided here (:Winnow trust)",
    "command": "a skill or command that runs",
}

# What a surrounding Claude Code tells its children about itself. A CLI that believes it would
# join that session or talk to that editor. The SDK can't remove a variable, but an empty one
# counts as unset.
_OUTER_SESSION = (
    "CLAUDE_CODE_BRIDGE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_PID",
)


# What makes up for settings that are not read from the project's files. Its prompts are, and what
# it wants done by the clock is not, which Claude Code does even without its settings.
_PARTLY = {
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
}


class ClaudeAgent:
    """One Claude Code session; implements `ports.Agent`.

    Args:
        spec: what the session is made from.
        ask: called whenever Claude waits for the user.
        cli_path: the CLI to run; empty for the one that comes with the SDK.
        env: variables on top of the inherited ones; an empty value drops one.
        log: takes the CLI's stderr as it comes; the log proper has its end when the CLI fails.
        start_patience: seconds for the CLI to start; it then gets as many again, from anew.
        patience: seconds for it to react to an interrupt and the like.
        name: see `ports.Agent.name`.
    """

    def __init__(
        self,
        spec: ports.AgentSpec,
        ask: ports.Ask,
        *,
        cli_path: str = "",
        env: Mapping[str, str] | None = None,
        log: Callable[[str], object] = _LOGGER.debug,
        start_patience: float = 30,
        patience: float = 10,
        name: str = "claude",
    ) -> None:
        self.name = name
        self._spec = spec
        self._ask = ask
        self._cli_path = cli_path
        self._log = log
        self._start_patience = start_patience
        self._patience = patience
        self._stderr: deque[str] = deque(maxlen=50)
        self._events: asyncio.Queue[a.AgentEvent | ports.AgentError | None] = asyncio.Queue()
        # By the id of a tool call that the app has dealt with, or of a subagent that has a name.
        self._handled: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._agents: dict[str, str] = {}  # what each subagent is for
        self._plans: dict[str, dict[str, Any]] = {}  # inputs of ExitPlanMode by their call
        self._notes: dict[str, str] = {}  # what goes with the result of a call
        self._translator = _Translator()
        self._asking: dict[asyncio.Task[Any], str] = {}  # to the subagent that asks, or ""
        self._drain_task: asyncio.Task[None] | None = None
        self._closed = False
        self._files = ExitStack()  # there until the CLI has ended
        if spec.mode == "bypassPermissions":  # questions and plans still come to can_use_tool
            warnings.simplefilter("ignore", CanUseToolShadowedWarning)
        self._client = process.client(
            ClaudeAgentOptions(
                cwd=spec.cwd,
                cli_path=cli_path or None,
                resume=spec.session or None,
                model=None if spec.model == "default" else spec.model or None,
                permission_mode=cast(PermissionMode, spec.mode) if spec.mode else None,
                **ask_user.options(spec.questions, spec.given.prompts),
                mcp_servers={**spec.given.servers, **self._servers()},
                **self._project(),
                include_partial_messages=True,
                can_use_tool=self._can_use_tool,
                hooks={
                    "PreToolUse": [HookMatcher(question_tool.TOOL, [_asks_always])],
                    _CONFIG_CHANGE: [HookMatcher(hooks=[self._settings_changed])],
                    **{event: [HookMatcher(hooks=[self._tool_ended])] for event in _TOOL_ENDS},
                },
                max_buffer_size=64 << 20,  # a longer line, such as a big image, ends the client
                stderr=self._hear_stderr,
                env={
                    **{name: "" for name in _OUTER_SESSION if name in os.environ},
                    "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT": "markdown",
                    **({} if spec.given.whole else _PARTLY),
                    **(env or {}),
                },
            )
        )

    def _project(self) -> dict[str, Any]:
        """What the session gets of its project's settings: arguments of the SDK's options."""
        found: dict[str, Any] = {}
        if not self._spec.given.whole:
            found |= {"setting_sources": ["user"], "add_dirs": [self._spec.cwd]}
        if self._spec.given.settings:  # as a file, since all users can read a command line
            file = NamedTemporaryFile(prefix="winnow-", suffix=".json")  # noqa: SIM115
            self._files.enter_context(file)
            file.write(to_json(self._spec.given.settings).encode())
            file.flush()
            found["settings"] = file.name
        return found

    def _servers(self) -> dict[str, Any]:
        """The MCP server with the tool to ask with, unless questions come as text only."""
        if self._spec.questions == "text":
            return {}
        handler = ask_user.question_handler(self._ask)
        tool = SdkMcpTool(
            question_tool.NAME,
            question_tool.DESCRIPTION,
            question_tool.SCHEMA,
            handler,
            ToolAnnotations(maxResultSizeChars=500_000),  # else a long one goes to a file, unread
        )
        server: dict[str, Any] = {**create_sdk_mcp_server(question_tool.SERVER, tools=[tool])}
        server["alwaysLoad"] = True  # else Claude must search for the tool before it asks
        return {question_tool.SERVER: server}

    async def connect(self) -> None:
        """Start the CLI; once more, if it was too slow. See `ports.Agent.connect`."""
        for again in (True, False):
            connecting = asyncio.create_task(self._client.connect())
            try:
                silent = await self._is_silent(connecting)
            finally:
                code = self._exit_code()
                if not connecting.done():
                    self._kill()
                    # Cancelled while it cleans up, the SDK would leave things open.
                    await asyncio.wait({connecting}, timeout=1)
                    connecting.cancel()
                    await asyncio.wait({connecting})
            if not silent:
                break
            if not again:
                raise self._error(failures.silent(2 * self._start_patience))
            self._log(f"Claude Code is silent for {self._start_patience:g} s; starting it again")
            await self._client.disconnect()
            self._client = process.client(self._client.options)
        if connecting.cancelled():
            raise self._error(failures.died(code, self._last_stderr()))
        if (error := connecting.exception()) is not None:
            raise self._not_started(error) from error
        self._drain_task = asyncio.create_task(self._drain())

    async def _is_silent(self, connecting: asyncio.Task[None]) -> bool:
        """Whether the CLI neither connects nor ends in time.

        An end is looked for, because with exit code 0 the SDK would not see it for a minute.
        """
        for _ in range(max(1, round(self._start_patience / 0.1))):
            await asyncio.wait({connecting}, timeout=0.1)
            if connecting.done() or self._exit_code() is not None:
                return False
        return True

    def _not_started(self, error: BaseException) -> ports.AgentError:
        if "No conversation found" in str(error):
            return ports.SessionGone(failures.forgotten(self._spec.session), repr(error))
        # "Cannot write", "not ready for writing": it ended before it was spoken to.
        if isinstance(error, ProcessError) or " writ" in str(error):
            code = getattr(error, "exit_code", None)
            return self._error(failures.died(code, self._last_stderr()), error)
        return self._error(failures.start(str(error), self._cli_path), error)

    async def events(self) -> AsyncIterator[a.AgentEvent]:
        """What Claude says. See `ports.Agent.events`."""
        while (event := await self._events.get()) is not None:
            if isinstance(event, ports.AgentError):
                raise event
            yield event
            if isinstance(event, a.ToolStarted):
                self._handled[event.id].set()

    async def heard(self) -> ports.Heard | None:
        """See `ports.Agent.heard`."""
        session = self._translator.session or self._spec.session
        return await asyncio.to_thread(session_file.heard, session) if session else {}

    async def prompt(self, text: str, uuid: str, *, command: bool = True) -> None:
        """Send a message. See `ports.Agent.prompt`."""
        content: Any = text
        if not command:
            # Claude Code looks for commands and @mentions in the last block of a message only.
            content = [{"type": "text", "text": part} for part in (text, _LITERAL)]

        async def message() -> AsyncIterator[dict[str, Any]]:
            said = {"role": "user", "content": content}
            yield {"type": "user", "uuid": uuid, "message": said, "parent_tool_use_id": None}

        try:
            await self._client.query(message())
        except Exception as error:
            sentence = failures.died(self._exit_code(), self._last_stderr())
            raise self._error(sentence, error) from error

    async def interrupt(self) -> None:
        """End the turn; a CLI that does not react is killed. See `ports.Agent.interrupt`."""
        try:
            await asyncio.wait_for(self._client.interrupt(), self._patience)
        except Exception as error:  # noqa: BLE001  the SDK raises bare ones
            _LOGGER.warning("interrupt failed, ending Claude Code: %r", error)
            self._kill()

    async def set_mode(self, mode: str) -> None:
        """Change the permission mode. See `ports.Agent.set_mode`."""
        known = self._translator.mode
        self._translator.mode = ""  # so that what the CLI says of the new one counts as news
        try:
            change = self._client.set_permission_mode(cast(PermissionMode, mode))
            await asyncio.wait_for(change, self._patience)
        except Exception as error:
            self._translator.mode = self._translator.mode or known
            raise self._error(failures.mode(mode, str(error)), error) from error
        # The CLI is silent about a mode that it already had, and maybe slower than its reply.
        for event in self._translator.change_mode(mode):
            self._events.put_nowait(event)

    async def rules(self) -> list[str]:
        """The permission rules. See `ports.Agent.rules`."""
        try:
            # The SDK has no call for it, only the CLI has.
            ask = self._client._query._send_control_request({"subtype": "list_permission_rules"})  # type: ignore[union-attr]
            reply = await asyncio.wait_for(ask, self._patience)
            return list(_rules(reply["state"]))
        except Exception as error:
            raise self._error(failures.rules(str(error)), error) from error

    async def close(self) -> None:
        """End the CLI, and with it everything that waits. See `ports.Agent.close`."""
        self._closed = True
        await self._client.disconnect()
        self._files.close()
        if self._drain_task is not None:
            self._drain_task.cancel()
            await asyncio.wait({self._drain_task})

    # --- from the CLI ---------------------------------------------------------------------------

    async def _drain(self) -> None:
        """Read until the CLI ends, whatever the app does.

        The SDK's channel holds 100 messages; when it is full, the SDK stops reading, and
        permission requests and replies to interrupts no longer come through.
        """
        end: ports.AgentError | None = None
        try:
            async for message in self._messages():
                for event in self._translated(message):
                    self._events.put_nowait(event)
                    if isinstance(event, a.TurnEnded) and event.stopped:
                        self._withdraw(subagents=False)  # they outlive the turn
            sentence = failures.died(self._exit_code(), self._last_stderr())
            end = self._error(sentence)
        except Exception as error:  # noqa: BLE001  whatever it is, it ended the session
            if isinstance(error, ProcessError):  # its words only repeat the exit code
                code, words = error.exit_code, ""
            else:
                code, words = self._exit_code(), str(error)
            end = self._error(failures.died(code, self._last_stderr() or words), error)
        finally:
            self._withdraw(subagents=True)
            self._events.put_nowait(None if self._closed else end)

    def _translated(self, message: Message) -> list[a.AgentEvent]:
        """A message as events; none of one that only looks like a message to the SDK."""
        try:
            self._learn(message)
            return list(self._translator.translate(message))
        except (AttributeError, KeyError, TypeError, ValueError):
            _LOGGER.warning("skipped a %s", type(message).__name__, exc_info=True)
            return [a.TurnEnded()] if isinstance(message, ResultMessage) else []

    def _learn(self, message: Message) -> None:
        """Remember what explains a later permission request."""
        match message:
            case SystemMessage(subtype="task_started", data={"task_id": str(agent_id), **rest}):
                words = rest.get("subagent_type"), rest.get("description")
                self._agents[agent_id] = ": ".join(str(word) for word in words if word)
                self._handled[agent_id].set()
            case AssistantMessage(content=[ToolUseBlock(name="ExitPlanMode") as call]):
                self._plans[call.id] = _object(call.input)

    async def _messages(self) -> AsyncIterator[Message]:
        """All messages. One that lacks a field costs only itself.

        The SDK parses inside its iterator, so `MessageParseError` ends the iterator, but what
        comes after the bad message is still in the channel for a new one.
        """
        while True:
            try:
                async for message in self._client.receive_messages():
                    yield message
            except (MessageParseError, TypeError, KeyError, AttributeError) as error:  # noqa: PERF203
                data = getattr(error, "data", None) or {}
                kind, subtype = data.get("type"), data.get("subtype")
                _LOGGER.warning("skipped a message: %s, %s %s", type(error).__name__, kind, subtype)
                if data.get("type") == "result":  # it still ends the turn
                    uuids = data.get("user_message_uuids")
                    yield ResultMessage("", 0, 0, False, 0, "", user_message_uuids=uuids)
            else:
                return

    def _withdraw(self, *, subagents: bool) -> None:
        """Cancel what waits for the user: the CLI does not always do so itself."""
        for task, agent_id in self._asking.items():
            if subagents or not agent_id:
                task.cancel()

    async def _can_use_tool(
        self, tool: str, input: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        if not isinstance(input, dict):
            return PermissionResultDeny(f"The input of {tool} must be an object.")
        tool_use_id, agent_id = context.tool_use_id or "", context.agent_id or ""
        # The SDK calls this beside the stream, so maybe before the text that leads to it was
        # shown, or the subagent has a name. Wait until that is so, but not on a busy app.
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._handled[agent_id or tool_use_id].wait(), 0.5)
        # A plan stands only in the call, unless Claude wrote it into a file.
        shown = {**self._plans.pop(tool_use_id, {}), **input}
        request = a.Request(
            tool,
            shown,
            tool_use_id,
            agent_id,
            self._agents.get(agent_id, ""),
            reason=context.decision_reason or "",
            blocked=_from(self._spec.cwd, context.blocked_path or ""),
            suggestions=[update.to_dict() for update in context.suggestions],
        )
        this = asyncio.current_task()
        assert this is not None
        self._asking[this] = request.agent_id
        try:
            reply = await self._ask(request)
        finally:
            del self._asking[this]
        match reply:
            case a.Allow(input=allowed, updates=updates, note=note):
                if note:
                    self._notes[tool_use_id] = note
                return PermissionResultAllow(
                    # With the plan added, Claude would be told that the user has edited it.
                    updated_input=input if allowed == shown else allowed,
                    updated_permissions=[PermissionUpdate.from_dict(update) for update in updates],
                )
            case a.Deny(message=message, stop=stop):
                return PermissionResultDeny(message=message, interrupt=stop)

    async def _tool_ended(
        self,
        input: HookInput,
        tool_use_id: str | None,
        context: HookContext,  # noqa: ARG002
    ) -> HookJSONOutput:
        """Add the user's note to the result of a tool, if there is one."""
        note = self._notes.pop(tool_use_id or "", "")
        if not note:
            return {}
        event = input["hook_event_name"]
        output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": note}}
        return cast(HookJSONOutput, output)

    async def _settings_changed(
        self,
        input: HookInput,  # noqa: ARG002
        tool_use_id: str | None,  # noqa: ARG002
        context: HookContext,  # noqa: ARG002
    ) -> HookJSONOutput:
        """Let no change act in mid-session: hooks that a pull brings in would run at once.

        The user's own are kept out as well, since with them the CLI reads all files anew.
        """
        self._events.put_nowait(a.SettingsChanged())
        output = {"decision": "block", "reason": "The session is started anew before it goes on."}
        return cast(HookJSONOutput, output)

    def _hear_stderr(self, line: str) -> None:
        self._stderr.append(line)
        self._log(line)

    # --- the process ----------------------------------------------------------------------------

    def _error(self, sentence: str, cause: BaseException | None = None) -> ports.AgentError:
        detail = [*([repr(cause)] if cause else []), *self._stderr]
        return ports.AgentError(sentence, "\n".join(line[:_LINE] for line in detail))

    def _last_stderr(self) -> str:
        return self._stderr[-1] if self._stderr else ""

    def _process(self) -> process.Process | None:
        """The CLI's process, while it is connected. The SDK has no other way to it."""
        return cast("process.Process | None", self._client._transport)

    def _exit_code(self) -> int | None:
        running = self._process()
        return running.exit_code if running else None

    def _kill(self) -> None:
        if running := self._process():
            running.kill()


class _Translator:
    """Turns the messages of one session into events.

    Of a subagent only the results of its tools are told, since the user may have allowed them.
    """

    def __init__(self) -> None:
        self.mode = ""  # the permission mode that was told last
        self.session = ""  # its id
        self._streamed = ""  # the id of the message that came as deltas
        self._half = ""  # the first half of a surrogate pair
        self._refusal = ""  # why the API refused, said just before the result

    def translate(self, message: Message) -> Iterator[a.AgentEvent]:
        match message:
            case StreamEvent(parent_tool_use_id=None, event=event):
                yield from self._delta(event)
            case AssistantMessage(parent_tool_use_id=None):
                yield from self._assistant(message)
            case UserMessage(parent_tool_use_id=parent, content=list() as blocks):
                for block in blocks:
                    if isinstance(block, ToolResultBlock):
                        output = _joined(_plain(block.content))
                        yield a.ToolFinished(block.tool_use_id, output, bool(block.is_error))
                        if parent is None:
                            yield a.Pause()
            case SystemMessage(subtype=subtype, data=data):
                yield from self._system(subtype, data)
            case RateLimitEvent(rate_limit_info=info) if info.status == "rejected":
                yield a.Notice(failures.limit(info.resets_at))
            case ResultMessage():
                yield self._result(message)

    def change_mode(self, mode: str | None) -> Iterator[a.AgentEvent]:
        """Tell of a mode, unless it is the one that was told last."""
        if mode and mode != self.mode:
            self.mode = mode
            yield a.Mode(mode)

    def _system(self, subtype: str, data: dict[str, Any]) -> Iterator[a.AgentEvent]:
        match subtype, data:
            case "init", {"session_id": str(session)}:
                self.session = session
                yield a.Started(session, data.get("model", ""))
                yield from self.change_mode(data.get("permissionMode"))
            case "status", _:
                yield from self.change_mode(data.get("permissionMode"))
            case "permission_denied", _:
                yield a.Notice(failures.denied(data))
            case "api_retry", _:
                yield a.Notice(failures.retry(data))
            case "compact_boundary", _:
                yield a.Notice("Claude now has a summary in place of the conversation so far.")

    def _delta(self, event: dict[str, Any]) -> Iterator[a.AgentEvent]:
        match event:
            case {"type": "message_start", "message": {"id": str(id)}}:
                self._streamed = id
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
            if isinstance(block, ToolUseBlock):
                yield a.ToolStarted(block.id, block.name, _object(block.input))
            elif isinstance(block, TextBlock) and not streamed:
                yield a.Text(_joined(block.text))
        if not streamed:
            yield a.Pause()

    def _result(self, result: ResultMessage) -> a.TurnEnded:
        reason = result.terminal_reason or ""
        stopped = reason.startswith("aborted")
        refusal, self._refusal = self._refusal, ""
        error = ""
        if result.is_error and not stopped:
            detail = "; ".join(result.errors or []) or result.result or ""
            error = failures.turn(reason, refusal, result.api_error_status, detail)
        answered = result.user_message_uuids or []
        if not answered and result.origin and result.origin["kind"] != "human":
            # A background task woke Claude: this turn answers that, and no prompt.
            answered = [result.origin["kind"]]
        return a.TurnEnded(answered, error, stopped, result.total_cost_usd or 0.0)

    def _complete(self, text: str) -> str:
        """The text so far without the half of a character that the next delta completes."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return _joined(text.removesuffix(self._half))


async def _asks_always(
    input: HookInput,  # noqa: ARG001
    tool_use_id: str | None,  # noqa: ARG001
    context: HookContext,  # noqa: ARG001
) -> HookJSONOutput:
    """Bring the `question` tool to `can_use_tool` in modes that permit or deny without asking."""
    output = {"hookEventName": "PreToolUse", "permissionDecision": "ask"}
    return cast(HookJSONOutput, {"hookSpecificOutput": output})


def _from(folder: str, path: str) -> str:
    """A path of this folder as seen from there; any other as it is."""
    return path.removeprefix(f"{folder}/")


def _joined(text: str) -> str:
    """Halves of surrogate pairs made one character; lone halves, which nothing can encode, �."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _object(input: Any) -> dict[str, Any]:
    """A tool's input as the object that it should be; a model may write anything."""
    return input if isinstance(input, dict) else {"input": input}


def _plain(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        parts = [part.get("text", f"[{part.get('type', 'data')}]") for part in content]
        return "\n".join(parts)
    return content or ""


def _rules(state: dict[str, Any]) -> Iterator[str]:
    """What the CLI replies to ``list_permission_rules``, as lines."""
    for rule in state["rules"]:
        unused = " (not in effect)" if rule.get("notInEffect") else ""  # managed settings say so
        yield _rule(f"{rule['behavior']} {rule['rule']}", rule["source"]) + unused
    for folder in state.get("workspaceDirectories", []):
        yield _rule(f"folder {folder['path']}", folder["source"])


def _rule(text: str, source: str) -> str:
    return f"{' '.join(text.splitlines())} · {_SOURCES.get(source, source)}"
