"""Runs a command, and sees to its end and to that of all that it has started.

A program of its own, run as ``python -I -S guard.py COMMAND…`` with the pipes of the command.
Claude Code gives each tool a session of its own, so no signal to a group reaches them all: on
Linux the guard adopts what loses its parent. Elsewhere a killed command takes only its own group
with it.

- Its stdin is closed: the command has a second to end by itself, then comes SIGTERM.
- SIGTERM is passed on; two seconds later the command is killed.
- The command has ended: what it left running on purpose stays, unless it was killed or failed.
- The guard is killed: Linux kills the command.

It has a process group of its own: what ends that of the host, as Neovim does when it quits, ends no
command that the host does not know to be over.

The guard ends as the command did, with its exit code or by its signal. See ``watch.py``.
"""

from __future__ import annotations

import os
import sys

# Nothing else is imported here at the top: the command waits for it.

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36  # of linux/prctl.h
_SIGKILL = 9


def start(command: list[str]) -> None:
    """Start the command in a session of its own, without a terminal, and become its guard."""
    if os.getpid() != os.getsid(0):
        os.setpgid(0, 0)
    process = os.fork()
    if process == 0:
        os.setsid()
        _prctl(_SET_PDEATHSIG, _SIGKILL)
        try:
            os.execv(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
            os._exit(127)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    import signal  # noqa: PLC0415

    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))  # until there is somebody to hear them
    # Anew, so that whoever kills the command by its command line does not meet the guard.
    watch = os.path.join(os.path.dirname(__file__), "watch.py")  # noqa: PTH118, PTH120
    os.execv(sys.executable, [sys.executable, "-I", "-S", watch, str(process)])


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(option, value)


if __name__ == "__main__":
    start(sys.argv[1:])
