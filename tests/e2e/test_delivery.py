"""What the user decided or sent arrives, once, whatever ends just then."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.api import Gate, ScriptedAPI, ask, question, say
from tests.e2e.conftest import Desks, Share
from tests.e2e.desk import ClaudeDesk
from tests.e2e.editor import Editor
from tests.e2e.rpc import GoneError
from tests.e2e.steps import draft, send, start, wait_idle, wait_section
from tests.e2e.test_failures import bundled_cli
from tests.e2e.test_resume import chat_file
from tests.soaking import first, soak

STORE = question("Which store?", "Redis", "SQLite", header="Store")
ANSWERS = ('"Which store?"="SQLite"', "Answer: SQLite")
# The agent's answer is typed and what follows it done before Neovim looks at anything else.
TYPE = """
  local keys, command, pid = ...
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, true, true), 'xt', false)
  if pid > 0 then vim.uv.kill(pid, 'sigkill') end
  if command ~= '' then vim.cmd(command) end
"""


def victim(editor: Editor, program: str) -> int:
    """The process of a program; 0: nobody's."""
    if program == "nvim":
        return editor.process.pid
    found = [pid for pid, command in editor.sandbox.processes().items() if program in command]
    return found[0] if program and found else 0


def type_and(editor: Editor, keys: str, end: str) -> None:
    """Type keys; in the same moment end something: a command, or what is killed."""
    command = end if end.startswith(":") else ""
    pid = 0 if command else victim(editor, end)
    with suppress(GoneError):
        editor.lua(TYPE, keys, command.lstrip(":"), pid)


def come_back(editor: Editor, end: str) -> None:
    """Open the chat again, where it is not open any more."""
    if end in ("nvim", ":qall!", ":wall|qall!"):
        editor.process.wait(20)
        editor.kill()
        editor.start(str(chat_file(editor)))
    elif end == ":bdelete!":
        editor.keys(":Winnow<CR>")


def decided(editor: Editor) -> None:
    """Wait until the foot says what would be sent."""
    part = "return (require('winnow.registry').current().section.parts[1] or {}).decided"
    editor.wait(lambda: editor.lua(part), "the verdict")


def told(api: ScriptedAPI, *words: str) -> int:
    """How often the agent has been told it, as it would remember."""
    said = str(api.requests[-1]["messages"]).replace('\\"', '"') if api.requests else ""
    return sum(said.count(text) for text in words)


def arrives(editor: Editor, api: ScriptedAPI, *words: str) -> None:
    """It has arrived, arrives by itself, or stands in the draft: in the end it was told once."""
    api.add(*[say("Fine.") for _ in range(5)])
    api.release()
    editor.keys("G")
    send(editor, " go on")

    def goes_on() -> bool:
        rests = editor.lua("""
          local chat = require('winnow.registry').current()
          return not chat.queued and vim.tbl_contains({ 'idle', 'failed', 'asleep' }, chat.state)
        """)
        if rests and draft(editor):
            editor.keys("G<CR>")
        return bool(api.requests) and "go on" in str(api.requests[-1]["messages"][-3:])

    editor.wait(goes_on, "the next turn", 40)
    wait_idle(editor)
    assert told(api, *words) == 1, str(api.requests[-1]["messages"])


ENDS = ["nvim", ":Winnow restart"]
MORE_ENDS = [":qall!", ":wall|qall!", "pynvim.start_host", "_bundled/claude"]


@pytest.mark.parametrize("end", [*ENDS, *soak(*MORE_ENDS, ":bdelete!")])
def test_a_decided_answer_arrives(claude: Editor, api: ScriptedAPI, end: str) -> None:
    """`<CR>`, and in the same moment something ends."""
    api.add(say("Hm.", ask("toolu_1", STORE)), say("Noted.", Gate()))
    start(claude)
    wait_section(claude, "Question: Store")
    claude.keys("gg/^Redis<CR>dd")
    decided(claude)
    type_and(claude, "<CR>", end)
    come_back(claude, end)
    arrives(claude, api, *ANSWERS)


