"""Winnow from the shell, without Neovim: one module for each subcommand."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder(named: str | None) -> Path:
    """The folder for the database, which Neovim's Winnow uses, too."""
    if named:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base, os.environ.get("NVIM_APPNAME") or "nvim", "winnow")
