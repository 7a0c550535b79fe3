"""What waits in chats that are not in front: found, counted, announced."""

from __future__ import annotations

import re
from typing import Any

import pytest
from winnow.core.text.text import strip_markers

from tests.api import Gate, ScriptedAPI, ToolUse, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.steps import start, wait_idle, wait_section
from tests.soaking import soak

pytestmark = pytest.mark.fresh("nothing")

STORE = question("Which store?", "Redis", "Memcached", header="Store")
COLOUR = question("Which colour?", "Red", "Blue", header="Colour")
LISTEN = """
_G.heard = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'Winnow*',
  callback = function(event)
    table.insert(_G.heard, { event.match, event.data })
  end,
})
"""
STATUS = "return require('winnow').statusline()"
SLOW = """
local dispatch = require('winnow.dispatch')
local apply = dispatch.apply
dispatch.apply = function(effects)
  vim.defer_fn(function() apply(effects) end, effects[1].type == 'section' and 500 or 0)
end
"""


def heard(editor: Editor, name: str) -> list[dict[str, Any]]:
    """The data of all events of this name."""
    return [data for match, data in editor.lua("return _G.heard") if match == name]


def leave(editor: Editor) -> None:
    """Go to a window that shows no chat."""
    editor.keys(":new<CR>")


def test_nothing_waits(editor: Editor) -> None:
    """An empty inbox says so, and opens nothing."""
    editor.keys(":Winnow pending<CR>")
    assert "Nothing waits" in editor.messages()
    assert editor.lua("return #vim.api.nvim_list_wins()") == 1


@pytest.mark.soak
def test_the_inbox_leads_to_what_waits(claude: Editor, api: ScriptedAPI) -> None:
    """`pending` lists both chats' questions; `next` goes to the older one, on its first option."""
    api.add(say(ask("toolu_1", STORE)))
    start(claude)
    wait_section(claude, "Question: Store")
    api.add(say(ask("toolu_2", COLOUR)))
    claude.keys(":tab Winnow new<CR>")
    claude.keys("AHi<Esc><CR>")
    wait_section(claude, "Question: Colour")
    leave(claude)
    claude.keys(":Winnow pending<CR>")
    claude.wait_line("Store")
    claude.resize(40, 24)
    claude.wait_screen("does it")  # the end of the hint
    claude.resize(80, 24)
    first, second = [strip_markers(line) for line in claude.lines()]
    assert re.fullmatch(
        r"ask question: Store \(Redis, Memcached\) · project\d* · (now|\d+ s)", first
    )
    assert second.startswith("ask question: Colour (Red, Blue) · ")
    claude.keys("2G<CR>")
    assert claude.line().startswith("Red")
    leave(claude)
    api.add(say("Blue it is."))
    claude.keys(":Winnow pending<CR>2Gcwanswer blue<Esc>:w<CR>")
    claude.wait_line("ask question: Store")
    claude.wait(lambda: len(claude.lines()) == 1, "one line")
    claude.wait(lambda: "Blue it is." in str(api.requests) or len(api.requests) == 3, "the answer")
    claude.keys("i<Cmd>Winnow next<CR>")
    assert claude.mode() == "n"
    assert claude.line().startswith("Redis")


@pytest.mark.fresh("chat")
def test_what_waits_is_answered_by_its_line(claude: Editor, api: ScriptedAPI) -> None:
    """All at once by `:w`; what makes no sense is named, and nothing is done."""
    for name in ("one", "two", "three"):
        bash = ToolUse("Bash", {"command": f"touch {name}"}, f"toolu_{name}")
        api.add(say(bash))
        claude.keys(f":tab Winnow new<CR>A{name}<Esc><CR>")
        wait_section(claude, "Permission")
    api.add(*[say("Fine.") for _ in range(3)])
    claude.keys(":new<CR>:Winnow pending<CR>")
    claude.wait(lambda: len(claude.lines()) == 3, "three lines")
    shown = [strip_markers(line) for line in claude.lines()]
    assert [line.split(" · ")[0] for line in shown] == [
        f"ask Bash touch {name}" for name in ("one", "two", "three")
    ]
    claude.keys("ggcwgrant<Esc>:w<CR>")
    claude.wait(lambda: "Line 1: grant is none of ask, allow," in claude.messages(), "why")
    assert " · always “touch " in shown[0]
    claude.keys("ggcwalways<Esc>j0cwdeny<Esc>A: not that<Esc>:w<CR>")
    claude.wait(lambda: len(claude.lines()) == 1, "one line")
    claude.keys("dd:w<CR>")
    claude.wait_screen("Deny Bash touch three?")
    claude.keys("y")
    claude.wait_line("Nothing waits for you.")
    claude.wait((claude.sandbox.project / "one").exists, "the first command")
    claude.wait(lambda: len(api.requests) >= 6, "all answers")
    assert [path.name for path in claude.sandbox.project.glob("t*")] == []
    assert "not that" in str(api.requests)


