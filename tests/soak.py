"""Kills Neovim, the host or the CLI in turn, in the middle of editing a section, and counts what
was lost: ``make soak``. Each time the chat must come back with every edit of its section.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from tests.api import ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox
from tests.e2e.steps import start, wait_section

KILLS = 50
VICTIMS = {"neovim": "", "host": "pynvim.start_host", "cli": "_bundled/claude"}
FRUIT = question("Which fruit?", "Apple", "Pear", "Plum", "Fig", header="Fruit", multiple=True)
EDITS = ("dd", "jdd", "A ripe<Esc>", "ddp", "/Something<CR>A own words<Esc>", "yyp", "ddu")


def kill(editor: Editor, program: str) -> None:
    """End Neovim, or one of its processes, as ``kill -9`` does."""
    if not program:
        editor.kill()
        return
    for process, command in editor.sandbox.processes().items():
        if program in command:
            os.kill(process, signal.SIGKILL)


def section(editor: Editor) -> list[str]:
    """The lines of the open section, without the ids of their markers."""
    lines = [line for line in editor.lines() if "<!--winnow:" in line and ".r-->" not in line]
    return [line.replace(line.partition("<!--winnow:")[2].partition(".")[0], "") for line in lines]


def survives(root: Path, victim: str, chance: random.Random) -> bool:
    """Edit a section, kill, come back, reopen: is it as it was?"""
    with ScriptedAPI(say(ask("toolu_1", FRUIT))) as api:
        editor = Editor(Sandbox(root, {"agent": "claude"}, api.env(root / "claude")))
        try:
            start(editor)
            wait_section(editor, "Question: Fruit")
            for _ in range(chance.randint(1, 4)):
                editor.keys(chance.choice(EDITS))
            left = section(editor)
            kill(editor, VICTIMS[victim])
            if victim == "neovim":
                [chat] = (editor.sandbox.data / "winnow" / "chats").glob("*.md")
                editor.start(str(chat))
            editor.wait_line("No longer open: Fruit", 20)
            editor.keys("/No longer open<CR>")
            editor.keys("<CR>")
            editor.wait(lambda: len(section(editor)) > 1, "the section", 20)
            return section(editor) == left
        finally:
            editor.close()


def main() -> None:
    chance = random.Random(1)
    lost = 0
    for number, victim in enumerate(islice(cycle(VICTIMS), KILLS), 1):
        with tempfile.TemporaryDirectory() as root:
            kept = survives(Path(root), victim, chance)
        lost += not kept
        print(f"{number:2}/{KILLS} {victim:6} {'kept' if kept else 'LOST'}", flush=True)
    print(f"{KILLS - lost} of {KILLS} kept everything")
    sys.exit(lost > 0)


if __name__ == "__main__":
    main()