@pytest.fixture(scope="session")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Claude Code that takes its time to start, once there is a file named `slow` beside it."""
    script = tmp_path_factory.mktemp("cli") / "cli"
    wait = f"test -e {script.with_name('slow')} && sleep 2"
    script.write_text(f'#!/bin/sh\n{wait}\nexec {bundled_cli()} "$@"\n')
    script.chmod(0o755)
    return script


@pytest.fixture
def brake(cli: Path) -> Iterator[Path]:
    """The file `slow`, which is not there yet."""
    file = cli.with_name("slow")
    yield file
    file.unlink(missing_ok=True)


@pytest.fixture
def slow(share: Share, desks: Desks, api: ScriptedAPI, cli: Path) -> Editor:
    """An editor with that Claude Code."""
    return share(desks(ClaudeDesk, cli_path=str(cli)))


@pytest.mark.parametrize("end", [":qall!", "pynvim.start_host", *soak("nvim", ":Winnow restart")])
def test_an_answer_given_while_claude_connects_arrives(
    slow: Editor, api: ScriptedAPI, brake: Path, end: str
) -> None:
    """A question of an earlier day is answered, and that ends before Claude Code is there."""
    api.add(say("Hm.", ask("toolu_1", STORE)))
    start(slow)
    wait_section(slow, "Question: Store")
    slow.keys(":Winnow stop<CR>")
    slow.wait_line("asks again")
    wait_idle(slow)
    slow.restart(str(chat_file(slow)))
    brake.touch()
    slow.keys("gg/asks again<CR><CR>")
    wait_section(slow, "Question: Store")
    slow.keys("gg/^Redis<CR>dd")
    decided(slow)
    type_and(slow, "<CR>", end)
    brake.unlink()
    come_back(slow, end)
    arrives(slow, api, *ANSWERS)


@pytest.mark.parametrize("end", [*ENDS, *soak(*MORE_ENDS)])
def test_a_message_arrives(claude: Editor, api: ScriptedAPI, end: str) -> None:
    """Sent, and in the same moment something ends: it is answered, or the draft again."""
    api.add(say("One."), say("Two.", Gate()))
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    claude.keys("GAremember the milk<Esc>")
    type_and(claude, "<CR>", end)
    come_back(claude, end)
    arrives(claude, api, "remember the milk")


@pytest.mark.parametrize("end", [*ENDS, *soak(*MORE_ENDS, ":bdelete!")])
def test_what_is_to_be_discussed_arrives(claude: Editor, api: ScriptedAPI, end: str) -> None:
    """`:Winnow discuss`, and in the same moment something ends."""
    api.add(say("Hm.", ask("toolu_1", STORE)), say("Noted.", Gate()))
    start(claude)
    wait_section(claude, "Question: Store")
    type_and(claude, ":Winnow discuss why not both?<CR>", end)
    come_back(claude, end)
    arrives(claude, api, "why not both?")


def test_what_was_discussed_and_heard_is_no_draft(claude: Editor, api: ScriptedAPI) -> None:
    """The store could not be written before the host ended, but Claude had read it."""
    api.add(say("Hm.", ask("toolu_1", STORE)), say("Noted.", Gate()))
    start(claude)
    wait_section(claude, "Question: Store")
    other = sqlite3.connect(claude.sandbox.state / "winnow" / "winnow.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    claude.keys(":Winnow discuss why not both?<CR>")
    claude.wait_line("Noted.")
    os.kill(victim(claude, "pynvim.start_host"), signal.SIGKILL)
    other.execute("ROLLBACK")
    other.close()
    arrives(claude, api, "why not both?")


def test_what_can_not_be_discussed_any_more_is_the_draft(claude: Editor, api: ScriptedAPI) -> None:
    """The question ended while the user wrote, before they could know."""
    api.add(say("Hm.", ask("toolu_1", STORE)))
    start(claude)
    wait_section(claude, "Question: Store")
    claude.lua("""
      vim.cmd.Winnow('stop')
      vim.api.nvim_feedkeys(vim.keycode(':Winnow discuss why not both?<CR>'), 'xt', false)
    """)
    claude.wait_line("■ Stopped.")
    claude.wait(lambda: draft(claude) == "why not both?", "the draft")
    assert "This section is no longer open" in claude.messages()


def test_what_is_typed_about_what_ends_meanwhile_is_the_draft(
    claude: Editor, api: ScriptedAPI
) -> None:
    """Also at the prompt of the mapping."""
    api.add(say("Hm.", ask("toolu_1", STORE)))
    start(claude)
    wait_section(claude, "Question: Store")
    claude.lua("vim.keymap.set('n', '<F2>', '<Plug>(winnow-discuss)')")
    claude.keys("<F2>why not")
    claude.command("Winnow stop")
    claude.wait_line("■ Stopped.")
    claude.keys(" both?<CR>")
    assert draft(claude) == "why not both?"
    assert "no longer open" in claude.messages()


@pytest.mark.parametrize("state", first(1, ["idle", "working"]))
def test_a_message_after_the_end_of_claude_code_arrives(
    claude: Editor, api: ScriptedAPI, state: str
) -> None:
    """It was killed a moment ago, and nobody has noticed yet."""
    api.add(say("One.", *([Gate()] if state == "working" else [])), say("Two."))
    start(claude)
    claude.wait_line("One.")
    if state == "idle":
        wait_idle(claude)
    claude.lua("vim.uv.kill(..., 'sigkill')", victim(claude, "_bundled/claude"))
    type_and(claude, "GAremember the milk<Esc><CR>", "")
    arrives(claude, api, "remember the milk")


@pytest.mark.parametrize("begins", ["A", *soak("GR")])
@pytest.mark.parametrize(
    "leaves", ["<Esc>", "<C-c>", *soak("<C-o>:new<CR><Esc>:bdelete!<CR>", "<C-o>:stopinsert<CR>")]
)
def test_a_draft_that_is_typed_goes_out_when_it_is_done(
    slow: Editor, api: ScriptedAPI, brake: Path, begins: str, leaves: str
) -> None:
    """Not in the middle, as with CTRL-O for a command, and however Insert mode is left."""
    brake.touch()
    api.add(say("Noted."))
    start(slow, "the milk")
    slow.keys(begins + (" and" if begins == "A" else "Not the milk and"))
    slow.wait_screen("goes out when you leave Insert mode")
    slow.keys("<C-o>:let x = 1<CR>")
    slow.keys(" the bread")
    assert api.requests == []
    assert draft(slow).endswith("and the bread")
    slow.keys(leaves)
    slow.wait_line("Noted.")
    assert told(api, "the milk and the bread") == 1


def test_a_queued_draft_outlives_the_host(claude: Editor, api: ScriptedAPI) -> None:
    """It goes out as soon as the next one can take it."""
    api.add(say("One.", Gate()), say("Two."))
    start(claude)
    claude.wait_line("One.")
    claude.keys("GAremember the milk<Esc><CR>")
    claude.wait_screen("1 queued")
    claude.keys(":Winnow restart<CR>")
    api.release()
    claude.wait_line("Two.")
    assert told(api, "remember the milk") == 1
    assert draft(claude) == ""


@pytest.mark.parametrize("with_neovim", first(1, [True, False]))
def test_messages_that_no_host_has_read_are_the_draft(
    claude: Editor, api: ScriptedAPI, with_neovim: bool
) -> None:
    """The host is busy, then it ends, maybe with Neovim; the chat was even read again."""
    api.add(say("One."))
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    host = victim(claude, "pynvim.start_host")
    os.kill(host, signal.SIGSTOP)
    claude.keys("GAremember the milk<Esc><CR>")
    claude.keys("GAand the bread<Esc><CR>:edit!<CR>")
    if with_neovim:
        claude.kill()
    os.kill(host, signal.SIGKILL)
    if with_neovim:
        claude.start(str(chat_file(claude)))
    claude.wait(lambda: draft(claude) == "1▎remember the milk\n\nand the bread", "the draft")
    assert told(api, "remember the milk", "and the bread") == 0


DIE = """
  local host = require('winnow.host')
  local notify = host.notify
  host.notify = function(kind, event)
    notify(kind, event)
    if kind == 'send' then
      vim.wait(100)
      vim.uv.kill(vim.fn.getpid(), 'sigkill')
    end
  end
