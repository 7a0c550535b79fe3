"""What a run of many agents costs, measured in a real Neovim: ``python -m tests.bench_runs``.

Everything is real but the agents, which are scripted. Times are of the wall, but where it says so.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

from winnow.adapters.store import SqliteStore
from winnow.core.run import events as e
from winnow.core.run.transcript import Role, RunTurn
from winnow.core.transcript.entries import Called, Entry, Returned, Said, Told

from tests import bench_keys
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox

TASKS = 999  # in one run, as many as there may be; one line more is the run's own
TURNS = 10_000
WORKERS = 50
KEYS = 300
RUN = "abcdefgh"

IDLE = "return require('winnow.registry').current().state == 'idle'"
OPEN_BOARD = """
local dispatch = require('winnow.dispatch').effects
local listed = dispatch.listed
_G.took = nil
local began = vim.uv.hrtime()
dispatch.listed = function(...)
  listed(...)
  vim.cmd.redraw()
  _G.took = _G.took or (vim.uv.hrtime() - began) / 1e6
end
vim.cmd('Winnow board')
"""
REDRAW = """
local board = require('winnow.views.list').get('board')
local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr('winnow://board'), 0, -1, false)
local took = {}
for i = 1, 50 do
  local row = 2 + (i * 37) % (#lines - 2)
  local changed = vim.deepcopy(lines)
  changed[row] = changed[row]:gsub('ready', 'running: step ' .. i, 1)
  local began = vim.uv.hrtime()
  board:show(changed)
  vim.cmd.redraw()
  table.insert(took, (vim.uv.hrtime() - began) / 1e6)
end
return took
"""
OPEN_TASK = """
local transcript = require('winnow.chat.transcript')
local whole = transcript.whole
_G.took = nil
local began = vim.uv.hrtime()
transcript.whole = function(...)
  whole(...)
  vim.cmd.redraw()
  _G.took = (vim.uv.hrtime() - began) / 1e6
end
require('winnow.views.task').open('%s', 't1')
"""


def _fill(path: Path) -> float:
    """A store with a large run and a long transcript; milliseconds that an event took."""

    async def fill() -> float:
        store = SqliteStore(path, lambda *_: None)
        await store.save(e.RunStarted(time.time(), RUN, "/chat.md", "/", "A large run"))
        took = []
        for number in range(1, TASKS + 1):
            made = e.TaskCreated(time.time(), RUN, f"t{number}", f"Task {number}", "Do it.")
            began = time.perf_counter()
            await store.save(made)
            took.append((time.perf_counter() - began) * 1000)
        turns: list[RunTurn] = []
        for number in range(TURNS // 4):
            entries: tuple[Entry, ...] = (
                Told("Go on, please."),
                Said("I look at the **next** file."),
                Called(f"c{number}", "Read", {"file_path": "/src/cart.py"}),
                Returned(f"c{number}", "one\ntwo\nthree"),
            )
            for at, entry in enumerate(entries):
                role: Role = "orchestrator" if at == 0 else "agent"
                turns.append(RunTurn(RUN, "t1", len(turns), role, entry, time.time()))
        await store.save(*turns)
        store.close(30)
        return statistics.median(took)

    return asyncio.run(fill())


def _large(root: Path) -> None:
    sandbox = Sandbox(root, {"agent": "scripted"})
    state = Path(sandbox.env["XDG_STATE_HOME"], "nvim", "winnow")
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    _row("an event, until it is on disk", _fill(state / "winnow.db"), 1, "ms")
    editor = Editor(sandbox)
    try:
        editor.keys(":Winnow<CR>")  # the host is up
        editor.wait(lambda: editor.lua(IDLE), "the host")
        editor.lua(OPEN_BOARD)
        took = editor.wait(lambda: editor.lua("return _G.took"), "the board")
        _row(f"a board of {TASKS} tasks opens", took, 50, "ms")
        _row("a change is drawn", statistics.median(editor.lua(REDRAW)), 5, "ms")
        editor.lua(OPEN_TASK % RUN)
        took = editor.wait(lambda: editor.lua("return _G.took"), "the transcript", 60)
        _row(f"a transcript of {TURNS} turns opens", took, 100, "ms")
    finally:
        editor.close()


def _busy(root: Path) -> None:
    titles = [f"W{number}" for number in range(WORKERS)]
    tasks = [{"title": title, "prompt": "Talk."} for title in titles]
    talk = {"type": "say", "text": "word " * 4000}
    turns = [[{"type": "call", "name": "create_tasks", "input": {"tasks": tasks}}]]
    scenario = {"turns": turns, "workers": {title: {"turns": [[talk]]} for title in titles}}
    root.mkdir()
    (root / "busy.json").write_text(json.dumps(scenario))
    options = {"agent": "scripted", "scenario": str(root / "busy.json"), "run_workers": WORKERS}
    sandbox = Sandbox(root / "editor", {**options, "pace": 0.02})
    editor = Editor(sandbox)
    try:
        editor.keys(":Winnow run Talk<CR>")
        editor.keys(":tab Winnow board<CR>")
        count = "return vim.api.nvim_buf_line_count(vim.fn.bufnr('winnow://board'))"
        editor.wait(lambda: editor.lua(count) > WORKERS, f"{WORKERS} workers")
        editor.keys(":tabnew<CR>i")
        p99 = bench_keys.ninety_ninth(bench_keys.typed(editor, KEYS))
        _row(f"a key beside {WORKERS} workers, 99th percentile", p99, 16, "ms")
    finally:
        editor.close()


def _row(what: str, figure: float, target: float, unit: str) -> None:
    print(f"{what:50} {figure:8.2f} {unit} (target {target})", flush=True)  # noqa: T201


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        _large(Path(folder, "large"))
        _busy(Path(folder, "busy"))
