"""Runs git, so that nothing of the user's is touched but what is asked for.

No hooks, no signing, no pager, no prompt; the index is another file wherever one is written. Nor
does a repository run anything by settings of its own, or one in a folder of it that has no `.git`.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from winnow.adapters import programs
from winnow.adapters.git import settings

log = logging.getLogger(__name__)

_QUIET = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"),
    *("-c", "safe.bareRepository=explicit", "-c", "submodule.recurse=false"),
)
_ENV = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "winnow"), ("EMAIL", "winnow@localhost"))
    },
}

_OURS = 0o077  # the umask for what is not written into the user's repository

_WHY = ("error: ", "fatal: ")


class GitError(Exception):
    """Git could not do it; ``said`` is why: of its errors the first, which the others follow."""

    def __init__(self, command: str, code: int, stderr: bytes) -> None:
        self.code = code
        lines = stderr.decode(errors="replace").strip().split("\n")
        why = next((line for line in lines if line.startswith(_WHY)), lines[-1])
        self.said = why.removeprefix("fatal: ").removeprefix("error: ").rstrip(".")
        super().__init__(f"git {command} ended with {code}: {' / '.join(lines)}")


async def run(
    folder: Path,
    *arguments: str,
    input: bytes = b"",
    env: Mapping[str, str] | None = None,
    may_fail: tuple[int, ...] = (),
) -> tuple[int, bytes]:
    """What git writes in a folder; raises `GitError`, unless it ends with a code that it may."""
    env = {**await _kept_harmless(folder), **(env or {})}
    code, out, err = await _start(folder, arguments, input, env)
    if code and code not in may_fail:
        raise GitError(arguments[0], code, err)
    return code, out


async def _kept_harmless(folder: Path) -> dict[str, str]:
    if not settings.suspicious(folder):
        return {}
    _, out, _ = await _start(folder, settings.ASK)
    return settings.harmless(_items(out))


async def _start(
    folder: Path, arguments: Sequence[str], input: bytes = b"", env: Mapping[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = programs.find("git")
    if git is None:
        raise FileNotFoundError(errno.ENOENT, "There is no git", "git")
    process = await asyncio.create_subprocess_exec(
        git,
        *_QUIET,
        *arguments,
        cwd=folder,
        env={**inherited, "PATH": programs.path(), **_ENV, **(env or {})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        umask=_OURS if "GIT_OBJECT_DIRECTORY" in (env or {}) else -1,
    )
    try:
        out, err = await process.communicate(input)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out, err


async def line(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """The first line that git writes."""
    _, out = await run(folder, *arguments, env=env)
    return os.fsdecode(out).partition("\n")[0]


async def items(
    folder: Path, *arguments: str, input: bytes = b"", env: Mapping[str, str] | None = None
) -> list[str]:
    """What git writes with ``-z``."""
    _, out = await run(folder, *arguments, input=input, env=env)
    return _items(out)


def _items(out: bytes) -> list[str]:
    return [os.fsdecode(item) for item in out.split(b"\0") if item]
