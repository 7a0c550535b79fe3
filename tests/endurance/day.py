"""Faults at random moments of a scripted working day: ``make soak``, and a short day in every run.

Each round, the user does one thing: answers a question, at once or late, permits, reads a patch or
a stream, queues messages, writes a draft, leads a run. Somewhere in it Neovim, the host, Claude
Code or a worker's is killed, or stopped and maybe goes on; or all of them are stopped, as when the
machine sleeps; or the store is locked; or the disk is full. Then the user does what there is to do,
and all must be there: every decision and every typed word, once; the next answer; a clean store.
After five seconds nothing is left of what was killed.

What a day brings follows from its seed, but for the times that the machine takes::

    python -m tests.endurance.day [days] [seed] [agent]
"""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from tests.e2e.editor import Editor
from tests.e2e.rpc import GoneError
from tests.e2e.sandbox import Sandbox
from tests.endurance.fault import HOST, PROCESSES, VICTIMS, Fault
from tests.endurance.script import ROUNDS, DayAPI, labels, scenario

DAYS = 20
LEFT = 5  # seconds for what is left of a program that was killed
OPTION = re.compile(r"⟦\w+=1=\d")
STATE = """
  local chat = require('winnow.registry').current()
  local section, lines = chat.section, chat:lines(0, -1)
  return {
    state = chat.state,
    marker = section and section.id or false,
    lines = section and section:lines() or {},
    decided = section ~= nil and #section.parts > 0
      and vim.iter(section.parts):all(function(part) return part.decided end),
    waits = chat.queued or #chat.pending > 0,
    draft = vim.trim(table.concat(vim.list_slice(lines, chat:heading_row() + 2), '\\n')),
  }
"""
PATH = "return require('winnow.registry').current().path"
# What would kill Neovim where its files may not grow, which here stands for a disk that is full.
OUTLIVE = """
  local ffi = require('ffi')
  ffi.cdef('void *signal(int, void *)')
  ffi.C.signal(25, ffi.cast('void *', 1))
"""


class Struck(Exception):
    """What the user waits for does not come any more."""


