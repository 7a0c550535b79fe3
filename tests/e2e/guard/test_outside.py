"""Only the user's own keys answer: nothing that comes over RPC from outside."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest

from tests.api import ScriptedAPI
from tests.e2e.editor import Editor
from tests.e2e.guard.pressing import (
    LOOP,
    PAUSE,
    answered,
    asked,
    busy,
    look,
    made,
    press,
    tap,
    touch,
)
from tests.e2e.neovim import Neovim
from tests.e2e.steps import wait_idle
from tests.e2e.terminal import Terminal
from tests.soaking import first


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


class Program:
    """One that speaks to Neovim, and stays connected."""

    def __init__(self, neovim: Neovim) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(neovim.lua("return vim.v.servername"))

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def tell(self, method: str, *args: Any) -> None:
        self._socket.sendall(msgpack.packb([2, method, args]))


ONCE = {"<CR>": "<CR>", "a command": ":Winnow allow<CR>", "later": ":sleep 1<CR>:Winnow allow<CR>"}


@pytest.mark.parametrize("keys", first(1, ONCE.values()), ids=ONCE)
@pytest.mark.parametrize(
    "code",
    ["started()", "started() " + LOOP.format(0.5), "started() vim.wait(500)"],
    ids=["idle", "busy", "waiting"],
)
def test_one_that_is_gone_at_once_grants_nothing(
    claude: Editor, api: ScriptedAPI, code: str, keys: str
) -> None:
    """It has gone when its keys are read."""
    asked(claude, api, touch())
    for _ in range(2):
        busy(claude, code)
        with Program(claude) as program:
            program.tell("nvim_input", keys)
        time.sleep(2)
    assert not made(claude).exists()
    assert not answered(claude)


def test_keys_of_another_connection_grant_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """One that opened since this was asked, as long as it is there; the user can end it."""
    asked(claude, api, touch())
    with Program(claude) as program:
        for _ in range(3):
            time.sleep(1.2)
            program.tell("nvim_input", "<CR>")
        assert not answered(claude)
        assert not made(claude).exists()
        press(claude, "<CR>")
        (end,) = set(re.findall(r":call chanclose\(\d+\)", claude.messages()))
        claude.keys(f"{end}<CR>")
        time.sleep(1.2)
        press(claude, "<CR>", "<CR>")
        claude.wait_line("So be it.")


def test_no_connection_raises_the_mode(claude: Editor, api: ScriptedAPI) -> None:
    """Whether anything is asked or not."""
    wait_idle(claude)
    with Program(claude) as program:
        time.sleep(1.2)
        program.tell("nvim_input", ":Winnow mode acceptEdits<CR>")
        claude.wait(lambda: "Ignored: " in claude.messages(), "a word about it")
    time.sleep(1.2)
    for mode in ("plan", "default"):  # as the next test is to find it
        claude.keys(f":Winnow mode {mode}<CR>")
        shown = f"return require('winnow.registry').current().mode == '{mode}'"
        claude.wait(partial(claude.lua, shown), "the mode")


WAITS = {
    "an operator": "d",
    "one command": "i<C-o>",
    "Terminal mode": ":belowright 3split | terminal cat<CR>iabc",
    "Lua": ":lua vim.wait(2500)<CR>",
}


@pytest.mark.parametrize("keys", WAITS.values(), ids=WAITS)
def test_what_comes_while_neovim_waits_is_not_the_users(
    claude: Editor, api: ScriptedAPI, keys: str
) -> None:
    """Also not if it was connected before, and the user has just typed."""
    with Program(claude) as program:
        time.sleep(1.2)
        asked(claude, api, touch())
        tap(claude, keys, every=1)
        program.tell("nvim_command", "Winnow allow")
        time.sleep(2)
        claude.keys("<C-Bslash><C-n>")
        assert not made(claude).exists()
        assert "only your own keys answer, no program" in claude.messages()
    claude.command("silent! bwipeout! term://*")


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
    terminal.keys("iHi<Esc>")
    terminal.wait(lambda: terminal.mode() == "n", "Normal mode")
    terminal.keys("<CR>")
    look(terminal)
    terminal.keys("dd")
    terminal.wait_screen("keep one of 2")
    terminal.keys("dd<CR>")
    terminal.wait(lambda: terminal.line().startswith("Auth"), "the next question")
    with second_terminal(terminal) as keys:
        terminal.wait(lambda: terminal.lua("return #vim.api.nvim_list_uis()") == 2, "the other")
        time.sleep(PAUSE)
        keys(b"dd")
        terminal.wait_screen("Features → Logging, Payments, Search")
        keys(b"\r")
        terminal.wait(lambda: terminal.line().startswith("━━"), "the review")
        time.sleep(PAUSE)
        keys(b"\r")
        terminal.wait_line("✓")


@contextmanager
def second_terminal(terminal: Terminal) -> Iterator[Callable[[bytes], object]]:
    """Another one for the same Neovim; what types there."""
    ours, theirs = os.openpty()
    address = terminal.lua("return vim.v.servername")
    command = [terminal.sandbox.argv()[0], "--server", address, "--remote-ui"]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=terminal.sandbox.env
    )
    os.close(theirs)
    reader = threading.Thread(target=_drain, args=(ours,), daemon=True)
    reader.start()
    try:
        yield lambda keys: os.write(ours, keys)
    finally:
        process.kill()
        process.wait()
        reader.join()
        os.close(ours)


def _drain(terminal: int) -> None:
    with suppress(OSError):  # how Linux says that the other side is closed
        while os.read(terminal, 1 << 16):
            pass
