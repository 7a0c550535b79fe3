"""What a key costs beside many chats that work: of the wall, until it is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.bench.figures import Section
from tests.bench.world import Desk, desk, scratch, typed

KEYS = 300
TARGET = 16
STREAMS = 10
CHATS = 20
STATES = """
local found = {}
for _, chat in ipairs(require('winnow.registry').all()) do
  found[chat.state] = (found[chat.state] or 0) + 1
end
return found[...] or 0
"""
SHOW = """
local here, other = unpack(vim.api.nvim_tabpage_list_wins(0))
local words = ...
local chat = vim.iter(require('winnow.registry').all()):find(function(chat)
  local text = table.concat(chat:lines(0, 40), '\\n')
  return chat.state == 'working' and text:find(words, 1, true)
end)
vim.api.nvim_win_set_buf(here, chat.buf)
vim.api.nvim_win_call(here, function()
  vim.cmd.normal({ 'G', bang = true })
end)
vim.api.nvim_set_current_win(other)
vim.cmd.normal({ 'G', bang = true })
"""
BYTES = """
local all = 0
for _, chat in ipairs(require('winnow.registry').all()) do
  all = all + vim.api.nvim_buf_get_offset(chat.buf, vim.api.nvim_buf_line_count(chat.buf))
end
return all
"""


class Crowd:
    """A chat, others beside it that work, and what a key took before there were any."""

    def __init__(self, editor: Desk, prompts: Sequence[str]) -> None:
        self.editor = editor
        with scratch(editor, 1):
            self.bare = typed(editor, KEYS)
        self.idle = typed(editor, KEYS)
        for prompt in prompts:
            editor.keys(f":tab Winnow new<CR>A{prompt}<Esc><CR>")
        self._wait("idle", 1 + prompts.count("rest"))
        self._wait("working", len(prompts) - prompts.count("rest"))
        self.began, self._bytes = time.monotonic(), self._count()
        editor.keys(":tabfirst<CR>G")

    def show(self, words: str) -> None:
        """Have a chat in sight that works and says these words."""
        if self.editor.lua("return #vim.api.nvim_tabpage_list_wins(0)") == 1:
            self.editor.keys(":vertical split<CR>")
        self.editor.lua(SHOW, words)

    def rate(self) -> float:
        """Pieces that have come, a second."""
        return (self._count() - self._bytes) / 5 / (time.monotonic() - self.began)

    def _wait(self, state: str, count: int) -> None:
        self.editor.wait(lambda: self.editor.lua(STATES, state) == count, state, 120)

    def _count(self) -> int:
        return int(self.editor.lua(BYTES))


def _beside(*prompts: str) -> Callable[[Path], AbstractContextManager[Crowd]]:
    @contextmanager
    def world(root: Path) -> Iterator[Crowd]:
        with desk(root) as editor:
            yield Crowd(editor, prompts)

    return world


streams = Section("crowd", _beside(*["flow"] * STREAMS))
mixed = Section("crowd", _beside("agents", "flow", "flow", *["rest"] * (CHATS - 4)))


def bare(crowd: Crowd) -> float:
    """a key in a plain buffer, nothing streaming"""
    return crowd.bare


def idle(crowd: Crowd) -> float:
    """a key in a chat that is alone"""
    return crowd.idle


@streams.figure(TARGET, floor=bare)
def alone(crowd: Crowd) -> float:
    """A key in a chat that is alone, 99th percentile"""
    return crowd.idle


@streams.figure(TARGET, floor=idle)
def beside_streams(crowd: Crowd) -> float:
    """A key beside 10 streams of 2,000 pieces a second each"""
    return typed(crowd.editor, KEYS)


@streams.figure(unit="1/s")
def came(crowd: Crowd) -> float:
    """Pieces that came meanwhile, of 20,000 a second"""
    return crowd.rate()


@mixed.figure(TARGET, floor=idle)
def beside_many(crowd: Crowd) -> float:
    """A key beside 20 chats: 2 streams, 30 subagents"""
    return typed(crowd.editor, KEYS)


@mixed.figure(TARGET, floor=idle)
def agents_in_sight(crowd: Crowd) -> float:
    """A key beside 20 chats, the subagents in sight"""
    crowd.show("▸ Agent")
    return typed(crowd.editor, KEYS)


@mixed.figure(TARGET, floor=idle)
def stream_in_sight(crowd: Crowd) -> float:
    """A key beside 20 chats, a stream in sight"""
    crowd.show("word")
    return typed(crowd.editor, KEYS)
