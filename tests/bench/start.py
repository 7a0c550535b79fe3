"""What Neovim's start, the first chat and its connection cost, with the real Claude Code."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import claude_agent_sdk

from tests.api import ScriptedAPI, say
from tests.bench import world
from tests.bench.figures import Section
from tests.e2e.editor import Editor
from tests.e2e.sandbox import REPOSITORY, Sandbox

CLI = str(Path(claude_agent_sdk.__file__).with_name("_bundled") / "claude")
ALONE = (
    *("--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    *("--permission-prompt-tool", "stdio"),
)
STARTS = 15
REST = 1.0  # seconds, for what Claude Code does after it has said that it is there

# Both are of the wall; the state is looked at each millisecond, by a timer of Neovim's own.
FIRST = """
local began = vim.uv.hrtime()
_G.drafted, _G.connected = nil, nil
vim.cmd.Winnow()
vim.cmd.redraw()
assert(vim.bo.modifiable)
_G.drafted = (vim.uv.hrtime() - began) / 1e6
local timer = assert(vim.uv.new_timer())
timer:start(0, 1, vim.schedule_wrap(function()
  local chat = require('winnow.registry').all()[1]
  if chat.state == 'idle' and not _G.connected then
    _G.connected = (vim.uv.hrtime() - began) / 1e6
    timer:close()
  end
end))
"""
EDIT = """
local began = vim.uv.hrtime()
vim.cmd.tabedit('bare.txt')
vim.cmd.redraw()
local took = (vim.uv.hrtime() - began) / 1e6
vim.cmd.bwipeout()
return took
"""
IDLE = "return require('winnow.registry').all()[1].state == 'idle'"


class Real:
    """A fresh Neovim with Claude Code, and an API that answers it."""

    def __init__(self, root: Path, api: ScriptedAPI) -> None:
        env = api.env(root / "claude")
        self.api = api
        self.sandbox = Sandbox(root / "editor", {"agent": "claude"}, env)
        self.editor = Editor(self.sandbox)


@contextmanager
def real(root: Path) -> Iterator[Real]:
    with ScriptedAPI() as api:
        found = Real(root, api)
        try:
            yield found
            found.editor.assert_no_errors()
        finally:
            found.editor.close()


class Alone:
    """Claude Code as a child of ours: what it takes itself."""

    def __init__(self, real: Real) -> None:
        self._real = real
        began = world.now()
        self._process = subprocess.Popen(
            [CLI, *ALONE],
            env=real.sandbox.env,
            cwd=real.sandbox.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        asked = {"subtype": "initialize", "hooks": {}}
        self._say({"type": "control_request", "request_id": "1", "request": asked})
        self._hear("control_response")
        self.took = world.now() - began

    def prompt(self) -> float:
        """Milliseconds from a message until it is at the API."""
        self._real.api.add(say("Hello."))
        count = len(self._real.api.requests)
        began = world.now()
        said = {"role": "user", "content": "Hello"}
        self._say({"type": "user", "message": said, "parent_tool_use_id": None})
        self._real.api.request(count)
        took = world.now() - began
        self._hear("result")
        return took

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def _say(self, message: dict[str, object]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _hear(self, kind: str) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if json.loads(line)["type"] == kind:
                return


section = Section("start", real, rounds=5)


def _sourced(real: Real, folder: Path, file: str) -> list[float]:
    """Milliseconds that it takes to source this plugin file at Neovim's start, each time."""
    log = real.sandbox.root / "startuptime"
    path = ("--cmd", f"set runtimepath+={folder}")
    command = real.sandbox.argv("--headless", *path, "--startuptime", str(log), "+qall")
    found = []
    for _ in range(STARTS):
        log.unlink(missing_ok=True)
        subprocess.run(command, env=real.sandbox.env, check=True, stdin=subprocess.DEVNULL)
        line = re.search(rf"([\d.]+): sourcing {folder}/plugin/{file}", log.read_text())
        assert line
        found.append(float(line[1]))
    return found


def empty(real: Real) -> list[float]:
    """an empty plugin file"""
    folder = real.sandbox.root / "empty"
    (folder / "plugin").mkdir(parents=True)
    (folder / "plugin/empty.lua").touch()
    return _sourced(real, folder, "empty.lua")


def edit(real: Real) -> float:
    """a bare :tabedit, drawn"""
    return float(real.editor.lua(EDIT))


def alone(real: Real) -> float:
    """Claude Code alone, until it is initialized"""
    claude = Alone(real)
    claude.close()
    return claude.took


def prompted(real: Real) -> list[float]:
    """Claude Code alone"""
    claude = Alone(real)
    claude.prompt()
    time.sleep(REST)
    took = [claude.prompt() for _ in range(3)]
    claude.close()
    return took


@section.figure(0.3, floor=empty)
def share(real: Real) -> list[float]:
    """The plugin's share of Neovim's start"""
    return _sourced(real, REPOSITORY, "winnow.lua")


@section.figure(15, floor=edit)
def first_draft(real: Real) -> float:
    """The first :Winnow, until a draft can be edited"""
    real.editor.lua(FIRST)
    return float(real.editor.lua("return _G.drafted"))


@section.figure(500, floor=alone)
def connected(real: Real) -> float:
    """The first :Winnow, until Claude is connected"""
    took = real.editor.wait(lambda: real.editor.lua("return _G.connected"), "Claude")
    return float(took)


@section.figure(30, floor=prompted)
def submitted(real: Real) -> list[float]:
    """<CR> on a draft, until the request is at the API"""
    took = []
    for _ in range(4):
        time.sleep(REST)
        real.api.add(say("Hello."))
        count = len(real.api.requests)
        real.editor.keys("iHello<Esc>")
        began = world.now()
        real.editor.request("nvim_input", "<CR>")
        real.api.request(count)
        took.append(world.now() - began)
        real.editor.wait(lambda: real.editor.lua(IDLE), "the end of the turn")
    return took[1:]  # the first one of a session is another matter
