"""What host and Neovim have in memory: with five chats, and how it grows with the text."""

from __future__ import annotations

from tests.bench.figures import Section
from tests.bench.world import Desk, desk
from tests.endurance.load import resident

memory = Section("memory", desk)

CHATS = 5
STREAMS = 20  # of a hundred thousand characters
SIZE = "return vim.api.nvim_buf_get_offset(0, vim.api.nvim_buf_line_count(0))"
# The C library keeps some of what was given back to it, now more, now less.
COLLECT = """
collectgarbage() collectgarbage()
local ffi = require('ffi')
pcall(ffi.cdef, 'int malloc_trim(size_t);')
pcall(function() ffi.C.malloc_trim(0) end)
"""


def _host(desk: Desk) -> int:
    running = desk.sandbox.processes().items()
    return next(process for process, command in running if "start_host" in command)


def _stream(desk: Desk, times: int) -> float:
    """Let it come; how many million characters came."""
    before = desk.lua(SIZE)
    for _ in range(times):
        desk.keys("GAstream<Esc><CR>")
        desk.wait_state("working")
        desk.wait_state("idle")
    desk.lua(COLLECT)
    return float(desk.lua(SIZE) - before) / 1e6


@memory.figure(100, "MB")
def chats(desk: Desk) -> float:
    """The host, with five chats that have been spoken in"""
    for number in range(CHATS):
        desk.keys((":tab Winnow new<CR>" if number else "") + "GArest<Esc><CR>")
        desk.wait(lambda: "rest\n\n## Claude" in desk.text(), "the message")
        desk.wait_state("idle")
    return resident(_host(desk))


@memory.figure(0.5, "MB")
def host(desk: Desk) -> float:
    """Its growth with each million characters that come"""
    _stream(desk, 2)
    before = resident(_host(desk))
    came = _stream(desk, STREAMS)
    return (resident(_host(desk)) - before) / came


@memory.figure(3, "MB")
def neovim(desk: Desk) -> float:
    """Neovim's, which has them in a buffer"""
    desk.lua(COLLECT)
    before = resident(desk.process.pid)
    came = _stream(desk, STREAMS)
    return (resident(desk.process.pid) - before) / came
