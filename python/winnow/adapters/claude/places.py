"""Claude Code elsewhere: how it is started, and what its session there has heard."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from uuid import UUID

from winnow.adapters import programs
from winnow.adapters.claude import private
from winnow.adapters.remote import VARIABLE
from winnow.core.text.encoding import to_json
from winnow.ports import AgentError, Place

# Found by name, else where its own installers put it; a login shell, which would know, may print.
_NAMES = ("claude", "~/.local/bin/claude", "~/.claude/local/claude")
_REMOTE = Path(__file__).parents[1] / "remote.py"
_PATIENCE = 30  # seconds to read a session's file
_BEGIN = b"winnow: begin\n"


COMMAND = (sys.executable, "-I", "-S", str(_REMOTE))
"""Stands for the CLI there, in front of its arguments; with `variables` in its environment."""


def variables(place: Place) -> dict[str, str]:
    """How it is told where: all users can read a command line, and there may be keys in it."""
    spec = {
        "name": place.name,
        "command": place.command,
        "cwd": place.cwd or "~",
        "names": [place.cli] if place.cli else _NAMES,
        "env": {**private.PREVIEWS, **private.PARTLY, **place.env},
    }
    return {VARIABLE: to_json(spec)}


async def session_lines(place: Place, session: str) -> list[bytes]:
    """The lines of a session's file there; none: it has no such session.

    Raises:
        AgentError: the place can't be reached.
    """
    try:
        name = str(UUID(session))
    except ValueError:
        return []
    config = place.env.get("CLAUDE_CONFIG_DIR") or "$HOME/.claude"
    script = (
        f'echo {_BEGIN.decode().strip()!r}; cat "{config}"/projects/*/{name}.jsonl 2>/dev/null\n'
    )
    try:
        program, *arguments = place.command
        process = await asyncio.create_subprocess_exec(
            programs.find(program) or program,
            *arguments,
            "sh",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            out, _ = await asyncio.wait_for(process.communicate(script.encode()), _PATIENCE)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    except (OSError, asyncio.TimeoutError) as error:
        raise _unreachable(place, repr(error)) from error
    _, begun, lines = out.partition(_BEGIN)
    if not begun:
        raise _unreachable(place, f"ended with {process.returncode}")
    return lines.splitlines()


def _unreachable(place: Place, detail: str) -> AgentError:
    return AgentError(f"{place.name} can't be reached; send again to retry.", detail)
