"""A chat outlives whatever ends: Neovim, the host, the CLI. Its file is all that it needs."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api import Gate, Json, ScriptedAPI, ToolUse, ask, question, say
from tests.e2e.conftest import Desks, Share
from tests.e2e.desk import ClaudeDesk
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, send, start, wait_idle, wait_section
from tests.soaking import first, soak

FRUIT = question("Which fruit?", "Apple", "Pear", "Plum", header="Fruit")
HOST = "pynvim.start_host"
CLI = "_bundled/claude"


def chat_file(editor: Editor) -> Path:
    """The only chat of this editor's user, as soon as it is on disk."""
    folder = editor.sandbox.data / "winnow" / "chats"
    editor.wait(lambda: list(folder.glob("*.md")), "the chat's file")
    [path] = folder.glob("*.md")
    return path


def on_disk(editor: Editor) -> str:
    """What the chat's file holds, if there is one."""
    folder = editor.sandbox.data / "winnow" / "chats"
    return "".join(path.read_text() for path in folder.glob("*.md"))


def write_chat(folder: Path, *frontmatter: str, text: str = "") -> Path:
    """A chat file with an empty draft."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "20200101-000000-project.md"
    path.write_text("\n".join(["---", "winnow: 1", *frontmatter, "---", "", "## You", text, ""]))
    return path


def end(editor: Editor, program: str) -> None:
    """End a process of this editor as ``kill -9`` does."""
    if program == "nvim":
        editor.kill()
        return
    [process] = [pid for pid, command in editor.sandbox.processes().items() if program in command]
    os.kill(process, signal.SIGKILL)


def conversation(request: Json) -> str:
    """Everything that was said before this request, and what it says."""
    return str(request["messages"])


# --- the file ---------------------------------------------------------------------------------


def test_each_turn_is_written(claude: Editor, api: ScriptedAPI) -> None:
    """After a turn the file holds what the buffer holds, the session, and where it works."""
    api.add(say("One."), say("Two."))
    start(claude, "first")
    for text in ("One.", "Two."):
        claude.wait_line(text)
        wait_idle(claude)
        claude.wait(lambda: on_disk(claude) == claude.text() + "\n", "the file")
        send(claude, "next")
    found = dict(re.findall(r"(?m)^(\w+): (.*)$", on_disk(claude)))
    assert found["cwd"] == str(claude.sandbox.project)
    assert found["session"] in [path.stem for path in claude.sandbox.sessions()]


def test_a_file_resumes_its_session(claude: Editor, api: ScriptedAPI) -> None:
    """Opened in another directory, the chat goes on in its own, from where it was."""
    api.add(say("It is 42."), say("As I said."))
    start(claude, "What is it?")
    claude.wait_line("It is 42.")
    wait_idle(claude)
    claude.restart("+cd ..", str(chat_file(claude)))
    claude.keys("G")
    send(claude, "Again?")
    claude.wait_line("As I said.")
    for text in ("What is it?", "It is 42.", "Again?"):
        assert text in conversation(api.requests[1])
    assert len(re.findall("(?m)^session: ", claude.text())) == 1


def test_typed_text_survives_a_crash(editor: Editor) -> None:
    """What stands in the draft is in the file a second after the last key."""
    editor.keys(":Winnow<CR>ihalf a thou")
    editor.wait(lambda: "half a thou" in on_disk(editor), "the file")
    assert editor.mode() == "i"
    editor.kill()
    editor.start()
    editor.keys(":Winnow<CR>")
    assert draft(editor) == "half a thou"


def test_long_typing_survives_a_crash(editor: Editor) -> None:
    """Also without a pause of a second."""
    editor.keys(":Winnow<CR>i")
    began = time.monotonic()
    while "typed" not in on_disk(editor) and time.monotonic() - began < 15:
        editor.keys("typed on ")
        time.sleep(0.2)
    editor.kill()
    assert "typed on typed on" in on_disk(editor)


# --- what a file may not do -------------------------------------------------------------------


def test_a_modeline_is_text(editor: Editor) -> None:
    """A file of the chats folder sets no options."""
    path = write_chat(editor.sandbox.data / "winnow" / "chats", text="\nvim: set textwidth=33:")
    editor.restart(str(path))
    assert editor.lua("return vim.bo.filetype") == "winnow"
    assert editor.lua("return vim.bo.textwidth") == 0


@pytest.mark.parametrize(
    ("said", "text"), [("", "My words."), ("## Claude\n\nHello.\n", "")], ids=["", "said"]
)
def test_a_file_without_a_heading(editor: Editor, said: str, text: str) -> None:
    """As `:%d` and `:w` leave one: it opens, with a draft of what nobody has said."""
    path = write_chat(editor.sandbox.data / "winnow" / "chats")
    path.write_text(path.read_text().replace("## You", said or text))
    editor.command(f"edit {path}")
    assert draft(editor) == text
    assert ("Hello." in editor.text()) == bool(said)


@pytest.mark.parametrize(
    ("folder", "mode"),
    [
        ("data/nvim/winnow/chats", "bypassPermissions"),
        *soak(
            ("elsewhere/winnow/chats", "bypassPermissions"),
            ("elsewhere/winnow/chats", "acceptEdits"),
        ),
    ],
)
def test_a_file_does_not_raise_permissions(
    claude: Editor, api: ScriptedAPI, folder: str, mode: str
) -> None:
    """Whatever mode and directory a file names, Claude still asks."""
    home = claude.sandbox.root / "home"
    path = write_chat(claude.sandbox.root / folder, f"mode: {mode}", f"cwd: {home}")
    made = claude.sandbox.project / "made"
    api.add(say(ToolUse("Write", {"file_path": str(made), "content": "x"}, "toolu_1")))
    claude.restart(str(path))
    claude.keys("G")
    send(claude, "Write it")
    wait_section(claude, "Patch: made")
    assert not made.exists()


def test_a_file_from_elsewhere_starts_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """It is a chat, but Claude Code runs only when something is sent, and in this directory."""
    path = write_chat(claude.sandbox.root / "elsewhere/winnow/chats", "cwd: /", "session: abc")
    api.add(say("Here."))
    claude.restart(str(path))
    claude.wait(lambda: HOST in str(claude.sandbox.processes()), "the host")
    claude.wait(
        lambda: claude.lua("return require('winnow.registry').current().state") == "asleep",
        "its word",
    )
    assert CLI not in str(claude.sandbox.processes())
    claude.keys("G")
    send(claude, "Where are you?")
    claude.wait_line("Here.")
    assert str(claude.sandbox.project) in str(api.requests[0])


# --- what ends in the middle ------------------------------------------------------------------


@pytest.mark.parametrize("program", ["nvim", HOST, *soak(CLI)])
def test_a_question_survives(claude: Editor, api: ScriptedAPI, program: str) -> None:
    """Whatever is killed, the question can be opened again as it was left, and answered late."""
    claude.resize(120, 40)
    api.add(say("Hm.", ask("toolu_1", FRUIT)), say("Late, but good."))
    start(claude)
    wait_section(claude, "Question: Fruit")
    claude.keys("gg/^Apple<CR>ddA, ripe<Esc>")
    claude.wait_screen("keep one of 2")
    claude.wait(lambda: "ripe" in on_disk(claude), "the file")
    end(claude, program)
    if program == "nvim":
        claude.start(str(chat_file(claude)))
    if program == CLI:  # the agent gives up, which the user sees
        claude.wait_line("✗ No longer open: Fruit")
        assert "Which fruit?" not in claude.text()
        claude.keys("gg/asks again<CR><CR>")
    wait_section(claude, "Question: Fruit")
    claude.wait_screen("keep one of 2")
    assert "Apple" not in claude.text()
    claude.keys("gg/^Plum<CR>dd")
    claude.wait_screen("Pear")
    claude.keys("<CR>")
    claude.wait_line("Late, but good.")
    said = conversation(api.requests[1])
    for text in ("> Which fruit?", "Answer: Pear", "Notes: , ripe", "Not chosen"):
        assert text in said


@pytest.mark.parametrize("end", ["kill", *soak("restart", ":Winnow restart<CR>", ":bdelete!<CR>")])
def test_an_answer_that_was_cut_says_so(claude: Editor, api: ScriptedAPI, end: str) -> None:
    """Once, where it ends; and one that is whole says nothing."""
    api.add(say("It is 42."), say("Once upon a time", Gate()), say("And so on."))
    start(claude)
    claude.wait_line("It is 42.")
    wait_idle(claude)
    path = str(chat_file(claude))
    send(claude, "Go on")
    claude.wait_line("Once upon")
    claude.wait(lambda: "Once upon" in on_disk(claude), "the file")
    if end == "kill":
        claude.kill()
        claude.start(path)
    elif end == "restart":
        claude.restart(path)
    else:
        claude.keys(end)
        claude.keys(f":edit {path}<CR>")
    claude.wait_line("⚠ Claude's answer ends here")
    api.release()
    wait_idle(claude)
    claude.keys("GAGo on<Esc><CR>")
    claude.wait_line("And so on.")
    wait_idle(claude)
    claude.restart(path)
    claude.keys("GAGo on<Esc><CR>")
    claude.wait_line("(script is empty)")
    assert claude.text().count("answer ends here") == 1


def test_the_host_is_started_again_once(editor: Editor) -> None:
    """After its first crash the host is back by itself; a second one waits for the user."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    send(editor, "one")
    wait_section(editor, "Question 1/2")
    end(editor, HOST)
    editor.wait_screen("was started again")
    wait_section(editor, "Question 1/2")
    editor.keys("gg/^MySQL<CR><Esc><Esc>")
    editor.wait_line("asks again")
    editor.keys("G")
    send(editor, "two")
    wait_section(editor, "Question 1/2")
    end(editor, HOST)
    editor.wait_screen("The Python host stopped (exit code")
    assert HOST not in str(editor.sandbox.processes())
    editor.keys(":Winnow restart<CR>")
    wait_section(editor, "Question 1/2")
    editor.keys("gg/^MySQL<CR><Esc><Esc>")
    editor.wait(lambda: editor.text().count("asks again") == 2, "a new host")
    editor.keys("G")
    send(editor, "three")
    wait_section(editor, "Question 1/2")


