"""What the guard of an agent's process sees to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import pytest
from winnow.adapters.claude import process

MARK = f"WINNOW_TEST={uuid4()}"
# A tool as Claude Code starts it, in a session of its own, and one below that.
TOOL = "setsid sh -c 'sleep 600 & exec sleep 600' >/dev/null 2>&1 &"


def alive() -> list[int]:
    """The processes of this file, by what they inherited."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def wait_for(count: int, seconds: float = 5) -> None:
    deadline = time.monotonic() + seconds
    while len(alive()) != count:
        assert time.monotonic() < deadline, f"{len(alive())} processes instead of {count}"
        time.sleep(0.01)


@contextmanager
def guarded(script: str) -> Iterator[subprocess.Popen[bytes]]:
    """A shell script under a guard, which is at its post."""
    name, value = MARK.split("=")
    argv = [sys.executable, "-I", "-S", str(process._GUARD), "/bin/sh", "-c", script]
    pipe, env = subprocess.PIPE, {**os.environ, name: value}
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env) as guard:
        try:
            watches = Path(f"/proc/{guard.pid}/cmdline")  # before, there is nothing to clear up
            while guard.poll() is None and b"watch.py" not in watches.read_bytes():
                time.sleep(0.01)
            yield guard
        finally:
            for left in alive():
                os.kill(left, signal.SIGKILL)


def command_of(guard: subprocess.Popen[bytes]) -> int:
    """The process id of what is guarded."""
    return int(Path(f"/proc/{guard.pid}/task/{guard.pid}/children").read_text().split()[0])


@pytest.mark.parametrize("code", [0, 3, 143])
def test_it_ends_as_the_command(code: int) -> None:
    """With its pipes passed through."""
    with guarded(f"read line; echo got $line; echo oops >&2; exit {code}") as guard:
        assert guard.communicate(b"a line\n", timeout=10) == (b"got a line\n", b"oops\n")
        assert guard.returncode == code


def test_a_signal_to_its_starters_group_is_not_for_it() -> None:
    """Neovim ends the host so: Claude Code must not be gone before the host knows why."""
    with guarded("read line") as guard:
        assert os.getpgid(guard.pid) == guard.pid != os.getpgrp()


def test_a_command_that_is_not_there() -> None:
    """It is said on stderr."""
    argv = [sys.executable, "-I", "-S", str(process._GUARD), "/nowhere"]
    done = subprocess.run(argv, capture_output=True, timeout=10, check=False)
    assert done.returncode == 127
    assert done.stderr == b"/nowhere: No such file or directory\n"


@pytest.mark.parametrize("ending", ["command", "stdin", "SIGTERM", "failure"])
@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
def test_nothing_outlives_a_command_that_is_ended(ending: str, stopped: bool) -> None:
    """However that happens, what it has started ends with it; also when it ignores SIGTERM."""
    last = "read line; exit 1" if ending == "failure" else "sleep 600"
    with guarded(f"trap '' TERM; {TOOL} {last}") as guard:
        wait_for(4 if ending == "failure" else 5)
        command = command_of(guard)
        if stopped:
            os.kill(command, signal.SIGSTOP)
        match ending:
            case "command":
                os.kill(command, signal.SIGKILL)
            case "stdin":
                assert guard.stdin
                guard.stdin.close()
            case "SIGTERM":
                guard.terminate()
            case "failure":
                assert guard.stdin
                guard.stdin.write(b"\n")
                guard.stdin.flush()
                with suppress(ProcessLookupError):  # unless stopped, it has ended by now
                    os.kill(command, signal.SIGCONT)
        wait_for(0)
        assert guard.wait(5) == (1 if ending == "failure" else -signal.SIGKILL)


def test_a_killed_guard_takes_the_command_with_it() -> None:
    """Which then starts nothing more."""
    with guarded("sleep 600; sleep 601") as guard:
        wait_for(3)
        command = command_of(guard)
        guard.kill()
        assert guard.wait(5) == -signal.SIGKILL
        wait_for(1)
        assert command not in alive()


def test_what_was_started_on_purpose_stays() -> None:
    """A server that a command leaves behind when it ends by itself, as without a guard."""
    with guarded(f"{TOOL} exit 0") as guard:
        assert guard.wait(5) == 0
        wait_for(2)


def test_it_is_not_found_by_the_command_s_name() -> None:
    """``pkill -9 -f claude`` must leave somebody who clears up."""
    with guarded(f": claude; {TOOL} sleep 600") as guard:
        wait_for(5)
        for found in alive():
            if b"claude" in Path(f"/proc/{found}/cmdline").read_bytes():
                os.kill(found, signal.SIGKILL)
        wait_for(0)
        assert guard.wait(5) == -signal.SIGKILL


def test_it_waits_without_a_busy_loop() -> None:
    """Also after its stdin was closed, and with a child that it has adopted."""
    with guarded(f"trap 'exit 0' TERM; {TOOL} sleep 1.5 & wait") as guard:
        wait_for(5)
        assert guard.stdin
        guard.stdin.close()
        time.sleep(0.8)
        used = Path(f"/proc/{guard.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        assert sum(map(int, used)) <= 10  # hundredths of a second, most of them its start
        assert guard.wait(5) == 0
