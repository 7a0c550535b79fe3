"""What a run of many agents costs: all is real but the agents, which are scripted."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from winnow.adapters.store import SqliteStore
from winnow.core.run import events as e
from winnow.core.run.transcript import Role, RunTurn
from winnow.core.transcript.entries import Called, Entry, Returned, Said, Told

from tests.bench import world
from tests.bench.figures import Section
from tests.bench.world import scratch, typed
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox

TASKS = 999  # in one run, as many as there may be; one line more is the run's own
TURNS = 10_000
WORKERS = 50
KEYS = 300
RUN = "abcdefgh"

IDLE = "return require('winnow.registry').current().state == 'idle'"
LINES = """
local began = vim.uv.hrtime()
vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.fn['repeat']({ ('word '):rep(8) }, ...))
vim.cmd.redraw()
return (vim.uv.hrtime() - began) / 1e6
"""
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


class Large:
    """A Neovim with a large run in its store."""

    def __init__(self, root: Path) -> None:
        sandbox = Sandbox(root, {"agent": "scripted"})
        state = Path(sandbox.env["XDG_STATE_HOME"], "nvim", "winnow")
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.saved = _fill(state / "winnow.db")
        self.editor = Editor(sandbox)
        self.editor.keys(":Winnow<CR>")  # the host is up
        self.editor.wait(lambda: self.editor.lua(IDLE), "the host")

    def took(self, code: str) -> float:
        """Have something opened that says how long it took."""
        self.editor.lua(code)
        return float(self.editor.wait(lambda: self.editor.lua("return _G.took"), "it"))


@contextmanager
def large(root: Path) -> Iterator[Large]:
    found = Large(root)
    try:
        yield found
        found.editor.assert_no_errors()
    finally:
        found.editor.close()


@contextmanager
def busy(root: Path) -> Iterator[Editor]:
    """Workers that talk, each in its own task."""
    titles = [f"W{number}" for number in range(WORKERS)]
    tasks = [{"title": title, "prompt": "Talk."} for title in titles]
    talk = {"type": "say", "text": "word " * 4000}
    turns = [[{"type": "call", "name": "create_tasks", "input": {"tasks": tasks}}]]
    scenario = {"turns": turns, "workers": {title: {"turns": [[talk]]} for title in titles}}
    (root / "busy.json").write_text(json.dumps(scenario))
    options = {"agent": "scripted", "scenario": str(root / "busy.json"), "run_workers": WORKERS}
    with world.editor(root / "editor", {**options, "pace": 0.02}, {}) as editor:
        yield editor


stored = Section("runs", large)
workers = Section("runs", busy)


def committed(large: Large) -> list[float]:
    """a bare commit of SQLite, with a log"""
    took = []
    with closing(sqlite3.connect(large.editor.sandbox.root / "bare.db")) as database:
        database.executescript("pragma journal_mode = wal; pragma synchronous = normal")
        database.execute("create table event (text)")
        for _ in range(100):
            began = time.perf_counter()
            with database:
                database.execute("insert into event values (?)", ["x" * 100])
            took.append((time.perf_counter() - began) * 1000)
    return took


def lines(large: Large) -> float:
    """as many lines in a plain buffer, drawn"""
    with scratch(large.editor, 1):
        return float(large.editor.lua(LINES, TASKS))


def key(editor: Editor) -> float:
    """a key in a plain buffer, nothing running"""
    with scratch(editor, 1):
        return typed(editor, KEYS)


@stored.figure(1, floor=committed)
def event(large: Large) -> float:
    """An event of a run, until it is on disk"""
    return large.saved


@stored.figure(50, floor=lines)
def board(large: Large) -> float:
    """A board of 999 tasks opens"""
    return large.took(OPEN_BOARD)


@stored.figure(5)
def change(large: Large) -> list[float]:
    """A change of the board is drawn"""
    found: list[float] = large.editor.lua(REDRAW)
    return found


@stored.figure(100, floor=lines)
def transcript(large: Large) -> float:
    """A transcript of 10,000 turns opens, its end first"""
    return large.took(OPEN_TASK % RUN)


@workers.figure(16, floor=key)
def beside(editor: Editor) -> float:
    """A key beside 50 workers, 99th percentile"""
    editor.keys(":Winnow run Talk<CR>")
    editor.keys(":tab Winnow board<CR>")
    count = "return vim.api.nvim_buf_line_count(vim.fn.bufnr('winnow://board'))"
    editor.wait(lambda: editor.lua(count) > WORKERS, f"{WORKERS} workers")
    editor.keys(":tabnew<CR>")
    return typed(editor, KEYS)
