"""What Claude says on a scripted working day, as a scenario and from the API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.api import Json, Reply, ScriptedAPI, Text, ToolUse, question, say

FRUITS = ("Apple", "Pear", "Plum")
SPEECH = " ".join(f"word{number}" for number in range(60))
ROUNDS = 10  # of a day
RUN = "mcp__winnow__"

Said = list[Any]
"""Texts and calls: a name and its input."""


def labels(number: int) -> list[str]:
    """The options of a round's question; none begins another one."""
    return [f"{fruit}{number:02}" for fruit in FRUITS]


def spoken(project: Path, number: int) -> dict[str, Said]:
    """What is said in a round, by words of the prompt."""
    a, b = f"A{number}", f"B{number}"
    which = f"Which for {number}?"
    tasks = [
        {"title": a, "prompt": f"Task {a}: do it."},
        {"title": b, "prompt": f"Task {b}: do it.", "waits_for": [a]},
    ]
    asked = {"questions": [question(which, *labels(number), header=f"Q{number}")]}
    wants = {"question": which, "options": labels(number)}
    file = {"file_path": str(project / f"made{number}"), "content": f"line {number}\n"}
    bash = {"command": f"echo {number} >> ran", "description": "d"}
    return {
        f"question {number}.": [f"About {number}.", ("AskUserQuestion", asked)],
        f"permission {number}.": [f"I run {number}.", ("Bash", bash)],
        f"patch {number}.": [f"I write {number}.", ("Write", file)],
        f"stream {number}.": [f"{SPEECH} end{number}"],
        f"ping {number}.": [f"Pong {number}."],
        f"Goal {number}.": [(f"{RUN}create_tasks", {"tasks": tasks})],
        f"“{a}” asks": [f"[NEED_HUMAN: {which}]"],
        f"“{b}” is done": [(f"{RUN}finish", {"summary": f"Finished {number}."})],
        f"Task {a}: do it.": [(f"{RUN}ask_orchestrator", wants)],
        f"Task {b}: do it.": [f"{b} is made."],
    }


def scenario(project: Path) -> Json:
    """All of it, for the scripted agent."""
    when, workers = [], {}
    for number in range(1, ROUNDS + 1):
        said = spoken(project, number)
        when += [{"words": words, "steps": _steps(it)} for words, it in said.items()]
        for name in (f"A{number}", f"B{number}"):
            workers[name] = {
                "when": [{"words": label, "steps": _steps([])} for label in labels(number)],
                "turns": [_steps(said[f"Task {name}: do it."])],
            }
    return {"turns": [_steps([])], "when": when, "workers": workers}


def _steps(said: Said) -> list[Json]:
    steps: list[Json] = []
    for one in said:
        match one:
            case str(text):
                steps.append({"type": "say", "text": text})
            case ("AskUserQuestion", input):
                steps.append({"type": "ask", **input})
            case (name, input) if name.startswith(RUN):
                steps.append({"type": "call", "name": name.removeprefix(RUN), "input": input})
            case (name, input):
                permit = {"type": "permit", "name": name, "input": input}
                steps.append({**permit, "output": "Done."})
    return [*steps, {"type": "say", "text": "That was it."}]


class DayAPI(ScriptedAPI):
    """Answers what was said last, however often that is."""

    def __enter__(self) -> DayAPI:
        super().__enter__()
        return self

    def __init__(self, project: Path) -> None:
        super().__init__()
        self._calls = 0
        self._said = [item for n in range(1, ROUNDS + 1) for item in spoken(project, n).items()]

    def take(self, body: Json) -> Reply:
        super().take(body)
        last = ""
        for message in reversed(body["messages"]):
            if message["role"] == "assistant":
                break
            last += json.dumps(message, ensure_ascii=False)
        said = next((said for words, said in self._said if words in last), ["That was it."])
        return say(*[self._block(one) for one in said])

    def _block(self, one: Any) -> Text | ToolUse:
        if isinstance(one, str):
            return Text(one)
        self._calls += 1
        name, input = one
        return ToolUse(name, input, f"toolu_{self._calls}")
