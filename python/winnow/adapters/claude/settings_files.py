"""Claude Code's settings files, as far as rules are taken out of them.

No control request does that (2.1.332: ``list_permission_rules`` only tells, ``update_settings``
takes other keys), and updates of rules go only with the reply to a permission.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from winnow.adapters.claude import config
from winnow.adapters.files import write_new
from winnow.core.controls import Rule

_FILES = {
    "projectSettings": ".claude/settings.json",
    "localSettings": ".claude/settings.local.json",
}


class NotRevoked(Exception):
    """A sentence that says why."""


def revoke(rules: Sequence[Rule]) -> None:
    """Take rules out of their files: all of a file's, or none.

    Raises:
        NotRevoked: one does not stand where it should, or its file can't be written.
    """
    by_file: dict[Path, list[Rule]] = {}
    for rule in rules:
        by_file.setdefault(_path(rule), []).append(rule)
    wanted = {path: _without(path, found) for path, found in by_file.items()}  # or nothing is done
    for path, settings in wanted.items():
        _write(path, settings)


def _path(rule: Rule) -> Path:
    if rule.source in _FILES:
        return Path(rule.root, _FILES[rule.source])
    return config.folder() / "settings.json"


def _without(path: Path, rules: Sequence[Rule]) -> dict[str, Any]:
    try:
        settings: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise NotRevoked(f"{path} can't be read, so no rule is revoked: {error}.") from error
    for rule in rules:
        match settings:
            case {"permissions": {rule.behavior: list(stored)}} if rule.rule in stored:
                stored.remove(rule.rule)
            case _:
                raise NotRevoked(f"{rule.rule} does not stand in {path}, so nothing is revoked.")
    return settings


def _write(path: Path, settings: dict[str, Any]) -> None:
    """Whole or not at all."""
    real = path.resolve()
    new = real.with_name(f".{real.name}.{uuid4().hex}")
    try:
        mode = real.stat().st_mode
        write_new(new, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")
        new.chmod(mode & 0o777)
        new.replace(real)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise NotRevoked(f"{path} can't be written: {error.strerror}.") from error
