"""Editors that one test after the other uses, each as if it were new.

To start Neovim, the host and what that imports takes a second of processor time, and to start the
CLI half a second: what a test is not about, it need not have for itself.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Literal

from tests.api import Json, ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.sandbox import REPOSITORY, Sandbox

Fresh = Literal["session", "chat", "nothing"]
"""What is new: Neovim, its host and all folders; or only chats and files; or not even the chat."""

SIZE = (80, 24)
TOUR = REPOSITORY / "python" / "winnow" / "scenarios" / "tour.json"
CLI = "_bundled/claude"
GO = "⏎"  # in a row's keys: the <CR> that answers, after which the host has its say
ASK = "AAsk<Esc><CR>gg"  # reading above, so that the section takes a <CR> at once
ROWS = count(1)
ROWS_OF_A_CHAT = 30  # as it grows
QUESTIONS = "questions"
MARKER = re.compile(r"⟦\w*=|=\d=\w")

LUA = Path(__file__).with_suffix(".lua").read_text()
ACTED = """
  local chat = require('winnow.registry').get(vim.api.nvim_get_current_buf())
  return not (chat and chat.section and chat.section.confirming)
"""


class _Editor(Editor):
    """One that can be made as new."""

    def start(self, *args: str) -> None:
        super().start(*args)
        self.act("restore")

    def act(self, what: str) -> Any:
        """Do something of ``desk.lua``."""
        return self.lua(LUA, what)


class Desk:
    """An editor with its folders, for one test after the other.

    After a test that failed, the next one gets another editor.

    Attributes:
        agent: whom its chats are with.

    Args:
        folder: an empty one.
        api: what the chats talk to, if they are with the CLI.
        env: variables beside those of the sandbox and of ``api``.
        options: of the plugin.
    """

    agent: str

    def __init__(
        self,
        folder: Path,
        api: ScriptedAPI,
        env: Mapping[str, str] | None = None,
        **options: object,
    ) -> None:
        self.api = api
        self._folder = folder
        self._env = env or {}
        self._options = options
        self._started: dict[str, object] = {}  # all that its Neovim was started with
        self._editor: _Editor | None = None
        self._user = ""  # who has left a chat to go on with
        self._taken = 0  # how often it was gone on with
        self._length = 0  # of its conversation
        self._editors = count(1)
        self._projects = count(2)

    @contextmanager
    def take(
        self, fresh: Fresh = "chat", user: str = "", size: tuple[int, int] = SIZE
    ) -> Iterator[Editor]:
        """An editor for one test, in which no error may be shown.

        Args:
            fresh: with "nothing" there is a chat, and the cursor stands in its empty draft.
            user: whose chat then goes on from test to test.
            size: columns and rows.
        """
        if fresh == "session":
            with self._alone(size) as editor:
                yield editor
            return
        try:
            if self._editor and self._user and (fresh, self._user) != ("nothing", user):
                self._clear(self._editor)
            if self._editor is None:
                self._editor = self._open()
                self._started = dict(self._editor.sandbox.options)  # not those of one `_alone`
                self._editor.act("host")
            editor = self._editor
            if (editor.cols, editor.rows) != size:
                editor.resize(*size)
            if fresh == "nothing":
                self._go_on(editor, user)
            yield editor
            self._length = self.api.length
            if editor.process.returncode is not None:
                self.close()
                return
            editor.assert_no_errors()
            if fresh == "chat":
                self._clear(editor)
        except BaseException:
            with suppress(Exception):
                self.close()
            raise

    @contextmanager
    def _alone(self, size: tuple[int, int]) -> Iterator[Editor]:
        """An editor for one test, which ends with it."""
        with closing(self._open()) as editor:
            if size != SIZE:
                editor.resize(*size)
            yield editor
            if editor.process.returncode is None:
                editor.assert_no_errors()

    def close(self) -> None:
        """End the editor, if there is one."""
        editor, self._editor, self._user = self._editor, None, ""
        if editor:
            editor.close()

    def _open(self) -> _Editor:
        folder = self._folder / str(next(self._editors))
        # Root may bypass permissions only where IS_SANDBOX says so.
        env = {**self.api.env(folder / "claude"), "IS_SANDBOX": "1", **self._env}
        sandbox = Sandbox(folder, {"agent": self.agent, **self._options}, env)
        sandbox.options["scenario"] = str(sandbox.scenario)
        shutil.copy(TOUR, sandbox.scenario)
        return _Editor(sandbox, *SIZE)

    def _go_on(self, editor: _Editor, user: str) -> None:
        """Have a chat with an empty draft, and with the CLI of the test before."""
        if self._user and not self._emptied(editor):
            self._clear(editor)
        if not self._user:
            self._user, self._taken, self._length = user, 0, 0
            editor.keys(":Winnow<CR>")
        self.api.reset(self._length)
        self._taken += 1
        editor.keys("G")

    def _emptied(self, editor: _Editor) -> bool:
        """Whether the chat can go on, and holds nothing now."""
        editor.dismiss()
        editor.keys("<C-Bslash><C-n>")
        editor.act("restore")
        if self._taken == ROWS_OF_A_CHAT:
            return False
        if self.agent == "claude":  # the scripted one would go on with its script
            editor.act("stop")
        if not self._ends_turn(editor):
            return False
        _clean(editor.sandbox.project)
        _forget(editor.sandbox)
        editor.command("messages clear")
        editor.forget()
        return True

    def _ends_turn(self, editor: _Editor) -> bool:
        with suppress(AssertionError):
            return bool(editor.wait(lambda: editor.act("empty"), "an idle chat", 5) == "empty")
        return False

    def _clear(self, editor: _Editor) -> None:
        """Leave nothing of a test but what runs, and has been told nothing yet."""
        self._user = ""
        editor.dismiss()
        editor.keys("<C-Bslash><C-n>")
        editor.act("clear")
        editor.act("restore")
        # One that still spoke would take what the next test scripts, and what it has said is not
        # of that test either.
        editor.wait(lambda: CLI not in str(editor.sandbox.processes()), "the end of the CLI")
        self.api.reset()
        sandbox = editor.sandbox
        if sandbox.options != self._started:
            sandbox.options = dict(self._started)
            editor.configure()
            editor.lua("_G.first_state = nil")
            editor.act("restore")
        # Another folder: what ends only now can't be about a chat of the next test.
        sandbox.project = sandbox.root / str(next(self._projects)) / "project"
        sandbox.project.mkdir(parents=True)
        editor.lua("vim.cmd.cd(...)", str(sandbox.project))
        for folder in (sandbox.data / "winnow" / "chats", Path(sandbox.env["CLAUDE_CONFIG_DIR"])):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copy(TOUR, sandbox.scenario)
        _forget(sandbox)
        editor.act("host")
        editor.command("messages clear")
        editor.forget()


def _clean(folder: Path) -> None:
    """Remove what is in it."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _forget(sandbox: Sandbox) -> None:
    """Empty the database."""
    if (file := sandbox.state / "winnow" / "winnow.db").exists():
        with closing(sqlite3.connect(file, timeout=20)) as db, db:
            names = "SELECT name FROM sqlite_master WHERE type = 'table'"
            for (table,) in db.execute(names).fetchall():
                db.execute(f"DELETE FROM {table}")


