"""What the host makes of an event that is wrong: one sentence, and it goes on."""

from __future__ import annotations

import asyncio
import atexit
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from winnow.app.chat import Chat
from winnow.app.chats import UNKNOWN
from winnow.app.session import FAILED
from winnow.host import GARBLED, Host

OPEN = {"type": "open", "cwd": "/", "agent": "scripted"}
EDIT = {"type": "edit", "chat": 1, "section": "s1", "lines": []}


class FakeNvim:
    """Neovim on the other end of pynvim's thread: takes what it is told at once."""

    def __init__(self) -> None:
        self.effects: queue.Queue[dict[str, Any]] = queue.Queue()

    def async_call(self, function: Callable[..., None], *args: object) -> None:
        function(*args)

    def exec_lua(self, _code: str, batch: list[dict[str, Any]]) -> None:
        for effect in batch:
            self.effects.put(effect)

    def wait(self, kind: str, **fields: object) -> dict[str, Any]:
        """The next effect of this kind, with these fields; there is no error before it."""
        while True:
            effect = self.effects.get(timeout=30)
            if effect["type"] == kind and fields.items() <= effect.items():
                return effect
            assert effect.get("level") != "error", effect


@pytest.fixture
def nvim() -> FakeNvim:
    return FakeNvim()


@pytest.fixture
def host(nvim: FakeNvim, tmp_path: Path) -> Iterator[Host]:
    """A host with the scripted agent, whose log is taken off at the end."""
    root = logging.getLogger()
    level, before = root.level, list(root.handlers)
    host = Host(nvim, {"state": str(tmp_path), "agent": "scripted", "pace": 0})
    yield host
    atexit.unregister(host._drain)
    (thread,) = [one for one in threading.enumerate() if one.name == "winnow"]
    asyncio.run_coroutine_threadsafe(end(host), host._loop).result(30)
    host._store.close(30)
    host._loop.call_soon_threadsafe(host._loop.stop)
    thread.join(30)
    host._loop.close()
    root.setLevel(level)
    logging.raiseExceptions = True
    for handler in set(root.handlers) - set(before):
        root.removeHandler(handler)
        handler.close()


async def end(host: Host) -> None:
    """Leave no task behind."""
    await host._chats.close()
    if (flushing := host._editor._flushing) is not None:
        await flushing


def opened(host: Host, nvim: FakeNvim, chat: int) -> None:
    """A chat that is ready for a message."""
    host.handle({**OPEN, "chat": chat, "path": f"/{chat}.md"})
    nvim.wait("status", chat=chat, state="idle")


@pytest.mark.parametrize(
    ("event", "said", "logged"),
    [
        (None, GARBLED, "event 'NoneType': Expected `object`, got `null`"),
        (["edit"], GARBLED, "event 'list': Expected `object`, got `array`"),
        ({}, GARBLED, "event None: Object missing required field `type`"),
        ({"type": "nonsense"}, GARBLED, "event 'nonsense': Invalid value 'nonsense' - at `$.type`"),
        ({"type": {}}, GARBLED, "event {}: Expected `str`, got `dict` - at `$.type`"),
        ({**EDIT, "chat": "one"}, GARBLED, "event 'edit': Expected `int`, got `str` - at `$.chat`"),
        ({**EDIT, "lines": [7]}, GARBLED, "Expected `str`, got `int` - at `$.lines[0]`"),
        ({"type": "stop"}, GARBLED, "event 'stop': Object missing required field `chat`"),
        ({**EDIT, "chat": 99}, UNKNOWN, "event for a closed chat: Edit"),
    ],
)
def test_a_wrong_event_costs_one_sentence(
    host: Host, nvim: FakeNvim, tmp_path: Path, event: object, said: str, logged: str
) -> None:
    """It is logged with what is wrong with it, and the chat goes on."""
    opened(host, nvim, 1)
    host.handle(event)
    assert nvim.wait("notify")["text"] == said
    host.handle({"type": "send", "chat": 1, "text": "Hi"})
    nvim.wait("status", chat=1, state="working")
    assert logged in (tmp_path / "winnow.log").read_text()


def test_a_handler_that_fails_costs_one_sentence(
    host: Host, nvim: FakeNvim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log says where; this chat and others go on."""
    opened(host, nvim, 1)
    opened(host, nvim, 2)
    with monkeypatch.context() as broken:
        broken.setattr(Chat, "_stop", None)
        host.handle({"type": "stop", "chat": 1})
        assert nvim.wait("notify") == {"type": "notify", "text": FAILED, "level": "error"}
    for chat in (2, 1):
        host.handle({"type": "send", "chat": chat, "text": "Hi"})
        nvim.wait("status", chat=chat, state="working")
    log = (tmp_path / "winnow.log").read_text()
    assert "event Stop" in log
    assert "TypeError" in log


def test_what_is_about_no_chat_needs_none(host: Host, nvim: FakeNvim) -> None:
    """The ledger is shown before there is any chat."""
    host.handle({"type": "recall"})
    assert nvim.wait("decisions").keys() == {"type", "lines"}


def test_a_failure_beside_is_told(
    host: Host, nvim: FakeNvim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an event asked for may fail later."""
    monkeypatch.setattr("winnow.app.chats.recall", None)
    host.handle({"type": "recall"})
    assert nvim.wait("notify")["text"] == FAILED
