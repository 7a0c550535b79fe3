"""Editors for the tests of this folder; each ends with its test and must not have shown errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.api import ScriptedAPI
from tests.e2e.desk import ClaudeDesk, ScriptedDesk
from tests.e2e.editor import Editor
from tests.e2e.neovim import Neovim
from tests.e2e.sandbox import Sandbox
from tests.e2e.terminal import Terminal

Open = Callable[..., Editor]
"""Opens an editor: keyword arguments are options of the plugin, ``env`` adds variables."""


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    """Closes, at the end of the test, what was entered into it."""
    with ExitStack() as stack:
        yield stack


def _end(neovim: Neovim) -> None:
    try:
        if neovim.process.poll() is None:
            neovim.assert_no_errors()
    finally:
        neovim.close()


@pytest.fixture
def open_editor(tmp_path: Path, closing: ExitStack) -> Open:
    """Opens editors, each with folders of its own."""
    count = 0

    def open_editor(env: Mapping[str, str] | None = None, **options: object) -> Editor:
        nonlocal count
        count += 1
        sandbox = Sandbox(tmp_path / f"editor{count}", options, env)
        closing.callback(sandbox.close)  # even if Neovim does not start
        editor = Editor(sandbox)
        closing.callback(_end, editor)
        return editor

    return open_editor


@pytest.fixture
def editor(open_editor: Open) -> Editor:
    """An editor whose chats are with the scripted agent."""
    return open_editor(agent="scripted")


@pytest.fixture
def api(closing: ExitStack) -> ScriptedAPI:
    """A scripted Messages API without a script yet."""
    return closing.enter_context(ScriptedAPI())


@pytest.fixture
def claude(open_editor: Open, api: ScriptedAPI, tmp_path: Path) -> Editor:
    """An editor whose chats are with the real Claude Code CLI, which talks to ``api``."""
    return open_editor(agent="claude", env=api.env(tmp_path / "claude"))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedDesk]:
    """Asks with the scripted agent, for all tests of a file."""
    with ScriptedDesk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture(scope="module")
def claude_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClaudeDesk]:
    """Asks with the real Claude Code CLI, for all tests of a file."""
    with ScriptedAPI() as api, ClaudeDesk(tmp_path_factory.mktemp("desk"), api) as desk:
        yield desk


@pytest.fixture
def terminal(tmp_path: Path, closing: ExitStack) -> Terminal:
    """A terminal with Neovim, whose chats are with the scripted agent."""
    sandbox = Sandbox(tmp_path / "terminal", {"agent": "scripted"})
    closing.callback(sandbox.close)
    terminal = Terminal(sandbox)
    closing.callback(_end, terminal)
    return terminal
