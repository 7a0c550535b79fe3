"""Kills Neovim, the host or the CLI in turn: in the middle of editing a section, right after its
`<CR>`, and while Claude connects to get a message: ``make soak``. Each time every edit must still
be there, what was decided or sent must arrive once, and no process may be left after five seconds.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from itertools import cycle, islice, product
from pathlib import Path

from tests.api import ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox
from tests.e2e.steps import start, wait_section
from tests.e2e.test_delivery import arrives, decided, type_and
from tests.e2e.test_resume import chat_file

KILLS = 72
LEFT = 5  # seconds for what is left of a Neovim that was killed
VICTIMS = {"neovim": "nvim", "host": "pynvim.start_host", "cli": "_bundled/claude"}
FRUIT = question("Which fruit?", "Apple", "Pear", "Plum", "Fig", header="Fruit", multiple=True)
EDITS = ("dd", "jdd", "A ripe<Esc>", "ddp", "/Something<CR>A own words<Esc>", "yyp", "ddu")


def kill(editor: Editor, program: str) -> None:
    """End Neovim, or one of its processes, as ``kill -9`` does."""
    if program == "nvim":
        editor.kill()
        return
    for process, command in editor.sandbox.processes().items():
        if program in command:
            os.kill(process, signal.SIGKILL)


def come_back(editor: Editor, program: str) -> None:
    """After its Neovim was killed, nothing of it stays; then another one opens the chat."""
    if program == "nvim":
        editor.process.wait(20)
        editor.kill()
        ends = time.monotonic() + LEFT
        while editor.sandbox.processes() and time.monotonic() < ends:
            time.sleep(0.02)
        assert not editor.sandbox.processes(), editor.sandbox.processes()
        editor.start(str(chat_file(editor)))


def section(editor: Editor) -> list[str]:
    """The lines of the open section, without the ids of their markers."""
    lines = [line for line in editor.lines() if "⟦" in line and "=r⟧" not in line]
    return [line.replace(line.partition("⟦")[2].partition("=")[0], "") for line in lines]


def edits(editor: Editor, api: ScriptedAPI, program: str, chance: random.Random) -> None:
    """Edit a section, kill, come back, reopen it where only the CLI is gone: it is as it was."""
    api.add(say(ask("toolu_1", FRUIT)))
    start(editor)
    wait_section(editor, "Question: Fruit")
    for _ in range(chance.randint(1, 4)):
        editor.keys(chance.choice(EDITS))
    left = section(editor)
    kill(editor, program)
    come_back(editor, program)
    if program == "cli":
        editor.wait_line("No longer open: Fruit", 20)
        editor.keys("/No longer open<CR>")
        editor.keys("<CR>")
    editor.wait(lambda: section(editor) == left, "the section as it was left", 20)


def decides(editor: Editor, api: ScriptedAPI, program: str, chance: random.Random) -> None:
    """Answer a question, kill, come back: the answer arrives once."""
    api.add(say(ask("toolu_1", FRUIT)), say("Noted."))
    start(editor)
    wait_section(editor, "Question: Fruit")
    editor.keys("gg/^Apple<CR>dd/^Fig<CR>dd")
    decided(editor)
    if chance.random() < 0.5:
        type_and(editor, "<CR>", program)
    else:
        editor.keys("<CR>")
        time.sleep(chance.random() / 5)  # anywhere in its delivery
        kill(editor, program)
    come_back(editor, program)
    arrives(editor, api, '"Which fruit?"="Pear,Plum"', "Answer:\\n- Pear\\n- Plum")


def connects(editor: Editor, api: ScriptedAPI, program: str, chance: random.Random) -> None:
    """Send a first message while Claude still connects, kill, come back: it arrives once."""
    editor.keys(":Winnow<CR>Aremember the milk<Esc>")
    editor.keys("<CR>")
    time.sleep(chance.random())
    kill(editor, program)
    come_back(editor, program)
    arrives(editor, api, "remember the milk")


MOMENTS = (edits, decides, connects)


def main() -> None:
    chance = random.Random(1)
    lost = 0
    cases = islice(cycle(product(MOMENTS, VICTIMS)), KILLS)
    for number, (moment, victim) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as root, ScriptedAPI() as api:
            folder = Path(root)
            editor = Editor(Sandbox(folder, {"agent": "claude"}, api.env(folder / "claude")))
            editor.resize(100, 40)
            try:
                moment(editor, api, VICTIMS[victim], chance)
            except AssertionError as error:
                lost += 1
                print(str(error)[:4000])
            else:
                print(f"{number:2}/{KILLS} {moment.__name__:8} {victim:6} kept", flush=True)
            try:
                editor.quit()
            finally:
                editor.sandbox.close(LEFT)
    print(f"{KILLS - lost} of {KILLS} kept everything")
    sys.exit(lost > 0)


if __name__ == "__main__":
    main()
