"""What a user does to the buffer, the turn or the host while Claude speaks or waits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api import Gate, ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, said, send, start, wait_idle, wait_section
from tests.e2e.test_resume import chat_file
from tests.soaking import first, soak

DATABASE = question("Which database?", "PostgreSQL", "MongoDB", header="Database")
ANSWER = '"Which database?"="MongoDB"'
Begin = Callable[[Editor, ScriptedAPI], Editor]


def waiting(claude: Editor, api: ScriptedAPI) -> Editor:
    """A chat in which a question waits."""
    api.add(say("One thing.", ask("toolu_1", DATABASE)), say("Noted."))
    claude.resize(80, 40)  # so that the verdict fits in
    start(claude)
    wait_section(claude, "Question")
    return claude


def streaming(claude: Editor, api: ScriptedAPI) -> Editor:
    """A chat in which Claude speaks, and says the rest when the gate opens."""
    api.add(say("Begun.", Gate(), " Done."))
    start(claude)
    claude.wait_line("Begun.")
    return claude


def agents(claude: Editor) -> list[str]:
    """The Claude Code processes that run."""
    return [line for line in claude.sandbox.processes().values() if "stream-json" in line]


def answer(claude: Editor, api: ScriptedAPI) -> None:
    """Delete the first option and send the other."""
    claude.keys("gg/^PostgreSQL<CR>dd")
    claude.wait_screen("━━ MongoDB")
    claude.keys("<CR>")
    assert ANSWER in api.tool_result("toolu_1")
    claude.wait_line("Noted.")


@pytest.mark.fresh("nothing")
@pytest.mark.parametrize(
    "keys",
    [
        ":split<CR>:q<CR>",
        ":enew<CR>:buffer #<CR>",
        ":tabnew<CR>:tabonly<CR>:Winnow<CR>",
        ":edit!<CR>",
        ":set nomodifiable<CR>:set modifiable<CR>",
        ":set readonly<CR>",
    ],
)
def test_a_question_survives(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """What hides or reloads the buffer leaves the question there, to be answered."""
    waiting(claude, api).keys(keys)
    claude.wait_line("Question: Database")
    answer(claude, api)


@pytest.mark.parametrize("keys", [":file other.md<CR>", ":bdelete!<CR>:Winnow<CR>"])
def test_a_question_survives_its_buffer(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """What gives the chat another name or another buffer does, too."""
    test_a_question_survives(claude, api, keys)


@pytest.mark.parametrize(
    "command", ["bdelete!", *soak("bwipeout!", "bunload!", "vnew | wincmd p | bwipeout!")]
)
@pytest.mark.parametrize("begin", [waiting, streaming])
def test_a_chat_whose_buffer_is_gone_ends(
    claude: Editor, api: ScriptedAPI, command: str, begin: Begin
) -> None:
    """Its agent ends at once, without a word."""
    begin(claude, api)
    assert agents(claude)
    claude.keys(f":{command}<CR>")
    api.release()
    claude.wait(lambda: not agents(claude), "the end of Claude Code")
    assert claude.messages() == ""


def test_claude_is_told_that_the_chat_was_closed(claude: Editor, api: ScriptedAPI) -> None:
    """The question has a result, so the session can go on, and Claude reads why."""
    waiting(claude, api).keys(":bwipeout!<CR>")
    claude.wait(lambda: not agents(claude), "the end of Claude Code")
    claude.keys(":Winnow<CR>")
    wait_section(claude, "Question: Database")
    claude.keys("gg/^PostgreSQL<CR>dd<CR>")
    claude.wait(lambda: "Answer: MongoDB" in str(api.requests[-1]["messages"]), "the answer")
    assert "The user closed the chat" in api.tool_result("toolu_1")


@pytest.mark.parametrize(
    "keys",
    first(1, [":set nomodifiable<CR>", ":set readonly<CR>", ":file other.md<CR>", ":enew<CR>"]),
)
def test_text_goes_on(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """Whatever was done to the buffer, what Claude says is written into it."""
    chat = streaming(claude, api).lua("return vim.api.nvim_get_current_buf()")
    claude.keys(keys)
    api.release()
    claude.wait(
        lambda: "Begun. Done." in claude.lua("return vim.fn.getbufline(..., 1, '$')", chat),
        "the rest",
    )


@pytest.mark.fresh("nothing")
def test_text_goes_on_after_reading_again(claude: Editor, api: ScriptedAPI) -> None:
    """`:edit!` while Claude speaks loses nothing."""
    streaming(claude, api).keys(":edit!<CR>")
    api.release()
    claude.wait(lambda: "Done." in said(claude), "the rest")
    wait_idle(claude)
    assert said(claude).startswith("Begun.")


def test_quitting_leaves_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """`:qall!` with an open question ends everything; the chat is there next time."""
    waiting(claude, api).restart()
    claude.keys(":Winnow<CR>")
    wait_section(claude, "Question: Database")
    assert draft(claude) == ""


@pytest.mark.parametrize("begin", first(1, [waiting, streaming]))
@pytest.mark.parametrize("quits", [":q<CR>", *soak(":qa!<CR>", ":qa<CR>", "ZQ")])
@pytest.mark.fresh("session")
def test_quitting_warns(claude: Editor, api: ScriptedAPI, begin: Begin, quits: str) -> None:
    """As for a running job, while something would be cut."""
    begin(claude, api)
    claude.command("silent! only!")
    if quits in {"ZQ", ":qa!<CR>"}:
        claude._client.request("nvim_input", quits)
        assert claude.process.wait(10) == 0
        claude._disconnect()
        return
    claude.keys(quits)
    claude.dismiss()  # Neovim's own two sentences ask for <CR>
    claude.wait_screen(":qa! quits all the same")
    assert not claude.lua("return vim.bo.modified")
    claude.command("messages clear")  # Neovim's own error


@pytest.mark.soak
def test_quitting_an_idle_chat_does_not_warn(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say("Hello."))
    start(claude)
    claude.wait_line("Hello.")
    wait_idle(claude)
    claude.keys(":vsplit<CR>:q<CR>")
    assert claude.messages() == ""


# --- sending, stopping and restarting in every state ---------------------------------------------


@pytest.mark.fresh("nothing")
def test_an_empty_draft_is_not_sent(claude: Editor, api: ScriptedAPI) -> None:
    """`<CR>` says so, once, and nothing changes."""
    claude.keys(":Winnow<CR><CR>")
    claude.wait_screen("The draft is empty")
    wait_idle(claude)
    assert api.requests == []


@pytest.mark.fresh("nothing")
def test_two_returns_send_once(claude: Editor, api: ScriptedAPI) -> None:
    """The second finds an empty draft."""
    api.add(say("Hello."))
    start(claude)
    claude.keys("<CR>")
    claude.wait_line("Hello.")
    wait_idle(claude)
    assert claude.text().count("Hi") == 1
    assert len(api.requests) == 1


@pytest.mark.fresh("nothing")
def test_a_message_beside_a_question_waits(claude: Editor, api: ScriptedAPI) -> None:
    """It is seen to be queued, and is sent when the turn is over that the answer goes on with."""
    waiting(claude, api).keys("G")
    send(claude, "Also this")
    claude.wait_screen("1 queued")
    assert draft(claude) == "1▎Also this"
    answer(claude, api)
    claude.wait(lambda: draft(claude) == "", "the message sent")
    wait_idle(claude)
    assert "Also this" in str(api.requests[-1]["messages"])


@pytest.mark.fresh("nothing")
def test_stop_when_idle(claude: Editor, api: ScriptedAPI) -> None:
    """There is nothing to stop, and it says so."""
    api.add(say("Hello."), say("Hello again."))
    start(claude)
    claude.wait_line("Hello.")
    wait_idle(claude)
    claude.keys(":Winnow stop<CR>")
    claude.wait_screen("Nothing is running")
    send(claude, "Go on")
    claude.wait_line("Hello again.")


@pytest.mark.fresh("nothing")
@pytest.mark.parametrize("begin", [waiting, streaming])
def test_stop_in_a_turn(claude: Editor, api: ScriptedAPI, begin: Begin) -> None:
    """The turn ends, the question can be asked again, and the next message is answered."""
    begin(claude, api)
    claude.keys(":Winnow stop<CR>")
    claude.wait_line("■ Stopped.")
    wait_idle(claude)
    api.clear()
    api.add(say("Hello again."))
    api.release()
    claude.keys("G")
    send(claude, "Go on")
    claude.wait_line("Hello again.")


def test_stop_takes_back_what_waits_to_be_sent(claude: Editor, api: ScriptedAPI) -> None:
    """While Claude connects, nothing has gone out yet: the draft stays a draft."""
    start(claude)
    claude.keys(":Winnow stop<CR>")
    wait_idle(claude)
    assert draft(claude) == "Hi"
    assert api.requests == []
    api.add(say("Hello."))
    claude.keys("<CR>")
    claude.wait_line("Hello.")


@pytest.mark.parametrize("begin", [waiting, *soak(streaming)])
def test_restart_in_a_turn(claude: Editor, api: ScriptedAPI, begin: Begin) -> None:
    """What was said stays, an open question is open again, and the session goes on."""
    api.add(say("Hello."))
    start(claude)
    wait_idle(claude)
    begin(claude, api)
    claude.keys(":Winnow restart<CR>")
    if begin is waiting:
        claude.wait(lambda: agents(claude) == [], "the end of Claude Code")
        wait_section(claude, "Question: Database")
        claude.wait_screen("keep one of 2")
        claude.keys("gg/^MongoDB<CR><Esc><Esc>")
        claude.wait_line("asks again")
    api.clear()
    api.add(say("Hello again."))
    api.release()
    claude.keys("G")
    send(claude, "Go on")
    claude.wait_line("Hello again.")
    assert draft(claude) == ""


def test_restart_when_idle_or_connecting(claude: Editor, api: ScriptedAPI) -> None:
    """A draft that waits to be sent stays, and can be sent."""
    claude.keys(":Winnow<CR>:Winnow restart<CR>")
    send(claude, "Hi")
    claude.keys(":Winnow restart<CR>")
    assert draft(claude) == "Hi"
    api.add(say("Hello."))
    claude.keys("G<CR>")
    claude.wait_line("Hello.")


LEFT = """---
winnow: 1
---

