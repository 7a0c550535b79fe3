"""Two Neovims, or Neovim and another program, on one chat: one writes, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.api import Gate, ScriptedAPI, ask, question, say
from tests.e2e.conftest import Second
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, press_until, send, start, wait_idle, wait_section
from tests.e2e.test_resume import CLI, HOST, chat_file, on_disk, write_chat
from tests.soaking import soak

pytestmark = pytest.mark.fresh("session")

FRUIT = question("Which fruit?", "Apple", "Pear", "Plum", header="Fruit")
READS = "has this chat; :Winnow take takes over."


def reads(editor: Editor) -> bool:
    """Whether this editor only reads the current chat."""
    found: bool = editor.lua("return require('winnow.registry').current().owner ~= nil")
    return found


def typed(editor: Editor, text: str) -> None:
    """Write into this directory's chat, and wait until its file has it."""
    editor.keys(f":Winnow<CR>i{text}<Esc>")
    editor.wait(lambda: text in on_disk(editor), "the file")


# --- the second one ---------------------------------------------------------------------------


def test_the_second_reads_and_says_so(claude: Editor, api: ScriptedAPI, second: Second) -> None:
    """It writes nothing, starts nothing and asks nothing; the open question stays the first's."""
    api.add(say("Hm.", ask("toolu_1", FRUIT)), say("A fine fruit."))
    start(claude)
    wait_section(claude, "Question: Fruit")
    claude.keys("gg/^Apple<CR>dd")
    claude.wait(lambda: "Pear" in on_disk(claude) and "Apple" not in on_disk(claude), "the file")
    before, running = on_disk(claude), set(claude.sandbox.processes())
    twin = second(claude, str(chat_file(claude)))
    twin.wait_screen(READS)
    assert f"Another Neovim ({claude.lua('return vim.fn.getpid()')})" in twin.messages()
    assert twin.text() + "\n" == before
    assert not twin.was_shown("⟦")
    twin.command("messages clear")
    for keys in (":w<CR>", ":w!<CR>", "G<CR>", ":Winnow send<CR>", ":Winnow stop<CR>"):
        twin.keys(keys)
        assert READS in twin.messages()
        twin.command("messages clear")
    twin.keys(":Winnow allow<CR>:wall<CR>/^Pear<CR><Esc>:split<CR>:doautocmd FocusGained<CR>")
    assert on_disk(claude) == before
    others = claude.sandbox.processes().keys() - running
    assert not any(HOST in claude.sandbox.processes().get(other, "") for other in others)
    wait_section(claude, "Question: Fruit")
    claude.keys("gg/^Pear<CR>dd<CR>")
    claude.wait_line("A fine fruit.")
    assert '"Which fruit?"="Plum"' in api.tool_result("toolu_1")
    twin.wait_line("A fine fruit.")  # it follows
    assert reads(twin)
    assert "No longer open" not in claude.text()
    twin.assert_no_errors()


@pytest.mark.parametrize(
    "way", ["relative", "symlink", *soak("session", "hidden", "moved swap files")]
)
def test_whatever_way_it_is_opened(editor: Editor, second: Second, way: str) -> None:
    """A chat is known by its file, and no swap file is needed for it."""
    chats = editor.sandbox.data / "winnow" / "chats"
    if way == "moved swap files":
        editor.command(f"set directory={editor.sandbox.root}//")
    elif way == "hidden":
        editor.command("set noswapfile")
    typed(editor, "mine")
    path = chat_file(editor)
    linked = editor.sandbox.root / "linked" / "winnow"
    linked.mkdir(parents=True)
    (linked / "chats").symlink_to(chats)
    editor.command(f"mksession {editor.sandbox.root}/Session.vim")
    twin = second(editor)
    twin.keys(
        {
            "relative": f":cd {chats.parent}<CR>:e chats/{path.name}<CR>",
            "symlink": f":e {linked}/chats/{path.name}<CR>",
            "session": f":silent source {editor.sandbox.root}/Session.vim<CR>",
        }.get(way, f":e {path}<CR>")
    )
    twin.wait_screen(READS)
    assert reads(twin)
    assert "mine" in twin.text()
    editor.keys("A, and more<Esc>")
    editor.wait(lambda: "and more" in on_disk(editor), "the file")
    twin.wait_line("and more")
    twin.assert_no_errors()


