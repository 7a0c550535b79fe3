"""Claude Code as a function: two prompts and a schema in, an object out.

It reads; it neither writes nor runs anything, and nobody is asked for permission.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import uuid4

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    CLIJSONDecodeError,
    CLINotFoundError,
    PermissionResultDeny,
    ResultMessage,
    ToolPermissionContext,
)

from winnow import ports
from winnow.adapters import programs
from winnow.adapters.claude import failures, private
from winnow.adapters.claude.process import Process
from winnow.core.structured import Unfit, fitting
from winnow.core.text.encoding import to_json
from winnow.core.usage.meter import Meter
from winnow.ports import query as errors

READING = ("Read", "Glob", "Grep")
EFFORT = "high"

# Below the home, then anywhere; after PATH, and before the one that the SDK brings along.
_AT_HOME = (
    ".local/bin/claude",
    ".npm-global/bin/claude",
    "node_modules/.bin/claude",
    ".yarn/bin/claude",
    ".claude/local/claude",
)
_ANYWHERE = ("/usr/local/bin/claude", "/usr/bin/claude")
_VARIABLES = {
    "CLAUDE_CODE_EFFORT_LEVEL": EFFORT,
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0",
    "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY": "1",
}
_AGAIN = 0.2  # seconds

_RESULTS: dict[str, type[ports.QueryError]] = {
    "error_max_turns": errors.TurnsSpent,
    "error_during_execution": errors.Failed,
    "error_max_budget_usd": errors.BudgetSpent,
    "error_max_structured_output_retries": errors.RetriesSpent,
}


def find(environ: Mapping[str, str], home: Path) -> str:
    """Where Claude Code is; empty for the one that the SDK brings along.

    Raises:
        CliNotFound: it is nowhere.
    """
    if named := programs.find("claude", environ):
        return named
    places = [*(home / place for place in _AT_HOME), *map(Path, _ANYWHERE)]
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    if private.bundled():
        return ""
    raise errors.CliNotFound(failures.missing(""))


class Client:
    """Implements `ports.Querier`. The first query makes a session, later ones go on in it.

    Args:
        api_key: for Claude Code; empty: the login that it has itself.
        cwd: the folder that it reads.
        cli_path: the CLI to run; empty: as `find` says.
        model: empty: whatever Claude Code takes.
        env: variables on top of the inherited ones.

    Raises:
        CliNotFound: there is no Claude Code.
    """

    def __init__(
        self,
        api_key: str,
        cwd: str,
        *,
        cli_path: str = "",
        model: str = "",
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._cli = cli_path or find(os.environ, Path.home())
        self._cwd = cwd
        self._model = model
        key = {"ANTHROPIC_API_KEY": api_key} if api_key else {}
        self._env = {**private.variables(whole=False), **_VARIABLES, **key, **(env or {})}
        self.session = str(uuid4())
        self.cost = 0.0
        self._meter = Meter()  # over all queries: the session is resumed with its totals
        self._begun = False  # something was said in the session, so that it can be gone on with
        self._running: asyncio.Task[Any] | None = None
        self._cancelled = False

    async def query(
        self,
        system_prompt: str,
        user_prompt: str,
        schema: Mapping[str, Any],
        on_event: errors.OnEvent | None = None,
    ) -> Any:
        """See `ports.Querier.query`. It takes as long as it takes."""
        asking = self._ask(system_prompt, user_prompt, schema, on_event)
        self._cancelled = False
        self._running = asyncio.create_task(asking)
        try:
            return await self._running
        except asyncio.CancelledError:
            if self._cancelled:
                raise errors.Cancelled("The query was cancelled.") from None
            self._running.cancel()
            with suppress(asyncio.CancelledError, ports.AgentError):
                await self._running
            raise

    async def cancel(self) -> None:
        """See `ports.Querier.cancel`."""
        if self._running is not None and not self._running.done():
            self._cancelled = True
            self._running.cancel()
            await asyncio.wait({self._running})

    async def _ask(
        self,
        system_prompt: str,
        user_prompt: str,
        schema: Mapping[str, Any],
        on_event: errors.OnEvent | None,
    ) -> Any:
        # As a file, since all users can read a command line, and it has a limit.
        with NamedTemporaryFile("w", prefix="winnow-", suffix=".md", encoding="utf-8") as file:
            file.write(system_prompt)
            file.flush()
            stderr: deque[str] = deque(maxlen=50)
            options = self._options(file.name, schema, stderr)
            process = _Stream(options, on_event)
            client = ClaudeSDKClient(options, process)
            talk = asyncio.create_task(self._result(client, process, user_prompt))
            try:
                result = await asyncio.shield(talk)
                self.cost += self._meter.hear(result.total_cost_usd, result.model_usage)[0]
            except ports.AgentError:
                raise
            except Exception as error:
                raise _failure(error, process, self._cli, stderr) from error
            finally:
                await _end(talk)
                self._begun = self._begun or process.began
                if not self._begun:  # Claude Code may know the id, or not: it takes it once only
                    self.session = str(uuid4())
                with suppress(Exception):
                    await client.disconnect()
            return _output(result, schema)

    def _options(
        self, prompt: str, schema: Mapping[str, Any], stderr: deque[str]
    ) -> ClaudeAgentOptions:
        known = self._begun
        return ClaudeAgentOptions(
            cwd=self._cwd,
            cli_path=self._cli or None,
            session_id=None if known else self.session,
            resume=self.session if known else None,
            model=self._model or None,
            tools=list(READING),
            permission_mode="default",  # whatever the user has chosen for chats
            can_use_tool=_refuse,  # what is not within the folder comes here
            setting_sources=["user"],  # nothing of the project acts before anything is asked
            include_partial_messages=True,
            output_format={"type": "json_schema", "schema": dict(schema)},
            extra_args={"append-system-prompt-file": prompt},
            max_buffer_size=64 << 20,
            stderr=stderr.append,
            env=self._env,
        )

    async def _result(
        self, client: ClaudeSDKClient, process: _Stream, prompt: str
    ) -> ResultMessage:
        await client.connect()
        await client.query(_as_prompt(prompt))
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                return message
        code = process.exit_code
        raise errors.Exited(failures.died(code, ""), code=code)


async def _end(task: asyncio.Task[Any]) -> None:
    """Cancel it until it ends: a stream of the SDK's loses what comes together with a message."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_AGAIN)
    if not task.cancelled():
        task.exception()  # nobody else looks, if it was cancelled


