"""A Claude Code that plays what the test says, and notes how it was started."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

PLAYER = """#!{python}
import json, os, pathlib, signal, sys, time
me = pathlib.Path(__file__)
prompt = sys.argv[sys.argv.index("--append-system-prompt-file") + 1]
started = {{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "file": prompt,
           "system": pathlib.Path(prompt).read_text()}}
plays = json.loads(me.with_suffix(".plays").read_text())
play = plays[min(len(list(me.parent.glob("started-*"))), len(plays) - 1)]
note = me.parent / f"started-{{time.time_ns()}}.json"

def write(**more):
    new = note.with_suffix(".new")
    new.write_text(json.dumps({{**started, **more}}))
    new.replace(note)  # whoever reads it finds all of it

write()
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "control_request":
        reply = {{"subtype": "success", "request_id": said["request_id"], "response": {{}}}}
        print(json.dumps({{"type": "control_response", "response": reply}}), flush=True)
    elif said["type"] == "user":
        write(stdin=line)
        for step in play:
            if "many" in step:
                for number in range(step["many"]):
                    print(step["line"].replace("NUMBER", str(number)))
                sys.stdout.flush()
            elif "line" in step:
                print(step["line"].replace("TIME", str(time.time())), flush=True)
            elif "bytes" in step:
                sys.stdout.buffer.write(bytes(step["bytes"]))
                sys.stdout.flush()
            elif "error" in step:
                print(step["error"], file=sys.stderr, flush=True)
            elif "exit" in step:
                os._exit(step["exit"])
            elif "kill" in step:
                os.kill(os.getpid(), step["kill"])
            elif "close" in step:
                os.close(1)
            elif "hang" in step:
                signal.pause()
"""


class Start(NamedTuple):
    """How it was started."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    file: str  # of the system prompt
    system: str
    stdin: str = ""

    def value(self, flag: str) -> str:
        """Of an argument."""
        joined = [arg.partition("=")[2] for arg in self.argv if arg.startswith(flag + "=")]
        return joined[0] if joined else self.argv[self.argv.index(flag) + 1]

    @property
    def prompt(self) -> str:
        """What the user says."""
        content: list[dict[str, str]] = json.loads(self.stdin)["message"]["content"]
        return content[0]["text"]


class Player:
    """The fake in a folder; each start takes the next play, the last one again and again."""

    def __init__(self, folder: Path, *plays: list[dict[str, Any]]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.path = folder / "claude"
        self.path.write_text(PLAYER.format(python=sys.executable))
        self.path.chmod(0o755)
        self.path.with_suffix(".plays").write_text(json.dumps(plays))

    @property
    def starts(self) -> list[Start]:
        """All of them, in order."""
        notes = sorted(self.folder.glob("started-*.json"))
        return [Start(**json.loads(note.read_text())) for note in notes]


def line(message: dict[str, Any]) -> dict[str, Any]:
    """It says this."""
    return {"line": json.dumps({"uuid": "u", "session_id": "s", **message})}


def speech(*blocks: dict[str, Any], kind: str = "assistant") -> dict[str, Any]:
    """A message of the model, or what it gets."""
    return line({"type": kind, "message": {"role": kind, "model": "m", "content": list(blocks)}})


def text(said: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": said}


def result(output: object = None, **fields: Any) -> dict[str, Any]:
    """How it ends."""
    times = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1}
    said = {"type": "result", "subtype": "success", "is_error": False, **times, **fields}
    return line(said if output is None else {**said, "structured_output": output})


def left(player: Player) -> list[str]:
    """The files of system prompts that are still there."""
    return [start.file for start in player.starts if Path(start.file).exists()]