def test_a_directory_gets_another_chat(editor: Editor, second: Second) -> None:
    """`:Winnow` in a second Neovim does not take the first one's."""
    typed(editor, "mine")
    twin = second(editor)
    twin.keys(":Winnow<CR>")
    name = "return vim.api.nvim_buf_get_name(0)"
    assert twin.lua(name) != editor.lua(name)
    assert draft(twin) == ""
    assert not reads(twin)
    twin.keys(f":e {chat_file_of(editor)}<CR>:Winnow<CR>")
    assert not reads(twin)
    twin.assert_no_errors()


def chat_file_of(editor: Editor) -> str:
    """The file of the current chat."""
    name: str = editor.lua("return vim.api.nvim_buf_get_name(0)")
    return name


def test_two_windows_are_no_two_neovims(editor: Editor) -> None:
    """A chat that is shown twice, or read again, is no other's."""
    typed(editor, "mine")
    editor.keys(f":split<CR>:e!<CR>:tabedit {chat_file(editor)}<CR>:e<CR>")
    assert not reads(editor)
    assert READS not in editor.messages()
    editor.keys("GA, and more<Esc>")
    editor.wait(lambda: "mine, and more" in on_disk(editor), "the file")


def test_a_copy_can_be_written(editor: Editor, second: Second) -> None:
    """What is read can be written elsewhere."""
    typed(editor, "mine")
    twin = second(editor, str(chat_file(editor)))
    copy = editor.sandbox.root / "copy.md"
    twin.keys(f":w {copy}<CR>")
    assert copy.read_text() == on_disk(editor)


# --- when the first one goes ------------------------------------------------------------------


@pytest.mark.parametrize("how", ["quit", *soak("kill", "close")])
def test_it_goes_on_where_the_first_one_ended(editor: Editor, second: Second, how: str) -> None:
    """Closed or killed: the second one has the chat then, as the file has it."""
    typed(editor, "mine")
    twin = second(editor, str(chat_file(editor)))
    assert reads(twin)
    if how == "close":
        editor.keys(":bwipeout!<CR>")
    else:
        getattr(editor, how)()
    twin.wait(lambda: not reads(twin), "the chat")
    twin.wait_screen("This chat goes on here")
    assert not any(READS in row for row in twin.screen())
    assert draft(twin) == "mine"
    twin.keys("GA and yours<Esc>")
    twin.wait(lambda: "mine and yours" in on_disk(twin), "the file")
    start(twin, "")
    twin.wait_line("━━ Question")


def test_a_crash_locks_nobody_out(editor: Editor) -> None:
    """Also when the dead one's number is another process's by now."""
    typed(editor, "mine")
    path = str(chat_file(editor))
    editor.kill()
    (lock,) = (editor.sandbox.state / "winnow" / "open").iterdir()
    dead = json.loads(lock.read_text())
    editor.start(path)
    assert not reads(editor)
    editor.kill()
    lock.write_text(json.dumps({**dead, "pid": os.getpid()}))
    editor.start(path)
    assert not reads(editor)
    for damaged in ("", "{", "[]", '{"pid": "x"}', '{"pid": 1}'):
        editor.kill()
        lock.write_text(damaged)
        editor.start(path)
        assert not reads(editor)
    editor.keys("GA and yours<Esc>")
    editor.wait(lambda: "mine and yours" in on_disk(editor), "the file")


def test_without_a_state_folder_there_is_a_chat(editor: Editor) -> None:
    """Where no lock can be written, nothing is locked."""
    folder = editor.sandbox.state / "winnow"
    folder.mkdir(parents=True)
    (folder / "open").write_text("in the way")
    typed(editor, "mine")
    assert not reads(editor)


# --- taking over ------------------------------------------------------------------------------


