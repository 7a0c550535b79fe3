"""The pynvim plugin: takes events from Lua and hands them to the host, which lives in a thread.

Only pynvim and the standard library are imported here, so that the process answers at once and a
missing package can be told in one sentence.
"""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pynvim

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
if TYPE_CHECKING:
    from winnow.host import Host


@pynvim.plugin
class WinnowHost:
    """One for each Neovim; pynvim makes it at the first notification."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._host: Host | None = None
        nvim.async_call(_outlive_signals)  # when pynvim's loop runs

    @pynvim.rpc_export("winnow")  # type: ignore[untyped-decorator]
    def winnow(self, event: object = None, *_: object) -> None:
        """Something happened in Neovim. What is wrong with it, the host says."""
        try:
            host = self._running()
        except Exception as error:  # noqa: BLE001  whatever it is, the user must read it
            sentence = f"{type(error).__name__}: {error}"
            self._nvim.exec_lua(
                "require('winnow.host').broken(...)",
                sentence,
                traceback.format_exc(),
                async_=True,
            )
        else:
            host.handle(event)

    @pynvim.rpc_export("winnow_about", sync=True)  # type: ignore[untyped-decorator]
    def about(self) -> dict[str, str]:
        """What ``:checkhealth`` asks."""
        return self._running().about()

    def _running(self) -> Host:
        if self._host is None:
            from winnow.host import Host  # noqa: PLC0415  may fail, and then handle() says so

            self._host = Host(self._nvim, json.loads(sys.argv[-1]))
            gc.freeze()  # what stays, now that it is there
            gc.enable()  # see BOOT in ``lua/winnow/host.lua``
            self._nvim.exec_lua("require('winnow.host').hear()", async_=True)
        return self._host


def _outlive_signals() -> None:
    """End as told, and not at once: what is still to be kept must be.

    At its end pynvim gives SIGTERM back to Python, which dies of it, and Neovim sends it just then.
    """
    loop = asyncio.get_running_loop()
    loop.remove_signal_handler(signal.SIGTERM)  # so that pynvim does not, at its end

    def stop(_signal: int, _frame: FrameType | None) -> None:
        with suppress(RuntimeError):  # it is closed
            loop.call_soon_threadsafe(loop.stop)

    signal.signal(signal.SIGTERM, stop)