class Day:
    """A user with one chat, and runs beside it."""

    def __init__(self, editor: Editor, seed: str, api: DayAPI | None = None) -> None:
        self._editor, self._seed, self._api = editor, seed, api
        self._main = self._file = ""  # the chat; what is worked in now
        self._numbers = count()
        self._words: list[str] = []  # typed ones, each of its own
        self._kept: dict[int, str] = {}  # the label that the user keeps, by round
        self._decided: set[int] = set()  # rounds whose question has got its <CR>
        self._fault: Fault

    # --- a round --------------------------------------------------------------------------------

    def round(self, number: int) -> None:
        """Do something, with a fault in it, and see that all is there."""
        chance = random.Random(f"{self._seed} {number}")
        work = chance.choice(WORK)
        victims, longest = ((*VICTIMS, *PROCESSES), 4.0) if self._api else (VICTIMS, 1.5)
        self._fault = fault = Fault(chance, victims, longest)
        self._kept[number] = chance.choice(labels(number))
        print(f"{self._seed}.{number}: {work.__name__}; {fault}", flush=True)
        self._begin()
        before = self._editor.sandbox.processes()
        strikes = threading.Thread(target=fault.strike, args=(self._editor,))
        strikes.start()
        with suppress(GoneError, Struck):
            work(self, number)
        strikes.join()
        self._recover(set(before))
        self._tend(number)
        if self._file != self._main:
            self._begin()
        self._send(f"ping {number}.")
        self._tend(number, lambda: f"Pong {number}." in self._editor.text())
        self._check()

    def _begin(self) -> None:
        self._editor.lua(OUTLIVE)
        self._editor.keys(f":edit {self._main}<CR>G" if self._main else ":Winnow<CR>")
        self._main = self._file = self._editor.lua(PATH)

    def _recover(self, before: set[int]) -> None:
        """Have a Neovim and a host again; nothing is left of what was killed, and had others."""
        editor, victim, gone = self._editor, self._fault.victim, set(self._fault.killed)
        if not gone:
            return
        if victim == "neovim":
            editor.process.wait(20)
            editor.kill()
        if victim in ("neovim", "host"):
            gone |= before - {editor.process.pid}
        self._soon(lambda: not gone & editor.sandbox.processes().keys())
        left = gone & editor.sandbox.processes().keys()
        assert not left, f"left behind: {left}\n{editor.report()}"
        if victim == "neovim":
            editor.start(self._file)
        if not self._soon(lambda: HOST in str(editor.sandbox.processes())):
            editor.keys(":Winnow restart<CR>")  # it starts once by itself

    @staticmethod
    def _soon(holds: Callable[[], object]) -> bool:
        """Whether it comes to hold in that time, of a machine that has nothing else to do."""
        ends = time.monotonic() + LEFT * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        while not holds() and time.monotonic() < ends:
            time.sleep(0.05)
        return bool(holds())

    # --- the user -------------------------------------------------------------------------------

    def _state(self) -> Any:
        return self._editor.lua(STATE)

    def _until(self, holds: Callable[[], object]) -> None:
        """Wait, as long as it can still come."""
        ends = time.monotonic() + 20
        while not holds():
            if self._fault.struck.is_set() and self._fault.kills:
                ends = min(ends, time.monotonic() + 1)
            if time.monotonic() > ends:
                raise Struck
            time.sleep(0.02)

    def _type(self, text: str) -> None:
        word = f"typed{next(self._numbers)}x"
        self._editor.keys(f"GA{text} {word}<Esc>")
        self._words.append(word)  # not one whose <Esc> may not have been read

    def _send(self, text: str) -> None:
        self._type(text)
        self._editor.keys("<CR>")

    def draft(self, number: int) -> None:
        """Write a message, bit by bit."""
        for _ in range(20):
            self._type("")

    def stream(self, number: int) -> None:
        """Read what comes."""
        self._send(f"stream {number}.")
        self._until(lambda: f"end{number}" in self._editor.text())

    def queue(self, number: int) -> None:
        """Write more while it comes."""
        self._send(f"stream {number}.")
        for _ in range(3):
            self._send("more")
        self._until(lambda: f"end{number}" in self._editor.text())

    def asked(self, number: int, kind: str = "question") -> None:
        """Answer."""
        self._send(f"{kind} {number}.")
        self._until(lambda: self._state()["marker"])
        self._answer(number)

    def permission(self, number: int) -> None:
        """Allow a command."""
        self.asked(number, "permission")

    def patch(self, number: int) -> None:
        """Allow a file."""
        self.asked(number, "patch")

    def late(self, number: int) -> None:
        """Cancel, then answer after all."""
        self._send(f"question {number}.")
        self._until(lambda: self._state()["marker"])
        self._editor.keys("G?━━ Question<CR>")
        self._editor.keys("<Esc>")
        self._editor.keys("<Esc>")
        self._until(lambda: self._again(number))
        self._editor.keys(f"{self._again(number)}G<CR>")
        self._until(lambda: self._state()["marker"])
        self._answer(number)

    def run(self, number: int) -> None:
        """Lead a run, and answer a worker."""
        self._editor.keys(f":Winnow run Goal {number}.<CR>")
        self._file = self._editor.lua(PATH)
        self._until(lambda: self._state()["marker"])
        self._answer(number)

    def _answer(self, number: int) -> None:
        """Keep one option of what is open, and confirm."""
        state, keep = self._state(), self._kept[number]
        question = any(line.startswith(keep) for line in state["lines"])
        if question and number in self._decided:  # a new host may have to look first
            gone = self._soon(lambda: self._state()["marker"] != state["marker"])
            assert gone, f"{number} is asked again, after its <CR>\n{self._editor.report()}"
            return
        for line in state["lines"]:
            label = re.split("⟦| — ", line)[0]
            if OPTION.search(line) and label not in (keep, "Allow once"):
                self._editor.keys(f"G?^{label}<CR>dd")
        self._until(lambda: self._state()["decided"])
        self._editor.keys("<CR>")
        if question and self._file == self._main:
            self._decided.add(number)
        self._until(lambda: self._state()["marker"] != state["marker"])

    def _again(self, number: int) -> int:
        """The line on which a question can be opened again."""
        for at, line in enumerate(self._editor.lines(), 1):
            if f"Q{number}" in line and ("asks again" in line or "No longer open" in line):
                return at
        return 0

    def _tend(self, number: int, holds: Callable[[], bool] = lambda: True) -> None:
        """Do what there is to do, until there is nothing, and this holds."""
        ends, calm = time.monotonic() + 60, 0
        while calm < 8:
            assert time.monotonic() < ends, f"it does not come to rest\n{self._editor.report()}"
            state = self._state()
            rests = state["state"] in ("idle", "failed", "asleep") and not state["waits"]
            calm = calm + 1 if self._done(number, rests) and not state["draft"] and holds() else 0
            if state["marker"]:
                with suppress(Struck):
                    self._answer(number)
            elif rests and number not in self._decided and self._again(number):
                self._editor.keys(f"{self._again(number)}G<CR>")
                self._soon(lambda: self._state()["marker"])
            elif rests and state["draft"]:
                self._editor.keys("G<CR>")
                self._soon(lambda: not self._state()["draft"])
            time.sleep(0.05)

    def _done(self, number: int, rests: bool) -> bool:
        """Whether what was begun has come to its end."""
        if self._file == self._main:
            return rests
        events: list[Any] = []
        with self._store() as db, suppress(sqlite3.OperationalError):  # there is no table yet
            events = db.execute("SELECT event FROM run_events").fetchall()
        return rests and f"Finished {number}." in str(events)

    # --- what must be ---------------------------------------------------------------------------

    @contextmanager
    def _store(self) -> Iterator[sqlite3.Connection]:
        file = self._editor.sandbox.state / "winnow" / "winnow.db"
        with closing(sqlite3.connect(file, timeout=2, isolation_level=None)) as db:
            yield db

    def _check(self) -> None:
        """All is there, once, and the store is clean and free."""
        text = self._editor.text()
        with self._store() as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
            rows = [row for (row,) in db.execute("SELECT decision FROM decisions")]
        found = {word: text.count(word) for word in self._words}
        for number in self._decided:
            which = f"Which for {number}?"
            found[f"decisions about {number}"] = sum(which in row for row in rows)
            found[f"records of {number}"] = text.count(f"Selected: {self._kept[number]}")
        if self._api:
            said = str(self._api.requests[-1]["messages"]).replace('\\"', '"')
            found |= {f"told {word}": said.count(word) for word in self._words}
            for number in self._decided:
                keep = self._kept[number]
                answers = (f'"Which for {number}?"="{keep}"', f"Answer: {keep}")
                found[f"told {keep}"] = sum(map(said.count, answers))
        wrong = {what: count for what, count in found.items() if count != 1}
        assert not wrong, f"{wrong}\n{self._editor.report()}"
        self._editor.assert_no_errors()


