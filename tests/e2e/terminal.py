"""A Neovim in a real pseudo-terminal, for what only a terminal can show."""

from __future__ import annotations

import fcntl
import os
import re
import select
import socket
import struct
import subprocess
import termios
import threading
import time
from collections import deque

import pyte
from pyte.screens import Char

from tests.e2e.grid import Frame
from tests.e2e.neovim import Neovim
from tests.e2e.rpc import Client
from tests.e2e.sandbox import Sandbox

SEQUENCE = re.compile(
    rb"\x1b(?:P.*?\x1b\\|\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-OQ-Z\\^-~])",
    re.DOTALL,
)
"""A complete control sequence: DCS, OSC, CSI, or a short one."""

UNKNOWN_TO_PYTE = re.compile(rb"\x1b(?:P.*|\[[<=>].*|\[\?.*[$u].*|\[[0-9;]*:[0-9:;]*m)", re.DOTALL)
"""Sequences that pyte would print, or take for others: ``CSI > 4 ; 0 m`` for underline."""

BACKGROUND = {"dark": b"0000/0000/0000", "light": b"ffff/ffff/ffff"}

NAMED = {
    "cr": b"\r",
    # As a terminal with the kitty keyboard protocol sends it. A bare ESC is Alt when another
    # key follows within 'ttimeoutlen'; who wants to test that types "\x1b".
    "esc": b"\x1b[27u",
    "tab": b"\t",
    "bs": b"\x7f",
    "space": b" ",
    "lt": b"<",
    "up": b"\x1bOA",
    "down": b"\x1bOB",
    "right": b"\x1bOC",
    "left": b"\x1bOD",
}


def encode(keys: str) -> bytes:
    """What a terminal sends for ``keys``: ``dd<CR>``, ``<C-w>v``."""

    def one(match: re.Match[str]) -> str:
        name = match[1].lower()
        if name.startswith("c-"):
            return chr(ord(name[2]) & 0x1F)
        return NAMED[name].decode()

    return re.sub(r"<(c-.|[a-z]+)>", one, keys, flags=re.IGNORECASE).encode()


class Terminal(Neovim):
    """Neovim's own terminal UI, drawn into memory.

    Args:
        background: "dark" or "light", which is what the terminal says when Neovim asks.
    """

    def __init__(
        self, sandbox: Sandbox, cols: int = 80, rows: int = 24, background: str = "dark"
    ) -> None:
        self.background = background
        super().__init__(sandbox, cols, rows)

    def _launch(self, argv: list[str]) -> tuple[subprocess.Popen[bytes], Client]:
        self._display = pyte.Screen(self.cols, self.rows)
        self._stream = pyte.ByteStream(self._display)
        self._held = b""
        self._rows = [""] * self.rows
        self._frames: deque[Frame] = deque(maxlen=2000)
        self._lock = threading.Lock()
        self._pty, theirs = os.openpty()
        self._set_size()
        address = str(self.sandbox.runtime / "nvim.sock")
        tty = os.ttyname(theirs)
        listening = ["sh", argv[0], "--listen", address, *argv[1:]]
        process = subprocess.Popen(
            # A session leader that opens a terminal gets it as its own, and so hears of resizes.
            ["sh", "-c", f'exec "$@" <{tty} >{tty} 2>&1', *listening],
            cwd=self.sandbox.project,
            env=self.sandbox.env,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._socket = self._connect(address)
        client = Client(lambda: self._socket.recv(1 << 16), self._socket.sendall)
        self._entered(client)
        os.close(theirs)  # not earlier: with nobody on the other side, reading ends
        return process, client

    @staticmethod
    def _entered(client: Client) -> None:
        """It listens before it has read its configuration; or something may keep it from that."""
        deadline = time.monotonic() + 10
        while not client.request("nvim_eval", "v:vim_did_enter") and time.monotonic() < deadline:
            time.sleep(0.01)

    def _connect(self, address: str) -> socket.socket:
        deadline = time.monotonic() + 10
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(address)
                return connection
            except OSError:
                connection.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _disconnect(self) -> None:
        self._socket.close()
        self._client.join()
        self._reader.join()
        os.close(self._pty)

    def keys(self, keys: str) -> None:
        """Type keys into the terminal; wait for what they do, they are on their way only."""
        os.write(self._pty, encode(keys))

    def screen(self) -> Frame:
        """The rows of the terminal as they are now."""
        with self._lock:
            return tuple(self._rows)

    def frames(self) -> list[Frame]:
        """The latest screens, oldest first."""
        with self._lock:
            return list(self._frames)

    def cell(self, text: str) -> Char:
        """The first cell of ``text``: ``fg`` and ``bg`` as ``rrggbb``, ``bold``…

        Raises:
            ValueError: it isn't on the screen.
        """
        with self._lock:
            for number, row in enumerate(self._rows):
                if text in row:
                    cells = self._display.buffer[number]
                    before, column = row.index(text), 0
                    while before > 0:
                        before -= len(cells[column].data)
                        column += 1
                    return cells[column]
        raise ValueError(f"{text!r} is not on the screen")

    def resize(self, cols: int, rows: int) -> None:
        """Give the terminal another size."""
        with self._lock:
            self.cols, self.rows = cols, rows
            self._display.resize(rows, cols)
            self._rows = [""] * rows
            self._display.dirty.update(range(rows))
            self._set_size()

    def _set_size(self) -> None:
        fcntl.ioctl(self._pty, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.cols, 0, 0))

    def _read(self) -> None:
        while output := self._output():
            # What Neovim wrote in one go may come in pieces: no half frames.
            while select.select([self._pty], [], [], 0)[0] and (more := self._output()):
                output += more
            with self._lock:
                self._stream.feed(self._understood(output))
                self._commit()

    def _output(self) -> bytes:
        try:
            return os.read(self._pty, 1 << 16)
        except OSError:  # how Linux says that the other side is closed
            return b""

    def _understood(self, output: bytes) -> bytes:
        """Answer the queries in ``output`` and leave what pyte can draw."""
        output, self._held = self._held + output, b""
        shown, start = [], 0
        while (escape := output.find(b"\x1b", start)) >= 0:
            shown.append(output[start:escape])
            sequence = SEQUENCE.match(output, escape)
            if not sequence:
                self._held = output[escape:]
                return b"".join(shown)
            if sequence[0] == b"\x1b[c":
                os.write(self._pty, b"\x1b[?62;22c")
            elif sequence[0].startswith(b"\x1b]11;?"):
                os.write(self._pty, b"\x1b]11;rgb:" + BACKGROUND[self.background] + b"\x1b\\")
            elif not UNKNOWN_TO_PYTE.fullmatch(sequence[0]):
                shown.append(sequence[0])
            start = sequence.end()
        return b"".join([*shown, output[start:]])

    def _commit(self) -> None:
        for row in self._display.dirty:
            if row < self.rows:
                cells = self._display.buffer[row]
                self._rows[row] = "".join(cells[col].data for col in range(self.cols)).rstrip()
        self._display.dirty.clear()
        frame = tuple(self._rows)
        if not self._frames or frame != self._frames[-1]:
            self._frames.append(frame)
