"""The second half of ``guard.py``, which says what it is for; given the command's process id."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress

PATIENCE = 1.0  # seconds to end by itself
RESPITE = 2.0  # seconds to end after SIGTERM
PARTING = 0.5  # seconds to end for what a killed command leaves behind

_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def watch(process: int) -> None:
    """Guard a child until it ends, and end like it."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    told: list[int] = []
    for number in _SIGNALS:
        signal.signal(number, lambda number, _frame: told.append(number))
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
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
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                # Not by pathlib, whose import takes as long as all the rest.
                with suppress(OSError), open(f"{entry.path}/stat", "rb") as file:  # noqa: PTH123
                    # The command's name, in parentheses, may hold anything.
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
                    if state != b"Z":
                        children.setdefault(int(parent), []).append(int(entry.name))
    found = list(children.get(os.getpid(), []))
    for process in found:  # grows while we look
        found += children.get(process, [])
    return found


if __name__ == "__main__":
    watch(int(sys.argv[1]))
