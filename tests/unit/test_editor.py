"""What the editor adapter makes of effects, on their way into Neovim."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pynvim
import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.adapters.editor import UNSHOWN, NvimEditor
from winnow.protocol import Effect, Freeze, Notify, Save, Say, Write


class FakeNvim:
    """Takes calls; ``run`` carries the next one out, as pynvim's thread would."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[Callable[[], None]] = asyncio.Queue()
        self.effects: list[dict[str, Any]] = []
        self.batches: list[int] = []  # their lengths
        self.problem: Exception | None = None

    def async_call(self, function: Callable[..., None], *args: object) -> None:
        self.calls.put_nowait(lambda: function(*args))

    def exec_lua(self, code: str, batch: list[dict[str, Any]]) -> None:
        assert "winnow.dispatch" in code
        problem, self.problem = self.problem, None
        if problem is not None:
            raise problem
        msgpack.packb(batch)
        self.batches.append(len(batch))
        self.effects += batch

    async def run(self) -> None:
        """Carry out one call as soon as it comes; there is never a second one under way."""
        call = await self.calls.get()
        assert self.calls.empty()
        call()

    async def drain(self, editor: NvimEditor) -> None:
        """Carry out calls until the editor has none left."""
        while (flushing := editor._flushing) is not None:
            run = asyncio.create_task(self.run())
            await asyncio.wait({flushing, run}, return_when=asyncio.FIRST_COMPLETED)
            run.cancel()


def texts(effects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The effects with text that goes on joined to what it continues, chat by chat."""
    joined: list[dict[str, Any]] = []
    for effect in sorted(effects, key=lambda effect: int(effect["chat"])):
        last = joined[-1] if joined else {}
        goes_on = effect["type"] == "write" == last.get("type") and not effect["fresh"]
        if goes_on and last["chat"] == effect["chat"]:
            joined[-1] = {**last, "text": last["text"] + effect["text"]}
        else:
            joined.append(effect)
    return joined


def plain(effects: list[Effect]) -> list[dict[str, Any]]:
    """As they go over the wire, but one by one."""
    return [
        {"type": "save", "chat": effect.chat}
        if isinstance(effect, Save)
        else {"type": "write", "chat": effect.chat, "text": effect.text, "fresh": effect.fresh}
        for effect in effects
        if isinstance(effect, (Save, Write))
    ]


chats = st.integers(1, 2)
effects = st.builds(Save, chats) | st.builds(Write, chats, st.text("ab\n", max_size=2))
effects |= st.builds(Write, chats, st.just("x"), st.just(True))


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winnow.adapters.editor.FRAME", 0)


@pytest.mark.parametrize(
    ("effects", "texts"),
    [
        ([Write(1, "a", fresh=True), Write(1, "b"), Write(1, "c")], ["abc"]),
        ([Write(1, "a"), Write(1, "b"), Write(1, "c", fresh=True), Write(1, "d")], ["ab", "cd"]),
        ([Write(1, "a"), Write(2, "x"), Write(1, "b"), Write(2, "y")], ["ab", "xy"]),
        ([Write(1, "a"), Write(1, "b"), Save(1), Write(1, "c")], ["ab", "save", "c"]),
        ([Write(1, "a", fresh=True), Write(1, "b", fresh=True)], ["a", "b"]),
        ([Write(1, "a"), Notify("of no chat"), Write(1, "b")], ["ab", "of no chat"]),
    ],
)
async def test_text_is_joined(effects: list[Effect], texts: list[str]) -> None:
    """Pieces of one paragraph are one write; what comes between them stays between them."""
    nvim = FakeNvim()
    editor = NvimEditor(nvim, asyncio.get_running_loop())
    editor.apply(*effects)
    await nvim.drain(editor)
    assert [effect.get("text", effect["type"]) for effect in nvim.effects] == texts


async def test_a_record_is_shown_once_it_is_on_disk() -> None:
    """And nothing that came before it or with it is shown out of order."""
    nvim, saved = FakeNvim(), asyncio.Event()
    editor = NvimEditor(nvim, asyncio.get_running_loop())
    editor.settled = saved.wait
    editor.apply(Say(1, "before"), Freeze(1, "ab", ["Selected: A"]), Save(1))
    await asyncio.sleep(0.05)
    assert nvim.calls.empty()
    saved.set()
    await nvim.drain(editor)
    assert [effect["type"] for effect in nvim.effects] == ["say", "freeze", "save"]


@given(st.lists(st.lists(effects, max_size=8), max_size=4))
def test_joining_keeps_order_and_text(bursts: list[list[Effect]]) -> None:
    """In each chat, whatever comes between and whenever Neovim takes it."""

    async def play() -> FakeNvim:
        nvim = FakeNvim()
        editor = NvimEditor(nvim, asyncio.get_running_loop())
        for burst in bursts:
            for effect in burst:
                editor.apply(effect)
            if not nvim.calls.empty():
                await nvim.run()
            await asyncio.sleep(0)
        await nvim.drain(editor)
        return nvim

    nvim = asyncio.run(play())
    assert texts(nvim.effects) == texts(plain([effect for burst in bursts for effect in burst]))


async def test_a_blocked_neovim_gets_one_call_for_all() -> None:
    """While it waits for a key, text piles up here, joined."""
    nvim = FakeNvim()
    editor = NvimEditor(nvim, asyncio.get_running_loop())
    for _ in range(1000):
        editor.apply(Write(1, "x"), Write(2, "y"))
        await asyncio.sleep(0)
    await nvim.drain(editor)
    assert nvim.batches == [2, 2]
    assert [len(effect["text"]) for effect in nvim.effects[2:]] == [999, 999]


async def test_only_text_waits_for_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame here is longer than the test may take."""
    monkeypatch.setattr("winnow.adapters.editor.FRAME", 1000)
    nvim = FakeNvim()
    editor = NvimEditor(nvim, asyncio.get_running_loop())
    editor.apply(Write(1, "a"))
    await nvim.run()
    editor.apply(Write(1, "b"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert nvim.calls.empty()
    editor.apply(Save(2))
    await nvim.run()
    assert [effect["type"] for effect in nvim.effects] == ["write", "write", "save"]
    assert editor._flushing is not None
    editor._flushing.cancel()


async def test_what_cannot_be_encoded_takes_nothing_with_it() -> None:
    """Half a surrogate in one effect: the others arrive, and the user is told."""
    nvim = FakeNvim()
    editor = NvimEditor(nvim, asyncio.get_running_loop())
    editor.apply(Write(1, "a"), Say(1, "\ud800"), Save(1))
    await nvim.drain(editor)
    assert [effect.get("text", effect["type"]) for effect in nvim.effects] == ["a", "save", UNSHOWN]


@pytest.mark.parametrize("problem", [pynvim.NvimError("no"), OSError("gone")])
async def test_a_refused_batch_stops_no_other(problem: Exception) -> None:
    """It is logged, whatever was wrong with it."""
    nvim = FakeNvim()
    editor = NvimEditor(nvim, asyncio.get_running_loop())
    nvim.problem = problem
    editor.apply(Write(1, "a"))
    await nvim.run()
    editor.apply(Write(1, "b"))
    await nvim.drain(editor)
    assert [effect["text"] for effect in nvim.effects] == ["b"]
