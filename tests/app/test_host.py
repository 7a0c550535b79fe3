"""What the host imports, and when: the SDK costs more than all the rest, so only Claude's do it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# A host with one chat, in a process of its own: it says on stdout whether it has the SDK when all
# has been done for that chat's first prompt.
HOST = """
import contextlib, json, queue, sys, threading
folder, agent, chat = sys.argv[1:]
from winnow.host import Host

class Nvim:
    def async_call(self, function, *args):
        calls.put((function, args))
    def exec_lua(self, code, batch):
        effects.extend(batch)
        if any(effect["type"] == "take" for effect in batch):
            host.handle({"type": "send", "chat": 1, "text": "Hi", "id": "u"})

calls, effects = queue.Queue(), []
settings = {"state": folder, "agent": agent, "scenario": folder + "/scenario", "pace": 0}
host = Host(Nvim(), {**settings, "cli_path": "/bin/false"})
where = {"chat": 1, "path": folder + "/chat.md", "cwd": folder}
host.handle({"type": "open", **where, "agent": chat})
host.handle({"type": "queue", "chat": 1})

def answered():
    said = "".join(effect["text"] for effect in effects if effect["type"] in ("write", "say"))
    return "Hello." in said or "Claude Code" in said

while not answered() or any(thread.name == "winnow-import" for thread in threading.enumerate()):
    with contextlib.suppress(queue.Empty):
        function, args = calls.get(timeout=0.1)
        function(*args)
names = "claude_agent_sdk", "mcp", "importlib.metadata"
print(json.dumps([name for name in names if name in sys.modules]))
"""


def imported(folder: Path, agent: str, chat: str = "", **env: str) -> list[str]:
    """What a host with this agent has imported, whose chat names that one."""
    (folder / "scenario").write_text('{"turns": [[{"type": "say", "text": "Hello."}]]}')
    path = str(Path(__file__).parents[2] / "python")
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", HOST, str(folder), agent, chat],
        env={**kept, "HOME": str(folder), "PYTHONPATH": path, **env},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("agent", "chat"), [("scripted", ""), ("claude", "scripted")])
def test_a_scripted_agent_needs_no_sdk(tmp_path: Path, agent: str, chat: str) -> None:
    """Whether it is the default or the chat names it."""
    assert imported(tmp_path, agent, chat) == []


def test_auto_without_credentials_needs_no_sdk(tmp_path: Path) -> None:
    """It is the scripted agent."""
    assert imported(tmp_path, "auto") == []


@pytest.mark.parametrize(("agent", "chat"), [("claude", ""), ("scripted", "claude"), ("auto", "")])
def test_claude_needs_it(tmp_path: Path, agent: str, chat: str) -> None:
    """Also where it is not the default; of what takes long to import, nobody does."""
    found = imported(tmp_path, agent, chat, ANTHROPIC_API_KEY="sk-test")
    assert found == ["claude_agent_sdk"]
