"""What lies on disk is the user's alone, and where nothing can lie there, the chat goes on."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api import ScriptedAPI, Thinking, ToolUse, ask, question, say
from tests.e2e.conftest import Open
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle, wait_section
from tests.soaking import soak

pytestmark = pytest.mark.fresh("session")

FRUIT = question("Which fruit?", "Apple", "Pear", header="Fruit")


@pytest.fixture(params=[0o000, 0o022], ids=["umask 0", "umask 22"])
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def exposed(*folders: Path) -> dict[str, str]:
    """What others may do with what lies in these folders, and with the folders."""
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    modes = {str(path): stat.S_IMODE(path.lstat().st_mode) for path in found}
    return {path: oct(mode) for path, mode in modes.items() if mode & 0o077}


@pytest.mark.usefixtures("_umask")
def test_only_the_user_can_read_what_is_kept(open_editor: Open, tmp_path: Path) -> None:
    """Chats, log, database and exports, with what Neovim and SQLite put beside them."""
    editor = open_editor(agent="scripted")
    ours = editor.sandbox.data / "winnow", editor.sandbox.state / "winnow"
    editor.command("set undofile backup writebackup swapfile")
    start(editor)
    wait_section(editor, "Question")
    editor.keys("dd:Winnow decisions export ~/exported<CR>")
    editor.lua("require('winnow.log').write('something')")
    editor.wait((editor.sandbox.root / "home" / "exported").exists, "the export")
    editor.command("wall")
    assert exposed(*ours) == {}
    beside = [editor.sandbox.state / kind for kind in ("swap", "undo", "backup")]
    chats = [path for folder in beside for path in folder.rglob("*chats*")]
    assert "undo" in {path.parent.name for path in chats}
    assert exposed(*chats) == {}

    # What an earlier version has left there.
    for path in (*ours[0].rglob("*"), *ours[1].rglob("*"), *ours):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (ours[1] / "winnow.log.1").touch(0o644)
    outside = tmp_path / "outside"
    outside.touch(0o644)
    outside.chmod(0o755)
    for folder in (ours[0] / "chats", ours[1]):
        (folder / "link").symlink_to(outside)
    editor.restart()
    editor.keys(":Winnow<CR>")
    editor.wait(lambda: not exposed_files(*ours), "no more of that")
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755


def exposed_files(*folders: Path) -> list[str]:
    return [path for path in exposed(*folders) if not path.endswith("/link")]


def test_the_log_holds_nothing_that_was_said(claude: Editor, api: ScriptedAPI) -> None:
    """Not even when everything goes wrong; what happened is there."""
    secret = "Xyzzy"
    bash = {"command": f"echo {secret}; echo {secret} >&2", "description": secret}
    api.add(
        say(
            Thinking(f"{secret} "),
            f"I say {secret}. ",
            ToolUse("Bash", bash, "toolu_1"),
            ToolUse("Nonsense", {secret: secret}, "toolu_2"),
        ),
        say(ask("toolu_4", question(secret, *(f"{secret} {n}" for n in "ABC"), header=secret))),
    )
    start(claude, secret)
    claude.resize(40, 24)  # so that sentences are cut
    wait_section(claude, "Question")
    claude.keys("<CR>")
    claude.wait(lambda: "3 left" in claude.messages(), "a sentence")
    claude.command("redraw!")  # two messages at once would wait for a key
    edit = "{ chat = vim.api.nvim_get_current_buf(), section = ..., lines = {} }"
    claude.lua(f"require('winnow.host').notify('edit', {edit})", secret)
    claude.lua(
        "require('winnow.dispatch').apply({{ type = 'tool', chat = vim.api.nvim_get_current_buf(),"
        "  id = {}, line = ..., output = ... }})",
        secret,
    )
    claude.command("redraw!")
    claude.lua("require('winnow.host').notify('send', { chat = 99, text = ... })", secret)
    claude.wait(lambda: "The host does not know" in claude.messages(), "a sentence")
    claude.command("redraw!")
    for process, command in claude.sandbox.processes().items():
        if "stream-json" in command:
            os.kill(process, signal.SIGKILL)
    claude.wait_line("⚠ Claude Code ended")
    wrong = "require('winnow.host').notify('confirm', { chat = 1, section = ..., row = ... })"
    claude.lua(wrong, secret)
    claude.wait(lambda: "did not understand" in claude.messages(), "a sentence")
    log = (claude.sandbox.state / "winnow" / "winnow.log").read_text()
    for part in ("closed chat: Send", "exit code -9", "tool failed", "at `$.row`"):
        assert part in log
    assert secret not in log
    claude.keys(":Winnow log<CR>:quit<CR>:Winnow log<CR>")
    assert claude.text().count(f"<CR> again keeps only {secret} A") == 1  # it was cut
    assert secret not in (claude.sandbox.state / "winnow" / "winnow.log").read_text()
    claude.command("messages clear")


def in_the_way(path: Path, *, folder: bool) -> None:
    """A folder in place of a file, or the other way round: not even root can write there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if folder:
        path.mkdir()
    else:
        path.write_text("in the way")


@pytest.mark.parametrize(
    ("obstacle", "folder", "told"),
    [
        ("state/nvim/winnow/winnow.db", True, "Winnow can't keep questions"),
        ("data/nvim/winnow/chats", False, "The chat could not be written"),
        *soak(
            ("state/nvim/winnow/winnow.log", True, "There is no log"),
            ("state/nvim/winnow", False, "Winnow can't keep questions"),
            ("data/nvim/winnow", False, "The chat could not be written"),
        ),
    ],
)
def test_a_chat_goes_on_where_nothing_can_be_kept(
    open_editor: Open, api: ScriptedAPI, tmp_path: Path, obstacle: str, folder: bool, told: str
) -> None:
    """It is typed, sent, asked and answered; the user is told once."""
    editor = open_editor(agent="claude", env=api.env(tmp_path / "claude"))
    editor.resize(120, 40)
    in_the_way(editor.sandbox.root / obstacle, folder=folder)
    api.add(say("One thing.", ask("toolu_1", FRUIT)), say("Noted."), say("Hello again."))
    start(editor)
    wait_section(editor, "Question")
    editor.keys("gg/^Apple<CR>dd")
    editor.wait_screen("━━ Pear")
    editor.keys("<CR>")
    assert '"Which fruit?"="Pear"' in api.tool_result("toolu_1")
    wait_idle(editor)
    editor.keys("G")
    send(editor, "Go on")
    editor.wait_line("Hello again.")
    assert editor.messages().count(told) == 1
    assert "⚠" not in editor.text()
    editor.command("messages clear")
