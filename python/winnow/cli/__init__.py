"""Winnow from the shell, without Neovim: one module for each subcommand."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from winnow.core.text.text import clean_block

# What JSON may hold as it is, and a terminal takes for a command, or shows in another order.
_ACTS = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


def tell(text: str) -> None:
    """Say something on stderr: it may be a model's, so nothing in it acts on the terminal."""
    print("\n".join(clean_block(text)), file=sys.stderr, flush=True)


def give(encoded: str) -> None:
    """Write JSON on stdout, which may be a terminal, too."""
    text = _ACTS.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def state_folder(named: str | None) -> Path:
    """The folder for the database, which Neovim's Winnow uses, too."""
    if named:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base, os.environ.get("NVIM_APPNAME") or "nvim", "winnow")
