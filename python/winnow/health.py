"""What ``:checkhealth winnow`` asks this interpreter: ``python -I health.py [CLI]`` → JSON.

Imports nothing but the standard library at the top, so that it can report what is missing.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES = ("pynvim", "claude-agent-sdk", "msgspec")


def report(cli: str = "") -> dict[str, Any]:
    """Versions by package, the Claude Code CLI, and the kind of credentials, never their value.

    Args:
        cli: the CLI that the user chose; empty for the one that the SDK would run.
    """
    cli = cli or _default_cli()
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        "packages": {name: _version(name) for name in PACKAGES},
        "cli": {"path": cli, "version": _cli_version(cli)},
        "credentials": _credentials(),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _default_cli() -> str:
    """The SDK runs the CLI that it bundles, else the one on the PATH."""
    # Found without importing the SDK, which takes seconds.
    sdk = importlib.util.find_spec("claude_agent_sdk")
    if sdk and sdk.origin:
        name = "claude.exe" if os.name == "nt" else "claude"
        bundled = Path(sdk.origin).with_name("_bundled") / name
        if bundled.is_file():
            return str(bundled)
    return shutil.which("claude") or ""


def _cli_version(cli: str) -> str | None:
    try:
        return subprocess.run(
            [cli, "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _credentials() -> dict[str, str] | None:
    try:
        from winnow.adapters.claude import credentials  # noqa: PLC0415
    except ImportError:  # a package is missing, which is reported by name
        return None
    found = credentials.find(os.environ, Path.home())
    return {"kind": found.kind, "source": found.source} if found else None


if __name__ == "__main__":
    sys.path.insert(
        0, str(Path(__file__).resolve().parents[1])
    )  # isolated, nothing of ours is there
    json.dump(report(*sys.argv[1:]), sys.stdout)
