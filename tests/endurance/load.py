"""Twenty chats and ten workers of a run at once, for ten minutes: ``make soak``.

Everything must arrive, in order, once; host and Neovim must not grow by more than the text. The
agents are scripted, fifty words a second each; every chat is sent its next message when it rests.

    python -m tests.endurance.load [seconds] [chats] [workers]
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.api import Json
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox
from tests.endurance.fault import HOST

SECONDS, CHATS, WORKERS = 600, 20, 10
WORDS = 100  # of a message, each of its own; there are fifty a second
RESTS = "return require('winnow.registry').current().state == 'idle'"
BYTES = """
  local all = 0
  for _, chat in ipairs(require('winnow.registry').all()) do
    all = all + vim.api.nvim_buf_get_offset(chat.buf, vim.api.nvim_buf_line_count(chat.buf))
  end
  collectgarbage()
  return all
"""


def speech(name: str) -> str:
    return " ".join(f"{name}:{number}" for number in range(WORDS))


def heard(name: str, text: str) -> list[int]:
    """Which of its words a text has, in that order."""
    return [int(number) for number in re.findall(rf"\b{name}:(\d+)", text)]


def scenario(chats: int, workers: int, messages: int) -> Json:
    """Each worker asks after each of its messages, and its orchestrator replies."""

    def call(name: str, **input: object) -> Json:
        return {"type": "call", "name": name, "input": input}

    def says(name: str) -> Json:
        return {"type": "say", "text": f"{speech(name)}\n\n"}

    names = {f"t{number}": f"w{number}" for number in range(1, workers + 1)}
    tasks = [{"title": name, "prompt": "Talk."} for name in names.values()]
    when = [
        {"words": "Talk to all", "steps": [call("create_tasks", tasks=tasks)]},
        *({"words": f"chat {n}.", "steps": [says(f"c{n}")]} for n in range(chats)),
        *(
            {"words": f"“{name}” asks", "steps": [call("reply", task=task, text="Go on.")]}
            for task, name in names.items()
        ),
    ]
    work = {
        name: {"turns": [[says(name), call("ask_orchestrator", question="And now?")] * messages]}
        for name in names.values()
    }
    return {"turns": [[{"type": "say", "text": "I see."}]], "when": when, "workers": work}


def resident(process: int) -> float:
    """Megabytes that it has in memory."""
    found = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{process}/status").read_text())
    assert found
    return int(found[1]) / 1024


class Load:
    """So many chats, and a run with so many workers, in one Neovim."""

    def __init__(self, editor: Editor, chats: int, workers: int) -> None:
        self._editor, self._workers = editor, workers
        self._sent = [0] * chats  # messages

    def play(self, seconds: float) -> str:
        """Let all of them talk, and see what has come; returns how much grew."""
        editor = self._editor
        editor.keys(":Winnow run Talk to all<CR>")
        for number in range(len(self._sent)):
            editor.keys(":tab Winnow new<CR>")
            self._send(number)
        for number in range(len(self._sent)):
            self._wait(number)
        first, ends = self._sizes(), time.monotonic() + seconds
        while time.monotonic() < ends:
            for number in range(len(self._sent)):
                editor.keys(f":{number + 2}tabnext<CR>")
                if editor.lua(RESTS):
                    self._send(number)
            time.sleep(0.2)
        for number in range(len(self._sent)):
            self._wait(number)
            self._check(number)
        self._check_workers()
        (text, host, neovim) = (new - old for old, new in zip(first, self._sizes(), strict=True))
        return (
            f"{sum(self._sent)} messages: {text:.1f} MB of text; the host grew by {host:.1f} MB,"
            f" Neovim by {neovim:.1f} MB; it began with {first[1]:.0f} and {first[2]:.0f} MB"
        )

    def _send(self, number: int) -> None:
        self._editor.keys(f"GAchat {number}.<Esc><CR>")
        self._sent[number] += 1

    def _wait(self, number: int) -> None:
        self._editor.keys(f":{number + 2}tabnext<CR>")
        last = f"c{number}:{WORDS - 1}"
        self._editor.wait(
            lambda: (
                self._editor.text().count(last) >= self._sent[number] and self._editor.lua(RESTS)
            ),
            f"the end of chat {number}",
        )

    def _check(self, number: int) -> None:
        text = self._editor.text()
        assert heard(f"c{number}", text) == [*range(WORDS)] * self._sent[number], number
        assert len(re.findall(r"\bc\d+:", text)) == WORDS * self._sent[number], number
        assert text.count(f"chat {number}.") == self._sent[number]

    def _check_workers(self) -> None:
        file = self._editor.sandbox.state / "winnow" / "winnow.db"
        with closing(sqlite3.connect(file)) as db:
            rows = "SELECT task, turn FROM run_turns ORDER BY task, number"
            turns = db.execute(rows).fetchall()
        for number in range(1, self._workers + 1):
            said = "".join(turn for task, turn in turns if task == f"t{number}")
            found = heard(f"w{number}", said)
            assert found == [at % WORDS for at in range(len(found))], number
            assert len(found) >= WORDS

    def _sizes(self) -> tuple[float, float, float]:
        text = self._editor.lua(BYTES) / 1e6
        running = self._editor.sandbox.processes().items()
        host = next(process for process, command in running if HOST in command)
        return text, resident(host), resident(self._editor.process.pid)


@contextmanager
def load(root: Path, seconds: float, chats: int, workers: int) -> Iterator[Load]:
    """All that, with folders of its own."""
    messages = 1 + int(seconds * 50 / WORDS)
    options = {"agent": "scripted", "scenario": str(root / "scenario.json"), "run_workers": workers}
    sandbox = Sandbox(root, options)
    sandbox.scenario.write_text(json.dumps(scenario(chats, workers, messages)))
    with closing(Editor(sandbox, 100, 40)) as editor:
        yield Load(editor, chats, workers)
        editor.assert_no_errors()


def main() -> None:
    given = [int(argument) for argument in sys.argv[1:]]
    seconds, chats, workers = given + [SECONDS, CHATS, WORKERS][len(given) :]
    with (
        tempfile.TemporaryDirectory() as root,
        load(Path(root), seconds, chats, workers) as everybody,
    ):
        print(f"{chats} chats and {workers} workers: {everybody.play(seconds)}")


if __name__ == "__main__":
    main()
