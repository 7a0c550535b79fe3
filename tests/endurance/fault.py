"""What goes wrong on a working day."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

from tests.e2e.editor import Editor

HOST, CLI = "pynvim.start_host", "stream-json"
VICTIMS = ("neovim", "neovim", "host", "host", "all", "lock", "disk")
PROCESSES = ("claude", "claude", "one claude", "one claude")  # where agents are processes


class Fault:
    """What happens to whom, how long after the user has begun with something.

    Attributes:
        victim: a program, all of them, or what they share.
        kills: it does not go on.
        struck: it is over.
        killed: these processes.
    """

    def __init__(self, chance: random.Random, victims: tuple[str, ...], longest: float) -> None:
        self.victim = chance.choice(victims)
        self._stops = chance.random() < 0.5
        self.kills = self.victim not in ("all", "lock", "disk") and chance.random() < 0.75
        self._after = chance.uniform(0, longest)
        self._lasts = chance.uniform(0.1, 3 if self.victim == "lock" else 1.5)
        self.struck = threading.Event()
        self.killed: list[int] = []

    def __str__(self) -> str:
        how = ("stops, then kills" if self._stops else "kills") if self.kills else "stops"
        return f"{how} {self.victim} after {self._after:.2f} s, for {self._lasts:.2f} s"

    def strike(self, editor: Editor) -> None:
        """Let it happen; in a thread of its own."""
        time.sleep(self._after)
        try:
            if self.victim == "lock":
                self._lock(editor.sandbox.state / "winnow" / "winnow.db")
            elif self.victim == "disk":
                self._fill([*self._found(editor, HOST), editor.process.pid])
            else:
                self._hit(self._processes(editor))
        finally:
            self.struck.set()

    def _lock(self, file: Path) -> None:
        # There may be no store yet, or somebody who writes.
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(file)) as db:
            db.execute("BEGIN EXCLUSIVE")
            time.sleep(self._lasts)

    def _fill(self, processes: list[int]) -> None:
        for size in (0, resource.RLIM_INFINITY):
            for process in processes:
                with suppress(ProcessLookupError):
                    limit = (size, resource.RLIM_INFINITY)
                    resource.prlimit(process, resource.RLIMIT_FSIZE, limit)
            if size == 0:
                time.sleep(self._lasts)

    def _hit(self, processes: list[int]) -> None:
        if self._stops or not self.kills:
            _tell(processes, signal.SIGSTOP)
            time.sleep(self._lasts)
        self.killed = processes if self.kills else []
        _tell(processes, signal.SIGKILL if self.kills else signal.SIGCONT)

    def _processes(self, editor: Editor) -> list[int]:
        match self.victim:
            case "neovim":
                return [editor.process.pid]
            case "all":
                return list(editor.sandbox.processes())
            case "host":
                return self._found(editor, HOST)
            case "one claude":
                return self._found(editor, CLI)[-1:]
        return self._found(editor, CLI)

    def _found(self, editor: Editor, program: str) -> list[int]:
        running = editor.sandbox.processes().items()
        return [process for process, command in running if program in command]


def _tell(processes: list[int], number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)
