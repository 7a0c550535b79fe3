"""Only the user's own keys answer, and only for what was on the screen before they were pressed.

Here the guard is as users have it; in all other tests it lets every key through.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api import ScriptedAPI, ToolUse, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.neovim import Neovim
from tests.e2e.steps import SEEN, wait_idle
from tests.e2e.terminal import Terminal
from tests.e2e.tools.shared import Shared

CHOICE = question("Which store?", "Redis", "Memcached", header="Store")
FEATURES = question("Which features?", "Auth", "Search", header="Features", multiple=True)
PAUSE = 0.45  # seconds between two presses that are meant
REPLIED = """
  local chat = require('winnow.registry').current()
  local section = chat and chat.section
  local at = not (section and section.confirmed) and 0 or section.reply.at
  return at and vim.uv.hrtime() / 1e6 - at > 300
"""
SOON = "That came before the question was on the screen"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """One editor for all rows."""
    with ScriptedAPI() as api:
        shared = Shared(tmp_path_factory.mktemp("guard"), api, agent="claude")
        yield shared
        shared.close()


@pytest.fixture
def claude(shared: Shared) -> Iterator[Editor]:
    """An empty chat, with the guard of users."""
    shared.api.clear()
    shared.api.requests.clear()
    with shared.fresh() as editor:
        editor.guard()
        try:
            yield editor
        finally:
            editor.guard(0)


@pytest.fixture
def api(shared: Shared) -> ScriptedAPI:
    """The API of that editor."""
    return shared.api


def bash(command: str, id: str = "t1") -> ToolUse:
    return ToolUse("Bash", {"command": command}, id)


def touch(name: str = "made") -> ToolUse:
    return bash(f"touch {name}", name)


def made(neovim: Neovim, name: str = "made") -> Path:
    return neovim.sandbox.project / name


def send(claude: Editor, api: ScriptedAPI, *calls: ToolUse) -> None:
    """Let Claude ask this."""
    api.add(*(say(call) for call in calls), say("So be it."))
    claude.keys("AHi<Esc><CR>")


def asked(claude: Editor, api: ScriptedAPI, *calls: ToolUse) -> None:
    """Wait until the first of these was on the screen for long enough."""
    send(claude, api, *calls)
    look(claude)


def look(neovim: Neovim) -> None:
    """Look at the section that is there, or comes, as long as it takes."""
    neovim.wait(lambda: "━━ " in neovim.text(), "a section")
    neovim.wait(lambda: neovim.lua(SEEN), "a section that was on the screen")
    time.sleep(PAUSE)


def press(claude: Editor, *keys: str, every: float = 0) -> None:
    """Type one after the other, with a time between them, or else when the last was looked at."""
    for key in keys:
        claude._client.request("nvim_input", key)
        time.sleep(every or PAUSE)
        if not every:
            claude.wait(lambda: claude.lua(REPLIED), "what came of it")
            time.sleep(0.1)  # what is typed while Neovim works is as old as that may be
    claude.settle()


def answered(claude: Editor) -> bool:
    """Whether anything was decided, once the host has had its say."""
    time.sleep(0.3)
    return any(line[:1] in ("✓", "✗") for line in claude.lines())


def busy(claude: Editor, code: str, keys: str, hold: float = 0.2) -> None:
    """Type keys while Neovim is busy with something for a second."""
    claude._client.send("nvim_exec_lua", code, [])
    time.sleep(hold)
    claude._client.request("nvim_input", keys)
    claude.settle()


# --- typed ahead ------------------------------------------------------------------------------

OPEN = "local function open() return require('winnow.registry').current().section end "
BUSY = {  # until the section is open, or long enough for it to come
    "vim.wait": "vim.wait(9000, open)",
    "vim.wait that draws": "vim.wait(9000, function() vim.cmd.redraw() return open() end, 20)",
    "vim.wait that goes on": "vim.wait(9000, open) vim.cmd.redraw() vim.wait(500)",
    "sleep": "repeat vim.cmd.sleep('50m') until open()",
    "a loop": "local t = vim.uv.hrtime() while vim.uv.hrtime() - t < 2e9 do end",
}


@pytest.mark.parametrize("keys", ["<CR><CR>", "<CR>j<CR>", "<Esc>", "gg<CR>G<CR><CR>"])
@pytest.mark.parametrize("code", BUSY.values(), ids=BUSY)
def test_keys_typed_ahead_answer_nothing(
    claude: Editor, api: ScriptedAPI, code: str, keys: str
) -> None:
    """Neovim was busy when they were typed, and the section came before they were read."""
    wait_idle(claude)
    send(claude, api, touch())
    busy(claude, OPEN + code, keys, hold=0.1)
    claude.wait_line("Permission: Bash")
    assert not answered(claude)
    assert not made(claude).exists()
    look(claude)
    claude.keys("?Allow once<CR>")
    press(claude, "", "<CR>", "<CR>")
    claude.wait_line("So be it.")
    assert made(claude).exists()


def test_a_command_typed_ahead_gives_no_time(claude: Editor, api: ScriptedAPI) -> None:
    """Whatever time passes while Neovim works off what was typed, nobody looks."""
    wait_idle(claude)
    send(claude, api, touch())
    busy(
        claude,
        OPEN + BUSY["vim.wait"],
        ":sleep 1<CR><CR>:sleep 1<CR><CR>:sleep 1<CR><CR>",
        hold=0.1,
    )
    claude.wait_line("Permission: Bash")
    assert not answered(claude)
    assert not made(claude).exists()


def test_what_came_too_soon_is_said(claude: Editor, api: ScriptedAPI) -> None:
    send(claude, api, touch())
    claude.wait(lambda: "━━ Permission" in claude.text(), "a section")
    claude.keys("<CR>")
    claude.wait_screen(SOON)
    assert not answered(claude)


def test_a_key_while_an_operator_waits_is_about_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """`d` when the section comes: it is shown after that, so `d<CR>` deletes, `<CR>` is early."""
    api.add(say(touch()), say("So be it."))
    press(claude, "iHi", "<Esc>", every=0.05)
    claude.keys("<CR>d")
    time.sleep(1)
    claude.keys("<Esc><CR>")
    assert not answered(claude)
    assert not made(claude).exists()


# --- one press --------------------------------------------------------------------------------

HELD = ["<CR>", *["<CR>"] * 30]


@pytest.mark.parametrize("every", [0.03, 0.15])
@pytest.mark.parametrize("start", ["", "gg"])
def test_a_run_of_presses_grants_nothing(
    claude: Editor, api: ScriptedAPI, start: str, every: float
) -> None:
    asked(claude, api, touch())
    claude.keys(start)
    press(claude, *HELD, every=every)
    assert not answered(claude)
    assert not made(claude).exists()


@pytest.mark.parametrize("delay", [0.2, 0.4, 0.66])
@pytest.mark.parametrize("start", ["", "gg", ":Winnow next"])
def test_a_key_held_down_grants_nothing(
    claude: Editor, api: ScriptedAPI, start: str, delay: float
) -> None:
    """The second one comes after a delay of the keyboard's, the others fast."""
    asked(claude, api, touch())
    claude.keys(start)
    press(claude, "<CR>", every=delay)
    press(claude, *HELD, every=0.03)
    assert not answered(claude)
    assert not made(claude).exists()


