"""What files were like when a prompt came, by what Claude Code has kept of them in a session.

It copies a file before it first changes it, and again with each prompt that finds it changed.
What commands change is not among that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Copy(NamedTuple):
    """A file as it was: its name among a session's copies; empty: there was no such file."""

    session: str
    name: str


class Checkpoint(NamedTuple):
    """What one session tells of a prompt.

    ``files``: all that it has changed, by path. ``known``: they are as that prompt has found them;
    else as the session has. ``branch``: the session and the prompt that this is a copy of.
    """

    files: dict[str, Copy]
    known: bool = False
    branch: tuple[str, str] = ("", "")


def at(session: str, entries: Iterable[Any], prompt: str) -> Checkpoint:
    """The files as they were when this prompt came.

    Args:
        session: the id of the session.
        entries: the lines of its file; those that mean nothing here are passed over.
        prompt: the prompt's id.
    """
    first: dict[str, Copy] = {}  # before the session has changed them at all
    now: dict[str, Copy] = {}  # by that prompt, and what was changed first after it
    known, branch = False, ("", "")
    for entry in entries:
        match entry:
            case {"type": "file-history-snapshot", "snapshot": {"messageId": str(id), **kept}}:
                found = _copies(session, kept.get("trackedFileBackups"))
            case {"type": "file-history-delta", "snapshotMessageId": str(id), **kept}:
                found = _copies(session, {kept.get("trackingPath"): kept.get("backup")})
            case {"uuid": str(id), "forkedFrom": {"sessionId": str(of), "messageUuid": str(was)}}:
                branch = (of, was) if id == prompt else branch
                continue
            case _:
                continue
        known = known or id == prompt
        for path, copy in found:
            first.setdefault(path, copy)
            if not known or id == prompt:
                now[path] = copy
            else:
                now.setdefault(path, copy)
    return Checkpoint(now if known else first, known, branch)


def _copies(session: str, backups: Any) -> Iterator[tuple[str, Copy]]:
    for name, backup in backups.items() if isinstance(backups, dict) else ():
        match name, backup:
            case str(), {"backupFileName": None, "realParentDir": str(folder)}:
                yield _path(folder, name), Copy(session, "")
            case str(), {"backupFileName": str(copy), "realParentDir": str(folder)}:
                if "/" not in copy and copy.strip("."):
                    yield _path(folder, name), Copy(session, copy)


def _path(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name.rpartition('/')[2]}"
