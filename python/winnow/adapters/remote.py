"""Runs a program in another place, as if it ran here: with its pipes, and its end.

A program of its own, run as ``python -I -S remote.py ARGUMENT…``. A variable tells it, as JSON, the
``command`` that gives a shell there (``ssh HOST``, ``docker exec -i NAME``, ``srun``), the folder
``cwd``, the program's ``names``, of which the first that is found is run, and variables, ``env``.

The shell reads one line, in which everything is quoted, so nothing depends on how many shells it
passes through. It answers with a line of ours before it becomes the program: what else a login
there may print is dropped, and nothing that is meant for the program is read by the shell.

Ends as the program does. What went wrong before it ran is one line on stderr.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from contextlib import suppress

VARIABLE = "WINNOW_PLACE"
READY = "winnow: ready"
_MISSING, _NO_FOLDER = "winnow: missing", "winnow: no folder"
_SIZE = 1 << 16


def script(spec: dict, arguments: list[str]) -> str:  # type: ignore[type-arg]  # no `typing` here
    """The line for the shell."""
    cwd = _path(spec["cwd"])
    names = " ".join(_path(name) for name in spec["names"])
    exports = "".join(f"export {name}={shlex.quote(text)}; " for name, text in spec["env"].items())
    words = " ".join(map(shlex.quote, arguments))
    return (
        f"{exports}cd {cwd} 2>/dev/null || {{ echo {shlex.quote(_NO_FOLDER)}; exit 1; }}; "
        f'run=; for one in {names}; do run=$(command -v "$one") && break; done; '
        f'[ -n "$run" ] || {{ echo {shlex.quote(_MISSING)}; exit 1; }}; '
        f'echo {shlex.quote(READY)}; exec "$run" {words}\n'
    )


def _path(path: str) -> str:
    """A path for the shell, which puts its own home in the place of ``~``."""
    if path == "~" or path.startswith("~/"):
        return '"$HOME"' + shlex.quote(path[1:]) * (len(path) > 1)
    return shlex.quote(path)


def start(spec: dict, arguments: list[str]) -> None:  # type: ignore[type-arg]
    """Start it, and stand between it and who started us until it ends."""
    command = [*spec["command"], "sh"]
    where = spec["name"]
    try:
        # Unbuffered: what comes after our line is the program's.
        process = subprocess.Popen(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    except OSError as error:
        sys.exit(f"{where} can't be reached: {command[0]}: {error.strerror}")
    assert process.stdin
    assert process.stdout
    with suppress(BrokenPipeError):
        process.stdin.write(script(spec, arguments).encode())
        process.stdin.flush()
    for line in process.stdout:
        said = line.decode(errors="replace").strip()
        if said == READY:
            break
        if said in (_MISSING, _NO_FOLDER):
            what = f"no folder {spec['cwd']}" if said == _NO_FOLDER else "no Claude Code"
            sys.exit(f"{where} has {what}")
    else:
        sys.exit(f"{where} can't be reached: {' '.join(command[:-1])} ended with {process.wait()}")
    threading.Thread(target=_pass, args=(0, process.stdin.fileno()), daemon=True).start()
    _pass(process.stdout.fileno(), 1)
    code = process.wait()
    os._exit(code if code >= 0 else 128 - code)


def _pass(source: int, target: int) -> None:
    """Pass on all that comes, as it comes; then close the other side."""
    with suppress(OSError):
        while data := os.read(source, _SIZE):
            while data:
                data = data[os.write(target, data) :]
    with suppress(OSError):
        os.close(target)


if __name__ == "__main__":
    start(json.loads(os.environ.pop(VARIABLE)), sys.argv[1:])