@pytest.mark.parametrize("delay", [0.2, 0.66])
def test_a_key_held_down_answers_no_question(
    claude: Editor, api: ScriptedAPI, delay: float
) -> None:
    """Nor is a question with all options answered, nor several reviewed and sent."""
    asked(claude, api, ask("t1", CHOICE, FEATURES))
    claude.keys("gg")
    press(claude, "<CR>", every=delay)
    press(claude, *["<CR>"] * 60, every=0.03)
    assert not answered(claude)
    claude.keys("?^Redis<CR>dd")
    time.sleep(PAUSE)
    press(claude, "<CR>", every=delay)  # a first press that decides, and holds
    press(claude, *HELD, every=0.03)
    assert not answered(claude)


def test_what_follows_an_answer_has_its_own_time(claude: Editor, api: ScriptedAPI) -> None:
    """`<CR>` is held when the next one opens under it."""
    asked(claude, api, touch("one"), touch("two"))
    claude.keys("jdd")
    claude.keys("?Allow<CR>")
    press(claude, "", "<CR>", "<CR>")
    claude.wait(lambda: made(claude, "one").exists(), "the first", timeout=5)
    press(claude, *HELD, every=0.04)
    assert not made(claude, "two").exists()


def test_two_presses_grant(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, touch())
    press(claude, "<CR>", "<CR>")
    claude.wait_line("So be it.")
    assert made(claude).exists()


