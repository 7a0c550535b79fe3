"""A stand-in for the Claude Code CLI that does nothing but keep time; for benchmarks only.

Speaks just enough of the stream-json protocol on stdin and stdout. A prompt says what it is to do:
ask a question, propose a patch, stream (at once, for a while, or on and on), have subagents do so,
or rest. Times of `time.monotonic_ns` go to the file that ``WINNOW_BENCH`` names, one ``name time``
a line.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

CHUNKS = 20_000
PIECES = 2_000  # a second
SECONDS = 3  # of a stream that ends
THOUGHT = 0.3  # seconds: no model asks at once
AGENTS = 30
FILE = "big.txt"
LINES = 13_344  # each twelfth one changes, which makes a diff of 10,000 lines
COMMON = {"session_id": "bench", "uuid": "bench", "parent_tool_use_id": None}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")


def stamp(name: str) -> None:
    with Path(os.environ["WINNOW_BENCH"]).open("a", encoding="utf-8") as file:
        file.write(f"{name} {time.monotonic_ns()}\n")


def assistant(*blocks: dict[str, Any]) -> None:
    message = {"id": "m", "model": "bench", "role": "assistant", "content": list(blocks)}
    send({"type": "assistant", "message": message, **COMMON})


def event(event: dict[str, Any]) -> None:
    send({"type": "stream_event", "event": event, **COMMON})


def content(word: str) -> str:
    """The file that is patched: with "old" as it is, with another word as it would be."""
    words = (word if number % 12 == 6 else "old" for number in range(LINES))
    return "".join(f"{number:05} {word} line\n" for number, word in enumerate(words))


def request(name: str, arguments: dict[str, Any]) -> None:
    sys.stdout.flush()
    time.sleep(THOUGHT)
    call = f"toolu_{name}"
    assistant({"type": "tool_use", "id": call, "name": name, "input": arguments})
    request = {
        "subtype": "can_use_tool",
        "tool_name": name,
        "tool_use_id": call,
        "input": arguments,
        "permission_suggestions": [],
    }
    send({"type": "control_request", "request_id": call, "request": request})
    sys.stdout.flush()
    stamp(f"asked:{name}")


def ask(labels: Sequence[str] = "ABC", questions: int = 1) -> None:
    options = [{"label": label, "description": "An option"} for label in labels]
    asked = [
        {"question": f"Which {n}?", "header": "Bench", "options": options, "multiSelect": False}
        for n in range(questions)
    ]
    request("AskUserQuestion", {"questions": asked})


def patch() -> None:
    request("Write", {"file_path": str(Path.cwd() / FILE), "content": content("new")})


def stream() -> None:
    event({"type": "message_start", "message": {"id": "m"}})
    for number in range(CHUNKS):
        text = "word " if number % 20 else "line\n"
        delta = {"type": "text_delta", "text": text}
        event({"type": "content_block_delta", "index": 0, "delta": delta})
    event({"type": "message_stop"})


def flow(seconds: float = math.inf) -> None:
    """So many pieces a second, so long, or until it is killed."""
    event({"type": "message_start", "message": {"id": "m"}})
    began, sent = time.monotonic(), 0
    while sent < seconds * PIECES:
        while sent < min(time.monotonic() - began, seconds) * PIECES:
            sent += 1
            delta = {"type": "text_delta", "text": "word " if sent % 20 else "line\n"}
            event({"type": "content_block_delta", "index": 0, "delta": delta})
        sys.stdout.flush()
        time.sleep(0.005)
    event({"type": "message_stop"})


def agents() -> None:
    """Subagents that go on, each with a call a second, until it is killed."""
    names = [f"a{number}" for number in range(AGENTS)]
    calls = {name: {"description": f"do {name}", "prompt": "Go on."} for name in names}
    assistant(
        *({"type": "tool_use", "id": n, "name": "Agent", "input": i} for n, i in calls.items())
    )
    for name in names:
        begun = {"task_id": f"task-{name}", "tool_use_id": name, "description": f"do {name}"}
        kind = {"task_type": "local_agent", "subagent_type": "general-purpose"}
        send({"type": "system", "subtype": "task_started", **begun, **kind, **COMMON})
    for step in count():
        for name in names:
            use = {"type": "tool_use", "id": f"{name}.{step}", "name": "Bash"}
            content = [{**use, "input": {"command": f"make step-{step}"}}]
            message = {"id": "m", "model": "bench", "role": "assistant", "content": content}
            send({"type": "assistant", "message": message, **COMMON, "parent_tool_use_id": name})
            usage = {"total_tokens": 100 * step, "tool_uses": step}
            what = {"task_id": f"task-{name}", "description": f"make step-{step}", "usage": usage}
            send({"type": "system", "subtype": "task_progress", **what, **COMMON})
            sys.stdout.flush()
            time.sleep(1 / AGENTS)


def end_turn() -> None:
    result = {"subtype": "success", "is_error": False, "num_turns": 1, "duration_ms": 1}
    send({"type": "result", "duration_api_ms": 1, **result, **COMMON})
    sys.stdout.flush()


def main() -> None:
    if "-v" in sys.argv or "--version" in sys.argv:
        sys.stdout.write("2.1.332 (bench)\n")
        return
    for line in sys.stdin:
        message = json.loads(line)
        match message["type"]:
            case "control_request":
                response = {"subtype": "success", "request_id": message["request_id"]}
                send({"type": "control_response", "response": {**response, "response": {}}})
                sys.stdout.flush()
            case "control_response":
                stamp("answered")
                end_turn()
            case "user":
                send({"type": "system", "subtype": "init", **COMMON})
                if "many" in line:
                    ask([f"Option {number}" for number in range(40)], 4)
                elif "ask" in line:
                    ask()
                elif "patch" in line:
                    patch()
                elif "flow" in line:
                    flow()
                elif "while" in line:
                    flow(SECONDS)
                    end_turn()
                elif "agents" in line:
                    agents()
                elif "rest" in line:
                    end_turn()
                else:
                    stream()
                    end_turn()


if __name__ == "__main__":
    main()
