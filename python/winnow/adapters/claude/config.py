"""Where Claude Code keeps what is the user's: settings, logins, sessions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def folder(env: Mapping[str, str] = os.environ, home: Path | None = None) -> Path:
    """Its folder, for who has this environment and this home."""
    return Path(env.get("CLAUDE_CONFIG_DIR") or (home or Path.home()) / ".claude")