"""


def test_what_the_host_was_told_is_no_draft(claude: Editor, api: ScriptedAPI) -> None:
    """Neovim is killed when it has just told a message: the file says that it was sent."""
    api.add(say("One."), say("Two.", Gate()))
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    claude.keys("GAremember the milk<Esc>")
    claude.lua(DIE)
    type_and(claude, "<CR>", "")
    come_back(claude, "nvim")
    assert draft(claude) == ""
    arrives(claude, api, "remember the milk")


VERDICT = """
  local chat = require('winnow.registry').current()
  local open = chat.section
  require('winnow.dispatch').apply({
    {
      type = 'verdict',
      chat = chat.buf,
      section = open.id,
      parts = open.parts,
      waiting = 0,
      offer = '',
    },
  })
"""


def test_an_answer_right_after_an_edit_outlives_the_host(editor: Editor) -> None:
    """The verdict on the edit comes when `<CR>` was pressed, and the host acts on no more."""
    asks = {"type": "ask", "questions": [STORE]}
    editor.sandbox.scenario.write_text(json.dumps({"turns": [[asks]]}))
    start(editor)
    wait_section(editor, "Question: Store")
    editor.keys("gg/^Redis<CR>dd")
    decided(editor)
    host = victim(editor, "pynvim.start_host")
    os.kill(host, signal.SIGSTOP)
    editor.keys("<CR>")
    editor.lua(VERDICT)
    os.kill(host, signal.SIGKILL)
    editor.wait_line("✓ Selected: SQLite", 20)


LATE = """
import os, pynvim
try:
    pynvim.start_host()
