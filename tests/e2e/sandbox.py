"""What keeps a test's Neovim apart from the user's own, and from other tests."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_NVIM = Path(sys.executable).with_name("nvim")
NVIM = str(_NVIM) if _NVIM.exists() else "nvim"


class Sandbox:
    """Folders, environment and processes of one test.

    Args:
        root: an empty folder.
        options: the value of ``vim.g.winnow``.
        env: variables beside those that isolate.
    """

    def __init__(
        self, root: Path, options: Mapping[str, object], env: Mapping[str, str] | None = None
    ) -> None:
        self.root = root
        self.options = dict(options)
        self.project = root / "project"
        self.state = root / "state" / "nvim"
        self.data = root / "data" / "nvim"
        self.stderr = root / "stderr"
        self.scenario = root / "scenario.json"  # for who names it in the options
        # Sockets live here: their paths may have some 100 bytes only, which pytest's exceed.
        self.runtime = Path(tempfile.mkdtemp(prefix="winnow-"))
        homes = {f"XDG_{kind.upper()}_HOME": root / kind for kind in ("config", "data", "cache")}
        homes |= {"HOME": root / "home", "XDG_STATE_HOME": root / "state"}
        for folder in (self.project, *homes.values()):
            folder.mkdir(parents=True, exist_ok=True)
        self.env = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "XDG_RUNTIME_DIR": str(self.runtime),
            "TMPDIR": str(self.runtime),
            **{name: str(folder) for name, folder in homes.items()},
            **(env or {}),
        }

    def argv(self, *args: str) -> list[str]:
        """The command that starts Neovim with the plugin, its options and ``args``."""
        options = json.dumps(self.options)
        return [
            NVIM,
            "--clean",
            "--cmd",
            f"lua vim.g.winnow = vim.json.decode([==[{options}]==])",
            "--cmd",
            f"lua vim.g.winnow_python = [==[{sys.executable}]==]",
            "--cmd",
            # Else the first Python file looks for an interpreter of Neovim's own, which none needs.
            "let g:loaded_python3_provider = 0",
            "-u",
            str(REPOSITORY / "tests" / "minimal_init.lua"),
            *args,
        ]

    def processes(self) -> dict[int, str]:
        """Commands that run in this sandbox, by process id; orphans are found, too."""
        mark = f"XDG_STATE_HOME={self.env['XDG_STATE_HOME']}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it ended, or belongs to someone else
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(folder.name)] = command.decode(errors="replace").strip()
        return found

    def sessions(self) -> list[Path]:
        """The files in which Claude Code keeps its sessions."""
        # Not a search of the whole folder: what else is in it comes and goes while one looks.
        return list(Path(self.env["CLAUDE_CONFIG_DIR"], "projects").glob("*/*.jsonl"))

    def logs(self) -> str:
        """The end of every log that Neovim or the plugin wrote."""
        files = [self.stderr, *sorted(self.state.rglob("*log"))]
        return "\n".join(
            f"{file.relative_to(self.root)}:\n{file.read_text(errors='replace')[-4000:]}"
            for file in files
            if file.is_file() and file.stat().st_size
        )

    def close(self, timeout: float = 10) -> None:
        """Wait for all processes to end, and remove what lies outside ``root``.

        Raises:
            AssertionError: some did not end by themselves; they are killed.
        """
        deadline = time.monotonic() + timeout
        # Twice: a process can't be recognised in the moment in which it becomes another program.
        while (left := self.processes() or self.processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(self.runtime, ignore_errors=True)
        assert not left, f"processes left behind after {timeout:g} s: {left}\n{self.logs()}"
