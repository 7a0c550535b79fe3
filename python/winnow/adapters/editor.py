"""Neovim as the editor port: effects go out in order, joined, one Lua call at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pynvim

from winnow.protocol import ChatMessage, Effect, Freeze, Notify, Write

log = logging.getLogger(__name__)

FRAME = 1 / 30  # seconds between two writes of streamed text
UNSHOWN = "A part of a chat could not be shown; :Winnow log says why."
_APPLY = "require('winnow.dispatch').apply(...)"


class NvimEditor:
    """Queues effects on the agent loop and hands them to pynvim's thread.

    At most one call is under way: while Neovim waits for a key it answers nothing, and then all
    that came meanwhile goes out as one call instead of thousands.

    Attributes:
        settled: is waited for before a record is shown: what is seen as decided is on disk, also
            for a host that is killed right then.
    """

    def __init__(self, nvim: pynvim.Nvim, loop: asyncio.AbstractEventLoop) -> None:
        self._nvim = nvim
        self._loop = loop
        self._pending: list[Effect] = []
        self._texts: dict[int, list[str]] = {}  # by chat: the pieces of its last pending Write
        self._urgent = asyncio.Event()
        self._flushing: asyncio.Task[None] | None = None
        self.settled: Callable[[], Awaitable[object]] | None = None

    def apply(self, *effects: Effect) -> None:
        """Queue effects. Streamed text waits for the next frame, anything else does not."""
        for effect in effects:
            match effect:
                case Write(chat=chat, text=text, fresh=False) if chat in self._texts:
                    self._texts[chat].append(text)
                    continue
                case Write(chat=chat, text=text):
                    self._seal(chat)
                    self._texts[chat] = [text]
                    # Its text is joined from the pieces when the batch goes out.
                    self._pending.append(effect)
                case _:
                    if isinstance(effect, ChatMessage):
                        self._seal(effect.chat)
                    self._pending.append(effect)
                    self._urgent.set()
        if self._pending and self._flushing is None:
            self._flushing = self._loop.create_task(self._flush())

    def _seal(self, chat: int) -> None:
        """Later text of this chat must not join a Write that is now followed by something else."""
        pieces = self._texts.pop(chat, None)
        if pieces is None:
            return
        for i in range(len(self._pending) - 1, -1, -1):
            effect = self._pending[i]
            if isinstance(effect, Write) and effect.chat == chat:
                self._pending[i] = Write(chat, "".join(pieces), effect.fresh)
                return

    async def _flush(self) -> None:
        try:
            while self._pending:
                for chat in list(self._texts):
                    self._seal(chat)
                batch, self._pending = self._pending, []
                self._urgent.clear()
                if self.settled and any(isinstance(effect, Freeze) for effect in batch):
                    await self.settled()
                sent: asyncio.Future[None] = self._loop.create_future()
                self._nvim.async_call(self._send, msgspec.to_builtins(batch), sent)
                await sent
                try:  # the rest of the frame, unless something comes that can't wait
                    await asyncio.wait_for(self._urgent.wait(), FRAME)
                except asyncio.TimeoutError:
                    pass
        finally:
            self._flushing = None

    def _send(self, batch: list[dict[str, Any]], sent: asyncio.Future[None]) -> None:
        """On pynvim's thread, in a greenlet of its own: may wait for Neovim."""
        try:
            self._pass(batch)
        finally:
            self._loop.call_soon_threadsafe(_finish, sent)

    def _pass(self, batch: list[dict[str, Any]]) -> None:
        try:
            self._nvim.exec_lua(_APPLY, batch)
        except ValueError:  # one of them can't be encoded, so none was sent
            if len(batch) > 1:
                for effect in batch:
                    self._pass([effect])
            else:
                log.exception("%s can't reach Neovim", batch[0]["type"])
                self._loop.call_soon_threadsafe(self.apply, Notify(UNSHOWN, "error"))
        except Exception:  # whatever it is, the next batch goes out
            log.exception("a batch did not reach Neovim")


def _finish(sent: asyncio.Future[None]) -> None:
    if not sent.done():
        sent.set_result(None)