def test_taking_over_in_the_middle_of_a_turn(
    claude: Editor, api: ScriptedAPI, second: Second
) -> None:
    """What was said and typed so far is there; the first one reads, and can take it back."""
    api.add(say("Once upon a time", Gate()), say("And so on."))
    start(claude)
    claude.wait_line("Once upon")
    its_cli = cli(claude)
    claude.keys("iNot sent yet")
    twin = second(claude, str(chat_file(claude)))
    twin.keys(":Winnow take<CR>")
    twin.wait(lambda: not reads(twin), "the chat")
    assert "Once upon a time" in twin.text()
    assert draft(twin) == "Not sent yet"
    twin.wait_line("⚠ Claude's answer ends here")
    claude.wait(lambda: reads(claude), "the first to read")
    assert READS in "".join(claude.screen())
    claude.keys("<Esc>")
    claude.wait(lambda: not its_cli & cli(claude), "the end of its CLI")
    api.release()
    twin.keys("G<CR>")
    twin.wait_line("And so on.")
    claude.wait_line("And so on.")
    claude.keys(":Winnow take<CR>")
    claude.wait(lambda: not reads(claude), "the chat")
    twin.wait(lambda: reads(twin), "the second to read")
    claude.keys("G")
    api.add(say("The end."))
    send(claude, "End it")
    claude.wait_line("The end.")
    twin.wait_line("The end.")
    assert claude.text() == twin.text()
    for neovim in (claude, twin):
        neovim.assert_no_errors()


def cli(editor: Editor) -> set[int]:
    """The processes of the CLIs that run for this user, whichever Neovim started them."""
    return {pid for pid, command in editor.sandbox.processes().items() if CLI in command}


@pytest.mark.soak
def test_an_open_question_goes_along(claude: Editor, api: ScriptedAPI, second: Second) -> None:
    """As it was edited; who takes the chat over has it open."""
    api.add(say("Hm.", ask("toolu_1", FRUIT)))
    start(claude)
    wait_section(claude, "Question: Fruit")
    its_cli = cli(claude)
    twin = second(claude, str(chat_file(claude)))
    twin.wait_line("Apple")
    claude.keys("gg/^Apple<CR>dd")
    twin.keys(":Winnow take<CR>")
    twin.wait_screen("keep one of 2")
    claude.wait(lambda: reads(claude), "the first to read")
    assert claude.lua("return vim.fn.maparg('<Esc>', 'n')") == ""
    claude.keys("G")
    for drawn in ("keep one of", "delete unwanted"):
        assert drawn not in "".join(claude.screen())
    wait_section(twin, "Question: Fruit")
    assert "Apple" not in twin.text()
    claude.wait(lambda: not its_cli & cli(claude), "the end of its CLI")
    api.add(say("Late, but good."))
    twin.keys("gg/^Pear<CR>dd")
    press_until(twin, "Selected: Plum")
    twin.wait_line("Late, but good.")
    claude.wait_line("Late, but good.")


def test_one_that_was_stopped_with_ctrl_z(editor: Editor, second: Second) -> None:
    """It keeps its chat until that is taken from it; then it reads, and its draft has a place."""
    typed(editor, "mine")
    path = chat_file(editor)
    editor.keys("GA, unsaved")
    pid = editor.lua("return vim.fn.getpid()")
    os.kill(pid, signal.SIGSTOP)
    try:
        twin = second(editor, str(path))
        assert reads(twin)
        twin.keys(":Winnow take<CR>")
        twin.wait(lambda: not reads(twin), "the chat")
        twin.keys("GA and yours<Esc>")
        twin.wait(lambda: "mine and yours" in path.read_text(), "the file")
    finally:
        os.kill(pid, signal.SIGCONT)
    editor.wait(lambda: reads(editor), "the first to read")
    editor.wait_line("mine and yours")
    editor.wait_screen("Your draft is in ")
    kept = [other for other in path.parent.glob("*.md") if other != path]
    assert [file.read_text().endswith("## You\n\nmine, unsaved\n") for file in kept] == [True]
    editor.keys("<Esc>:Winnow<CR>")
    assert draft(editor) == "mine, unsaved"
    assert "mine and yours" in path.read_text()


