"""What figures are measured in, and what several of them have in common."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.cli import FILE, content
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox

USED = """
local used = vim.uv.getrusage()
return (used.utime.sec + used.stime.sec) * 1e3 + (used.utime.usec + used.stime.usec) / 1e3
"""
SCRATCH = """
vim.cmd.tabnew()
vim.bo.buftype, vim.bo.bufhidden, vim.bo.undolevels = 'nofile', 'wipe', -1
local lines = vim.fn['repeat']({ ('word '):rep(19) .. 'line' }, ...)
vim.api.nvim_buf_set_lines(0, 0, -1, true, lines)
vim.cmd.normal({ 'G', bang = true })
"""


class Desk(Editor):
    """A Neovim whose agent is ``cli.py``, and the times that this notes."""

    def __init__(self, root: Path) -> None:
        cli = root / "claude"
        stand_in = Path(__file__).with_name("cli.py")
        cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{stand_in}" "$@"\n')
        cli.chmod(0o755)
        self._times = root / "times"
        options = {"agent": "claude", "cli_path": str(cli)}
        sandbox = Sandbox(root / "editor", options, {"WINNOW_BENCH": str(self._times)})
        (sandbox.project / FILE).write_text(content("old"))
        super().__init__(sandbox)

    def noted(self, name: str) -> float:
        """When the agent noted this, in milliseconds; waits until it has."""

        def found() -> float | None:
            times = dict(line.split() for line in self._times.read_text().splitlines())
            return float(times[name]) / 1e6 if name in times else None

        return self.wait(found, f"the time of {name}")

    def wait_state(self, state: str) -> None:
        """Wait until this is the state of the current chat."""
        asking = "return require('winnow.registry').current().state"
        self.wait(lambda: self.lua(asking) == state, state)


@contextmanager
def desk(root: Path) -> Iterator[Desk]:
    """A chat that is connected."""
    editor = Desk(root)
    try:
        editor.keys(":Winnow<CR>")
        editor.wait_state("idle")
        yield editor
        editor.assert_no_errors()
    finally:
        editor.close()


@contextmanager
def editor(root: Path, options: Mapping[str, Any], env: Mapping[str, str]) -> Iterator[Editor]:
    """A Neovim with these options of the plugin."""
    found = Editor(Sandbox(root, options, env))
    try:
        yield found
        found.assert_no_errors()
    finally:
        found.close()


def now() -> float:
    """Milliseconds, by the clock of ``cli.py`` and of `vim.uv.hrtime()`."""
    return time.monotonic_ns() / 1e6


def on_screen(editor: Editor, text: str) -> float:
    """When a row of the screen held the text, in milliseconds; asks Neovim nothing."""
    deadline = now() + 60_000
    while not any(text in row for row in editor.drawn()):
        assert now() < deadline, f"it never came\n{editor.report()}"
        time.sleep(0.0005)
    return now()


def used(editor: Editor) -> float:
    """Milliseconds of processor time that Neovim has used."""
    return float(editor.lua(USED))


def typed(editor: Editor, keys: int) -> float:
    """Milliseconds from a key in Insert mode until it is drawn: the 99th percentile of so many."""
    editor.keys("i")
    took = []
    for _ in range(keys):
        began = now()
        editor.request("nvim_input", "x")
        editor.lua("vim.cmd.redraw()")
        took.append(now() - began)
        time.sleep(0.01)
    editor.keys("<Esc>cc<Esc>")
    return statistics.quantiles(took, n=100)[98]


@contextmanager
def scratch(editor: Editor, lines: int) -> Iterator[None]:
    """A buffer with so many lines of plain text, in a tab page of its own."""
    editor.lua(SCRATCH, lines)
    editor.screen()
    yield
    editor.lua("vim.cmd.tabclose()")