@pytest.mark.soak
def test_restart_keeps_the_chat(claude: Editor, api: ScriptedAPI) -> None:
    """`:Winnow restart` ends host and CLI; the next message goes on in the session."""
    api.add(say("One."), say("Two."))
    start(claude, "first")
    claude.wait_line("One.")
    wait_idle(claude)
    before = set(claude.sandbox.processes())
    claude.keys("isecond<Esc>:Winnow restart<CR>")
    claude.wait(
        lambda: len(before & set(claude.sandbox.processes())) == 1, "the end of all but Neovim"
    )
    claude.keys("G<CR>")
    claude.wait_line("Two.")
    for text in ("first", "One.", "second"):
        assert text in conversation(api.requests[1])


@pytest.mark.soak
def test_a_session_that_is_gone(claude: Editor, api: ScriptedAPI) -> None:
    """The chat says so and keeps the message, and the next try is a new session."""
    path = write_chat(
        claude.sandbox.data / "winnow" / "chats",
        f"cwd: {claude.sandbox.project}",
        "session: 00000000-0000-4000-8000-000000000000",
    )
    api.add(say("A fresh start."))
    claude.restart(str(path))
    claude.keys("G")
    send(claude, "Hello?")
    claude.wait_line("⚠")
    assert draft(claude) == "Hello?"
    claude.keys("G<CR>")
    claude.wait_line("A fresh start.")
    assert "session: 00000000" not in claude.text()


