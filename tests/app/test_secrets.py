"""No key, token or password is where others can read it: arguments, the log, errors, the store."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions
from winnow import ports
from winnow.adapters.claude.process import Process

SECRET = "s3cr3t-0123456789"


def test_no_secret_is_an_argument() -> None:
    """All users can read those: no server's variables or headers, and none of another place."""
    options = ClaudeAgentOptions(
        cli_path=sys.executable,
        env={"ANTHROPIC_API_KEY": SECRET},
        mcp_servers={
            "db": {"command": "db", "env": {"PASSWORD": SECRET}},
            "web": {"type": "http", "url": "http://x", "headers": {"Authorization": SECRET}},
        },
    )
    process = Process(options)
    command = process._build_command()
    assert SECRET not in " ".join(command)
    config = Path(command[command.index("--mcp-config") + 1])
    assert config.read_text().count(SECRET) == 2
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    there = Process(options, ports.Place("big", ("ssh", "big"), env={"KEY": SECRET}))
    there._options.mcp_servers = {}
    assert SECRET not in " ".join(there._build_command())
    assert SECRET in there._options.env["WINNOW_PLACE"]
