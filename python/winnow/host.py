"""The composition root: wires the adapters into the app and runs it in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import gc
import importlib
import logging
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from winnow import __version__, ports
from winnow.adapters import log as log_file
from winnow.adapters.claude import credentials
from winnow.adapters.claude.projects import DiskProjects
from winnow.adapters.editor import NvimEditor
from winnow.adapters.files import DiskFiles, DiskTemplates
from winnow.adapters.scripted import ScriptedAgent
from winnow.adapters.store import SqliteStore
from winnow.app.chats import Chats
from winnow.app.session import FAILED
from winnow.core.ledger import ledger
from winnow.core.ledger.ledger import Decision
from winnow.protocol import Event, Notify, Open

log = logging.getLogger(__name__)

# How a child finds the editor that it runs in: who can talk to Neovim can press the user's keys.
# TMUX and the like stay: what the user has allowed to run finds them anyway, and needs them.
_EDITOR = ("NVIM", "NVIM_LISTEN_ADDRESS", "VIM_SERVERNAME")

LAST = 2.0  # seconds, twice, for what is still to be done when Neovim is gone
GARBLED = "The host did not understand Neovim; try :Winnow restart, or see :Winnow log."
TOUR = Path(__file__).parent / "scenarios" / "tour.json"


class Settings(msgspec.Struct, frozen=True):
    """What Lua tells the host when it starts it; see ``lua/winnow/host.lua``."""

    state: str  # folder for the log and the database
    agent: str = "claude"  # for chats that name none: "claude", "scripted" or "auto"
    cli_path: str = ""
    cli_patience: float = 30  # seconds for the CLI to start, twice
    scenario: str = ""
    pace: float = 0.02  # seconds between two pieces of scripted text
    replay: str = ""  # file with the answers to give instead of the user
    keep_hours: float = 0  # then questions that were not answered are forgotten; 0: never
    form_hours: float = 24  # for which choices in Claude's text stay open over restarts


class WallClock:
    """The clock port over the system's."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()


class Host:
    """The agent side of one Neovim. Called from pynvim's thread; all work is on the loop's."""

    def __init__(self, nvim: Any, settings: dict[str, Any]) -> None:
        self._settings = msgspec.convert(settings, Settings)
        for name in _EDITOR:
            os.environ.pop(name, None)  # all agents inherit from here
        self._no_log = _start_log(Path(self._settings.state))
        self._loop = asyncio.new_event_loop()
        self._ending = False  # no agent starts any more: nobody would end it
        self._claude: asyncio.Future[Any] | None = None  # the room that knows the SDK
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
        self._ending = True
        with suppress(TimeoutError, concurrent.futures.TimeoutError):
            asyncio.run_coroutine_threadsafe(self._chats.ready(), self._loop).result(LAST)
        self._store.close(LAST)

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
            if isinstance(event, Open) and self._claude is None:
                _in_thread(lambda: self._prepare(event.agent))
        except Exception:  # a bug: say so, and keep the other chats going
            log.exception("event %s", type(event).__name__)
            self._editor.apply(Notify(FAILED, "error"))

    async def _start(self) -> tuple[SqliteStore, Chats]:
        path = Path(self._settings.state) / "winnow.db"
        store = SqliteStore(path, self._tell, self._settings.keep_hours)
        if self._no_log:
            self._editor.apply(Notify(f"There is no log: {self._no_log}.", "warn"))
        world = ports.World(
            self._make_agent,
            self._editor,
            store,
            WallClock(),
            DiskFiles(),
            DiskProjects(os.environ, Path.home()),
            store.decided,
            store.runs,
            self._make_querier,
            store.clarified,
            DiskTemplates(),
            self._settings.form_hours,
            max(2, os.cpu_count() or 2),
            str(Path.home()),
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

    async def _make_agent(self, spec: ports.AgentSpec, ask: ports.Ask) -> ports.Agent:
        kind, name = await asyncio.shield(_in_thread(lambda: self._which(spec.kind)))
        if kind == "scripted":
            scenario = Path(self._settings.scenario or TOUR)
            return ScriptedAgent(spec, ask, scenario, self._settings.pace, name=name)
        claude = await self._imported()
        cli, patience = self._settings.cli_path, self._settings.cli_patience
        agent: ports.Agent = claude.ClaudeAgent(
            spec, ask, cli_path=cli, start_patience=patience, name=name
        )
        return agent

    async def _make_querier(self, cwd: str, model: str) -> ports.Querier:
        key = await asyncio.shield(_in_thread(lambda: credentials.api_key(os.environ, Path.home())))
        await self._imported()
        client = importlib.import_module("winnow.adapters.claude.client")
        made: ports.Querier = client.Client(
            key, cwd, cli_path=self._settings.cli_path, model="" if model == "default" else model
        )
        return made

    async def _imported(self) -> Any:
        """The room that knows the SDK, as long as there is anybody to work for."""
        try:
            claude = await asyncio.shield(self._importing())
        except ImportError as error:
            sentence = f"{error}: run :checkhealth winnow, which says how to install it."
            raise ports.AgentError(sentence, traceback.format_exc()) from error
        if self._ending:
            await asyncio.Event().wait()
        return claude

    def _prepare(self, asked: str) -> None:
        """Two seconds of import while the user types their first message; none for the demo."""
        if self._which(asked)[0] == "claude":
            self._loop.call_soon_threadsafe(self._importing)

    def _which(self, asked: str) -> tuple[str, str]:
        """The kind of agent that a chat gets, and its name for the top of the chat."""
        kind = asked or self._settings.agent
        if kind != "auto":
            return kind, kind
        if found := credentials.find(os.environ, Path.home()):
            return "claude", f"claude ({found.kind})"
        return "scripted", "scripted (no Claude credentials found)"

    def _importing(self) -> asyncio.Future[Any]:
        """The import that is under way or done; a new one if it failed: it may work by now."""
        if self._claude is None or (self._claude.done() and self._claude.exception()):
            self._claude = _in_thread(_import_claude)
        return self._claude


def _in_thread(work: Callable[[], Any]) -> asyncio.Future[Any]:
    """As an executor does it, but in a daemon: else Python would wait for it to end before us."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  whatever it is, who waits for it must know
            loop.call_soon_threadsafe(future.set_exception, error)
        else:
            loop.call_soon_threadsafe(future.set_result, result)

    threading.Thread(target=run, name="winnow-import", daemon=True).start()
    return future


def _import_claude() -> Any:
    importlib.invalidate_caches()
    gc.disable()  # nothing of it is garbage: to look for some takes a fifth of the time
    try:
        module = importlib.import_module("winnow.adapters.claude.agent")
        gc.freeze()  # all that stays, now that it is there: to look through it takes 50 ms
    finally:
        gc.enable()
    return module


def _start_log(folder: Path) -> str:
    """Make the folder ours alone, and log there; returns why not, or nothing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in (folder, *folder.iterdir()):  # also what an earlier version has left there
            if not path.is_symlink():
                path.chmod(0o700 if path.is_dir() else 0o600)
        log_file.start(folder / "winnow.log")
    except OSError as error:
        return str(error)
    return ""
