"""The file in which Claude Code keeps a session: read to know what it has heard."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

from winnow.adapters.claude import config
from winnow.ports import Heard


def heard(session: str) -> Heard | None:
    """See `ports.Agent.heard`. What Claude Code has not written yet, it will not know again."""
    return told(_lines(session))


def told(lines: Iterable[bytes]) -> Heard | None:
    """What a session has heard that has these lines in its file."""
    found: dict[str, str] = {}
    begun = False
    for line in lines:
        if b'"user"' in line or b'"queued_command"' in line:
            with suppress(ValueError, AttributeError, TypeError, RecursionError):
                found.update(_entry(json.loads(line)))
        begun = begun or b'"type":"user"' in line or b'"type":"assistant"' in line
    return found if begun else None


def _lines(session: str) -> list[bytes]:
    with suppress(ValueError, OSError):
        for path in (config.folder() / "projects").glob(f"*/{UUID(session)}.jsonl"):
            return path.read_bytes().splitlines()
    return []


def _entry(entry: Any) -> Iterator[tuple[str, str]]:
    """What an entry tells: a prompt, one that came in the middle of a turn, or results."""
    match entry:
        case {"type": "user", "uuid": str(uuid), "message": {"content": content}}:
            yield uuid, ""
            for block in content if isinstance(content, list) else []:
                match block:
                    case {"type": "tool_result", "tool_use_id": str(call), **rest}:
                        yield call, _plain(rest.get("content")) if rest.get("is_error") else ""
        case {"type": "attachment", "attachment": {"source_uuid": str(uuid)}}:
            yield uuid, ""


def _plain(content: Any) -> str:
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "") or "failed"
