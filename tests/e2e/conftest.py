"""Editors for the tests of this folder; each ends with its test and must not have shown errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from tests.api import ScriptedAPI
from tests.e2e.desk import SIZE, ClaudeDesk, Desk, Fresh, ScriptedDesk
from tests.e2e.editor import Editor
from tests.e2e.neovim import Neovim
from tests.e2e.sandbox import Sandbox
from tests.e2e.terminal import Terminal

Kind = TypeVar("Kind", bound=Desk)

Open = Callable[..., Editor]
"""Opens an editor: keyword arguments are options of the plugin, ``env`` adds variables."""


Second = Callable[..., Editor]
"""Starts another Neovim beside one, with these arguments."""


class Share(Protocol):
    """Gives the editor of a desk, so new and of that size; see `share`."""

    def __call__(
        self, desk: Desk, fresh: Fresh = "chat", size: tuple[int, int] = SIZE
    ) -> Editor: ...


class Desks(Protocol):
    """Gives the desk of this kind, with ``env`` and options as `Desk` takes them."""

    def __call__(self, kind: type[Kind], **started: Any) -> Kind: ...


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


@pytest.fixture(scope="session")
def _api() -> Iterator[ScriptedAPI]:
    with ScriptedAPI() as api:
        yield api


@pytest.fixture
def api(_api: ScriptedAPI) -> ScriptedAPI:
    """A scripted Messages API without a script yet."""
    _api.reset()
    return _api


@pytest.fixture(scope="session")
def desks(tmp_path_factory: pytest.TempPathFactory, _api: ScriptedAPI) -> Iterator[Desks]:
    """A desk for each way to start an editor."""
    with ExitStack() as stack:
        made: dict[str, Desk] = {}

        def desks(kind: type[Kind], **started: Any) -> Kind:
            name = f"{kind.__name__} {started}"
            if name not in made:
                made[name] = kind(tmp_path_factory.mktemp("desk"), _api, **started)
                stack.callback(made[name].close)
            desk = made[name]
            assert isinstance(desk, kind)
            return desk

        yield desks


@pytest.fixture
def share(request: pytest.FixtureRequest, desks: Desks, closing: ExitStack) -> Share:
    """Gives the editor of a desk; after a test that fails, the next one gets another one.

    A test that wants it otherwise says so: ``@pytest.mark.fresh("session")``, see `Fresh`.
    """
    mark = request.node.get_closest_marker("fresh")
    failed = request.session.testsfailed

    def share(desk: Desk, fresh: Fresh = "chat", size: tuple[int, int] = SIZE) -> Editor:
        fresh = mark.args[0] if mark else fresh

        def give_up() -> None:
            if request.session.testsfailed > failed:
                desk.close()

        editor = closing.enter_context(desk.take(fresh, request.node.module.__name__, size))
        closing.callback(give_up)
        return editor

    return share


@pytest.fixture
def editor(share: Share, desks: Desks) -> Editor:
    """An editor whose chats are with the scripted agent."""
    return share(desks(ScriptedDesk))


@pytest.fixture
def claude(share: Share, desks: Desks, api: ScriptedAPI) -> Editor:
    """An editor whose chats are with the real Claude Code CLI, which talks to ``api``."""
    return share(desks(ClaudeDesk))


@pytest.fixture
def desk(desks: Desks) -> ScriptedDesk:
    """Asks with the scripted agent."""
    return desks(ScriptedDesk)


@pytest.fixture
def claude_desk(desks: Desks, api: ScriptedAPI) -> ClaudeDesk:
    """Asks with the real Claude Code CLI."""
    return desks(ClaudeDesk)


@pytest.fixture
def second(closing: ExitStack) -> Second:
    """Starts another Neovim of the same user, in the same directory."""

    def end(twin: Editor) -> None:
        if twin.process.poll() is None:
            twin.quit()

    def second(first: Editor, *args: str) -> Editor:
        twin = Editor(first.sandbox)
        closing.callback(end, twin)
        if args:
            twin.restart(*args)
        return twin

    return second


@pytest.fixture
def terminal(tmp_path: Path, closing: ExitStack) -> Terminal:
    """A terminal with Neovim, whose chats are with the scripted agent."""
    sandbox = Sandbox(tmp_path / "terminal", {"agent": "scripted"})
    closing.callback(sandbox.close)
    terminal = Terminal(sandbox)
    closing.callback(_end, terminal)
    return terminal
