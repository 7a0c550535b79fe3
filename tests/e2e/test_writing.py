"""A chat's file is written whole or not at all, and else as Vim writes any file."""

from __future__ import annotations

import resource
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.editor import Editor
from tests.e2e.rpc import GoneError
from tests.e2e.steps import wait_idle
from tests.e2e.test_resume import chat_file, write_chat
from tests.soaking import soak

pytestmark = pytest.mark.fresh("session")

LONG = "\n".join(
    f"line {number} of a long message, to which more is added" for number in range(400)
)
# What becomes of a program that writes beyond its limit.
SIGNAL = """
  local ffi = require('ffi')
  ffi.cdef('void *signal(int, void *)')
  ffi.C.signal(25, ffi.cast('void *', ...))
"""
DIES, GOES_ON = 0, 1


def chats_of(editor: Editor) -> Path:
    return editor.sandbox.data / "winnow" / "chats"


def open_chat(editor: Editor, path: Path) -> str:
    """Edit this chat, at the end of its draft; returns what its file holds then."""
    editor.keys(f":edit {path}<CR>")
    wait_idle(editor)
    editor.keys("Gi <BS><Esc>:w<CR>")
    editor.wait(lambda: path.read_text() == editor.text() + "\n", "the file")
    return path.read_text()


def limit(editor: Editor, size: int) -> None:
    """Neovim can write no more than this into a file, as where the disk is full."""
    resource.prlimit(editor.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("how", [DIES, GOES_ON], ids=["killed", "full"])
def test_half_a_file_is_never_left(editor: Editor, how: int) -> None:
    """Neovim is killed in the middle of a write, or the disk gets full there."""
    path = write_chat(chats_of(editor), text="\n" + LONG)
    before = open_chat(editor, path)
    editor.lua(SIGNAL, how)
    limit(editor, 8000)
    editor.keys("A and more")
    if how == DIES:
        editor.process.wait(20)
        assert path.read_text() == before
        editor.kill()
        editor.start(str(path))
        editor.wait(lambda: len(list(chats_of(editor).iterdir())) == 1, "nothing else")
    else:
        editor.wait(lambda: "could not be written" in editor.messages(), "the warning")
        assert path.read_text() == before
        assert len(list(chats_of(editor).iterdir())) == 1
        limit(editor, resource.RLIM_INFINITY)
        editor.keys("<Esc>:w!<CR>")
        editor.wait(lambda: "and more" in path.read_text(), "the file")
        editor.command("messages clear")


def test_a_long_chat_is_written_as_it_is(editor: Editor) -> None:
    """Whatever is in it; and what another program changes far below is not written over."""
    path = write_chat(chats_of(editor), text="\n" + "\n".join([LONG] * 20))
    open_chat(editor, path)
    editor.command("enew")
    editor.lua(
        """
          local buf = vim.fn.bufnr(...)
          vim.api.nvim_buf_set_text(buf, -1, 0, -1, 0, { 'a\\0b' })
          require('winnow.registry').get(buf):save()
        """,
        str(path),
    )
    assert "a\0b" in path.read_text()
    editor.command(f"buffer {path}")
    assert path.read_text().count("line 399 of") == 20
    path.write_text(path.read_text())  # at another time, the same
    editor.keys("Gofirst<Esc>:w<CR>")
    editor.wait(lambda: "first" in path.read_text(), "the file")
    assert len(list(chats_of(editor).iterdir())) == 1
    path.write_text(path.read_text().replace("first", "other"))
    editor.keys("Gosecond<Esc>:w<CR>")
    editor.wait(lambda: "second" in path.read_text(), "the file")
    (copy,) = (one for one in chats_of(editor).iterdir() if one != path)
    assert "other" in copy.read_text()


Healing = AbstractContextManager[None]
"""An obstacle, until it ends."""


@contextmanager
def in_the_way(folder: Path) -> Iterator[None]:
    """A file stands where the chats were."""
    away = folder.rename(folder.with_name("away"))
    folder.write_text("")
    yield
    folder.unlink()
    away.rename(folder)


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """The disk has no room left."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(512)):
            pass
    yield
    ballast.unlink()


@contextmanager
def crowded(folder: Path) -> Iterator[None]:
    """The disk takes no more files."""
    files = [folder / f"ballast{number}" for number in range(100)]
    with suppress(OSError):
        for file in files:
            file.touch()
    yield
    for file in files:
        file.unlink(missing_ok=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The disk takes nothing."""
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    yield
    subprocess.run(["mount", "-o", "remount,rw", folder], check=True)


@contextmanager
def disk(folder: Path) -> Iterator[None]:
    """A small one of its own."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=20", "tmpfs", str(folder)]
    if (
        not shutil.which("mount")
        or subprocess.run(mount, check=False, capture_output=True).returncode
    ):
        pytest.skip("to fill a disk, one has to be mounted, which only root may do")
    yield
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize(
    ("obstacle", "why"),
    [
        (in_the_way, "not a directory"),
        (full, "no space left on device"),
        *soak((crowded, "no space left on device"), (read_only, "read-only file system")),
    ],
)
def test_what_can_not_be_written_is_told_and_tried_again(
    editor: Editor, closing: ExitStack, obstacle: Callable[[Path], Healing], why: str
) -> None:
    """As long as it takes; what was written before stays, and `:w!` says so each time."""
    if obstacle is not in_the_way:
        closing.enter_context(disk(chats_of(editor)))
    path = write_chat(chats_of(editor))
    before = open_chat(editor, path)
    with obstacle(chats_of(editor)):
        editor.keys("Aone<Esc>")
        editor.wait_screen(f"could not be written: {why}")
        editor.keys("Atwo<Esc>")
        editor.wait_screen(f"not saved: {why}")
        editor.command("messages clear")
        assert "could not" not in editor.messages()
        editor.keys(":w!<CR>")
        assert f"could not be written: {why}" in editor.messages()
        assert not path.exists() or path.read_text() == before
    editor.wait(lambda: "onetwo" in path.read_text(), "the file")
    editor.wait_screen("The chat is written again")
    assert not any("not saved" in row for row in editor.screen())
    editor.command("messages clear")


def test_a_link_stays_one(editor: Editor) -> None:
    """And what it leads to keeps who may read it."""
    real = write_chat(editor.sandbox.root / "elsewhere")
    real.chmod(0o640)
    link = chats_of(editor) / "20200101-000000-project.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    open_chat(editor, link)
    editor.keys("Athe end<Esc>")
    editor.wait(lambda: "the end" in real.read_text(), "the file")
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_names_of_one_file_stay_names_of_one(editor: Editor) -> None:
    """A backup may be one."""
    path = write_chat(chats_of(editor))
    other = editor.sandbox.root / "other"
    other.hardlink_to(path)
    open_chat(editor, path)
    editor.keys("Athe end<Esc>")
    editor.wait(lambda: "the end" in path.read_text(), "the file")
    assert other.samefile(path)


def test_undo_over_a_save_is_a_change(editor: Editor) -> None:
    """It is written, too; and after a restart there still is what to undo."""
    editor.command("set undofile undodir=$XDG_STATE_HOME")
    path = write_chat(chats_of(editor))
    open_chat(editor, path)
    for text in ("one", "two"):
        editor.keys(f"A {text}<Esc>:w<CR>")
        assert not editor.lua("return vim.bo.modified")
    editor.keys("u")
    assert editor.lua("return vim.bo.modified")
    editor.wait(lambda: "one" in path.read_text() and "two" not in path.read_text(), "the file")
    editor.quit()
    editor.start("--cmd", "set undofile undodir=$XDG_STATE_HOME", str(path))
    editor.keys("u")
    assert "one" not in editor.text()
    editor.wait(lambda: not path.exists(), "no file of a chat that holds nothing")


def test_write_tells_whoever_listens(editor: Editor) -> None:
    """Formatters and the like, which may change the text; then how much was written is said."""
    path = write_chat(chats_of(editor))
    open_chat(editor, path)
    editor.lua("""
      _G.heard = {}
      vim.api.nvim_create_autocmd({ 'BufWritePre', 'BufWritePost' }, {
        callback = function(event)
          table.insert(_G.heard, event.event)
          if event.event == 'BufWritePre' then
            vim.api.nvim_buf_set_lines(event.buf, -1, -1, false, { 'formatted' })
          end
        end,
      })
    """)
    editor.keys("Athe end<Esc>")
    editor.wait(lambda: "the end" in path.read_text(), "the file")
    assert editor.lua("return _G.heard") == []
    editor.keys(":w<CR>")
    assert editor.lua("return _G.heard") == ["BufWritePre", "BufWritePost"]
    assert path.read_text().endswith("the end\nformatted\n")
    text = path.read_text()
    count, size = text.count("\n"), len(text.encode())
    editor.wait_screen(f'"{path.name}" {count}L, {size}B written')
    copy = editor.sandbox.root / "copy.md"
    editor.keys(f":w {copy}<CR>")
    assert copy.read_text() == text
    with suppress(GoneError):
        editor.keys("A, really<Esc>:wq<CR>")
    editor.process.wait(20)
    editor.kill()
    assert ", really" in path.read_text()


def test_neovim_takes_a_save_for_its_own(editor: Editor) -> None:
    """It finds no other program's text when it looks at the files, however it does so."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.keys("Atext<Esc>")
    editor.lua("""
      _G.heard = 0
      vim.api.nvim_create_autocmd({ 'FileChangedShell', 'FileChangedShellPost' }, {
        callback = function() _G.heard = _G.heard + 1 end,
      })
    """)
    path = chat_file(editor)
    for text in ("one", "two"):
        editor.keys(f"A{text}<Esc>")
        assert text in path.read_text()
        editor.keys(":checktime<CR>")
        editor.command("doautocmd FocusGained")
        assert editor.lua("return _G.heard") == 0
