"""Claude Code's process: started under a guard, and read in spite of what it may write.

The SDK finds the CLI and puts its arguments together; its `SubprocessCLITransport` is private, but
`Transport` is a public door, and all that is used of it is here.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio.streams.text import TextReceiveStream
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLINotFoundError,
    ProcessError,
)
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

log = logging.getLogger(__name__)

# Not in this folder, by whose name somebody may kill what looks like Claude Code.
_GUARD = Path(__file__).parents[1] / "guard.py"


def client(options: ClaudeAgentOptions) -> ClaudeSDKClient:
    """A client whose CLI is guarded."""
    # What the SDK does itself where it makes the transport.
    asking = replace(options, permission_prompt_tool_name="stdio")
    return ClaudeSDKClient(options, Process(asking))


class Process(SubprocessCLITransport):
    """The CLI and its pipes."""

    def __init__(self, options: ClaudeAgentOptions) -> None:
        super().__init__(_nothing(), options)

    async def connect(self) -> None:
        """Start the CLI.

        Raises:
            CLINotFoundError: it is not there, or can't be executed.
            CLIConnectionError: anything else.
        """
        if self._cli_path:
            found = shutil.which(self._cli_path)
            if not found or not Path(found).is_absolute():  # it would mean a file of the project
                raise CLINotFoundError(f"Claude Code not found at: {self._cli_path}")
            self._cli_path = found
        await super().connect()

    @property
    def exit_code(self) -> int | None:
        """How the CLI ended, negative for a signal; None while it runs, or never ran."""
        return self._process.returncode if self._process else None

    def kill(self) -> None:
        """End the CLI and its tools, within seconds."""
        if self._process and self._process.returncode is None:
            self._process.terminate()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """The CLI's messages. A line that is none costs only itself.

        Raises:
            ProcessError: the CLI has failed.
        """
        assert self._process
        assert self._process.stdout
        pieces: list[bytes] = []
        async for chunk in self._process.stdout:
            first, *others = chunk.split(b"\n")
            pieces.append(first)
            for piece in others:
                if message := _message(b"".join(pieces)):
                    yield message
                pieces = [piece]
        if code := await self._process.wait():
            raise ProcessError("Claude Code has ended", exit_code=code)

    def _build_command(self) -> list[str]:
        command: list[str] = super()._build_command()
        if os.name != "posix":
            return command
        return [sys.executable, "-I", "-S", str(_GUARD), *command]

    async def _handle_stderr(self) -> None:
        assert self._process
        assert self._process.stderr
        self._stderr_stream = TextReceiveStream(self._process.stderr, errors="replace")
        await super()._handle_stderr()


async def _nothing() -> AsyncIterator[dict[str, Any]]:
    """Prompts are sent when there are some."""
    return
    yield {}


def _message(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b"{"):
        return None
    try:
        message: dict[str, Any] = json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError) as error:
        log.warning("skipped a line of %d bytes: %s", len(line), type(error).__name__)
        return None
    return message