WORK = (
    *(Day.draft, Day.stream, Day.queue, Day.asked, Day.late, Day.permission, Day.patch),
    Day.run,
)


@contextmanager
def day(root: Path, seed: str, agent: str) -> Iterator[Day]:
    """A day, with folders of its own; what is left in the end is gone soon."""
    with DayAPI(root / "project") as api:
        options = {"agent": agent, "scenario": str(root / "scenario.json")}
        sandbox = Sandbox(root, options, api.env(root / "claude"))
        sandbox.scenario.write_text(json.dumps(scenario(sandbox.project)))
        with closing(Editor(sandbox, 100, 40)) as editor:
            yield Day(editor, seed, api if agent == "claude" else None)


def main() -> None:
    days = int(sys.argv[1]) if len(sys.argv) > 1 else DAYS
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    agents = sys.argv[3:] or ["scripted", "claude"]
    failed = []
    for seed in range(first, first + days):
        agent = agents[seed % len(agents)]
        print(f"day {seed}, with {agent}", flush=True)
        try:
            with tempfile.TemporaryDirectory() as root, day(Path(root), str(seed), agent) as today:
                for number in range(1, ROUNDS + 1):
                    today.round(number)
        except Exception:  # noqa: BLE001  the next day is another one
            failed.append(seed)
            traceback.print_exc()
    print(f"{days - len(failed)} of {days} days of {ROUNDS} rounds kept everything; not {failed}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
