"""The folders in which agents work: which files Claude Code takes settings from there."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from winnow.adapters.claude import config
from winnow.core.project import Project, Source

_LOOKED_AT = 50_000  # files below a project, for folders that have skills of their own
_FILES = 2_000  # of one `.claude`
_LARGE = 4 << 20  # bytes of a file; nobody reads more
_PROMPTS = ("agents", "commands", "output-styles", "routines", "skills", "workflows")


class DiskProjects:
    """Implements `ports.Projects`.

    Args:
        env: says where Claude Code keeps the user's own settings.
        home: the user's home.
    """

    def __init__(self, env: Mapping[str, str], home: Path) -> None:
        self._config = config.folder(env, home)
        self._books = Path(env.get("CLAUDE_CONFIG_DIR") or home, ".claude.json")
        self._own = {_real(self._config), _real(home / ".claude")}

    async def read(self, cwd: str) -> Project:
        """See `ports.Projects.read`."""
        return await asyncio.to_thread(self._read, Path(cwd))

    def _read(self, cwd: Path) -> Project:
        cwd = _real(cwd)
        above = [cwd, *cwd.parents]
        root = next((folder for folder in above if (folder / ".git").exists()), cwd)
        below, whole = _below(cwd)
        files = self._files(cwd, above, root, below)
        found = dict.fromkeys(path for path in files if _is_there(path))
        sources = tuple(_source(path, root) for path in found)
        told = (path for path in self._memory(cwd, above) if not _leads_out(path, root))
        memory = (_source(path, root) for path in told if path.is_file())
        prompts = tuple(prompt for prompt in memory if not _is_for_some(prompt))
        return Project(str(root), sources, prompts, self._trusted(str(root)), whole)

    def _memory(self, cwd: Path, above: list[Path]) -> Iterator[Path]:
        """What Claude Code doesn't read with the user's settings alone; see `trust.Given`."""
        claude = [path for folder in above for path in self._told(folder, "CLAUDE.md")]
        claude += [folder / "CLAUDE.local.md" for folder in above]
        other = not any(path.is_file() for path in claude)  # else AGENTS.md doesn't count
        for folder in reversed(above):
            if other:
                yield from self._told(folder, "AGENTS.md")
            elif folder != cwd:
                yield from self._told(folder, "CLAUDE.md")
            if folder != cwd and not self._is_own(folder / ".claude"):
                yield from (
                    path for path in _walk(folder / ".claude/rules") if path.suffix == ".md"
                )
            yield folder / "CLAUDE.local.md"

    def _told(self, folder: Path, name: str) -> Iterator[Path]:
        """Where a folder may hold a file that speaks to Claude."""
        yield folder / name
        if not self._is_own(folder / ".claude"):
            yield folder / ".claude" / name

    def _files(self, cwd: Path, above: list[Path], root: Path, below: list[Path]) -> Iterator[Path]:
        """In the order in which later ones count more; with some that aren't there."""
        for folder in reversed(above):
            yield folder / ".mcp.json"
        main = _main_checkout(root)
        for folder in dict.fromkeys([*reversed(above), *([main] if main else [])]):
            if not self._is_own(folder / ".claude"):
                yield from _prompts(folder / ".claude")
        for folder in below:
            if not self._is_own(folder):
                yield from _walk(folder / "skills")
        if not self._is_own(cwd / ".claude"):
            yield cwd / ".claude/settings.json"
            if main:
                yield main / ".claude/settings.local.json"
            yield cwd / ".claude/settings.local.json"

    def _is_own(self, folder: Path) -> bool:
        """Whether it holds the settings of the user, not of a project."""
        return _real(folder) in self._own

    def _trusted(self, root: str) -> bool:
        try:
            return (
                json.loads(self._books.read_bytes())["projects"][root]["hasTrustDialogAccepted"]
                is True
            )
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return False


def _prompts(folder: Path) -> Iterator[Path]:
    yield folder / "scheduled_tasks.json"
    for kind in _PROMPTS:
        yield from _walk(folder / kind)


def _walk(folder: Path) -> Iterator[Path]:
    """The files of a folder that can do something. What else lies beside a skill is only read."""
    count = 0
    seen = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in seen:
            folders.clear()
            continue
        seen.add(real)
        for name in sorted(files):
            count += 1
            if count > _FILES:
                yield folder  # which can't be read as a file, and so is an entry
                return
            if folder.name != "skills" or name.lower() == "skill.md" or ".claude-plugin" in place:
                yield Path(place, name)


def _below(cwd: Path) -> tuple[list[Path], bool]:
    """The `.claude` of each folder below, the nearest first, and whether there was time for all."""
    found: list[Path] = []
    level, count = [str(cwd)], 0
    while level and count < _LOOKED_AT:
        following = []
        for folder in level:
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in islice(entries, _LOOKED_AT - count):
                    count += 1
                    if entry.name == ".git" or not entry.is_dir():
                        continue
                    if entry.name == ".claude" and folder != str(cwd):
                        found.append(Path(entry.path))
                    elif not entry.is_symlink():
                        following.append(entry.path)
        level = following
    return found, count < _LOOKED_AT


def _main_checkout(root: Path) -> Path | None:
    """Where the repository of a worktree has its own, whose local settings Claude Code adds."""
    with suppress(OSError, ValueError):  # a path may hold NUL
        kind, _, path = (_text(root / ".git") or "").strip().partition(": ")
        if kind == "gitdir" and (common := _text(root / path / "commondir")):
            return _real(root / path / common.strip()).parent
    return None


def _source(path: Path, root: Path) -> Source:
    return Source(str(path.relative_to(root) if path.is_relative_to(root) else path), _text(path))


def _text(path: Path) -> str | None:
    """What a file holds, as the CLI decodes it; None where that can't be read or shown."""
    with suppress(OSError):
        # Looked at before it is opened, since opening a named pipe waits for its writer.
        if stat.S_ISREG(path.stat().st_mode) and path.stat().st_size <= _LARGE:
            text = path.read_bytes()
            if b"\0" not in text:  # else the CLI may take it for UTF-16
                return text.decode(errors="replace")
    return None


def _is_for_some(rule: Source) -> bool:
    """Whether Claude Code reads it only with files of certain paths."""
    text = rule.text or ""
    return text.startswith("---") and "\npaths:" in text.partition("\n---")[0]


def _is_there(path: Path) -> bool:
    """Also a link that leads nowhere yet."""
    return os.path.lexists(path)


def _leads_out(path: Path, root: Path) -> bool:
    """Whether a project's own file is a link to one that is not the project's."""
    return path.is_relative_to(root) and not _real(path).is_relative_to(root)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
