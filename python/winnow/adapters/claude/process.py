"""Claude Code's process: started under a guard, and read in spite of what it may write."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple
from uuid import uuid4

from claude_agent_sdk import (
    ClaudeAgentOptions,
    CLIConnectionError,
    CLINotFoundError,
    ProcessError,
)

from winnow.adapters import programs
from winnow.adapters.claude import places, private, sdk
from winnow.adapters.claude.private import LIFECYCLE, RESERVED, Subprocess
from winnow.adapters.claude.tool_server import ToolServer
from winnow.ports import Place

log = logging.getLogger(__name__)

Elicit = Callable[[dict[str, Any]], Coroutine[Any, Any, dict[str, Any]]]

# Not in this folder, by whose name somebody may kill what looks like Claude Code.
_GUARD = Path(__file__).parents[1] / "guard.py"


class Process(Subprocess):
    """The CLI and its pipes.

    Args:
        options: what it is started with.
        place: where it runs.
        aside: hears the messages that the SDK does not know.
        elicit: asks the user what an MCP server wants to know.

    Attributes:
        started: it once ran.
    """

    def __init__(
        self,
        options: ClaudeAgentOptions,
        place: Place | None = None,
        aside: Callable[[dict[str, Any]], object] = lambda _: None,
        elicit: Elicit | None = None,
    ) -> None:
        self._aside = aside
        self._place = place if place and place.command else None
        self._named = str(options.cli_path or "")
        # Where the SDK brings none along it would look in the folder that it is started in, too.
        named = self._named or ("" if private.bundled() else "claude")
        self._found = programs.find(named) if named else None
        if self._found:
            options = replace(options, cli_path=self._found)
        if self._place:
            options = replace(options, env=options.env | places.variables(self._place))
        super().__init__(options)
        self._config: Any = None  # a file with what MCP servers are started with
        self._replies: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._servers = _servers(options)
        self._elicit = elicit
        self._calls: dict[str, asyncio.Task[None]] = {}  # of their tools, by request
        self.started = False
        self._code: int | None = None  # how, if it did so before it was closed

    async def connect(self) -> None:
        """Start the CLI.

        Raises:
            CLINotFoundError: it is not there, or can't be executed.
            CLIConnectionError: anything else.
        """
        # A relative one would mean a file of the project.
        if self._named and not (self._found and Path(self._found).is_absolute()):
            raise CLINotFoundError(f"Claude Code not found at: {self._named}")
        with sdk.untraced():
            await super().connect()
        self.started = True

    async def close(self) -> None:
        """End the CLI, and what it waits for here."""
        for call in self._calls.values():
            call.cancel()
        self._code = self.exit_code
        await super().close()
        if self._config is not None:
            self._config.close()

    @property
    def running(self) -> bool:
        """Whether the CLI runs now."""
        return self.process is not None and self.process.returncode is None

    @property
    def exit_code(self) -> int | None:
        """How the CLI ended by itself, negative for a signal; None while it runs, or never ran."""
        return self.process.returncode if self.process else self._code

    def kill(self) -> None:
        """End the CLI and its tools, within seconds."""
        if self.process and self.running:
            self.process.terminate()

    async def request(self, subtype: str, **fields: Any) -> dict[str, Any]:
        """Ask the CLI for what the SDK has no method for; gives its reply, empty if it has none.

        Raises:
            CLIConnectionError: it does not run.
            ProcessError: it refuses, or has ended meanwhile.
        """
        request_id = f"winnow_{uuid4().hex}"
        reply = self._replies[request_id] = asyncio.get_running_loop().create_future()
        wanted = {"subtype": subtype, **fields}
        request = {"type": "control_request", "request_id": request_id, "request": wanted}
        try:
            await self._say(request)
            response = await reply
        finally:
            del self._replies[request_id]
        if response.get("subtype") != "success":
            raise ProcessError(str(response.get("error")))
        found: dict[str, Any] = response.get("response") or {}
        return found

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """The CLI's messages. A line that is none costs only itself.

        Raises:
            ProcessError: the CLI has failed.
        """
        async for lines in self._lines():
            for message in merged(filter(None, map(self.parsed, lines))):
                if not self._is_ours(message):
                    yield message
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(ProcessError("Claude Code has ended"))
        assert self.process
        if code := await self.process.wait():
            raise ProcessError("Claude Code has ended", exit_code=code)

    async def _lines(self) -> AsyncIterator[list[bytes]]:
        """Those that are complete, as they come."""
        assert self.process
        assert self.process.stdout
        pieces: list[bytes] = []
        async for chunk in self.process.stdout:
            first, *others = chunk.split(b"\n")
            pieces.append(first)
            if others:
                yield [b"".join(pieces), *others[:-1]]
                pieces = [others[-1]]

    def _is_ours(self, message: dict[str, Any]) -> bool:
        """Whether it is the reply to a request of ours, or nothing that the SDK may get."""
        match message:
            case {"type": "control_response", "response": {"request_id": str(id)} as response}:
                if (reply := self._replies.get(id)) and not reply.done():
                    reply.set_result(response)
                return reply is not None
            case {"type": "control_request", "request_id": str(id), "request": asked}:
                if (work := self._work(asked)) is not None:
                    self._calls[id] = asyncio.create_task(self._answer(id, work))
                return work is not None
            case {"type": "control_cancel_request", "request_id": str(id)} if id in self._calls:
                self._calls[id].cancel()
                return True
            case {"type": kind} if kind == LIFECYCLE:
                self._aside(message)
                return True
            case {"type": kind} if kind in RESERVED:
                log.warning("skipped a message: %s", kind)
                return True
        return False

    def _work(self, asked: dict[str, Any]) -> Coroutine[Any, Any, dict[str, Any]] | None:
        """What to do for a request of the CLI's that is ours to answer; None: it is not."""
        match asked:
            case {"subtype": "mcp_message", "server_name": str(name), "message": dict(message)}:
                return self._serve(self._servers[name], message) if name in self._servers else None
            case {"subtype": private.ELICITATION} if self._elicit is not None:
                return self._elicit(asked)
        return None

    async def _serve(self, server: ToolServer, message: dict[str, Any]) -> dict[str, Any]:
        """Answer a message to a server of ours."""
        return {"mcp_response": await server.handle(message)}

    async def _answer(self, id: str, what: Coroutine[Any, Any, dict[str, Any]]) -> None:
        """Reply to a request of the CLI, unless it is withdrawn before."""
        try:
            response = {"subtype": "success", "request_id": id, "response": await what}
            with suppress(CLIConnectionError):  # it has ended
                await self._say({"type": "control_response", "response": response})
        finally:
            del self._calls[id]

    async def _say(self, message: dict[str, Any]) -> None:
        await self.write(json.dumps(message) + "\n")

    def parsed(self, line: bytes) -> dict[str, Any] | None:
        """A line of its stdout as a message; None: it is none."""
        if not line.startswith(b"{"):
            return None
        try:
            message: dict[str, Any] = json.loads(line.decode(errors="replace"))
        except (ValueError, RecursionError) as error:
            log.warning("skipped a line of %d bytes: %s", len(line), type(error).__name__)
            return None
        return message

    def wrapped(self, command: list[str]) -> list[str]:
        """The command under its guard."""
        if self._place is not None:
            command = [*places.COMMAND, *command[1:]]
        elif self._named_servers() - set(self._servers):
            self._hide(command)
        if os.name != "posix":
            return command
        return [sys.executable, "-I", "-S", str(_GUARD), *command]

    def _named_servers(self) -> set[str]:
        servers = self._options.mcp_servers
        return set(servers) if isinstance(servers, dict) else set()

    def _hide(self, command: list[str]) -> None:
        """Give as a file how servers are started: all users can read a command line."""
        self._config = NamedTemporaryFile("w", prefix="winnow-", suffix=".json")  # noqa: SIM115
        at = command.index("--mcp-config") + 1
        self._config.write(command[at])
        self._config.flush()
        command[at] = self._config.name


