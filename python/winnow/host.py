"""The composition root: wires the adapters into the app and runs it in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import logging
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from winnow import __version__, ports
from winnow.adapters import log as log_file
from winnow.adapters.claude import credentials
from winnow.adapters.claude.projects import DiskProjects
from winnow.adapters.claude.subagents import DiskSubagents
from winnow.adapters.clock import WallClock
from winnow.adapters.editor import NvimEditor
from winnow.adapters.files import DiskFiles, DiskTemplates, private_folder
from winnow.adapters.git.worktrees import GitWorktrees
from winnow.adapters.library import DiskLibrary
from winnow.adapters.past.pasts import Pasts
from winnow.adapters.store import SqliteStore
from winnow.agents import Agents, Chosen
from winnow.app.chats import Chats
from winnow.app.session import FAILED
from winnow.core.ledger import ledger
from winnow.core.ledger.ledger import Decision
from winnow.protocol import Event, Notify, Open

log = logging.getLogger(__name__)

# How a child finds the editor that it runs in: who can talk to Neovim can press the user's keys.
# TMUX and the like stay: what the user has allowed to run finds them anyway, and needs them.
_EDITOR = ("NVIM", "NVIM_LISTEN_ADDRESS", "VIM_SERVERNAME")

LAST = 2.0  # seconds, three times, for what is still to be done when Neovim is gone
GARBLED = "The host did not understand Neovim; try :Winnow restart, or see :Winnow log."


class Settings(msgspec.Struct, frozen=True):
    """What Lua tells the host when it starts it; see ``lua/winnow/host.lua``."""

    state: str  # folder for the log and the database
    trees: str = ""  # folder for worktrees; empty: in that
    chats: str = ""  # folder of the chats; empty: there are none to list
    trash: str = ""  # folder of those that were deleted
    agent: str = "claude"  # for chats that name none: "claude", "scripted" or "auto"
    cli_path: str = ""
    cli_patience: float = 30  # seconds for the CLI to start, twice
    scenario: str = ""
    pace: float = 0.02  # seconds between two pieces of scripted text
    replay: str = ""  # file with the answers to give instead of the user
    keep_hours: float = 0  # then questions that were not answered are forgotten; 0: never
    form_hours: float = 24  # for which choices in Claude's text stay open over restarts


class Host:
    """The agent side of one Neovim. Called from pynvim's thread; all work is on the loop's."""

    def __init__(self, nvim: Any, settings: dict[str, Any]) -> None:
        self._settings = msgspec.convert(settings, Settings)
        for name in _EDITOR:
            os.environ.pop(name, None)  # all agents inherit from here
        self._no_log = _start_log(Path(self._settings.state))
        self._loop = asyncio.new_event_loop()
        chosen = self._settings
        self._agents = Agents(
            Chosen(
                chosen.agent,
                chosen.cli_path,
                chosen.cli_patience,
                chosen.scenario,
                chosen.pace,
                chosen.trash,
            )
        )
        self._editor = NvimEditor(nvim, self._loop)
        # A daemon: Neovim's exit must not wait for agents; they end with their stdin.
        threading.Thread(target=self._run, name="winnow", daemon=True).start()
        starting = asyncio.run_coroutine_threadsafe(self._start(), self._loop)
        self._store, self._chats = starting.result()
        atexit.register(self._drain)

    def handle(self, event: object) -> None:
        """Take one event from Lua; returns at once. A wrong one is told, and costs nothing else."""
        self._loop.call_soon_threadsafe(self._dispatch, event)

    def about(self) -> dict[str, str]:
        """What ``:checkhealth`` wants to know of the host."""
        found = credentials.find(os.environ, Path.home())
        return {"version": __version__, "credentials": found.kind if found else ""}

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _drain(self) -> None:
        """Neovim is gone, maybe killed: what it said last must still reach the store."""
        # pynvim gives the signal back to Python, which it would end at once; Neovim sends it soon.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._agents.end()
        with suppress(TimeoutError, concurrent.futures.TimeoutError):
            asyncio.run_coroutine_threadsafe(self._chats.ready(), self._loop).result(LAST)
        self._store.close(LAST)
        self._agents.kill(LAST)

    def _dispatch(self, told: object) -> None:
        try:
            event = msgspec.convert(told, Event)
        except msgspec.ValidationError as error:  # it names fields and types, and quotes only tags
            kind = told.get("type") if isinstance(told, dict) else type(told).__name__
            log.error("event %.20r: %s", kind, error)
            self._editor.apply(Notify(GARBLED, "error"))
            return
        try:
            self._chats.handle(event)
            if isinstance(event, Open):
                self._agents.prepare(event.agent)
        except Exception:  # a bug: say so, and keep the other chats going
            log.exception("event %s", type(event).__name__)
            self._editor.apply(Notify(FAILED, "error"))

    async def _start(self) -> tuple[SqliteStore, Chats]:
        path = Path(self._settings.state) / "winnow.db"
        store = SqliteStore(path, self._tell, self._settings.keep_hours)
        self._editor.settled = store.settled
        if self._no_log:
            self._editor.apply(Notify(f"There is no log: {self._no_log}.", "warn"))
        world = ports.World(
            self._agents.make,
            self._editor,
            store,
            WallClock(),
            DiskFiles(),
            DiskProjects(os.environ, Path.home()),
            store.decided,
            store.runs,
            GitWorktrees(Path(self._settings.trees or Path(self._settings.state, "worktrees"))),
            self._agents.make_querier,
            store.clarified,
            DiskTemplates(),
            self._settings.form_hours,
            max(2, os.cpu_count() or 2),
            str(Path.home()),
            DiskSubagents(os.environ),
            DiskLibrary(
                Path(self._settings.chats or self._settings.state),
                Path(self._settings.trash or self._settings.state),
                Path(self._settings.state, "open"),
            ),
            self._agents.make_sessions,
            Pasts(Path(self._settings.state, "past")),
        )
        return store, Chats(world, self._read_replay())

    def _tell(self, sentence: str, well: bool) -> None:
        """From the store's thread: a sentence for the user."""
        said = Notify(sentence, "info" if well else "warn")
        self._loop.call_soon_threadsafe(self._editor.apply, said)

    def _read_replay(self) -> dict[str, Decision] | None:
        if not self._settings.replay:
            return None
        try:
            return ledger.from_json(Path(self._settings.replay).read_bytes())
        except (OSError, msgspec.MsgspecError) as error:
            sentence = f"The replay can't be read, so it answers nothing: {error}."
            self._editor.apply(Notify(sentence, "error"))
            return {}  # the first question fails, and with it a run that nobody watches


def _start_log(folder: Path) -> str:
    """Make the folder ours alone, and log there; returns why not, or nothing."""
    try:
        private_folder(folder)
        for path in (folder, *folder.iterdir()):  # also what an earlier version has left there
            if not path.is_symlink():
                path.chmod(0o700 if path.is_dir() else 0o600)
        log_file.start(folder / "winnow.log")
    except OSError as error:
        return str(error)
    return ""
