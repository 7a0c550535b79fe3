"""What goes wrong on real machines; ``make soak`` has more of it, see `tests.endurance`."""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.e2e.sandbox import Sandbox
from tests.e2e.steps import draft, wait_idle
from tests.e2e.terminal import Terminal
from tests.endurance.day import day
from tests.endurance.load import load


@pytest.mark.parametrize(
    ("agent", "seed", "rounds"), [("scripted", "627", 7), ("claude", "209", 3)]
)
def test_nothing_is_lost_on_such_a_day(tmp_path: Path, agent: str, seed: str, rounds: int) -> None:
    """In ten rounds all that can go wrong does, once or more."""
    with day(tmp_path, seed, agent) as today:
        for number in range(1, rounds + 1):
            today.round(number)


def test_many_at_once(tmp_path: Path) -> None:
    """Everything arrives, in order, once; ``make soak`` has ten minutes of more of them."""
    with load(tmp_path, seconds=1, chats=5, workers=3) as everybody:
        everybody.play(seconds=1)


class Slow(Terminal):
    """A terminal behind a line that takes a moment for a few bytes."""

    slow = False

    def _output(self) -> bytes:
        if self.slow:
            time.sleep(0.05)
        with suppress(OSError):  # the other side is closed
            return os.read(self._pty, 256 if self.slow else 1 << 16)
        return b""

    def _read(self) -> None:
        while output := self._output():
            with self._lock:
                self._stream.feed(self._understood(output))
                self._commit()


def test_a_slow_terminal_slows_nothing_else(tmp_path: Path, closing: ExitStack) -> None:
    """What comes is in the chat long before it is drawn; what is typed meanwhile is, too."""
    sandbox = Sandbox(tmp_path, {"agent": "scripted", "scenario": str(tmp_path / "scenario.json")})
    text = "\n".join(f"line-{number}-{'x' * 60}" for number in range(60))
    steps = [{"type": "say", "text": text}, {"type": "say", "text": "\n\nThe end."}]
    sandbox.scenario.write_text(json.dumps({"turns": [steps]}))
    terminal = Slow(sandbox, 100, 40)
    closing.callback(terminal.close)
    terminal.keys(":Winnow<CR>")
    wait_idle(terminal)
    terminal.slow = True
    terminal.keys("AHi<Esc><CR>")
    terminal.wait_line("line-9-")
    terminal.keys("AAnd more<Esc>")
    terminal.wait_line("The end.")
    terminal.wait(lambda: draft(terminal) == "And more", "what was typed")
    assert not any("The end." in row for row in terminal.screen())
    terminal.slow = False
    terminal.wait_screen("The end.")
    terminal.wait_screen("And more")
    terminal.assert_no_errors()
