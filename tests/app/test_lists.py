"""A list is kept up to date, at no cost while nothing changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from winnow import protocol as p
from winnow.app.lists import List
from winnow.core.listing import Row

from tests.app.fakes import FakeEditor


class Ages(List):
    """One line, which changes with time or does not."""

    tick = 0.001
    age = "now"

    def __init__(self, editor: FakeEditor) -> None:
        super().__init__("ages", editor)
        self.asked = asyncio.Semaphore(0)

    def rows(self) -> Sequence[Row]:
        self.asked.release()
        return [Row(self.age, "a")]


async def test_what_reads_the_same_is_not_shown_again() -> None:
    editor = FakeEditor()
    shown = Ages(editor)
    shown.watch(open=True)
    for _ in range(5):
        await shown.asked.acquire()
    assert len(editor.every(p.Listed)) == 1
    shown.age = "1 s ago"
    for _ in range(5):
        await shown.asked.acquire()
    assert len(editor.every(p.Listed)) == 2
    shown.close()
