"""How long a key takes in a real Neovim, for benchmarks."""

from __future__ import annotations

import statistics
import time

from tests.e2e.editor import Editor


def typed(editor: Editor, keys: int) -> list[float]:
    """Milliseconds from each of so many keys until it is drawn; in Insert mode."""
    took = []
    for _ in range(keys):
        began = time.perf_counter()
        editor.request("nvim_input", "x")
        editor.lua("vim.cmd.redraw()")
        took.append((time.perf_counter() - began) * 1000)
        time.sleep(0.01)
    return took


def ninety_ninth(took: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(took, n=100)[98]
