"""What a test does with a Neovim, whichever screen it has."""

from __future__ import annotations

import re
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any, TypeVar

from tests.e2e.grid import Frame
from tests.e2e.rpc import Client, GoneError, NeovimError
from tests.e2e.sandbox import Sandbox

T = TypeVar("T")

PATIENCE = 60  # seconds; a test that fails takes that long, one that passes never does
ERROR = re.compile(r"\bE\d+:|Error (executing|detected|in)|stack traceback|Traceback")


class BlockedError(Exception):
    """Neovim waits for a key, as after ``f`` or at a hit-enter prompt, and answers nothing."""


_GUARD = """
  local guard = require('winnow.guard')
  guard.pause = ...
  for i = 1, math.huge do
    local name = debug.getupvalue(guard.allows, i)
    if not name then
      return
    elseif name == 'refused' then
      debug.setupvalue(guard.allows, i, 0)
    end
  end
"""


_LINE = """
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    if line:find(..., 1, true) then
      return line
    end
  end
"""


class Neovim(ABC):
    """A running Neovim and the folders that it lives in."""

    def __init__(self, sandbox: Sandbox, cols: int = 80, rows: int = 24) -> None:
        self.sandbox = sandbox
        self.cols = cols
        self.rows = rows
        self.start()

    # --- its life ---------------------------------------------------------------------------

    def start(self, *args: str) -> None:
        """Start it, or start it again with the same folders, with ``args`` as files to edit."""
        self.process, self._client = self._launch(self.sandbox.argv(*args))
        self.guard(0)

    def guard(self, milliseconds: int = 300) -> None:
        """How long something must be on the screen before a key can be about it.

        What was pressed before is forgotten: no press that comes goes on with a refused one.
        """
        self.lua(_GUARD, milliseconds)

    def configure(self, **options: object) -> None:
        """Give the plugin these options, for chats to come, and when Neovim is started again."""
        self.sandbox.options |= options
        self.lua("vim.g.winnow = ...", self.sandbox.options)

    def quit(self) -> None:
        """End it as ``:qall!`` does.

        Raises:
            AssertionError: it didn't end; it is killed.
        """
        try:
            self.dismiss()
            self._client.send("nvim_command", "qall!")
        except GoneError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            report = self.report()
            self.kill()
            raise AssertionError(f"Neovim didn't quit\n{report}") from None
        self._disconnect()

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        self.process.kill()
        self.process.wait()
        self._disconnect()

    def restart(self, *args: str) -> None:
        """Quit and start again."""
        self.quit()
        self.start(*args)

    def close(self) -> None:
        """End it and see that nothing of it stays behind.

        Raises:
            AssertionError: a process did not end by itself.
        """
        try:
            if self.process.returncode is None:
                self.quit()
        finally:
            self.sandbox.close()

    @abstractmethod
    def _launch(self, argv: list[str]) -> tuple[subprocess.Popen[bytes], Client]:
        """Start the process and connect to it."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Release what `_launch` opened; the process has ended."""

    # --- what a user does and sees ------------------------------------------------------------

    @abstractmethod
    def keys(self, keys: str) -> None:
        """Type keys, named as in mappings: ``dd<CR>``."""

    @abstractmethod
    def screen(self) -> Frame:
        """The rows of the screen, as drawn."""

    @abstractmethod
    def frames(self) -> list[Frame]:
        """The latest screens, oldest first."""

    @abstractmethod
    def resize(self, cols: int, rows: int) -> None:
        """Give the screen another size."""

    def was_shown(self, text: str) -> bool:
        """Whether a row of any screen so far held ``text``."""
        return any(text in row for frame in self.frames() for row in frame)

    # --- what only a test does ----------------------------------------------------------------

    def request(self, method: str, *args: Any, timeout: float = PATIENCE) -> Any:
        """Call an API function.

        Raises:
            BlockedError: Neovim waits for a key.
            NeovimError: the call failed.
            TimeoutError: it took longer than ``timeout`` seconds.
        """
        answer = self._client.send(method, *args)
        deadline = time.monotonic() + timeout
        while not wait([answer], 0.05).done:
            if self._stuck():
                raise BlockedError(f"{method}: Neovim waits for a key\n{self._drawn()}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"no answer to {method} in {timeout:g} s\n{self._drawn()}")
        return answer.result()

    def lua(self, code: str, *args: Any) -> Any:
        """Run a chunk of Lua, which finds ``args`` in ``...``."""
        return self.request("nvim_exec_lua", code, args)

    def command(self, command: str) -> None:
        """Run an Ex command; what it prints goes to the screen and to `messages`."""
        self.request("nvim_command", command)

    def lines(self) -> list[str]:
        """The lines of the current buffer."""
        lines: list[str] = self.request("nvim_buf_get_lines", 0, 0, -1, True)
        return lines

    def text(self) -> str:
        """The current buffer as one string."""
        return "\n".join(self.lines())

    def line(self) -> str:
        """The line under the cursor."""
        line: str = self.request("nvim_get_current_line")
        return line

    def cursor(self) -> tuple[int, int]:
        """Line, from 1, and byte column, from 0."""
        line, column = self.request("nvim_win_get_cursor", 0)
        return line, column

    def mode(self) -> str:
        """The mode, as ``mode(1)`` names it; known even when Neovim waits for a key."""
        mode: str = self._client.request("nvim_get_mode")["mode"]
        return mode

    def blocking(self) -> bool:
        """Whether Neovim waits for a key and serves no request."""
        blocking: bool = self._client.request("nvim_get_mode")["blocking"]
        return blocking

    def dismiss(self) -> None:
        """Leave whatever prompt or half-typed command there is."""
        while self._stuck():
            self._client.request("nvim_input", "<C-c>")

    def messages(self) -> str:
        """What ``:messages`` shows."""
        messages: str = self.request("nvim_exec2", "messages", {"output": True})["output"]
        return messages

    def assert_no_errors(self) -> None:
        """Fail if an error was shown, now or earlier."""
        self.dismiss()
        messages = self.messages()
        assert not ERROR.search(messages), f"errors in :messages\n{messages}\n{self.report()}"

    def wait(self, condition: Callable[[], T | None], what: str, timeout: float = PATIENCE) -> T:
        """Return the first true value of ``condition``.

        Raises:
            AssertionError: none came within ``timeout`` seconds; tells what is there instead.
        """
        deadline = time.monotonic() + timeout
        while True:
            try:
                if value := condition():
                    return value
            except BlockedError:
                pass  # whoever waits may be waiting for just this to end
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {timeout:g} s for {what}\n{self.report()}")
            time.sleep(0.02)

    def wait_line(self, text: str, timeout: float = PATIENCE) -> str:
        """Wait for a line of the current buffer that contains ``text``, and return it."""
        what = f"a line with {text!r}"
        line: str = self.wait(lambda: self.lua(_LINE, text), what, timeout)
        return line

    def wait_gone(self, text: str, timeout: float = PATIENCE) -> None:
        """Wait until no line of the current buffer contains ``text``."""
        self.wait(lambda: text not in self.text(), f"no line with {text!r}", timeout)

    def wait_screen(self, text: str, timeout: float = PATIENCE) -> None:
        """Wait until a row of the screen contains ``text``."""
        self.wait(lambda: any(text in row for row in self.screen()), f"{text!r} on screen", timeout)

    def report(self) -> str:
        """Everything that tells why a test failed."""
        parts = {"screen": self._drawn()}
        for ask in (self.mode, self.text, self.messages):
            parts[ask.__name__] = self._told(ask)
        parts["logs"] = self.sandbox.logs()
        parts["processes"] = "\n".join(map(str, self.sandbox.processes().items()))
        return "\n".join(f"--- {name}\n{part}" for name, part in parts.items())

    def _told(self, ask: Callable[[], str]) -> str:
        try:
            return ask()
        except (BlockedError, GoneError, NeovimError, TimeoutError) as error:
            return f"unknown: {error!r:.100}"

    def _stuck(self) -> bool:
        """Whether Neovim waits for a key although it has seen every key sent so far."""
        # The first answer may be from before it looked at them, the next can't.
        return self.blocking() and self.blocking()

    def _drawn(self) -> str:
        """The last screen, in a frame; asks Neovim nothing."""
        frame = next(iter(self.frames()[-1:]), ())
        width = max(map(len, frame), default=0)
        return "\n".join(f"│{row:<{width}}│" for row in frame)