@pytest.mark.fresh("chat")
def test_the_open_section_is_the_one_that_is_meant(claude: Editor, api: ScriptedAPI) -> None:
    """`:Winnow allow` in a chat is about what is open there, though more waits elsewhere."""
    api.add(say(ask("toolu_1", STORE)))
    start(claude)
    wait_section(claude, "Question: Store")
    api.add(say(ToolUse("Bash", {"command": "touch made"}, "toolu_2")), say("Made."))
    claude.keys(":tab Winnow new<CR>AHi<Esc><CR>")
    wait_section(claude, "Permission")
    claude.keys(":Winnow allow<CR>")
    claude.wait_line("Made.")
    assert (claude.sandbox.project / "made").exists()
    claude.keys(":Winnow next<CR>")
    assert claude.line().startswith("Redis")


def test_a_question_out_of_sight_is_announced(claude: Editor, api: ScriptedAPI) -> None:
    """A message names what waits; the cursor stays where it was."""
    api.add(say(ask("toolu_1", STORE)))
    start(claude)
    leave(claude)
    claude.wait(lambda: "Claude waits in" in claude.messages(), "an announcement")
    assert "Store" in claude.messages()
    assert claude.lines() == [""]


@pytest.mark.parametrize("slow", [False, True])
def test_a_question_below_a_reader_is_announced(
    claude: Editor, api: ScriptedAPI, slow: bool
) -> None:
    """Also when it takes its time to be shown: no section is, before it is on disk."""
    api.add(say("A paragraph.\n\n" * 40 + "The end.", Gate(), ask("toolu_1", STORE)))
    start(claude)
    claude.wait_line("The end.")
    claude.keys("gg")
    if slow:
        claude.lua(SLOW)
    api.release()
    claude.wait(lambda: "Claude waits: Store." in claude.messages(), "an announcement")
    assert claude.lua("return vim.fn.line('.')") == 1


def test_a_question_in_front_is_not_announced(claude: Editor, api: ScriptedAPI) -> None:
    """Who looks at the section needs no message about it."""
    api.add(say(ask("toolu_1", STORE)))
    start(claude)
    wait_section(claude, "Question: Store")
    assert "Claude waits" not in claude.messages()


@pytest.mark.fresh("chat")
def test_events_and_statusline(claude: Editor, api: ScriptedAPI) -> None:
    """Each change is told with its data, and the statusline follows."""
    api.add(say(ask("toolu_1", STORE)), say("Fine."))
    assert claude.lua(STATUS) == ""
    claude.lua(LISTEN)
    start(claude)
    wait_section(claude, "Question: Store")
    assert claude.lua(STATUS).startswith("waiting 1")
    claude.keys("dd<CR>")
    claude.wait_line("Fine.")
    wait_idle(claude)
    assert claude.lua(STATUS).startswith("idle")
    (question_data,) = heard(claude, "WinnowQuestion")
    assert question_data["kind"] == "question"
    assert question_data["title"] == "Store"
    (answered,) = heard(claude, "WinnowAnswered")
    assert answered["outcome"] == "answered"
    assert answered["section"] == question_data["section"]
    (end,) = heard(claude, "WinnowTurnEnd")
    assert not end["stopped"]
    assert end["error"] == ""
    assert end["cost"] > 0
    states = [data["state"] for data in heard(claude, "WinnowState")]
    assert states[-4:] == ["working", "waiting", "working", "idle"]


def test_the_terminal_is_called(open_editor: Any, api: ScriptedAPI, tmp_path: Any) -> None:
    """With `alert`, Neovim sends the terminal what it turns into a notification."""
    editor = open_editor(agent="claude", alert="osc9", env=api.env(tmp_path / "claude"))
    editor.lua("""
      _G.sent = {}
      local chansend = vim.fn.chansend
      vim.fn.chansend = function(channel, data)
        if channel == vim.v.stderr then
          table.insert(_G.sent, data)
        else
          chansend(channel, data)
        end
      end
    """)
    api.add(say(ask("toolu_1", STORE)))
    start(editor)
    leave(editor)
    (sent,) = editor.wait(lambda: editor.lua("return _G.sent") or None, "a call")
    assert sent.startswith("\x1b]9;Claude waits in ")
    assert sent.endswith("\a")


@pytest.mark.parametrize("alert", ["osc9", "osc777"])
@pytest.mark.parametrize("isprint", ["1-255", *soak("@,161-255")])
def test_a_folder_s_name_commands_no_terminal(open_editor: Any, alert: str, isprint: str) -> None:
    """Controls of one byte and of two, halves of characters, what turns the direction."""
    editor: Editor = open_editor(agent="scripted", alert=alert)
    editor.lua("""
      local folder = 'a\\27]0;x\\7b\\155 2J\\194\\155 3J\\194\\157 d\\226\\128\\174ef\\255;é日'
      vim.uv.fs_mkdir(folder, 448)
      vim.cmd.cd(vim.fn.fnameescape(folder))
    """)
    editor.command(f"set isprint={isprint}")
    start(editor)
    leave(editor)
    editor.wait(lambda: editor.sandbox.stderr.read_bytes().endswith(b"\a"), "a call")
    sent = editor.sandbox.stderr.read_bytes().decode()
    inside = sent.removeprefix("\x1b]9;").removeprefix("\x1b]777;notify;Winnow;")[:-1]
    assert inside.startswith("Claude waits in a")
    assert "é日" in inside
    assert not re.search("[\\x00-\\x1f\\x7f-\\x9f;\\u200b-\\u200f\\u2028-\\u202e]", inside)
