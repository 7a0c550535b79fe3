"""What a repository's own settings would run, and how git is kept from it.

A clone brings none along, but an archive or a shared disk does, and an agent may write some. What
the user has set for all repositories counts, and so do the two tools that are set up in each.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

# Of a settings file without these words nothing more has to be asked.
_SUSPICIOUS = re.compile(
    rb"(?i)filter|driver|include|sshcommand|gitproxy|askpass|helper|uploadpack|protocol|::|vcs"
)
# The last ones only say how something is fetched, which git does where an object is missing.
ASK = (
    *("config", "-z", "--show-scope", "--get-regexp"),
    r"^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|core\.(sshcommand|gitproxy|askpass)"
    r"|protocol\..*|credential\..*helper|remote\..*\.(uploadpack|vcs|url)|url\..*\.insteadof)$",
)
_HARMLESS = (".url", ".insteadof")  # but for those that name a program: `ext::sh -c …`
_KNOWN = re.compile(r'"?git-(lfs|crypt)"? [a-z-]+( --skip)?( --)?( %f)?')
_FILTER = {"clean": "", "smudge": "", "process": "", "required": "false"}
_MERGE = {"driver": "git merge-file --quiet %A %O %B"}  # what git does without a driver
_NO_FETCH = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}


def suspicious(folder: Path) -> bool:
    """Whether the settings of the repository that a folder is in may run something."""
    return any(_SUSPICIOUS.search(_read(file)) for file in _files(folder))


def harmless(told: Sequence[str]) -> dict[str, str]:
    """Variables with which git runs nothing by the repository's own settings.

    Args:
        told: what git says to `ASK`.
    """
    instead: dict[str, str] = {}
    found: dict[str, str] = {}
    for scope, setting in zip(told[::2], told[1::2]):  # noqa: B905
        key, _, value = setting.partition("\n")
        if scope not in ("local", "worktree") or _KNOWN.fullmatch(value):
            continue
        section = key.partition(".")[0]
        if section in ("filter", "merge"):
            off = _FILTER if section == "filter" else _MERGE
            instead |= {f"{key.rpartition('.')[0]}.{name}": to for name, to in off.items()}
        elif "::" in setting or not key.endswith(_HARMLESS):
            found = dict(_NO_FETCH)
    for number, (key, value) in enumerate(instead.items()):  # as options, a name may hold no `=`
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return {**found, "GIT_CONFIG_COUNT": str(len(instead))}


def _files(folder: Path) -> Iterator[Path]:
    """Where they may stand: rather too many files, since git goes on above what is no repository.

    Paths are what git makes of them, which takes line ends off, and no blanks.
    """
    for top in (folder, *folder.parents):
        own = top / ".git"
        if not own.is_dir():
            kind, _, named = _path(own).partition(": ")
            if kind != "gitdir":
                continue
            own = top / named
        yield from (own / "config", own / "config.worktree")
        if common := _path(own / "commondir"):  # also of what is no worktree
            yield own / common / "config"


def _path(file: Path) -> str:
    return os.fsdecode(_read(file)).rstrip("\r\n")


def _read(path: Path) -> bytes:
    with suppress(OSError, ValueError):
        if os.path.isfile(path):  # noqa: PTH113  of a named pipe, reading waits for its writer
            return path.read_bytes()
    return b""