def test_the_second_press_comes_after_the_explanation(claude: Editor, api: ScriptedAPI) -> None:
    """Neovim was busy between the two: nobody has read what the first one explained."""
    asked(claude, api, touch())
    claude.keys("<CR>")
    busy(claude, BUSY["a loop"], "<CR>", hold=0.5)
    assert not answered(claude)
    press(claude, "", "<CR>")
    claude.wait_line("So be it.")


def test_edits_make_another_press(claude: Editor, api: ScriptedAPI) -> None:
    """Fast work goes on: `<CR>` steps, `dd<CR>` at once decides; so does a macro."""
    asked(claude, api, ask("t1", CHOICE, FEATURES))
    claude.keys("dd<CR>")
    claude.wait(lambda: claude.line().startswith("Auth"), "the next question")
    claude.keys("dd<CR>")
    claude.wait(lambda: claude.line().startswith("━━"), "the review")
    time.sleep(PAUSE)
    claude.keys("<CR>")
    claude.wait_line("So be it.")
    assert "Memcached" in api.tool_result("t1")
    assert "Search" in api.tool_result("t1")


def test_a_macro_answers(claude: Editor, api: ScriptedAPI) -> None:
    claude.lua("vim.fn.setreg('q', 'dd\\r')")
    asked(claude, api, ask("t1", CHOICE))
    claude.keys("@q")
    claude.wait_line("So be it.")
    assert "Memcached" in api.tool_result("t1")


# --- from elsewhere ---------------------------------------------------------------------------


def test_allow_is_about_what_waited_when_it_was_typed(claude: Editor, api: ScriptedAPI) -> None:
    asked(claude, api, touch("one"), touch("two"))
    claude.keys(":Winnow allow")
    claude.command("lua require('winnow.guard').pause = 0")
    claude.lua("vim.g.one = require('winnow.registry').all()[1].pending[1].section")
    claude.guard()
    # While it is typed, the first one is answered by someone, and the second one comes.
    claude.lua("""
      local chat = require('winnow.registry').all()[1]
      require('winnow.host').notify('grant', {
        chat = chat.buf, section = vim.g.one, choice = 'allow', lines = {},
      })
    """)
    claude.wait(lambda: made(claude, "one").exists(), "the first")
    claude.wait(
        lambda: claude.lua("""
      local pending = require('winnow.registry').all()[1].pending[1]
      return pending and pending.section ~= vim.g.one
    """),
        "the second",
    )
    time.sleep(PAUSE)
    claude.keys("<CR>")
    claude.wait_screen(SOON)
    assert not made(claude, "two").exists()
    look(claude)
    press(claude, ":Winnow allow<CR>")
    claude.wait_line("So be it.")
    assert made(claude, "two").exists()


@pytest.mark.parametrize("name", ["allow", "always", "keep", "discuss"])
def test_a_mapping_is_about_what_was_there(claude: Editor, api: ScriptedAPI, name: str) -> None:
    claude.lua(f"vim.keymap.set('n', '<F5>', '<Plug>(winnow-{name})')")
    send(claude, api, touch())
    claude.wait(lambda: "━━ Permission" in claude.text(), "a section")
    claude.keys("<F5>")
    assert not answered(claude)
    assert not made(claude).exists()
    claude.keys("<C-c>")


def test_a_mapping_grants(claude: Editor, api: ScriptedAPI) -> None:
    claude.lua("vim.keymap.set('n', ' a', '<Cmd>Winnow allow<CR>')")
    asked(claude, api, touch())
    claude.keys(" a")
    claude.wait_line("So be it.")
    assert made(claude).exists()


# --- from outside -----------------------------------------------------------------------------