def merged(messages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Pieces of one text that came at once as one message: each message costs the SDK its time."""
    last: _Piece | None = None
    held: dict[str, Any] | None = None
    for message in messages:
        piece = _piece(message)
        if last and piece and piece[:3] == last[:3]:
            last.delta[last.name] += piece.delta[piece.name]
            continue
        if held is not None:
            yield held
        last, held = piece, message
    if held is not None:
        yield held


class _Piece(NamedTuple):
    agent: object
    block: object
    name: str  # of the text in the delta
    delta: dict[str, Any]


_TEXTS = {"text_delta": "text", "thinking_delta": "thinking"}


def _piece(message: dict[str, Any]) -> _Piece | None:
    """What a message has of a text; None: it has nothing of one."""
    match message:
        case {"type": "stream_event", "event": {"index": block, "delta": dict(delta)}}:
            kind = delta.get("type")
            name = _TEXTS.get(kind, "") if isinstance(kind, str) else ""
            if isinstance(delta.get(name), str):
                return _Piece(message.get("parent_tool_use_id"), block, name, delta)
    return None


def _servers(options: ClaudeAgentOptions) -> dict[str, ToolServer]:
    """The MCP servers that are in this process, by name."""
    configs = options.mcp_servers if isinstance(options.mcp_servers, dict) else {}
    found = {name: dict(config).get("instance") for name, config in configs.items()}
    return {name: server for name, server in found.items() if isinstance(server, ToolServer)}
