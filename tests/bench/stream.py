"""What text costs that streams into a chat in sight, and what it costs to open a long chat."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.cli import CHUNKS, PIECES, SECONDS
from tests.bench.figures import Section
from tests.bench.world import Desk, desk, now, on_screen, scratch, used

stream = Section("stream", desk)
opening = Section("open", desk, rounds=3)

LONG = 100_000  # lines
FRAME = 1 / 30  # seconds
CALM = 0.5  # seconds without work

# In processor time, of which Neovim uses none elsewhere meanwhile: the agent and the host compete
# for the machine's cores.
COUNT = """
local dispatch = require('winnow.dispatch')
local apply = dispatch.apply
_G.spent = 0
dispatch.apply = function(...)
  local began = os.clock()
  apply(...)
  _G.spent = _G.spent + os.clock() - began
end
"""
END = "return table.concat(vim.api.nvim_buf_get_lines(0, -12, -1, false), '\\n')"
APPEND = """
local last = vim.api.nvim_buf_line_count(0) - 1
local column = #vim.api.nvim_buf_get_lines(0, last, -1, true)[1]
vim.api.nvim_buf_set_text(0, last, column, last, column, vim.split(..., '\\n'))
vim.cmd.normal({ 'G', bang = true })
"""
HEAD = """\
---
winnow: 1
cwd: {cwd}
model: default
mode: default
agent: claude
session:
---
"""
MESSAGE = """
## You

What is in line {0}, and *why*?

## Claude

It is `line {0}`, as **all** of them are: see [the file](src/line.py) for more.

- One thing that is said of it
- Another one, with `code` in it

```python
def line_{0}(value: int) -> int:
    return value + {0}
```
"""


def _bare(lines: int) -> Callable[[Desk], float]:
    def measure(desk: Desk) -> float:
        """a bare append of plain text, joined by 1/30 s"""
        with scratch(desk, lines):
            before, began, sent = used(desk), time.monotonic(), 0
            while sent < PIECES * SECONDS:
                time.sleep(FRAME)
                due = min(PIECES * SECONDS, int((time.monotonic() - began) * PIECES))
                words = ("word " if i % 20 else "line\n" for i in range(sent, due))
                desk.lua(APPEND, "".join(words))
                sent = due
            desk.screen()
            return (used(desk) - before) * 1000 / sent

    return measure


def _turn(desk: Desk) -> tuple[float, float]:
    """Neovim's time for a piece that streams, in microseconds, and for the turn around all of them.

    What comes of a piece is included: that it is drawn, highlighted, looked at by autocommands.
    """
    desk.wait_state("idle")
    time.sleep(CALM)
    before = used(desk)
    desk.keys("iwhile<Esc><CR>")
    desk.wait(lambda: "## Claude\n\nword" in desk.lua(END), "the first piece")
    began, start = used(desk), time.monotonic()
    time.sleep(SECONDS * 2 / 3)
    piece = (used(desk) - began) / (time.monotonic() - start) / PIECES
    desk.wait_state("idle")
    time.sleep(CALM)
    return piece * 1000, used(desk) - before - piece * PIECES * SECONDS


def _chat(desk: Desk, lines: int) -> Path:
    """A chat of so many lines, as a file."""
    messages = lines // (MESSAGE.count("\n"))
    text = "".join(MESSAGE.format(number) for number in range(messages))
    folder = desk.sandbox.data / "winnow/chats"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"20200101-0000{len(list(folder.glob('2020*'))):02}-long.md"
    head = HEAD.format(cwd=desk.sandbox.project)
    path.write_text(f"{head}{text}\n## You\n\n")
    path.chmod(0o600)
    return path


def _open(desk: Desk, path: Path) -> None:
    desk.keys(f":edit {path}<CR>")
    desk.keys("G")


@stream.figure(30, "µs", floor=_bare(1))
def in_an_empty_chat(desk: Desk) -> float:
    """A streamed piece, drawn, in an empty chat: Neovim's time"""
    return _turn(desk)[0]


@stream.figure(30, "µs", floor=_bare(10_000))
def in_a_long_chat(desk: Desk) -> float:
    """A streamed piece, drawn, in a chat of 10,000 lines"""
    _open(desk, _chat(desk, 10_000))
    return _turn(desk)[0]


@stream.figure(30, "µs", floor=_bare(LONG))
def in_a_very_long_chat(desk: Desk) -> float:
    """A streamed piece, drawn, in a chat of 100,000 lines"""
    _open(desk, _chat(desk, LONG))
    return _turn(desk)[0]


@stream.figure()
def turn(desk: Desk) -> float:
    """A turn in a chat of 100,000 lines, but for its pieces: Neovim's time"""
    _open(desk, _chat(desk, LONG))
    return _turn(desk)[1]


@stream.figure(2, "µs")
def at_once(desk: Desk) -> float:
    """A piece of 20,000 that come at once: Neovim's time"""
    desk.keys(":Winnow new<CR>")
    desk.wait_state("idle")
    desk.lua(COUNT)
    desk.keys("istream<Esc><CR>")
    line = "word " * 19 + "line"
    desk.wait(lambda: desk.lines().count(line) == CHUNKS // 20 - 1, "the whole stream")
    return float(desk.lua("return _G.spent")) * 1e6 / CHUNKS


# --- opening ----------------------------------------------------------------------------------


def _host(desk: Desk) -> float:
    """Milliseconds of processor time that the host has used."""
    (host,) = (id for id, line in desk.sandbox.processes().items() if "start_host" in line)
    threads = Path(f"/proc/{host}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6


def _until_calm(desk: Desk, act: Callable[[], object], spent: Callable[[Desk], float]) -> float:
    """Milliseconds of processor time from an act until nothing comes of it any more."""
    before = spent(desk)
    act()
    last, since = -1.0, now()
    while now() - since < CALM * 1000:
        time.sleep(0.1)
        if (found := spent(desk)) > last + 3:
            last, since = found, now()
    return last - before


def _opened(desk: Desk, lines: int, spent: Callable[[Desk], float]) -> float:
    path = _chat(desk, lines)
    return _until_calm(desk, lambda: desk.keys(f":edit {path}<CR>"), spent)


def plain(desk: Desk) -> float:
    """a bare :edit of as much text, drawn"""
    path = desk.sandbox.project / "long.txt"
    path.write_text(_chat(desk, LONG).read_text().replace("What is", "Who is"))
    return _until_calm(desk, lambda: desk.keys(f":edit {path}<CR>"), used)


def empty(desk: Desk) -> float:
    """one of 20 lines"""
    return _opened(desk, 20, _host)


@opening.figure(200, floor=plain)
def shown(desk: Desk) -> float:
    """A chat of 100,000 lines opens: until it is drawn"""
    path = _chat(desk, LONG)
    began = now()
    desk.request("nvim_input", f":edit {path}<CR>")
    return on_screen(desk, "What is in line") - began


@opening.figure(200, floor=plain)
def opened(desk: Desk) -> float:
    """A chat of 100,000 lines opens: all of Neovim's time"""
    return _opened(desk, LONG, used)


@opening.figure(floor=empty)
def told(desk: Desk) -> float:
    """A chat of 100,000 lines opens: all of the host's time"""
    return _opened(desk, LONG, _host)
