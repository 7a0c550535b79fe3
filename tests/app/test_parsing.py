"""A key reads the section's lines once, whatever is asked about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from winnow import protocol as p
from winnow.core import agent as a
from winnow.core.proposal import blocks
from winnow.core.proposal.patch import Patch
from winnow.core.proposal.proposal import Plan
from winnow.core.section.reader import Reader

from tests.app.fakes import CHAT, Room, working

QUESTION = a.Request(
    "AskUserQuestion",
    {
        "questions": [
            {"question": "Which?", "header": "W", "options": [{"label": x} for x in "ABC"]}
        ]
    },
)
PATCH = a.Request("Write", {"file_path": "/shop/a.txt", "content": "one\ntwo\n"})
PLAN = a.Request("ExitPlanMode", {"plan": "1. one\n2. two\n3. three"})


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was read, in order."""
    read: list[str] = []

    def count(owner: Any, method: str) -> None:
        original: Callable[..., Any] = getattr(owner, method)

        def counting(*args: Any, **kwargs: Any) -> Any:
            read.append(owner.__name__.rpartition(".")[2])
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, method, counting)

    count(Reader, "pieces")
    count(blocks, "split")
    count(Patch, "read")
    count(Plan, "read")
    return read


@pytest.mark.parametrize(
    ("request_", "deleted", "reads"),
    [
        (QUESTION, "A⟦", ["blocks", "Reader"]),
        (PATCH, "+two", ["blocks", "Reader", "Patch"]),
        (PLAN, "2.", ["blocks", "Reader", "Plan"]),
    ],
    ids=["question", "patch", "plan"],
)
async def test_a_key_reads_the_lines_once(
    room: Room, counted: list[str], request_: a.Request, deleted: str, reads: list[str]
) -> None:
    """``dd`` reads them for the verdict; ``<CR>`` asks about lines that were read already."""
    await working(room)
    room.agent.ask(request_)
    await room.settle()
    shown = room.shown()
    lines = [line for line in shown.lines if not line.startswith(deleted)]
    assert len(lines) == len(shown.lines) - 1
    counted.clear()
    await room.do(p.Edit(CHAT, shown.section, lines))
    assert counted == reads
    counted.clear()
    await room.do(p.Confirm(CHAT, shown.section, lines, 2))
    assert counted == []
    await room.do(p.Keep(CHAT, shown.section, lines, 2))
    assert counted == []