class _Asking(Desk, ABC):
    """A desk at which one thing is asked after the other.

    Attributes:
        questions: what is asked now.
    """

    questions: list[Json]

    @contextmanager
    def asked(self, *questions: Json) -> Iterator[Editor]:
        """An editor whose cursor stands on the first option of these questions.

        In the end no error may have been shown, and no marker.
        """
        with self.take("nothing", QUESTIONS, (100, 40)) as editor:
            row = next(ROWS)
            self.questions = [_numbered(question, row) for question in questions]
            self._ask(editor, *self.questions)
            editor.wait(lambda: section(editor), "a section")
            editor.lua("require('winnow.registry').current().section:step(1)")
            yield editor
            editor.keys("<C-Bslash><C-n>")
            editor.screen()
            shown = [row for frame in editor.frames() for row in frame if MARKER.search(row)]
            assert not shown, shown[0]

    @abstractmethod
    def _ask(self, editor: Editor, *questions: Json) -> None:
        """Let the agent ask, and go to the first line of the chat."""

    @abstractmethod
    def delivered(self, editor: Editor) -> str:
        """What the agent was told; waits for it."""


class ScriptedDesk(_Asking):
    """With the scripted agent, which says what it was told, in a new chat each time.

    Registers hold lines of another chat: ``f`` an option, ``t`` what its agent said, ``r`` the
    record of its question, which was cancelled.
    """

    agent = "scripted"
    _END = "⟫"

    def _go_on(self, editor: _Editor, user: str) -> None:
        if user != QUESTIONS:
            super()._go_on(editor, user)
        elif not self._user:
            self._user = user
            self._ask(editor, question("Which fruit?", "Apple", "Pear"), said="Two things.")
            editor.wait(lambda: section(editor), "a section")
            editor.keys('/^Two<CR>"tyy/^Apple<CR>"fyy<Esc><Esc>')
            editor.wait_line("asks again")
            editor.keys('gg/asks again<CR>"ryy')
        editor.command("silent! tabonly! | silent! only! | messages clear")
        editor.forget()

    def _ask(self, editor: Editor, *questions: Json, said: str = "") -> None:
        before = [{"type": "say", "text": said}] if said else []
        echo = {"type": "say", "text": f"⟪{{answers}}{self._END}"}
        step = {"type": "ask", "questions": questions, "answered": [echo]}
        editor.sandbox.scenario.write_text(json.dumps({"turns": [[*before, step]]}))
        editor.command("silent! %bwipeout!")
        editor.keys(":Winnow new<CR>" + ASK)

    def delivered(self, editor: Editor) -> str:
        editor.wait(lambda: self._END in editor.text(), "the answer")
        return editor.text().partition("⟪")[2].partition(self._END)[0]


class ClaudeDesk(_Asking):
    """With the real CLI, in one session."""

    agent = "claude"

    def _ask(self, editor: Editor, *questions: Json) -> None:
        self._call = f"toolu_{next(ROWS)}"
        self.api.clear()
        self.api.add(say(ask(self._call, *questions)), say(f"Done {self._call}."))
        editor.keys(ASK)

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
    if not last:  # to keep one option is to delete the others, and then to answer
        editor.wait(lambda: editor.lua(ACTED), "what the host says of it")


def _seen(editor: Editor) -> tuple[object, ...]:
    """What changes when the host has taken a <CR>."""
    return editor.cursor(), editor.messages(), section(editor)