finally:
    os.kill(os.getpid(), 15)
"""


@pytest.mark.parametrize("late", first(1, [False, True]))
def test_an_answer_outlives_a_lock_and_neovim(
    claude: Editor, api: ScriptedAPI, *, late: bool
) -> None:
    """Another program has the database when the user answers, and when Neovim is left.

    Neovim ends its host with a signal, which may come when that has begun to end.
    """
    if late:
        boot = claude.sandbox.root / "boot"
        boot.write_text(LATE)
        python = claude.sandbox.root / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} -I {boot} "$4" "$5"\n')
        python.chmod(0o755)
        claude.lua("vim.g.winnow_python = ...", str(python))
    api.add(say("Hm.", ask("toolu_1", STORE)), say("Noted.", Gate()))
    start(claude)
    wait_section(claude, "Question: Store")
    claude.keys("gg/^Redis<CR>dd")
    decided(claude)
    os.kill(victim(claude, "_bundled/claude"), signal.SIGSTOP)  # it won't hear the answer
    database = claude.sandbox.state / "winnow" / "winnow.db"
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    claude.keys("<CR>")
    claude.wait_line("Selected: ")
    with suppress(GoneError):
        claude.command("qall!")
    claude.process.wait(20)
    claude.kill()
    claude.wait(lambda: not claude.sandbox.processes(), "the end of them all")
    other.execute("ROLLBACK")
    other.close()
    claude.start(str(chat_file(claude)))
    arrives(claude, api, *ANSWERS)
    assert not list(database.parent.glob("*.unsaved-*"))


def test_a_first_message_that_nobody_heard(claude: Editor, api: ScriptedAPI) -> None:
    """Claude Code is killed in its first turn: the next message works at once."""
    api.add(say("Hm", Gate()))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.keys("Aremember the milk<Esc>")
    type_and(claude, "<CR>", "_bundled/claude")
    claude.wait_line("⚠")
    claude.wait(lambda: draft(claude) == "remember the milk", "the message, again as the draft")
    api.clear()
    api.add(say("I will."))
    claude.keys("G<CR>")
    claude.wait_line("I will.")
    assert told(api, "remember the milk") == 1
    assert claude.text().count("⚠") == 1


def test_a_claude_that_died_is_started_again(claude: Editor, api: ScriptedAPI) -> None:
    """By <CR>, as the draft's heading says, though there is nothing to send."""
    start(claude)
    wait_idle(claude)
    os.kill(victim(claude, "_bundled/claude"), signal.SIGKILL)
    claude.wait_screen("not connected; <CR> tries again")
    assert draft(claude) == ""
    claude.keys("G<CR>")
    wait_idle(claude)
    assert "draft is empty" not in claude.messages()
    claude.keys("G<CR>")
    claude.wait(lambda: "draft is empty" in claude.messages(), "what is missing")


# --- what can't be written ------------------------------------------------------------------------