def test_an_answer_that_a_stop_overtakes_is_not_lost(claude: Editor, api: ScriptedAPI) -> None:
    """Whichever of the two Claude took first, it reads the answer: as such or as a message."""
    api.add(say(ask("toolu_1", question("Which store?", "Redis", "SQLite"))))
    api.add(say("Fine.", Gate()), say("Fine."))  # Claude may have begun to go on when it is stopped
    start(claude)
    wait_section(claude, "Question")
    claude.lua("""
      local keys = vim.api.nvim_replace_termcodes('ddA only now<Esc><CR>', true, true, true)
      vim.api.nvim_feedkeys(keys, 'xt', false)
      vim.cmd.Winnow('stop')
    """)
    claude.wait_line("■ Stopped.")
    wait_idle(claude)
    api.release()
    assert "✓ Selected: SQLite — only now" in claude.text()
    overtaken = "> Which store?\n\nAnswer: SQLite\nNotes: only now\nNot chosen: Redis"
    assert draft(claude) == "" or draft(claude).endswith(overtaken)
    claude.keys("Gogo on<Esc><CR>")
    claude.wait(lambda: claude.text().rpartition("go on")[2].count("Fine."), "the next turn")
    assert "only now" in conversation(api.requests[-1])


def test_edits_that_no_save_has_seen_survive_a_kill(claude: Editor, api: ScriptedAPI) -> None:
    """The host has them, though the file is older."""
    api.add(say(ask("toolu_1", question("Which?", "A", "B", "C", header="One"))))
    start(claude)
    wait_section(claude, "Question: One")
    claude.keys("gg/^B<CR>dd")
    claude.kill()
    [chat] = (claude.sandbox.data / "winnow" / "chats").glob("*.md")
    assert "B — about B" in chat.read_text()
    claude.start(str(chat))
    wait_section(claude, "Question: One")
    claude.wait_screen("keep one of 2")
    assert not any(line.startswith("B — ") for line in claude.lines())


