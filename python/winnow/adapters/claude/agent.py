"""Claude Code as an agent, through the Agent SDK. No other room imports the SDK.

Importing this takes a second or two (the SDK imports ``mcp``), so do it off the main path, and not
at all for an agent that is not Claude.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, cast

from claude_agent_sdk import (
    ClaudeSDKClient,
    ClaudeSDKError,
    CLIConnectionError,
    CLIJSONDecodeError,
    CLINotFoundError,
    Message,
    PermissionMode,
    ProcessError,
    ResultMessage,
)

from winnow import ports
from winnow.adapters.claude import failures, places, private, prompts, session_file
from winnow.adapters.claude.controls import Controls
from winnow.adapters.claude.editor_tools import asking
from winnow.adapters.claude.options import options
from winnow.adapters.claude.patience import within
from winnow.adapters.claude.process import Process
from winnow.adapters.claude.requests import Requests
from winnow.adapters.claude.translate import Translator
from winnow.core import agent as a
from winnow.core import steering
from winnow.core.context.attachment import Attachment
from winnow.core.usage import meter

log = logging.getLogger(__name__)

_COST_PATIENCE = 3.0  # seconds: the reply comes within milliseconds
_LINE = 200  # characters of a line of stderr that the log gets


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
        log: Callable[[str], object] = log.debug,
        start_patience: float = 30,
        patience: float = 10,
        name: str = "claude",
    ) -> None:
        self.name = name
        self._spec = spec
        self._cli_path = cli_path
        self._log = log
        self._start_patience = start_patience
        self._patience = patience
        self._stderr: deque[str] = deque(maxlen=50)
        self._events: asyncio.Queue[a.AgentEvent | ports.AgentError | None] = asyncio.Queue()
        self._translator = Translator()
        self._requests = Requests(spec.cwd, asking(spec.editor, ask), self._translator, self._stop)
        self._stopping: asyncio.Task[None] | None = None
        self._drain_task: asyncio.Task[None] | None = None
        self._closed = False
        self._files = ExitStack()  # there until the CLI has ended
        self._options = options(
            spec,
            ask,
            self._requests,
            cli_path=cli_path,
            env=dict(env or {}),
            settings_changed=lambda: self._events.put_nowait(a.SettingsChanged()),
            stderr=self._hear_stderr,
            files=self._files,
        )
        self._process = self._new_process()
        self._client = ClaudeSDKClient(self._options, self._process)
        self.controls = Controls(lambda: (self._client, self._process), patience, self._error)

    def _new_process(self) -> Process:
        return Process(self._options, self._spec.place, self._hear_aside, self._requests.elicit)

    async def connect(self) -> None:
        """Start the CLI. See `ports.Agent.connect`."""
        await self._start()
        await self._learn_cost()
        spec = self._spec
        left = meter.left(spec.total, self._translator.meter.before)
        if spec.total and left < spec.budget - meter.LEAST:  # the CLI takes no budget later
            self._options.max_budget_usd = left
            await self._client.disconnect()
            self._renew()
            await self._start()
        if spec.fast:  # no option of the CLI's
            with suppress(ports.AgentError):
                await self.controls.set_flag("fast", "on")
        self._drain_task = asyncio.create_task(self._drain())

    def _renew(self) -> None:
        """Another CLI in the place of one that has ended."""
        self._process = self._new_process()
        self._client = ClaudeSDKClient(self._options, self._process)

    async def _start(self) -> None:
        """Once more, if it was too slow."""
        for again in (True, False):
            connecting = asyncio.create_task(self._client.connect())
            try:
                silent = await self._is_silent(connecting)
            finally:
                code = self._process.exit_code
                if not connecting.done():
                    self._process.kill()
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
            self._renew()
        if connecting.cancelled():
            raise self._error(failures.died(code, self._last_stderr()))
        if (error := connecting.exception()) is not None:
            raise self._not_started(error) from error

    async def _learn_cost(self) -> None:
        """What a session had cost when it is resumed; its totals go on from there."""
        if not self._spec.session:
            return
        try:
            asking = self._process.request(private.USAGE, skip_behaviors=True)
            told = (await within(min(self._patience, _COST_PATIENCE), asking)) or {}
        except Exception as error:  # noqa: BLE001  it costs only the sum
            log.warning("what the session had cost is not known: %r", error)
            return
        session = told.get("session")
        if isinstance(session, dict):
            known = self._translator.meter
            known.begin(session.get("total_cost_usd"), session.get("model_usage"))
            self._events.put_nowait(meter.Spent({}, known.before))

    async def _is_silent(self, connecting: asyncio.Task[None]) -> bool:
        """Whether the CLI neither connects nor ends in time.

        An end is looked for, because with exit code 0 the SDK would not see it for a minute.
        """
        for _ in range(max(1, round(self._start_patience / 0.1))):
            await asyncio.wait({connecting}, timeout=0.1)
            if connecting.done() or self._process.exit_code is not None:
                return False
        return True

    def _not_started(self, error: BaseException) -> ports.AgentError:
        if private.NO_SESSION in str(error):
            return ports.SessionGone(failures.forgotten(self._spec.session), repr(error))
        if self._process.started and isinstance(error, (CLIConnectionError, ProcessError)):
            last = self._last_stderr()
            if self._spec.place.command and last.startswith(f"{self._spec.place.name} "):
                return self._error(failures.elsewhere(last), error)
            code = getattr(error, "exit_code", None) or self._process.exit_code
            return self._error(failures.died(code, last), error)
        if not self._spec.place.command and not Path(self._spec.cwd).is_dir():
            return self._error(failures.no_folder(self._spec.cwd), error)
        if isinstance(error, CLINotFoundError):
            return self._error(failures.missing(self._cli_path), error)
        return self._error(failures.start(str(error)), error)

    async def events(self) -> AsyncIterator[a.AgentEvent]:
        """What Claude says. See `ports.Agent.events`."""
        while (event := await self._events.get()) is not None:
            if isinstance(event, ports.AgentError):
                raise event
            yield event
            if isinstance(event, a.ToolStarted):
                self._requests.told(event.id)

    async def heard(self) -> ports.Heard | None:
        """See `ports.Agent.heard`."""
        session, place = self._translator.session or self._spec.session, self._spec.place
        if not session:
            return {}
        if place.command:
            return session_file.told(await places.session_lines(place, session))
        return await asyncio.to_thread(session_file.heard, session)

    async def prompt(
        self, text: str, uuid: str, *, command: bool = True, attached: Sequence[Attachment] = ()
    ) -> None:
        """Send a message. See `ports.Agent.prompt`."""
        content = prompts.content(text, attached, command=command)

        async def message() -> AsyncIterator[dict[str, Any]]:
            said = {"role": "user", "content": content}
            yield {"type": "user", "uuid": uuid, "message": said, "parent_tool_use_id": None}

        try:
            await self._client.query(message())
        except Exception as error:
            sentence = failures.died(self._process.exit_code, self._last_stderr())
            raise self._error(sentence, error) from error

    async def interrupt(self) -> None:
        """End the turn; a CLI that does not react is killed. See `ports.Agent.interrupt`."""
        try:
            asking = self._process.request("interrupt", **{private.CANCEL_QUEUED: True})
            reply = await within(self._patience, asking)
            if cancelled := reply.get("cancelled"):
                self._events.put_nowait(steering.Withdrawn([str(id) for id in cancelled]))
        except Exception as error:  # noqa: BLE001  the SDK raises bare ones
            log.warning("interrupt failed, ending Claude Code: %r", error)
            self._process.kill()

    async def _stop(self) -> None:
        """End the turn, though the CLI waits for the reply of a hook, which it may withdraw."""
        self._stopping = asyncio.create_task(self.interrupt())
        await asyncio.shield(self._stopping)

    async def set_mode(self, mode: str) -> None:
        """Change the permission mode. See `ports.Agent.set_mode`."""
        known = self._translator.mode
        self._translator.mode = ""  # so that what the CLI says of the new one counts as news
        try:
            change = self._client.set_permission_mode(cast(PermissionMode, mode))
            await within(self._patience, change)
        except Exception as error:
            self._translator.mode = self._translator.mode or known
            raise self._error(failures.mode(mode, str(error)), error) from error
        # The CLI is silent about a mode that it already had, and maybe slower than its reply.
        for event in self._translator.change_mode(mode):
            self._events.put_nowait(event)

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
            async for event in self._told():
                self._events.put_nowait(event)
                if isinstance(event, a.TurnEnded):
                    self._requests.turn_ended()
                if isinstance(event, a.TurnEnded) and event.stopped:
                    self._requests.withdraw(subagents=False)  # they outlive the turn
            end = self._error(failures.died(self._process.exit_code, self._last_stderr()))
        except Exception as error:  # noqa: BLE001  whatever it is, it ended the session
            if isinstance(error, ProcessError):  # its words only repeat the exit code
                code, words = error.exit_code, ""
            else:
                code, words = self._process.exit_code, str(error)
            end = self._error(failures.died(code, self._last_stderr() or words), error)
        finally:
            self._requests.withdraw(subagents=True)
            self._events.put_nowait(None if self._closed else end)

    async def _told(self) -> AsyncIterator[a.AgentEvent]:
        """All messages as events. One that lacks a field costs only itself.

        The SDK parses inside its iterator, so a message that it can't parse ends the iterator,
        but what comes after is still in the channel for a new one.
        """
        while True:
            try:
                async for message in self._client.receive_messages():
                    for event in self._translated(message):
                        yield event
            except (CLIConnectionError, CLIJSONDecodeError, ProcessError):  # noqa: PERF203
                raise
            except (ClaudeSDKError, AttributeError, KeyError, TypeError) as error:
                data = getattr(error, "data", None) or {}
                kind, subtype = data.get("type"), data.get("subtype")
                log.warning("skipped a message: %s, %s %s", type(error).__name__, kind, subtype)
                if kind == "result":  # it still ends the turn
                    yield a.TurnEnded(data.get("user_message_uuids") or [])
            else:
                return

    def _translated(self, message: Message) -> Iterator[a.AgentEvent]:
        """A message as events; none of one that only looks like a message to the SDK."""
        try:
            self._requests.learn(message)
            found = list(self._translator.translate(message))
        except (AttributeError, KeyError, TypeError, ValueError):
            log.warning("skipped a %s", type(message).__name__, exc_info=True)
            found = [a.TurnEnded()] if isinstance(message, ResultMessage) else []
        yield from found

    def _hear_aside(self, message: dict[str, Any]) -> None:
        """What the SDK does not know."""
        match message:
            case {"command_uuid": str(id), "state": "started"}:
                self._events.put_nowait(steering.Taken(id))

    def _hear_stderr(self, line: str) -> None:
        self._stderr.append(line)
        self._log(line)

    # --- failures -------------------------------------------------------------------------------

    def _error(self, sentence: str, cause: BaseException | None = None) -> ports.AgentError:
        detail = [*([repr(cause)] if cause else []), *self._stderr]
        return ports.AgentError(sentence, "\n".join(line[:_LINE] for line in detail))

    def _last_stderr(self) -> str:
        return self._stderr[-1] if self._stderr else ""
