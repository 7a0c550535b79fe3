"""Runs a command, and sees to its end and to that of all that it has started.

A program of its own, run as ``python -I -S guard.py COMMAND…`` with the pipes of the command.
Claude Code gives each tool a session of its own, so no signal to a group reaches them all: on
Linux the guard adopts what loses its parent. Elsewhere a killed command takes only its own group
with it.

- Its stdin is closed: the command has a second to end by itself, then comes SIGTERM.
- SIGTERM is passed on; two seconds later the command is killed.
- The command has ended: what it left running on purpose stays, unless it was killed or failed.
- The guard is killed: Linux kills the command.

The guard ends as the command did, with its exit code or by its signal.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 1.0  # seconds to end by itself
RESPITE = 2.0  # seconds to end after SIGTERM; Claude Code takes 1.5 when a tool runs
PARTING = 0.5  # seconds to end for what a killed command leaves behind

_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36  # of linux/prctl.h


def start(command: list[str]) -> None:
    """Start the command in a session of its own, without a terminal, and become its guard."""
    _prctl(_SET_CHILD_SUBREAPER, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until the guard is there
    process = os.fork()
    if process == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        os.setsid()
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)
        try:
            os.execv(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
            os._exit(127)
    # Anew, so that whoever kills the command by its command line does not meet the guard.
    os.execv(sys.executable, [sys.executable, "-I", "-S", __file__, "--watch", str(process)])


def watch(process: int) -> None:
    """Guard a child until it ends, and end like it."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    told: list[int] = []
    for number in _SIGNALS:
        signal.signal(number, lambda number, _frame: told.append(number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # only the command keeps the pipe open
    poll = select.poll()
    poll.register(woken, select.POLLIN)
    poll.register(0, 0)  # told of only when the other end is closed
    due: list[tuple[float, int]] = []  # when it gets which signal
    asked = False
    while (status := _reap(process)) is None:
        now = time.monotonic()
        if told and set(told) != {signal.SIGCHLD} and len(due) != 1:
            due = _farewell(now)
        told.clear()
        while due and due[0][0] <= now:
            _end(process, due.pop(0)[1])
            asked = True
        for descriptor, _ in poll.poll((due[0][0] - now) * 1000 if due else None):
            if descriptor == woken:
                os.read(woken, 4096)
            else:
                poll.unregister(descriptor)
                due = due or _farewell(time.monotonic() + PATIENCE)
    if status != 0 and not (asked and os.WIFEXITED(status)):
        _clear(process)
    if os.WIFSIGNALED(status):
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(option, value)


def _farewell(when: float) -> list[tuple[float, int]]:
    return [(when, signal.SIGTERM), (when + RESPITE, signal.SIGKILL)]


def _reap(process: int) -> int | None:
    """How the command ended, or None while it runs; adopted ones are reaped, too."""
    status = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == process:
                status = ended[1]
    return status


def _end(process: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)
        os.kill(process, signal.SIGCONT)  # a stopped one acts on no other signal


def _clear(process: int) -> None:
    """End what a command has left behind."""
    with suppress(OSError):
        os.killpg(process, signal.SIGKILL)
    for left in _descendants():
        _end(left, signal.SIGTERM)
    deadline = time.monotonic() + PARTING
    while _descendants() and time.monotonic() < deadline:
        time.sleep(0.02)
        _reap(process)
    while _descendants():  # again, since each of them may have started more
        for left in _descendants():
            _end(left, signal.SIGKILL)
        time.sleep(0.02)
        _reap(process)


def _descendants() -> list[int]:
    """All processes below this one; empty without /proc."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            # The name, in parentheses, may hold anything.
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[0] != "Z":
                children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = list(children.get(os.getpid(), []))
    for process in found:  # grows while we look
        found += children.get(process, [])
    return found


if __name__ == "__main__":
    if sys.argv[1] == "--watch":
        watch(int(sys.argv[2]))
    else:
        start(sys.argv[1:])
