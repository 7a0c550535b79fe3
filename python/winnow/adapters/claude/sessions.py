"""Claude Code's own books: its sessions, by the SDK's functions for them."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

import claude_agent_sdk as sdk

from winnow.adapters.claude import config
from winnow.adapters.files import private_folder, write_new
from winnow.core.proposal.patch import written_by
from winnow.core.sessions import Session, Trashed
from winnow.core.transcript import checkpoints
from winnow.core.transcript.history import Past
from winnow.ports import LibraryError

log = logging.getLogger(__name__)

T = TypeVar("T")
Copies = dict[str, checkpoints.Copy]

_HEAD = 65536  # bytes in which a session says who has begun it
_BY_US = b'"entrypoint":"sdk-py"'  # what the SDK's CLI writes with each message


class ClaudeSessions:
    """Implements `ports.Sessions`.

    Args:
        trash: the folder for those that were deleted.
    """

    def __init__(self, trash: Path) -> None:
        self._trash = trash / "sessions"
        self._begun: dict[str, bool] = {}  # by a program such as this one

    async def of(self, cwd: str) -> Sequence[Session]:
        """See `ports.Sessions.of`."""

        def read() -> list[Session]:
            # Of its other worktrees, those of a run's workers would be most.
            found = sdk.list_sessions(cwd, include_worktrees=False)
            return [self._session(info) for info in found]

        return await self._try(read) or []

    async def find(self, id: str) -> Session | None:
        """See `ports.Sessions.find`."""

        def read() -> Session | None:
            info = sdk.get_session_info(id)
            return self._session(info) if info else None

        return await self._try(read)

    def _session(self, info: sdk.SDKSessionInfo) -> Session:
        id = info.session_id
        if id not in self._begun:
            self._begun[id] = _by_us(id)
        return Session(
            id,
            info.cwd or "",
            info.last_modified / 1000,
            info.custom_title or "",
            info.first_prompt or info.summary,
            foreign=not self._begun[id],
        )

    async def messages(self, id: str) -> Sequence[Past]:
        """See `ports.Sessions.messages`."""

        def read() -> list[Past]:
            return [
                Past(one.uuid, one.type, (one.message or {}).get("content"))
                for one in sdk.get_session_messages(id)
                if isinstance(one.message or {}, dict)
            ]

        return await self._try(read) or []

    async def rename(self, id: str, title: str) -> None:
        """See `ports.Sessions.rename`."""
        await self._do("renamed", lambda: sdk.rename_session(id, title))

    async def fork(self, id: str, last: str, title: str) -> str:
        """See `ports.Sessions.fork`."""
        forked = await self._do(
            "forked",
            lambda: sdk.fork_session(id, up_to_message_id=last or None, title=title or None),
        )
        return forked.session_id

    async def cut(self, id: str, first: str, summary: str) -> str:
        """See `ports.Sessions.cut`.

        Claude Code 2.1.332 reads a session from its last message back to one without a parent, and
        adds what it tells of the surroundings anew.
        """
        return await self._do("cut", lambda: self._cut(id, first, summary))

    def _cut(self, id: str, first: str, summary: str) -> str:
        forked = sdk.fork_session(id).session_id
        path = _path(forked)
        if path is None:
            raise FileNotFoundError
        entries = list(_entries(path))
        rows = (row for row, one in enumerate(entries) if _is_copy(one, first))
        if (start := next(rows, None)) is None:
            path.unlink()
            raise ValueError("it does not hold this message")
        prompt = entries[start]
        said = {"role": "user", "content": summary}
        head = {**prompt, "uuid": str(uuid4()), "parentUuid": None, "message": said}
        head.pop("forkedFrom")
        entries[start:] = [head, {**prompt, "parentUuid": head["uuid"]}, *entries[start + 1 :]]
        whole = path.with_suffix(".new")
        whole.unlink(missing_ok=True)
        write_new(whole, "".join(json.dumps(one) + "\n" for one in entries[start:]))
        whole.replace(path)
        return forked

    async def checkpoint(self, id: str, prompt: str) -> Mapping[str, str | None] | None:
        """See `ports.Sessions.checkpoint`. Claude Code 2.1.332 copies nothing for subagents."""

        def read() -> dict[str, str | None] | None:
            found = _checkpoint(id, prompt)
            if found is None:
                return None
            copies = config.folder() / "file-history"
            return {
                **dict.fromkeys(_by_subagents(id, prompt)),
                **{
                    path: str(copies / copy.session / copy.name) if copy.name else ""
                    for path, copy in found.items()
                },
            }

        return await self._try(read)

    async def discard(self, id: str, title: str) -> None:
        """See `ports.Sessions.discard`."""
        await self._do("deleted", lambda: self._discard(id, title))

    def _discard(self, id: str, title: str) -> None:
        path = _path(id)
        if path is None:
            raise FileNotFoundError
        folder = self._trash / path.parent.name
        private_folder(folder)
        (folder / f"{path.stem}.title").unlink(missing_ok=True)
        write_new(folder / f"{path.stem}.title", title)
        shutil.move(path, folder / path.name)

    async def trashed(self) -> Sequence[Trashed]:
        """See `ports.Sessions.trashed`."""

        def read() -> list[Trashed]:
            found = []
            for path in self._trash.glob("*/*.title"):
                if path.with_suffix(".jsonl").exists():
                    title = path.read_text(encoding="utf-8", errors="replace")
                    found.append(Trashed(path.stem, path.stat().st_mtime, title))
            return found

        return await self._try(read) or []

    async def bring_back(self, id: str) -> None:
        """See `ports.Sessions.bring_back`."""
        await self._do("brought back", lambda: self._bring_back(id))

    def _bring_back(self, id: str) -> None:
        path = next(self._trash.glob(f"*/{UUID(id)}.jsonl"), None)
        if path is None:
            raise FileNotFoundError
        target = _projects() / path.parent.name / path.name
        if target.exists():
            raise FileExistsError(17, "it is there already")
        private_folder(target.parent)
        shutil.move(path, target)
        path.with_suffix(".title").unlink(missing_ok=True)

    async def _try(self, read: Callable[[], T]) -> T | None:
        """What can be read; what is damaged, or of a version that nobody knows, is as none."""
        try:
            return await asyncio.to_thread(read)
        except Exception as error:  # noqa: BLE001  the SDK reads what anybody may have written
            log.warning("sessions can't be read: %r", error)
            return None

    async def _do(self, what: str, act: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(act)
        except FileNotFoundError:
            raise LibraryError(f"Claude Code has no such session, so it is not {what}.") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise LibraryError(f"The session can't be {what}: {why}.") from error


def _entries(path: Path, *holding: bytes) -> Iterator[Any]:
    """Those of a session's lines that hold one of these; none: all that are not damaged."""
    with path.open("rb") as file:
        for line in file:
            if not holding or any(word in line for word in holding):
                with suppress(ValueError, RecursionError):
                    yield json.loads(line)


