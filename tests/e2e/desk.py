"""One editor for many rows of a table: each row is a question in a chat of its own."""

from __future__ import annotations

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.api import Json, ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox

if TYPE_CHECKING:
    from typing_extensions import Self

GO = "⏎"  # in a row's keys: the <CR> that answers, after which the host has its say
ASK = "AAsk<Esc><CR>gg"  # reading above, so that the section takes a <CR> at once
MARKER = re.compile(r"winnow:\w|\.\d\.\w-->|<!--w")


class Desk(ABC):
    """Asks one thing after the other. A row that fails takes the editor with it.

    Attributes:
        questions: what is asked now.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._editors = count(1)
        self._rows = count(1)
        self.questions: list[Json] = []
        self._editor: Editor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the editor, if there is one."""
        editor, self._editor = self._editor, None
        if editor:
            editor.close()

    @contextmanager
    def asked(self, *questions: Json) -> Iterator[Editor]:
        """An editor whose cursor stands on the first option of these questions.

        In the end no error may have been shown, and no marker.
        """
        try:
            if self._editor is None:
                self._editor = self._open(self.folder / f"desk{next(self._editors)}")
                self._editor.resize(100, 40)
            editor = self._editor
            editor.command("messages clear")
            editor.forget()
            row = next(self._rows)
            self.questions = [_numbered(question, row) for question in questions]
            self._ask(editor, *self.questions)
            editor.wait(lambda: section(editor), "a section")
            editor.lua("require('winnow.registry').current().section:step(1)")
            yield editor
            editor.keys("<C-Bslash><C-n>")
            editor.screen()
            editor.assert_no_errors()
            shown = [row for frame in editor.frames() for row in frame if MARKER.search(row)]
            assert not shown, shown[0]
            editor.command("silent tabonly | silent only")
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _open(self, folder: Path) -> Editor:
        """Start an editor."""

    @abstractmethod
    def _ask(self, editor: Editor, *questions: Json) -> None:
        """Let the agent ask, in a new chat, and go to its first line."""

    @abstractmethod
    def delivered(self, editor: Editor) -> str:
        """What the agent was told; waits for it."""


class ScriptedDesk(Desk):
    """With the scripted agent, which says what it was told.

    Registers hold lines of another chat: ``f`` an option, ``t`` what its agent said, ``r`` the
    record of its question, which was cancelled.
    """

    _END = "⟧"

    def _open(self, folder: Path) -> Editor:
        self._scenario = folder / "scenario.json"
        editor = Editor(Sandbox(folder, {"agent": "scripted", "scenario": str(self._scenario)}))
        self._ask(editor, question("Which fruit?", "Apple", "Pear"), said="Two things.")
        editor.wait(lambda: section(editor), "a section")
        editor.keys('/^Two<CR>"tyy/^Apple<CR>"fyy<Esc>')
        editor.wait_line("asks again")
        editor.keys('gg/asks again<CR>"ryy')
        return editor

    def _ask(self, editor: Editor, *questions: Json, said: str = "") -> None:
        before = [{"type": "say", "text": said}] if said else []
        echo = {"type": "say", "text": f"⟦{{answers}}{self._END}"}
        step = {"type": "ask", "questions": questions, "answered": [echo]}
        self._scenario.write_text(json.dumps({"turns": [[*before, step]]}))
        editor.command("silent! %bwipeout!")
        editor.keys(":Winnow new<CR>" + ASK)

    def delivered(self, editor: Editor) -> str:
        editor.wait(lambda: self._END in editor.text(), "the answer")
        return editor.text().partition("⟦")[2].partition(self._END)[0]


class ClaudeDesk(Desk):
    """With the real CLI, in one session."""

    def __init__(self, folder: Path, api: ScriptedAPI) -> None:
        super().__init__(folder)
        self.api = api
        self._calls = count(1)

    def _open(self, folder: Path) -> Editor:
        editor = Editor(Sandbox(folder, {"agent": "claude"}, self.api.env(folder / "claude")))
        editor.keys(":Winnow new<CR>")
        return editor

    def _ask(self, editor: Editor, *questions: Json) -> None:
        self._call = f"toolu_{next(self._calls)}"
        self.api.clear()
        self.api.add(say(ask(self._call, *questions)), say(f"Done {self._call}."))
        editor.keys("G" + ASK)

    def delivered(self, editor: Editor) -> str:
        told = self.api.tool_result(self._call)
        editor.wait_line(f"Done {self._call}.")
        return told


def _numbered(question: Json, number: int) -> Json:
    """With a text of its own, so that no earlier answer is offered; its edges stay."""
    text, mark, rest = question["question"].partition("?")
    return {**question, "question": f"{text} ({number}){mark}{rest}"}


def section(editor: Editor) -> list[str]:
    """The lines of the open section; empty if none is open."""
    lines: list[str] = editor.lua("""
      local chat = require('winnow.registry').current()
      return chat and chat.section and chat.section:lines() or {}
    """)
    return lines


def type_keys(editor: Editor, keys: str) -> None:
    """Type a row's keys, and the last `GO` if there is none."""
    first, *others = (keys if GO in keys else keys + GO).split(GO)
    editor.keys(first)
    for number, more in enumerate(others, 1):
        go(editor, last=number == len(others))
        editor.keys(more)


def go(editor: Editor, *, last: bool = True) -> None:
    """Press <CR>, and wait for what it does; if it isn't the last one, for all of that."""
    before = _seen(editor)
    editor.keys("<CR>")
    editor.wait(lambda: _seen(editor) != before, "what <CR> does")
    while not last and (now := _seen(editor)) != before:
        before = now
        time.sleep(0.1)  # the host may have more to say, such as where to step


def _seen(editor: Editor) -> tuple[object, ...]:
    """What changes when the host has taken a <CR>."""
    return editor.cursor(), editor.messages(), section(editor)
