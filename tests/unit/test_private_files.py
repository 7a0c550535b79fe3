"""What is ours on disk is the user's alone, whatever the umask; a planted link leads nowhere."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from winnow.adapters.claude import settings_files
from winnow.adapters.files import private_folder, write_new
from winnow.adapters.git.worktrees import GitWorktrees
from winnow.adapters.past.pasts import Pasts
from winnow.core.controls import Rule


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def exposed(top: Path) -> list[str]:
    """What others may look into."""
    return [str(path) for path in (top, *top.rglob("*")) if path.lstat().st_mode & 0o077]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a commit, and something that is not in it yet."""
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "a").write_text("one\n")
    commit = ("-c", "user.name=u", "-c", "user.email=u@u", "commit", "--quiet", "-m", "x")
    for command in (("init", "--quiet"), ("add", "a"), commit):
        subprocess.run(["git", *command], cwd=shop, check=True)
    (shop / "b").write_text("two\n")
    return shop


def test_states_and_worktrees_are_private(shop: Path, tmp_path: Path) -> None:
    """Of a worktree its folder is: within it, files are as the user's umask makes them."""

    async def work() -> Path:
        past = await Pasts(tmp_path / "state" / "past")(str(shop), "chat")
        await past.now()
        past.keep(b"{}")
        tree = await GitWorktrees(tmp_path / "data" / "trees").create(str(shop), "task")
        return Path(tree.path)

    place = asyncio.run(work())
    assert len(list((tmp_path / "state").rglob("*"))) > 5
    assert exposed(tmp_path / "state") == []
    for folder in (place, place.parent, place.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((shop / "b").stat().st_mode) == 0o666  # not ours


def test_new_files_are_private_and_no_link(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    private_folder(folder)
    private_folder(folder)
    write_new(folder / "file", "text")
    assert exposed(tmp_path / "a") == []
    victim = tmp_path / "victim"
    for target in (victim, tmp_path / "nowhere"):
        victim.write_text("mine")
        (folder / "link").symlink_to(target)
        with pytest.raises(FileExistsError):
            write_new(folder / "link", "text")
        (folder / "link").unlink()
    assert victim.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_settings_are_not_written_through_a_planted_link(tmp_path: Path) -> None:
    """A project can guess the number of our process."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    settings = tmp_path / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"allow": ["Bash", "Read"]}}))
    settings.chmod(0o600)
    (settings.parent / f".{settings.name}.{os.getpid()}").symlink_to(victim)
    settings_files.revoke([Rule("allow", "Bash", "localSettings", "", root=str(tmp_path))])
    assert victim.read_text() == "mine"
    assert json.loads(settings.read_text()) == {"permissions": {"allow": ["Read"]}}
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
