"""Folders of their own for agents, as git worktrees: made, read, merged, and never lost."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count, takewhile
from pathlib import Path

import msgspec

from winnow import ports
from winnow.adapters.files import private_folder
from winnow.adapters.git import changes, seat, snapshot
from winnow.adapters.git.git import GitError, line, run
from winnow.adapters.git.repository import (
    KEPT,
    add,
    beginning,
    check_out,
    copy,
    explained,
    has_branch,
    included,
    is_there,
    kept_at,
    root_of,
    same,
    tree_of,
)
from winnow.core.proposal.merge import Wanted

_TOLD = 40  # lines of what a gate has written
_CONFLICT = 1  # how `git merge-tree` ends then


class GitWorktrees:
    """Implements `ports.Worktrees`.

    Args:
        folder: where worktrees are made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._merging = asyncio.Lock()  # what one merge writes, the next has to see
        self._listing = asyncio.Lock()  # git fails where others are just being made or removed

    async def create(self, cwd: str, name: str, *, uncommitted: bool = False) -> ports.Tree:
        """See `ports.Worktrees.create`."""
        with explained(f"No worktree could be made for {name}"):
            root = await root_of(cwd)
            base = await beginning(root, uncommitted=uncommitted)
            clean = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "task"
            place, branch = await self._free(root, clean)
            async with self._listing:
                await add(root, place, branch, base)
            return ports.Tree(str(root), str(place), same(cwd, root, place), branch, base)

    async def ensure(
        self, project: str, cwd: str, branch: str, *, uncommitted: bool = False
    ) -> ports.Ensured:
        """See `ports.Worktrees.ensure`."""
        with explained("The worktree of this chat can't be made"):
            async with self._listing:
                return await seat.ensure(project, cwd, branch, uncommitted=uncommitted)

    async def holds(self, tree: ports.Tree) -> str:
        """See `ports.Worktrees.holds`."""
        with explained(f"What {tree.branch} holds can't be read"):
            return await seat.holds(tree, await self._state(tree))

    async def _free(self, root: Path, name: str) -> tuple[Path, str]:
        """A folder and a branch that are not there yet."""
        await asyncio.to_thread(private_folder, self._folder)
        for number in range(1, 1000):
            tried = name if number == 1 else f"{name}-{number}"
            place, branch = self._folder / f"{root.name}-{tried}", f"winnow/{tried}"
            if not (await has_branch(root, branch) or is_there(place)):
                return place, branch
        raise ports.TreeError(f"There are a thousand worktrees named {name}: remove some.")

    async def change(self, tree: ports.Tree) -> ports.TreeChange:
        """See `ports.Worktrees.change`."""
        with explained(f"What {tree.branch} changes can't be read"):
            commit = await self._state(tree)
            entries = await changes.differing(Path(tree.root), tree.base, commit)
            return ports.TreeChange(commit, await changes.read(Path(tree.root), entries))

    async def diffstat(self, tree: ports.Tree) -> str:
        """See `ports.Worktrees.diffstat`."""
        return await changes.stat(Path(tree.path), tree.base)

    async def _state(self, tree: ports.Tree) -> str:
        """A commit of all that a worktree holds, or of its branch if its folder is gone."""
        root, place = Path(tree.root), Path(tree.path)
        if is_there(place / ".git"):
            return await snapshot.take(place, await snapshot.head(place) or tree.base)
        return await line(root, "rev-parse", "--verify", f"refs/heads/{tree.branch}")

    async def update(self, tree: ports.Tree) -> ports.Tree:
        """See `ports.Worktrees.update`."""
        root, place = Path(tree.root), Path(tree.path)
        with explained(f"{tree.branch} could not be brought up to date"):
            theirs = await self._state(tree)
            ours = await snapshot.take(root, *filter(None, [await snapshot.head(root), tree.base]))
            merged, _ = await _merged(root, ours, theirs)
            commit = await snapshot.commit(root, merged, [theirs, ours])
            await run(place, "reset", "--quiet", "--hard", commit)
            await seat.came_home(root, tree.branch, ours)
            return msgspec.structs.replace(tree, base=ours)

    # --- merged ---------------------------------------------------------------------------------

    async def merge(
        self, tree: ports.Tree, commit: str, wanted: Wanted, gate: str = ""
    ) -> ports.Merged:
        """See `ports.Worktrees.merge`."""
        root = Path(tree.root)
        async with self._merging:
            with explained(f"{tree.branch} could not be merged"):
                return await self._merge(root, tree, commit, wanted, gate)

    async def _merge(
        self, root: Path, tree: ports.Tree, commit: str, wanted: Wanted, gate: str
    ) -> ports.Merged:
        entries = await changes.differing(root, tree.base, commit)
        theirs = await changes.composed(root, tree.base, entries, wanted)
        # With both as parents, what was the base is what git takes for it.
        ours = await snapshot.take(root, *filter(None, [await snapshot.head(root), tree.base]))
        merged, conflicts = await _merged(root, ours, theirs)
        if conflicts:
            return ports.Merged(conflicts=conflicts)
        if gate:
            below = Path(tree.cwd).relative_to(tree.path)
            failed = await self._fails(root, merged, below, gate)
            if failed is not None:
                return ports.Merged(failed=failed)
        again = await snapshot.take(root)
        if await tree_of(root, again) != await tree_of(root, ours):
            return ports.Merged(failed="Files have changed meanwhile: merge again.")
        done = await _lay(root, ours, merged)
        await seat.came_home(root, tree.branch, theirs)
        return ports.Merged(done=done)

    async def _fails(self, root: Path, merged: str, below: Path, gate: str) -> str | None:
        """What a command wrote that failed on the merged files; None: it went well."""
        async with self._checkout(root, merged) as place:
            await asyncio.to_thread(copy, root, place, await included(root))
            process = await asyncio.create_subprocess_shell(
                gate,
                cwd=place / below,
                env={name: text for name, text in os.environ.items() if not _of_git(name)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                out, _ = await process.communicate()
            finally:
                with suppress(ProcessLookupError):  # whatever it has started goes with it
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode == 0:
            return None
        said = out.decode(errors="replace").rstrip().split("\n")[-_TOLD:]
        return "\n".join([f"{gate} ended with {process.returncode}:", *said])

    @asynccontextmanager
    async def _checkout(self, root: Path, tree: str) -> AsyncIterator[Path]:
        """A folder that holds a tree for a while."""
        with tempfile.TemporaryDirectory(prefix="winnow-gate-") as place:
            made = Path(place, root.name)
            commit = await snapshot.commit(root, tree, [])
            removed = ("worktree", "remove", "--force", "--force", str(made))
            async with self._listing:
                await run(root, "worktree", "add", "--quiet", "--detach", str(made), commit)
            try:
                yield made
            finally:
                async with self._listing:
                    await run(root, *removed, may_fail=(128,))

    # --- removed, and brought back --------------------------------------------------------------

    async def remove(self, tree: ports.Tree) -> str:
        """See `ports.Worktrees.remove`."""
        root, place = Path(tree.root), Path(tree.path)
        kept = ""
        with explained(f"The worktree {tree.path} could not be removed"):
            with suppress(GitError):  # neither folder nor branch is there
                commit = await self._state(tree)
                if await tree_of(root, commit) != await tree_of(root, tree.base):
                    kept = await _keep(root, tree.branch.removeprefix("winnow/"), commit)
            async with self._listing:
                if is_there(place):
                    await run(root, "worktree", "remove", "--force", "--force", str(place))
                await run(root, "worktree", "prune")
            await run(root, "branch", "--quiet", "-D", tree.branch, may_fail=(1,))
            if not kept:
                await seat.forget(root, tree.branch)
            return kept

    async def kept(self, cwd: str) -> list[ports.KeptTree]:
        """See `ports.Worktrees.kept`."""
        with explained("What was removed can't be listed"):
            root = await root_of(cwd)
            form = "%(refname)%09%(committerdate:unix)"
            _, out = await run(
                root, "for-each-ref", "--sort=-committerdate", f"--format={form}", KEPT
            )
            rows = [row.split("\t") for row in os.fsdecode(out).splitlines()]
            return [
                ports.KeptTree(ref.removeprefix(KEPT), float(at or 0), await _stat(root, ref))
                for ref, at in rows
            ]

    async def restore(self, cwd: str, name: str) -> ports.Tree:
        """See `ports.Worktrees.restore`."""
        with explained(f"{name} could not be brought back"):
            root = await root_of(cwd)
            commit = await kept_at(root, name)
            if not commit:
                raise ports.TreeError(f"Nothing named {name} is kept in {root}.")
            place, branch = await self._free(root, name)
            async with self._listing:
                await check_out(root, place, "-b", branch, str(place), commit)
            base = await line(root, "rev-parse", f"{commit}^")
            return ports.Tree(str(root), str(place), same(cwd, root, place), branch, base)


async def _merged(root: Path, ours: str, theirs: str) -> tuple[str, dict[str, str]]:
    """The merged tree, and the texts of files with conflicts, marked, by their paths."""
    code, out = await run(
        root, "merge-tree", "--write-tree", "-z", "--name-only", ours, theirs, may_fail=(_CONFLICT,)
    )
    tree, *rest = [os.fsdecode(part) for part in out.split(b"\0")]
    if code != _CONFLICT:
        return tree, {}
    paths = rest[: rest.index("")]
    texts = {}
    for path in dict.fromkeys(paths):
        failed, blob = await run(root, "cat-file", "blob", f"{tree}:{path}", may_fail=(128,))
        texts[path] = "" if failed else blob.decode(errors="replace")
    return tree, texts


async def _lay(root: Path, ours: str, merged: str) -> tuple[str, ...]:
    """Write what differs into the user's files; index, branch and commits stay as they are."""
    entries = await changes.differing(root, await tree_of(root, ours), merged)
    written = [entry.path for entry in entries if entry.mode != "000000"]
    gone = [root / entry.path for entry in entries if entry.mode == "000000"]
    await asyncio.to_thread(_delete, root, gone)
    async with snapshot.index(root, merged) as env:
        paths = b"".join(os.fsencode(path) + b"\0" for path in written)
        await run(root, "checkout-index", "--force", "-z", "--stdin", input=paths, env=env)
    return tuple(entry.path for entry in entries)


def _delete(root: Path, files: list[Path]) -> None:
    """Delete files, and as git does it, the folders that hold nothing then."""
    for file in files:
        file.unlink(missing_ok=True)
        with suppress(OSError):
            for folder in takewhile(root.__ne__, file.parents):
                folder.rmdir()


async def _keep(root: Path, name: str, commit: str) -> str:
    """Keep a commit under this name, or one like it: what was kept before stays."""
    for number in count(1):
        tried = name if number == 1 else f"{name}-{number}"
        before = await kept_at(root, tried)
        if not before:
            await run(root, "update-ref", f"{KEPT}{tried}", commit)
        if not before or await tree_of(root, before) == await tree_of(root, commit):
            return tried
    raise AssertionError


async def _stat(root: Path, ref: str) -> str:
    _, out = await run(root, "diff-tree", "--shortstat", f"{ref}^", ref, may_fail=(128,))
    return out.decode().strip()


def _of_git(name: str) -> bool:
    return name.startswith("GIT_")
