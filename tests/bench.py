"""What a user waits for, measured in a real Neovim and printed as a table: ``make bench``.

The agent is ``bench_cli.py``, which only keeps time; between it and the screen everything is real.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench_cli import CHUNKS, FILE, content
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox

RUNS = 7

OPEN = """
local began = vim.uv.hrtime()
vim.cmd.Winnow()
vim.cmd.redraw()
assert(vim.bo.modifiable)
return (vim.uv.hrtime() - began) / 1e6
"""
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


class Bench:
    """One Neovim with a fresh home, and the times that the agent notes."""

    def __init__(self, root: Path) -> None:
        cli = root / "claude"
        cli.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).parent}/bench_cli.py" "$@"\n'
        )
        cli.chmod(0o755)
        self._times = root / "times"
        env = {"WINNOW_BENCH": str(self._times)}
        self.sandbox = Sandbox(root, {"agent": "claude", "cli_path": str(cli)}, env)
        (self.sandbox.project / FILE).write_text(content("old"))
        self.editor = Editor(self.sandbox)

    def noted(self, name: str) -> float:
        """When the agent noted this, in milliseconds; waits until it has."""

        def found() -> float | None:
            times = dict(line.split() for line in self._times.read_text().splitlines())
            return float(times[name]) / 1e6 if name in times else None

        return self.editor.wait(found, f"the time of {name}")

    def start_up(self) -> float:
        """Milliseconds that sourcing the plugin takes at Neovim's start."""
        log = self.sandbox.root / "startuptime"
        command = [*self.sandbox.argv("--headless", "--startuptime", str(log), "+qall")]
        subprocess.run(command, env=self.sandbox.env, check=True, stdin=subprocess.DEVNULL)
        found = re.search(r"([\d.]+): sourcing \S*plugin/winnow.lua", log.read_text())
        assert found
        return float(found[1])

    def first_chat(self) -> float:
        """Milliseconds until the first ``:Winnow`` shows a draft that can be edited."""
        took = self.editor.lua(OPEN)
        assert isinstance(took, float)
        return took

    def question(self) -> tuple[float, float]:
        """Milliseconds from request to screen, and from ``<CR>`` to reply."""
        editor = self.editor
        editor.keys("iask me<Esc><CR>")
        shown = self._awaited(lambda: any("keep one of 3" in row for row in editor._grid.frame))
        asked = self.noted("asked:AskUserQuestion")
        editor.keys("dd")
        editor.keys("dd")
        editor.wait_screen("━━ C ━━")
        pressed = time.monotonic_ns() / 1e6
        editor.keys("<CR>")
        editor.wait_line("Selected: C")
        return shown - asked, self.noted("answered") - pressed

    def patch(self) -> float:
        """Milliseconds from request to screen."""
        editor = self.editor
        editor.wait(lambda: self._state() == "idle", "the end of the turn before")
        editor.keys("ipatch<Esc><CR>")
        shown = self._awaited(lambda: any("━━ Patch" in row for row in editor._grid.frame))
        asked = self.noted("asked:Write")
        editor.keys(":Winnow deny<CR>")
        editor.wait_line("Denied: Write")
        return shown - asked

    def stream(self) -> float:
        """Microseconds of Neovim's main thread for each streamed chunk."""
        editor = self.editor
        editor.wait(lambda: self._state() == "idle", "the end of the turn before")
        editor.lua(COUNT)
        editor.keys("istream<Esc><CR>")
        line = "word " * 19 + "line"
        whole = CHUNKS // 20 - 1
        editor.wait(lambda: editor.lines().count(line) == whole, "the whole stream", 60)
        spent = editor.lua("return _G.spent")
        return float(spent) * 1e6 / CHUNKS

    def _state(self) -> object:
        return self.editor.lua("return require('winnow.registry').current().state")

    @staticmethod
    def _awaited(condition: Callable[[], bool]) -> float:
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline, "the section never came"
            time.sleep(0.0005)
        return time.monotonic_ns() / 1e6


def main() -> None:
    rows: dict[str, list[float]] = {}
    targets = {
        "plugin's share of Neovim's start-up": (0.5, "ms"),
        "first :Winnow to an editable draft, host cold": (50, "ms"),
        "request on the CLI's stdout to question on screen": (20, "ms"),
        "<CR> to reply on the CLI's stdin": (10, "ms"),
        "patch of 10,000 lines: request to screen": (100, "ms"),
        "main thread for each of 20,000 streamed chunks": (2, "µs"),
    }
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as root:
            bench = Bench(Path(root))
            figures = [
                bench.start_up(),
                bench.first_chat(),
                *bench.question(),
                bench.patch(),
                bench.stream(),
            ]
            bench.editor.assert_no_errors()
            bench.editor.close()
        for name, figure in zip(targets, figures, strict=True):
            rows.setdefault(name, []).append(figure)
    print(f"| {'what':51} | target | median | {'min – max':>17} |")
    print(f"| {'-' * 51} | -----: | -----: | {'-' * 16}: |")
    for name, (target, unit) in targets.items():
        figures = rows[name]
        spread = f"{min(figures):.2f} – {max(figures):.2f} {unit}"
        print(
            f"| {name:51} | {target:>3} {unit} | {statistics.median(figures):6.2f} | {spread:>17} |"
        )


if __name__ == "__main__":
    main()