def remote(neovim: Neovim, *args: str) -> None:
    """What a command of Claude's can do, if it knows the address."""
    address = neovim.lua("return vim.v.servername")
    nvim = neovim.sandbox.argv()[0]
    command = [nvim, "--clean", "--headless", "--server", address, *args]
    subprocess.run(command, env=neovim.sandbox.env, check=False, timeout=20, capture_output=True)


OUTSIDE = {
    "allow": ("--remote-expr", 'execute("Winnow allow")'),
    "always": ("--remote-expr", 'execute("Winnow always")'),
    "lua": ("--remote-expr", 'luaeval("require([[winnow.keys]]).allow()")'),
    "keep": ("--remote-expr", 'luaeval("require([[winnow.keys]]).keep()")'),
    "go": ("--remote-expr", 'luaeval("require([[winnow.keys]]).go()")'),
    "normal": ("--remote-expr", 'execute("normal \\<CR>")'),
    "feedkeys": ("--remote-expr", 'feedkeys("\\r")'),
    "typed feedkeys": ("--remote-expr", 'feedkeys("\\r", "t")'),
    "keys": ("--remote-send", "<CR>"),
    "a command": ("--remote-send", "<C-Bslash><C-n>:Winnow allow<CR>"),
    "a mode": ("--remote-expr", 'execute("Winnow mode acceptEdits")'),
}  # fmt: skip


@pytest.mark.parametrize("args", OUTSIDE.values(), ids=OUTSIDE)
def test_what_comes_from_outside_grants_nothing(
    claude: Editor, api: ScriptedAPI, args: tuple[str, ...]
) -> None:
    asked(claude, api, touch())
    remote(claude, *args)
    time.sleep(PAUSE)
    remote(claude, *args)
    assert not answered(claude)
    assert not made(claude).exists()
    assert "Ignored: " in claude.messages()
    assert "Ignored: " in claude.sandbox.logs()
    time.sleep(1.2)
    claude.keys("?Allow once<CR>")
    press(claude, "", "<CR>", "<CR>")
    claude.wait_line("So be it.")


def test_keys_of_another_connection_grant_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """One that opened since this was asked, as long as it is there."""
    asked(claude, api, touch())
    client = claude.lua("return vim.v.servername")
    code = f"""
      local channel = vim.fn.sockconnect('pipe', '{client}', {{ rpc = true }})
      for _ = 1, 4 do
        vim.wait(1100)
        vim.rpcrequest(channel, 'nvim_input', '\\r')
      end
    """
    nvim = claude.sandbox.argv()[0]
    command = [nvim, "--clean", "--headless", "-c", f"lua {' '.join(code.split())}", "-c", "qa!"]
    subprocess.run(command, env=claude.sandbox.env, check=False, timeout=30, capture_output=True)
    assert not answered(claude)
    assert not made(claude).exists()


def test_a_tool_that_was_connected_before_is_in_nobodys_way(
    claude: Editor, api: ScriptedAPI
) -> None:
    address = claude.lua("return vim.v.servername")
    nvim = claude.sandbox.argv()[0]
    code = f"lua vim.fn.sockconnect('pipe', '{address}', {{ rpc = true }}) vim.wait(60000)"
    tool = subprocess.Popen([nvim, "--clean", "--headless", "-c", code], env=claude.sandbox.env)
    try:
        channels = "return vim.inspect(vim.api.nvim_list_chans())"
        claude.wait(lambda: "socket" in claude.lua(channels), "the tool")
        asked(claude, api, touch())
        time.sleep(1)
        press(claude, "<CR>", "<CR>")
        claude.wait_line("So be it.")
    finally:
        tool.kill()
        tool.wait()


def test_a_terminal_is_the_user(terminal: Terminal) -> None:
    """And so is another one, that joins with `--remote-ui`."""
    terminal.guard()
    terminal.keys(":Winnow<CR>")
    wait_idle(terminal)
    terminal.keys("iHi\x1b")
    terminal.wait(lambda: terminal.mode() == "n", "Normal mode")
    terminal.keys("<CR>")
    look(terminal)
    terminal.keys("dd")
    terminal.wait_screen("keep one of 2")
    terminal.keys("dd<CR>")
    terminal.wait(lambda: not any("Question 1/" in row for row in terminal.screen()[-3:]), "a step")
    terminal.wait(lambda: "Features" in terminal.text(), "the next")