def test_nothing_is_written_over_a_taken_chat(editor: Editor, second: Second) -> None:
    """Also by one that could not be told, as before it looks again."""
    typed(editor, "mine")
    wait_idle(editor)
    editor.keys(":write<CR>:edit<CR>")  # so that no save is due, which would look by itself
    wait_idle(editor)
    path = chat_file(editor)
    twin = second(editor, str(path))
    twin.lua("vim.fn.sockconnect = function() error('no such place') end")
    twin.keys(":Winnow take<CR>")
    twin.wait(lambda: not reads(twin), "the chat")
    twin.keys("GA and yours<Esc>")
    twin.wait(lambda: "mine and yours" in path.read_text(), "the file")
    editor.keys("GA lost?<Esc>:w<CR>")
    editor.wait(lambda: reads(editor), "the first to read")
    assert "mine and yours" in path.read_text()
    assert any("mine lost?" in file.read_text() for file in path.parent.glob("*.md"))


# --- another program --------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["GA, and more<Esc>", ":w<CR>", ":doautocmd FocusGained<CR>", ""])
def test_what_another_program_writes_is_kept(editor: Editor, keys: str) -> None:
    """The chat goes on as it stands, the other text is beside it, and Vim asks nothing."""
    typed(editor, "mine")
    path = chat_file(editor)
    theirs = path.read_text().replace("mine", "theirs, which is longer")
    path.write_text(theirs)
    editor.keys(keys + ":checktime<CR>")
    copy = Path(f"{path}.orig")
    if not keys:
        editor.quit()
        assert (copy.read_text(), "mine" in path.read_text()) == (theirs, True)
        return
    editor.wait(lambda: copy.exists() and "mine" in path.read_text(), "both texts")
    assert copy.read_text() == theirs
    assert draft(editor).startswith("mine")
    editor.wait(lambda: copy.name in editor.messages(), "its name")
    assert not editor.blocking()


def test_the_same_of_a_long_chat(editor: Editor) -> None:
    """Of which only a hash is in memory: it tells a text that is touched from another one."""
    typed(editor, "mine")
    path = chat_file(editor)
    lines = "vim.fn['repeat']({ 'a line' }, 20000)"
    editor.lua(f"vim.api.nvim_buf_set_lines(0, -1, -1, false, {lines})")
    editor.keys(":w<CR>")
    editor.wait(lambda: path.stat().st_size > 100_000, "all of it")
    os.utime(path, (1, 1))
    editor.keys("Go and more<Esc>:w<CR>")
    editor.wait(lambda: "and more" in path.read_text(), "the file")
    assert not list(path.parent.glob("*.orig"))
    theirs = path.read_text().replace("mine", "ours")
    path.write_text(theirs)
    os.utime(path, (1, 1))
    editor.keys("Go and most<Esc>:w<CR>")
    editor.wait(lambda: "and most" in path.read_text(), "the file again")
    assert Path(f"{path}.orig").read_text() == theirs


def test_a_file_that_is_deleted_is_written_again(editor: Editor) -> None:
    """And one that is only touched is nobody's text."""
    typed(editor, "mine")
    path = chat_file(editor)
    os.utime(path, (1, 1))
    editor.keys(":checktime<CR>GA more<Esc>")
    editor.wait(lambda: "mine more" in path.read_text(), "the file")
    path.unlink()
    editor.keys(":checktime<CR>")
    editor.wait(path.exists, "the file")
    assert "mine more" in path.read_text()
    assert not list(path.parent.glob("*.orig"))


def test_an_old_swap_file_asks_nothing(editor: Editor) -> None:
    """Such as another version's, or that of a Vim that edits the file, too."""
    path = write_chat(editor.sandbox.data / "winnow" / "chats")
    editor.command(f"noautocmd edit {path}")
    editor.keys("itext")
    editor.command("preserve")
    editor.kill()
    assert list(editor.sandbox.state.rglob("*.swp"))
    editor.start(str(path))
    assert not editor.blocking()
    assert editor.lua("return vim.fn.swapname('%')") == ""
    editor.restart()
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.assert_no_errors()
