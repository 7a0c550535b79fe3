"""Which agents there are, and how one is made: of Claude's, only when it is needed."""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from winnow import ports
from winnow.adapters.claude import credentials, sdk
from winnow.adapters.scripted import ScriptedAgent

TOUR = Path(__file__).parent / "scenarios" / "tour.json"


class Chosen(msgspec.Struct, frozen=True):
    """What the user has chosen about agents."""

    kind: str = "claude"  # for chats that name none: "claude", "scripted" or "auto"
    cli_path: str = ""
    cli_patience: float = 30  # seconds for the CLI to start, twice
    scenario: str = ""
    pace: float = 0.02  # seconds between two pieces of scripted text
    trash: str = ""  # folder of what was deleted


class Agents:
    """Makes agents, on the loop's thread."""

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._ending = False
        self._claude: asyncio.Future[Any] | None = None  # the room that knows the SDK

    def end(self) -> None:
        """No agent starts any more: nobody would end it."""
        self._ending = True

    def kill(self, patience: float) -> None:
        """End those that still run, within so many seconds. Nobody hears of it any more."""
        if self._claude is not None and self._claude.done() and not self._claude.exception():
            self._claude.result().private.end_all(patience)

    async def make(self, spec: ports.AgentSpec, ask: ports.Ask) -> ports.Agent:
        """See `ports.MakeAgent`."""
        kind, name = await asyncio.shield(_in_thread(lambda: self._which(spec.kind)))
        if kind == "scripted":
            scenario = Path(self._chosen.scenario or TOUR)
            return ScriptedAgent(spec, ask, scenario, self._chosen.pace, name=name)
        claude = await self._imported()
        cli, patience = self._chosen.cli_path, self._chosen.cli_patience
        agent: ports.Agent = claude.ClaudeAgent(
            spec, ask, cli_path=cli, start_patience=patience, name=name
        )
        return agent

    async def make_querier(self, cwd: str, model: str) -> ports.Querier:
        """See `ports.MakeQuerier`."""
        key = await asyncio.shield(_in_thread(lambda: credentials.api_key(os.environ, Path.home())))
        await self._imported()
        client = importlib.import_module("winnow.adapters.claude.client")
        model = "" if model == "default" else model
        made: ports.Querier = client.Client(key, cwd, cli_path=self._chosen.cli_path, model=model)
        return made

    async def make_sessions(self) -> ports.Sessions:
        """See `ports.MakeSessions`."""
        await self._imported()
        room = importlib.import_module("winnow.adapters.claude.sessions")
        made: ports.Sessions = room.ClaudeSessions(Path(self._chosen.trash))
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

    def prepare(self, asked: str) -> None:
        """Two seconds of import while the user types their first message; none for the demo."""
        if self._claude is None:
            loop = asyncio.get_running_loop()

            def look() -> None:
                if self._which(asked)[0] == "claude":
                    loop.call_soon_threadsafe(self._importing)

            _in_thread(look)

    def _which(self, asked: str) -> tuple[str, str]:
        """The kind of agent that a chat gets, and its name for the top of the chat."""
        kind = asked or self._chosen.kind
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
        sdk.load()
        module = importlib.import_module("winnow.adapters.claude.agent")
        gc.freeze()  # all that stays, now that it is there: to look through it takes 50 ms
    finally:
        gc.enable()
    return module