def test_a_locked_store_stops_nobody(claude: Editor, api: ScriptedAPI) -> None:
    """Another program holds it: both chats speak, the answer is heard, and is recorded later."""
    api.add(say("Hm.", ask("toolu_1", STORE)), say("Noted."), say("Else."))
    start(claude)
    wait_section(claude, "Question: Store")
    claude.keys("gg/^Redis<CR>dd")
    decided(claude)
    lock = sqlite3.connect(claude.sandbox.state / "winnow" / "winnow.db", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    claude.keys("<CR>")
    claude.wait_line("Noted.")  # which it would not as long as the lock holds
    wait_idle(claude)
    claude.keys(":Winnow new<CR>")
    send(claude, "And you?")
    claude.wait_line("Else.")
    claude.wait_screen("can't keep questions")
    assert lock.execute("SELECT count(*) FROM decisions").fetchone() == (0,)
    lock.execute("ROLLBACK")
    claude.wait_screen("are kept again")
    claude.wait(
        lambda: lock.execute("SELECT count(*) FROM decisions").fetchone() == (1,), "the decision"
    )
    lock.close()
    assert claude.messages().count("can't keep") == 1


# --- whose a section is ---------------------------------------------------------------------------


def test_a_strangers_file_finds_nothing_of_ours(claude: Editor, api: ScriptedAPI) -> None:
    """With our markers in it, it neither shows, closes, edits nor reopens a question of ours."""
    api.add(say("Hm.", ask("toolu_1", STORE)), say("Noted."))
    start(claude)
    wait_section(claude, "Question: Store")
    claude.keys("gg/^Redis<CR>A secret note<Esc>")
    claude.wait(lambda: "secret note" in chat_file(claude).read_text(), "the file")
    mine = chat_file(claude)
    theirs = mine.with_name("20200101-000000-theirs.md")
    lines = [line.replace(" secret note", "") for line in mine.read_text().splitlines()]
    record = next(line for line in lines if "=1=1⟧" in line)
    id = record.partition("⟦")[2].partition("=")[0]
    theirs.write_text("\n".join(lines))
    claude.keys(f":edit {theirs}<CR>")
    claude.wait_line("not on record any more")
    claude.keys(f"ggO✗ Cancelled · <CR> here asks again⟦{id}=0=r⟧<Esc><CR>")
    claude.wait_screen("not on record any more")
    assert "secret" not in claude.text()
    claude.keys(f":edit {mine}<CR>gg/^Redis<CR>dd")
    decided(claude)
    claude.keys("<CR>")
    assert ANSWERS[0] in api.tool_result("toolu_1")


# --- answers are text -----------------------------------------------------------------------------

COMMAND = "---\ndescription: Deploy\nallowed-tools: Bash\n---\nDeploying !`touch ran_it`\n"
CHOICE = """Next?
```json
{"type": "user_choice", "question": "How?", "options":
 [{"id": "%s", "label": "Go on"}, {"id": "stop", "label": "Stop"}]}
```
"""


@pytest.mark.soak
def test_an_option_that_comes_back_is_no_command(
    share: Share, desks: Desks, api: ScriptedAPI
) -> None:
    """Claude Code ends before it has the answer, which then is a draft, and text."""
    claude = share(desks(ClaudeDesk, questions="text"))
    commands = Path(claude.sandbox.env["CLAUDE_CONFIG_DIR"], "commands")
    commands.mkdir(parents=True)
    (commands / "deploy.md").write_text(COMMAND)
    api.add(say(CHOICE % "/deploy"), say("Noted."))
    start(claude)
    wait_section(claude, "Question")
    claude.keys("gg/^Stop<CR>dd")
    decided(claude)
    process = victim(claude, "_bundled/claude")
    os.kill(process, signal.SIGSTOP)  # it won't hear the answer
    claude.keys("<CR>")
    claude.wait_line("## You")
    os.kill(process, signal.SIGKILL)
    claude.wait(lambda: draft(claude) == "My answer: /deploy", "the draft")
    claude.keys("G<CR>")
    claude.wait_line("Noted.")
    assert told(api, "My answer: /deploy") == 1
    assert not (claude.sandbox.project / "ran_it").exists()


@pytest.mark.parametrize("id", first(1, ["/deploy", "\\ufeff/deploy", "see @secret.txt"]))
def test_an_option_is_no_command(share: Share, desks: Desks, api: ScriptedAPI, id: str) -> None:
    """Whatever id a model gives an option: picking it runs nothing and reads nothing."""
    claude = share(desks(ClaudeDesk, questions="text"))
    # The user's own: a project's would be asked about.
    commands = Path(claude.sandbox.env["CLAUDE_CONFIG_DIR"], "commands")
    commands.mkdir(parents=True)
    (commands / "deploy.md").write_text(COMMAND)
    (claude.sandbox.project / "secret.txt").write_text("TOP SECRET")
    api.add(say(CHOICE % id), say("Noted."), say("Deployed."))
    start(claude)
    wait_section(claude, "Question")
    claude.keys("gg/^Stop<CR>dd")
    decided(claude)
    claude.keys("<CR>")
    claude.wait_line("Noted.")
    [*_, picked, why] = api.requests[1]["messages"][-1]["content"]
    assert picked["text"] == json.loads(f'"{id}"')
    assert "answer" in why["text"]
    assert "TOP SECRET" not in str(api.requests)
    assert not (claude.sandbox.project / "ran_it").exists()
    wait_idle(claude)
    claude.keys("G")
    send(claude, "/deploy")  # what the user writes still is one
    claude.wait_line("Deployed.")
    assert (claude.sandbox.project / "ran_it").exists()
