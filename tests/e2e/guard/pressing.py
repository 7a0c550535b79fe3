"""What the tests of this folder do: ask something, look at it, press keys at a certain time."""

from __future__ import annotations

import time
from pathlib import Path

from tests.api import ScriptedAPI, ToolUse, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.neovim import Neovim
from tests.e2e.steps import SEEN

CHOICE = question("Which store?", "Redis", "Memcached", header="Store")
FEATURES = question("Which features?", "Auth", "Search", header="Features", multiple=True)
PAUSE = 0.45  # seconds between two presses that are meant
SOON = "That came before the question was on the screen"
LOOP = "local t = vim.uv.hrtime() while vim.uv.hrtime() - t < {} * 1e9 do end"
REPLIED = """
  local chat = require('winnow.registry').current()
  local section = chat and chat.section
  local at = not (section and section.confirmed) and 0 or section.reply.at
  return at and vim.uv.hrtime() / 1e6 - at > 300
"""


def choose() -> ToolUse:
    return ask("t1", CHOICE)


def touch(name: str = "made") -> ToolUse:
    return ToolUse("Bash", {"command": f"touch {name}"}, name)


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


def shown(neovim: Neovim) -> None:
    """Wait until a section is there, and on the screen."""
    neovim.wait(lambda: "━━ " in neovim.text(), "a section")
    neovim.wait(lambda: neovim.lua(SEEN), "a section that was on the screen")


def look(neovim: Neovim) -> None:
    """Look at the section that is there, or comes, as long as it takes."""
    shown(neovim)
    time.sleep(PAUSE)


def tap(claude: Editor, *keys: str, every: float = 0.03) -> None:
    """Type keys one after the other, whatever comes of them."""
    for key in keys:
        claude._client.request("nvim_input", key)
        time.sleep(every)


def held(claude: Editor, key: str = "<CR>", delay: float = 0.5, count: int = 30) -> None:
    """Hold a key down: it comes again after a delay, and then often.

    Two at a time: a keyboard is never late, as this process may be where others have the cores, and
    one that came alone would be a press of its own.
    """
    tap(claude, key, every=delay)
    tap(claude, *[key * 2] * (count // 2), every=0.06)
    claude.settle()


def press(claude: Editor, *keys: str) -> None:
    """Type keys one after the other, each when what the last one did was looked at."""
    for key in keys:
        tap(claude, key, every=PAUSE)
        claude.wait(lambda: claude.lua(REPLIED), "what came of it")
        time.sleep(0.1)  # what is typed while Neovim works may be as old as that work
    claude.settle()


def answered(claude: Editor) -> bool:
    """Whether anything was decided, once the host has had its say."""
    time.sleep(0.3)
    return any(line[:1] in ("✓", "✗") for line in claude.lines())


def busy(claude: Editor, code: str, *keys: str, every: float = 0.03) -> None:
    """Type keys while Neovim is busy with some Lua, which calls ``started()`` before that."""
    flag = claude.sandbox.root / "busy"
    started = f"local function started() vim.fn.writefile({{}}, '{flag}') end "
    claude._client.send("nvim_exec_lua", started + code, [])
    claude.wait(flag.exists, "Neovim to be busy")
    flag.unlink()
    tap(claude, *keys, every=every)
    claude.settle()


def answer(claude: Editor, api: ScriptedAPI) -> None:
    """Answer the question that nothing has answered yet."""
    look(claude)
    assert not answered(claude)
    claude.keys(":silent! 1 | /^Redis/<CR>")
    press(claude, "", "<CR>", "<CR>")
    claude.wait_line("So be it.")
    assert "Redis" in api.tool_result("t1")
