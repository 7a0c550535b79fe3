"""The composition root: wires the adapters into the app and runs it in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import logging.handlers
import os
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pynvim

from winnow import __version__, ports
from winnow.adapters import credentials
from winnow.adapters.editor import NvimEditor
from winnow.adapters.store import SqliteStore
from winnow.app.chats import Chats
from winnow.core.protocol import Event

log = logging.getLogger(__name__)

TOUR = Path(__file__).parent / "scenarios" / "tour.json"


class Settings(msgspec.Struct, frozen=True):
    """What Lua tells the host when it starts it; see ``lua/winnow/host.lua``."""

    state: str  # folder for the log and the database
    agent: str = "claude"  # for chats that name none: "claude", "scripted" or "auto"
    cli_path: str = ""
    scenario: str = ""
    pace: float = 0.02  # seconds between two pieces of scripted text


class WallClock:
    """The clock port over the system's."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()


class Host:
    """The agent side of one Neovim. Called from pynvim's thread; all work is on the loop's."""

    def __init__(self, nvim: pynvim.Nvim, settings: dict[str, Any]) -> None:
        self._settings = msgspec.convert(settings, Settings)
        _log_to(Path(self._settings.state) / "winnow.log")
        self._loop = asyncio.new_event_loop()
        self._chats: Chats | None = None
        self._nvim = nvim
        self._started = threading.Event()
        # A daemon: Neovim's exit must not wait for agents; they end with their stdin.
        threading.Thread(target=self._run, name="winnow", daemon=True).start()

    def handle(self, event: dict[str, Any]) -> None:
        """Take one event from Lua; returns at once."""
        decoded = msgspec.convert(event, Event)
        self._loop.call_soon_threadsafe(self._dispatch, decoded)

    def about(self) -> dict[str, str]:
        """What ``:checkhealth`` wants to know of the host."""
        found = credentials.find(os.environ, Path.home())
        return {"version": __version__, "credentials": found.kind if found else ""}

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _dispatch(self, event: Event) -> None:
        if self._chats is None:
            store = SqliteStore(Path(self._settings.state) / "winnow.db")
            editor = NvimEditor(self._nvim, self._loop)
            self._chats = Chats(self._make_agent, editor, store, WallClock())
            # Two seconds of import, while the user types their first message.
            self._loop.run_in_executor(None, _import_claude)
        self._chats.handle(event)

    def _make_agent(self, spec: ports.AgentSpec, ask: ports.Ask) -> ports.Agent:
        raise NotImplementedError


def _import_claude() -> None:
    from winnow.adapters import claude  # noqa: F401
