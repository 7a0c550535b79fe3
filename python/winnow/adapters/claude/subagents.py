"""Subagents as their session's files have them: ``…/{session}/subagents/agent-{id}.jsonl``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from winnow.adapters.claude import config
from winnow.adapters.files import private
from winnow.core import agent as a
from winnow.core.tasks.events import Prompted
from winnow.core.text import blocks
from winnow.core.text.encoding import joined
from winnow.ports.subagents import PastSubagent


class DiskSubagents:
    """Implements `ports.Subagents`.

    Args:
        env: says where Claude Code keeps its sessions.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    async def listed(self, session: str) -> list[PastSubagent]:
        """See `ports.Subagents.listed`. The oldest first."""
        return await asyncio.to_thread(lambda: [_about(path) for path in self._paths(session)])

    async def events(self, session: str, id: str) -> list[a.AgentEvent]:
        """See `ports.Subagents.events`."""
        return await asyncio.to_thread(lambda: list(self._events(session, id)))

    async def todo(self, session: str) -> list[tuple[str, str, str]]:
        """See `ports.Subagents.todo`. Claude Code has a file for each, by its number."""
        return await asyncio.to_thread(lambda: list(self._todo(session)))

    async def promote(self, session: str, id: str) -> str:
        """See `ports.Subagents.promote`.

        Claude Code 2.1.332 resumes a subagent's transcript as it does any other, once it is named
        as a session's and no line of it says that it is beside one.
        """
        return await asyncio.to_thread(self._promote, session, id)

    def _todo(self, session: str) -> Iterator[tuple[str, str, str]]:
        with suppress(ValueError, OSError):
            folder = self._config / "tasks" / str(UUID(session))
            paths = [path for path in folder.glob("*.json") if path.stem.isdigit()]
            for path in sorted(paths, key=lambda path: int(path.stem)):
                with suppress(ValueError, OSError, AttributeError):
                    found = json.loads(path.read_bytes())
                    state = str(found.get("status") or "pending")
                    yield path.stem, joined(str(found.get("subject") or "")), state

    @property
    def _config(self) -> Path:
        return config.folder(self._env)

    def _paths(self, session: str) -> list[Path]:
        with suppress(ValueError, OSError):
            found = self._config.glob(f"projects/*/{UUID(session)}/subagents/**/agent-*.jsonl")
            return sorted(found, key=lambda path: (path.stat().st_ctime, path.name))
        return []

    def _path(self, session: str, id: str) -> Path | None:
        found = (path for path in self._paths(session) if _id(path) == id)
        return next(found, None)

    def _events(self, session: str, id: str) -> Iterator[a.AgentEvent]:
        path = self._path(session, id)
        for entry in _lines(path) if path else ():
            message = entry.get("message")
            if entry.get("type") in ("user", "assistant") and isinstance(message, dict):
                yield from _said(entry["type"], message.get("content"))

    def _promote(self, session: str, id: str) -> str:
        path, new = self._path(session, id), str(uuid4())
        if path is None:
            return ""
        lines = []
        for entry in _lines(path):
            entry.pop("agentId", None)
            lines.append(json.dumps({**entry, "sessionId": new, "isSidechain": False}) + "\n")
        folder = next(one for one in path.parents if one.name == "subagents").parents[1]
        file = folder / f"{new}.jsonl"
        with open(file, "x", opener=private, encoding="utf-8") as out:
            out.writelines(lines)
        return new


def _id(path: Path) -> str:
    return path.stem.removeprefix("agent-")


def _about(path: Path) -> PastSubagent:
    """What stands beside a transcript about it."""
    found: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        read = json.loads(path.with_suffix(".meta.json").read_bytes())
        found = read if isinstance(read, dict) else {}

    def text(name: str) -> str:
        return str(found.get(name) or "")

    return PastSubagent(
        _id(path),
        text("description"),
        text("agentType"),
        text("model"),
        text("toolUseId"),
        text("parentAgentId"),
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The entries of a file, but for those that are none."""
    with suppress(OSError):
        for line in path.read_bytes().splitlines():
            with suppress(ValueError, RecursionError):
                entry = json.loads(line)
                if isinstance(entry, dict):
                    yield entry


def _said(kind: str, content: Any) -> Iterator[a.AgentEvent]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(blocks, list) else ():
        match block:
            case {"type": "text", "text": str(text)} if kind == "user":
                yield Prompted(joined(text))
            case {"type": "text", "text": str(text)}:
                yield a.Text(joined(text))
                yield a.Pause()
            case {"type": "thinking", "thinking": str(text)}:
                yield a.Thinking(joined(text))
                yield a.Pause()
            case {"type": "tool_use", "id": str(id), "name": str(name), "input": dict(input)}:
                yield a.ToolStarted(id, name, input)
            case {"type": "tool_result", "tool_use_id": str(id), **rest}:
                yield a.ToolFinished(id, _plain(rest.get("content")), bool(rest.get("is_error")))


def _plain(content: Any) -> str:
    return joined(blocks.plain(content) if isinstance(content, list) else str(content or ""))