async def _as_prompt(text: str) -> AsyncIterator[dict[str, Any]]:
    """As its only words, whatever they begin with: no command, no mention."""
    content = [{"type": "text", "text": part} for part in (text, private.LITERAL)]
    yield {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": None,
    }


async def _refuse(
    tool: str,
    input: dict[str, Any],  # noqa: ARG001
    context: ToolPermissionContext,  # noqa: ARG001
) -> PermissionResultDeny:
    return PermissionResultDeny(message=f"{tool} is refused: only the project may be read.")


class _Stream(Process):
    """The CLI, of which every line must be a message; some of them are told as they come."""

    def __init__(self, options: ClaudeAgentOptions, on_event: errors.OnEvent | None) -> None:
        super().__init__(options)
        self.began = False
        self.broken: BaseException | None = None
        self._on_event = on_event

    def parsed(self, line: bytes) -> dict[str, Any] | None:
        """A line of its stdout as a message. See `Process.parsed`."""
        message = super().parsed(line)
        if message is None:
            if not line.strip():
                return None
            text = line.decode(errors="replace")
            self.broken = CLIJSONDecodeError(text[:200], ValueError("not a message"))
            raise self.broken
        kind = message.get("type")
        self.began = self.began or kind in ("assistant", "user", "result")
        if kind in ("assistant", "user") and self._on_event is not None:
            self._on_event(message)
        return message


def _failure(error: Exception, process: _Stream, cli: str, stderr: deque[str]) -> ports.QueryError:
    """What went wrong, as the exception for it."""
    last, code = (stderr[-1] if stderr else ""), process.exit_code
    detail = "\n".join([repr(error), *stderr])
    if process.broken is not None:
        sentence = "Claude Code wrote what is no message; try again, or update it."
        return errors.BrokenStream(sentence, repr(process.broken))
    if isinstance(error, CLINotFoundError):
        return errors.CliNotFound(failures.missing(cli), detail)
    if not process.started:
        return errors.NotStarted(failures.start(str(error)), detail)
    if isinstance(error, (OSError, CLIConnectionError)) and code is None:
        sentence = f"Claude Code's output could not be read ({error}); try again."
        return errors.BrokenStream(sentence, detail)
    return errors.Exited(failures.died(code, last), detail, code)


def _output(result: ResultMessage, schema: Mapping[str, Any]) -> Any:
    """The object of a result."""
    said = "; ".join(result.errors or []) or result.result or ""
    if result.is_error or result.subtype in _RESULTS:
        kind = _RESULTS.get(result.subtype, errors.Failed)
        raise kind(_sentence(result, said), said)
    if result.structured_output is None:
        raise errors.NoOutput("Claude gave no answer in the form that was asked for.", said)
    try:
        return fitting(result.structured_output, schema)
    except Unfit as unfit:
        sentence = f"Claude's answer does not have the form that was asked for ({unfit})."
        raise errors.WrongOutput(sentence, to_json(result.structured_output)) from unfit


def _sentence(result: ResultMessage, said: str) -> str:
    match result.subtype:
        case "error_max_turns":
            return failures.turn("max_turns", "", None, said)
        case "error_max_budget_usd":
            return "The budget for this query is spent."
        case "error_max_structured_output_retries":
            return "Claude did not find the form that was asked for, in several tries."
    return failures.turn("", "", result.api_error_status, said)
