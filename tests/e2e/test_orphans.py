"""Whatever ends, and however: after five seconds nothing of the agent is left."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle
from tests.soaking import soak

SLEEP = "tail -f /dev/null & tail -f /etc/hostname"


def find(editor: Editor, part: str) -> list[int]:
    """The processes whose command holds ``part``."""
    return [number for number, line in editor.sandbox.processes().items() if part in line]


def tell(editor: Editor, part: str, number: int) -> None:
    for process in find(editor, part):
        os.kill(process, number)


CLI, HOST, TOOL = "stream-json", "pynvim.start_host", "tail -f"
ENDINGS = [
    *("kill CLI", "stop CLI, kill host", "stop host, quit"),
    *soak("kill host", "kill Neovim", "stop CLI, kill Neovim", "restart"),
    *soak("quit", "stop CLI, quit", "stop CLI, close"),
]


def do(editor: Editor, step: str) -> None:
    match step.split():
        case ["stop", victim]:
            tell(editor, {"CLI": CLI, "host": HOST}[victim], signal.SIGSTOP)
        case ["kill", "Neovim"]:
            editor.kill()
        case ["kill", victim]:
            tell(editor, {"CLI": CLI, "host": HOST}[victim], signal.SIGKILL)
        case ["quit"]:
            editor.quit()
        case ["restart"]:
            editor.command("Winnow restart")
        case ["close"]:
            editor.command("bwipeout!")


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_tool_outlives_its_agent(claude: Editor, api: ScriptedAPI, ending: str) -> None:
    """Not the one that runs, nor what it has put into the background."""
    editor = claude
    settings = Path(editor.sandbox.env["CLAUDE_CONFIG_DIR"], "settings.json")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
    api.add(say("Hello."), say(ToolUse("Bash", {"command": SLEEP, "description": "d"}, "toolu_1")))
    start(editor)
    wait_idle(editor)
    send(editor, "Sleep")
    editor.wait(lambda: len(find(editor, TOOL)) >= 3, "a shell and what it has started")
    agents = find(editor, CLI)
    for step in ending.split(", "):
        do(editor, step)
    deadline = 5
    editor.wait(lambda: not find(editor, TOOL), "the end of the tool", deadline)
    editor.wait(lambda: not set(agents) & set(find(editor, CLI)), "the end of the CLI", deadline)
    if ending == "kill CLI":
        editor.wait_line("Claude Code ended with exit code -9")
        api.clear()
        api.add(say("Hello again."))
        editor.keys("G")
        send(editor, "Go on")
        editor.wait_line("Hello again.")
