"""What differs between two commits, read as texts, and a commit of what is wanted of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from winnow.adapters.git import snapshot
from winnow.adapters.git.git import GitError, items, line, run
from winnow.core.proposal.merge import FileChange, Wanted

_LIMIT = 4 << 20  # bytes of a file; more is nothing to read
_CAT = ("cat-file", "--buffer")  # else it writes, and we read, one by one
NONE = "0" * 40  # no object
_KINDS = {"000000": "no file", "100644": "a file", "100755": "executable", "120000": "a link"}
FILE, _MODULE = "100644", "160000"
# Whether a submodule is dirty git asks another git, by the settings of that repository.
_SHALLOW = ("--ignore-submodules=dirty", "--submodule=short")
_PLAIN = ("--no-ext-diff", "--no-textconv", *_SHALLOW)
_NUMBERS = ("diff", *_PLAIN, "--numstat", "-z", "--no-renames")


class Entry(msgspec.Struct, frozen=True):
    """A path that differs: what it is in both commits, and which object."""

    path: str
    old_mode: str
    mode: str
    old: str
    new: str


async def differing(
    folder: Path, old: str, new: str, env: Mapping[str, str] | None = None
) -> list[Entry]:
    """The paths that differ between two commits. A file that was renamed is gone, and new."""
    compare = ("diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", old, new)
    found = iter(await items(folder, *compare, env=env))
    entries = []
    for head in found:
        old_mode, mode, before, after, _ = head.removeprefix(":").split(" ")
        entries.append(Entry(next(found), old_mode, mode, before, after))
    return entries


async def read(folder: Path, entries: list[Entry]) -> tuple[FileChange, ...]:
    """What these changes are, for somebody to read."""
    blobs = await read_blobs(folder, names_of(entries))
    return tuple(change_of(entry, blobs) for entry in entries)


def names_of(entries: Iterable[Entry]) -> list[str]:
    """The objects of these paths."""
    return [
        name for it in entries for name in (it.old, it.new) if name.strip("0") and not is_module(it)
    ]


def is_module(entry: Entry) -> bool:
    """It is a repository inside this one."""
    return _MODULE in (entry.old_mode, entry.mode)


def change_of(entry: Entry, blobs: Mapping[str, bytes | int]) -> FileChange:
    """What it is, for somebody to read; of objects that are too large there are the sizes."""
    if is_module(entry):
        return FileChange(entry.path, what=f"submodule, now at {entry.new[:10]}")
    kinds = [_KINDS.get(mode, mode) for mode in (entry.old_mode, entry.mode)]
    new = blobs.get(entry.new, b"")
    texts = [_text(blobs.get(entry.old, b"")), _text(new)]
    if None in texts or "a link" in kinds:
        size = new if isinstance(new, int) else len(new)
        deleted = entry.new == NONE
        what = "deleted" if deleted else f"{kinds[1]}, " * (kinds[1] != "a file") + _size(size)
        binary = "binary, " * (None in texts)
        return FileChange(entry.path, what=binary + what)
    old_text = None if entry.old == NONE else texts[0]
    new_text = None if entry.new == NONE else texts[1]
    odd = old_text is not None and new_text is not None and entry.old_mode != entry.mode
    changed = " and changed" * (entry.old != entry.new)
    what = f"was {kinds[0]}, now {kinds[1]}{changed}" if odd else ""
    if not what and old_text is None and entry.mode != FILE:
        what = f"new, {kinds[1]}, {_size(len(new_text or ''))}"
    return FileChange(entry.path, old_text, new_text, what)


def _text(blob: bytes | int) -> str | None:
    if isinstance(blob, int) or b"\0" in blob:
        return None
    try:
        return blob.decode()
    except UnicodeDecodeError:
        return None


def _size(size: int) -> str:
    return f"{size} bytes" if size < 10_000 else f"{size / 1e6:.2g} MB"


async def read_blobs(
    folder: Path, names: Iterable[str], env: Mapping[str, str] | None = None
) -> dict[str, bytes | int]:
    """Objects by their names; of those that are too large, their sizes."""
    asked = "".join(f"{name}\n" for name in names).encode()
    if not asked:
        return {}
    _, out = await run(folder, *_CAT, "--batch-check", input=asked, env=env)
    sizes = {}
    for told in out.decode().splitlines():
        name, kind, *size = told.split(" ")
        if not size:
            raise GitError("cat-file", 1, f"{name} is {kind}".encode())
        sizes[name] = int(size[0])
    small = [name for name, size in sizes.items() if size <= _LIMIT]
    asked = "".join(f"{name}\n" for name in small).encode()
    _, out = await run(folder, *_CAT, "--batch", input=asked, env=env)
    blobs: dict[str, bytes | int] = dict(sizes)
    at = 0
    for name in small:
        start = out.index(b"\n", at) + 1
        at = start + sizes[name]
        blobs[name] = out[start:at]
        at += 1  # the newline after it
    return blobs


async def composed(folder: Path, base: str, entries: list[Entry], wanted: Wanted) -> str:
    """A commit upon ``base`` with what is wanted of these changes."""
    rows = []
    for entry in entries:
        if entry.path not in wanted:
            continue
        text = wanted[entry.path]
        mode, name = entry.mode, entry.new
        if text is not None:
            _, out = await run(folder, "hash-object", "-w", "--stdin", input=text.encode())
            name = out.decode().strip()
            mode = FILE if mode == "000000" else mode  # it would be gone, but lines were kept
        rows.append(f"{mode} {name}\t".encode() + os.fsencode(entry.path) + b"\0")
    async with snapshot.index(folder, base) as env:
        await run(folder, "update-index", "-z", "--index-info", input=b"".join(rows), env=env)
        tree = await line(folder, "write-tree", env=env)
    return await snapshot.commit(folder, tree, [base])


async def stat(place: Path, base: str) -> str:
    """How much a worktree differs from a commit, in short; locks nothing, as an agent works there.

    The lines of files that git does not know yet are not counted.
    """
    try:
        lock = {"GIT_OPTIONAL_LOCKS": "0"}
        told = await items(place, *_NUMBERS, base, env=lock)
        new = await items(place, "ls-files", "-z", "--others", "--exclude-standard", env=lock)
    except (GitError, OSError):  # it is gone, or being made
        return ""
    counts = [row.split("\t")[:2] for row in told]
    added, removed = (sum(int(n) for n in column if n.isdecimal()) for column in _columns(counts))
    files = len(told) + len(new)
    return f"{files} file{'s' * (files > 1)} +{added} −{removed}" if files else ""


def _columns(rows: list[list[str]]) -> tuple[list[str], list[str]]:
    return [row[0] for row in rows], [row[1] for row in rows]
