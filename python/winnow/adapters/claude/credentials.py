"""Which credentials Claude Code would use. Only their kind and place, never their value."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from winnow.adapters import programs
from winnow.adapters.claude import config
from winnow.ports import AgentError

KEY = "CLAUDE_CODE_API_KEY"

# In the order in which Claude Code prefers them.
_VARIABLES = {
    "CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock",
    "CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS": "Claude Platform on AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD": "Claude Platform on Google Cloud",
    "CLAUDE_CODE_USE_MANTLE": "Amazon Bedrock (Mantle)",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI",
    "ANTHROPIC_AUTH_TOKEN": "auth token",
    "ANTHROPIC_API_KEY": "API key",
}
_OFF = ("", "0", "false", "no", "off")


class Credentials(msgspec.Struct, frozen=True):
    """What was found: what ``kind`` it is, and its ``source``, a variable or a file."""

    kind: str
    source: str


def find(environ: Mapping[str, str], home: Path) -> Credentials | None:
    """The credentials that Claude Code would use, or None if it has none.

    Args:
        environ: the environment that Claude Code will get.
        home: the user's home folder.
    """
    folder = config.folder(environ, home)
    file = folder / "settings.json"
    settings = _object(file)
    added = settings.get("env")
    variables = {**environ, **(added if isinstance(added, dict) else {})}  # as Claude Code does it
    for variable, kind in _VARIABLES.items():
        if str(variables.get(variable) or "").lower() not in _OFF:
            return Credentials(kind, variable)
    if settings.get("apiKeyHelper"):
        return Credentials("API key helper", str(file))
    if variables.get("CLAUDE_CODE_OAUTH_TOKEN"):
        return Credentials("subscription token", "CLAUDE_CODE_OAUTH_TOKEN")
    login = folder / ".credentials.json"
    if _object(login):
        return Credentials("subscription login", str(login))
    if sys.platform == "darwin" and _in_keychain():
        return Credentials("subscription login", "macOS keychain")
    return None


def api_key(environ: Mapping[str, str], home: Path) -> str:
    """The key for Claude Code: ``CLAUDE_CODE_API_KEY``, which wins; empty: what it finds itself.

    Raises:
        Missing: there is neither that nor anything for it to find.
    """
    if key := environ.get(KEY, "").strip():
        return key
    if find(environ, home) is None:
        raise Missing(
            f"There is nothing to log in with: set {KEY} or ANTHROPIC_API_KEY, "
            "or log in with `claude` in a terminal."
        )
    return ""


class Missing(AgentError):
    """Claude Code would have nothing to log in with."""


def _object(path: Path) -> dict[str, Any]:
    """The JSON object in this file; empty if there is none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError):
        return {}


def _in_keychain() -> bool:
    """Whether the entry exists; without ``-w`` its value is not read, and nothing asks the user."""
    security = programs.find("security")
    if security is None:
        return False
    entry = [security, "find-generic-password", "-s", "Claude Code-credentials"]
    try:
        return subprocess.run(entry, capture_output=True, check=False, timeout=5).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