def _is_copy(entry: Any, of: str) -> bool:
    match entry:
        case {"type": "user", "forkedFrom": {"messageUuid": str(id)}}:
            return id == of
    return False


def _checkpoint(id: str, prompt: str, seen: frozenset[str] = frozenset()) -> Copies | None:
    """The files as a prompt has found them; of a branch, the session that it is of may know."""
    if id in seen or (path := _path(id)) is None:
        return None
    entries = _entries(path, b'"file-history-', prompt.encode())
    found = checkpoints.at(id, entries, prompt)
    if found.known or not found.branch[0]:
        return found.files if found.known else None
    before = _checkpoint(*found.branch, seen | {id})
    return None if before is None else {**found.files, **before}


def _by_subagents(id: str, prompt: str) -> Iterator[str]:
    """The files that a session's subagents have changed since a prompt."""
    path = _path(id)
    if path is None:
        return
    entries = _entries(path, prompt.encode())
    since = next((one.get("timestamp") for one in entries if one.get("uuid") == prompt), "")
    for file in path.with_suffix("").glob("subagents/**/agent-*.jsonl"):
        for entry in _entries(file, b'"tool_use"'):
            match entry:
                case {"timestamp": str(at), "message": {"content": list(blocks)}} if at >= since:
                    yield from filter(None, map(_written, blocks))


def _written(block: Any) -> str | None:
    match block:
        case {"type": "tool_use", "name": str(tool), "input": dict(input)}:
            return written_by(tool, input)
    return None


def _path(id: str) -> Path | None:
    """A session's file."""
    with suppress(ValueError):
        return next(_projects().glob(f"*/{UUID(id)}.jsonl"), None)
    return None


def _projects() -> Path:
    return config.folder() / "projects"


def _by_us(id: str) -> bool:
    """Whether this program, or one like it, has begun a session."""
    path = _path(id)
    if path is None:
        return False
    with suppress(OSError), path.open("rb") as file:
        return _BY_US in file.read(_HEAD)
    return False
