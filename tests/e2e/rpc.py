"""Neovim's msgpack-rpc.

Not pynvim: a request of it can't time out, so a test that runs into a prompt would hang, and the
redraw events come only between requests, so what is on the screen of a blocked Neovim is unseen.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import msgpack  # type: ignore[import-untyped]


class NeovimError(Exception):
    """Neovim answered a request with an error."""


class GoneError(Exception):
    """Neovim closed the connection."""


class Client:
    """One connection.

    Args:
        read: returns the next bytes, or none at the end.
        write: sends all of its bytes.
        on_redraw: is called in the reader's thread.
    """

    def __init__(
        self,
        read: Callable[[], bytes],
        write: Callable[[bytes], object],
        on_redraw: Callable[[list[Any]], None] = lambda events: None,
    ) -> None:
        self._read = read
        self._write = write
        self._on_redraw = on_redraw
        self._ids = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._gone = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def send(self, method: str, *args: Any) -> Future[Any]:
        """Send a request, whose answer may never come: Neovim may wait for a key."""
        answer: Future[Any] = Future()
        with self._lock:
            if self._gone:
                raise GoneError(method)
            number = next(self._ids)
            self._waiting[number] = answer
            try:
                self._write(msgpack.packb([0, number, method, args]))
            except OSError as error:
                raise GoneError(method) from error
        return answer

    def request(self, method: str, *args: Any, timeout: float = 10) -> Any:
        """Send a request and wait for its answer.

        Raises:
            TimeoutError: no answer came.
            NeovimError: the answer is an error.
            GoneError: there will be no answer.
        """
        answer = self.send(method, *args)
        if not wait([answer], timeout).done:
            raise TimeoutError(f"no answer to {method} in {timeout:g} s")
        return answer.result()

    def join(self) -> None:
        """Return when the connection is closed and all that came through it is handled."""
        self._thread.join()

    def _listen(self) -> None:
        unpacker = msgpack.Unpacker(
            unicode_errors="surrogateescape",
            ext_hook=lambda code, data: msgpack.unpackb(data),  # buffers, windows: their numbers
        )
        while chunk := self._next():
            unpacker.feed(chunk)
            for message in unpacker:
                match message:
                    case [1, number, None, result]:
                        self._waiting.pop(number).set_result(result)
                    case [1, number, error, _]:
                        self._waiting.pop(number).set_exception(NeovimError(error[1]))
                    case [2, "redraw", events]:
                        self._on_redraw(events)
        with self._lock:
            self._gone = True
        for answer in self._waiting.values():
            answer.set_exception(GoneError())

    def _next(self) -> bytes:
        try:
            return self._read()
        except OSError:
            return b""
