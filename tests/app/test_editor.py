"""The editor adapter: effects reach Neovim in order, and streamed text joined."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from winnow.adapters.editor import NvimEditor
from winnow.core.protocol import Effect, Save, Write


class Nvim:
    """Takes the batches, one after the other."""

    def __init__(self) -> None:
        self.batches: asyncio.Queue[list[dict[str, Any]]] = asyncio.Queue()

    def async_call(self, call: Callable[..., None], *args: object) -> None:
        call(*args)

    def exec_lua(self, code: str, batch: list[dict[str, Any]]) -> None:
        self.batches.put_nowait(batch)


@pytest.mark.parametrize(
    ("effects", "texts"),
    [
        ([Write(1, "a", fresh=True), Write(1, "b"), Write(1, "c")], ["abc"]),
        ([Write(1, "a"), Write(1, "b"), Write(1, "c", fresh=True), Write(1, "d")], ["ab", "cd"]),
        ([Write(1, "a"), Write(2, "x"), Write(1, "b"), Write(2, "y")], ["ab", "xy"]),
        ([Write(1, "a"), Write(1, "b"), Save(1), Write(1, "c")], ["ab", "save", "c"]),
        ([Write(1, "a", fresh=True), Write(1, "b", fresh=True)], ["a", "b"]),
    ],
)
async def test_text_is_joined_and_none_is_lost(effects: list[Effect], texts: list[str]) -> None:
    """Pieces of one paragraph are one write; what comes between them stays between them."""
    nvim = Nvim()
    editor = NvimEditor(nvim, asyncio.get_running_loop())
    editor.apply(*effects)
    batch = await nvim.batches.get()
    assert [effect.get("text", effect["type"]) for effect in batch] == texts