AGAIN = """
  local registry, defer, later = require('winnow.registry'), vim.defer_fn, nil
  local chat = registry.current()
  vim.defer_fn = function(act)
    later = act
  end
  chat.state, chat.since, chat.ticks = 'connecting', vim.uv.now(), false
  chat:tick()
  vim.defer_fn = defer
  vim.cmd.edit({ bang = true })
  registry.current():set_state('idle')
  later()
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })) do
    table.insert(found, (mark[4].virt_text or { { '' } })[1][1])
  end
  return found
"""


def test_a_buffer_that_is_read_again_has_one_state(editor: Editor) -> None:
    """The chat that it was says nothing of its own there any more, a second later."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    assert not any("connecting" in text for text in editor.lua(AGAIN))


def test_an_edit_and_reading_again_in_one_command(editor: Editor) -> None:
    """The host knows the edit, so the verdict does."""
    start(editor)
    wait_section(editor, "Question")
    options = [line for line in editor.lines() if re.search(r"⟦\w+=1=\d+⟧", line)]
    editor.keys(f"gg/^{options[0].split()[0]}<CR>")
    editor.command("execute 'normal! dd' | edit!")
    verdict = "return require('winnow.registry').current().section.parts[1]"
    said = f"keep one of {len(options) - 1}"
    editor.wait(lambda: said in (editor.lua(verdict) or {}).get("text", ""), "the new verdict")


# --- before the host is there -----------------------------------------------------------------

FORM = {
    "type": "user_choice",
    "question": "Which fruit?",
    "options": [{"id": name.lower(), "label": name} for name in ("Apple", "Pear", "Plum")],
}
HAS_IT = "return require('winnow.registry').current().state == 'waiting'"
Late = Callable[[Editor], Callable[[], None]]


@pytest.fixture
def texts(share: Share, desks: Desks, api: ScriptedAPI) -> Editor:
    """An editor whose Claude asks in its text, which waits for no host."""
    editor = share(desks(ClaudeDesk, questions="text"))
    editor.resize(100, 40)
    api.add(say(f"Now.\n```json\n{json.dumps(FORM)}\n```"))
    start(editor)
    wait_section(editor, "Question")
    return editor


def hold_host(editor: Editor) -> Callable[[], None]:
    """From now on a host starts only when the function that this returns is called."""
    gate = editor.sandbox.root / "gate"
    gate.unlink(missing_ok=True)  # of a test before, in the same editor
    os.mkfifo(gate)
    script = editor.sandbox.root / "python"
    script.write_text(f'#!/bin/sh\nread -r _ < {gate}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    editor.lua("vim.g.winnow_python = ...", str(script))
    return lambda: (gate.write_text("go\n"), None)[1]


def fruits(editor: Editor) -> list[str]:
    """The options that are left."""
    names = ("Apple", "Pear", "Plum")
    return [name for line in editor.lines() for name in names if line.startswith(name)]


def new_host(editor: Editor, way: str) -> Callable[[], None]:
    """The chat gets another host, which is late: as a new Neovim reads it, or as it stands."""
    path = str(chat_file(editor))
    if way == "file":
        editor.restart()
        editor.resize(100, 40)
    come = hold_host(editor)
    editor.keys(f":edit {path}<CR>" if way == "file" else ":Winnow restart<CR>")
    return come


@pytest.mark.parametrize("way", first(1, ["file", "restart"]))
def test_an_edit_before_the_host_counts(texts: Editor, api: ScriptedAPI, way: str) -> None:
    """It stays, `u` takes it back, and it is answered with."""
    texts.keys("gg/^Apple<CR>dd")
    texts.wait(lambda: "Apple" not in on_disk(texts), "the file")
    come = new_host(texts, way)
    texts.keys("gg/^Pear<CR>dd")
    assert fruits(texts) == ["Plum"]
    come()
    texts.wait(lambda: texts.lua(HAS_IT), "the host")
    wait_section(texts, "Question")
    assert fruits(texts) == ["Plum"]
    assert "\n\n\n## You" not in texts.text()
    texts.keys("u")
    assert fruits(texts) == ["Pear", "Plum"]
    texts.keys("u")
    assert fruits(texts) == ["Apple", "Pear", "Plum"]
    texts.keys("<C-r><C-r>")
    assert fruits(texts) == ["Plum"]
    api.add(say("A fine fruit."))
    texts.keys("gg/^Plum<CR><CR>")
    texts.wait_line("A fine fruit.")
    assert "plum" in conversation(api.requests[-1])


def test_an_undo_before_the_host_counts(texts: Editor) -> None:
    """A new host has the section as it was at first, if an older one had it otherwise."""
    texts.keys("gg/^Apple<CR>dd")
    come = new_host(texts, "restart")
    texts.keys("u")
    assert fruits(texts) == ["Apple", "Pear", "Plum"]
    come()
    texts.wait(lambda: texts.lua(HAS_IT), "the host")
    assert fruits(texts) == ["Apple", "Pear", "Plum"]
    texts.wait_screen("keep one of 3")
    texts.keys("<C-r>")
    assert fruits(texts) == ["Pear", "Plum"]


@pytest.mark.parametrize("way", ["file", "restart"])
def test_an_edit_of_a_question_that_ends_with_its_host(
    claude: Editor, api: ScriptedAPI, way: str
) -> None:
    """It is there when the question is asked again, and can be undone."""
    api.add(say("Hm.", ask("toolu_1", FRUIT)))
    start(claude)
    wait_section(claude, "Question: Fruit")
    come = new_host(claude, way)
    claude.keys("gg/^Pear<CR>dd")
    come()
    wait_section(claude, "Question: Fruit")
    claude.wait_screen("keep one of 2")
    assert fruits(claude) == ["Apple", "Plum"]
    claude.keys("u")
    assert fruits(claude) == ["Apple", "Pear", "Plum"]


@pytest.mark.parametrize("way", first(1, ["file", "restart"]))
def test_an_answer_before_the_host_counts(claude: Editor, api: ScriptedAPI, way: str) -> None:
    """It is delivered late, once."""
    api.add(say("Hm.", ask("toolu_1", FRUIT)), say("A fine fruit."))
    start(claude)
    wait_section(claude, "Question: Fruit")
    come = new_host(claude, way)
    claude.keys("gg/^Apple<CR>2dd")
    claude.keys("<CR>")
    come()
    claude.wait_line("A fine fruit.")
    assert conversation(api.requests[-1]).count("Answer: Plum") == 1
    assert "No longer open" not in claude.text() + claude.messages()