## You

▸ Bash pasted …

## Claude

▸ Bash make …
▸ Todo 1 of 2 done · Test …
▸ Read a.py ✓

∎ 3 tools · 4 s

## You

Quick!

## Claude

▸ Bash make test …

## You

"""


def test_calls_end_with_their_host(editor: Editor) -> None:
    """What is opened later says so; the user's own words, and what is to be done, stay."""
    editor.keys(":Winnow<CR>")
    left = Path(editor.lua("return vim.api.nvim_buf_get_name(0)")).with_name("left.md")
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text(LEFT)
    editor.keys(f":edit {left}<CR>")
    calls = ["pasted …", "make ✗", "1 of 2 done · Test …", "a.py ✓", "make test ✗"]
    editor.wait(
        lambda: (
            [line.split(" ", 2)[2] for line in editor.text().split("\n") if line.startswith("▸")]
            == calls
        ),
        "the calls",
    )


# --- another name -------------------------------------------------------------------------------


@pytest.mark.parametrize("command", first(1, ["saveas", "saveas!", "file"]))
@pytest.mark.fresh("session")
def test_a_chat_stays_in_its_file(editor: Editor, tmp_path: Path, command: str) -> None:
    """What is given another name is a copy, where one is written; the chat goes on as it was."""
    editor.keys(":Winnow<CR>Aone<Esc>")
    wait_idle(editor)
    path = chat_file(editor)
    copy = tmp_path / "copy.md"
    if command.endswith("!"):
        copy.write_text("else")
    editor.keys(f":{command} {copy}<CR>")
    editor.wait_screen("A chat stays in its file")
    assert editor.lua("return vim.api.nvim_buf_get_name(0)") == str(path)
    assert copy.exists() == (command != "file")
    if copy.exists():
        assert copy.read_text() == path.read_text() == editor.text() + "\n"
    editor.keys("A two<Esc>")
    editor.wait(lambda: "one two" in path.read_text(), "the file")
    editor.keys("A three<Esc>:w<CR>")
    assert "one two three" in path.read_text()
    assert copy.exists() == (command != "file")
    assert "two" not in (copy.read_text() if copy.exists() else "")
    listed = editor.lua("return vim.fn.getbufinfo({ buflisted = 1 })")
    assert [buffer["name"] for buffer in listed] == ["", str(path)]
    send(editor, "")
    editor.wait_line("━━ Question")
    editor.restart()
    editor.keys(":Winnow<CR>")
    assert "one two three" in editor.text()
