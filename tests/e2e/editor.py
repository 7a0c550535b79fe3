"""A Neovim without a terminal: fast, and in step with the test."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import Any

from tests.e2e.grid import Frame, Grid
from tests.e2e.neovim import BlockedError, Neovim
from tests.e2e.rpc import Client


class Editor(Neovim):
    """``nvim --embed`` with a UI attached, so that it draws and prompts as for a user."""

    def _launch(self, argv: list[str]) -> tuple[subprocess.Popen[bytes], Client]:
        self._grid = Grid(self.cols, self.rows)
        with self.sandbox.stderr.open("ab") as stderr:
            process = subprocess.Popen(
                [argv[0], "--embed", *argv[1:]],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=self.sandbox.project,
                env=self.sandbox.env,
                start_new_session=True,  # Ctrl-C in the terminal that runs the tests is ours
            )
        assert process.stdin
        assert process.stdout
        output = process.stdout.fileno()
        client = Client(lambda: os.read(output, 1 << 16), process.stdin.write, self._grid.redraw)
        # Neovim reads its configuration only when a UI is there.
        client.request("nvim_ui_attach", self.cols, self.rows, {"ext_linegrid": True, "rgb": True})
        return process, client

    def _disconnect(self) -> None:
        self._client.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()

    def keys(self, keys: str) -> None:
        """Type keys, and return when Neovim has acted on them or waits for more."""
        rest = keys.encode()
        while rest:
            taken = self._client.request("nvim_input", rest.decode())
            self.settle()
            rest = rest[taken:]

    def settle(self) -> None:
        """Return when typed keys and what they have scheduled are done."""
        if self._stuck():
            return
        # Neovim serves a request only when no typed key is left, and what runs before it may
        # schedule more: the second request stands behind that.
        with contextlib.suppress(BlockedError):
            self.request("nvim_eval", "0")
            self.request("nvim_eval", "0")

    def screen(self) -> Frame:
        """The rows of the screen, drawn to the end unless Neovim waits for a key."""
        with contextlib.suppress(BlockedError):
            # Unlike :redraw, leaves pending messages alone; unlike :redraw!, draws nothing that
            # wasn't due to be drawn.
            self.request("nvim__redraw", {"flush": True})
        return self._grid.frame

    def drawn(self) -> Frame:
        """The rows of the screen as Neovim drew them last; asks it nothing."""
        return self._grid.frame

    def frames(self) -> list[Frame]:
        """The latest screens, oldest first."""
        return list(self._grid.frames)

    def forget(self) -> None:
        """Forget the screens so far."""
        self._grid.frames.clear()

    def style(self, text: str) -> dict[str, Any]:
        """How ``text`` looks on the screen: ``foreground``, ``bold``, ``strikethrough``…"""
        self.screen()
        return self._grid.style(text)

    def resize(self, cols: int, rows: int) -> None:
        """Give the screen another size."""
        self.cols, self.rows = cols, rows
        self._client.request("nvim_ui_try_resize", cols, rows)
        self.settle()
