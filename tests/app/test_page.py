"""A page shows what happened, and a later one the same."""

from __future__ import annotations

import pytest
from winnow.app.page import Page
from winnow.app.turn import Turn
from winnow.core.agent import Request, Text, ToolFinished, TurnEnded
from winnow.core.transcript.entries import Returned
from winnow.core.transcript.transcript import Transcript

from tests.app.fakes import BASH, FakeEditor


def test_a_second_view_shows_what_the_first_did() -> None:
    """Attached in the middle, it goes on as that one does."""
    turn, kept = Turn(), Transcript()
    early, late = FakeEditor(), FakeEditor()
    first = Page(1, early)
    for event in (Text("on"), Text("e"), BASH, Text("two ⟦"), ToolFinished("t1", "out")):
        entries = list(turn.hear(event))
        kept.append(*entries)
        first.append(*entries)
    second = Page(2, late)
    second.append(*kept)
    allowed = turn.allowed(Request("Bash", {}, "t2"), {"command": "pwd"})
    for entry in (allowed, *turn.hear(TurnEnded())):
        kept.append(entry)
        first.append(entry)
        second.append(entry)
    assert early.text == late.text
    assert early.text == "|one|▸ Bash ls …|two |▸ Bash ls ✓⟦|▸ Bash pwd …|▸ Bash pwd ✗"
    assert kept.text == "one\n\n▸ Bash ls ✓\n│ out\n\ntwo ⟦\n\n▸ Bash pwd ✗"


@pytest.mark.parametrize(("allowed", "seconds"), [(False, 0), (True, 5)])
def test_what_waits_for_the_user_takes_no_time(*, allowed: bool, seconds: float) -> None:
    """Only a call that runs does, from then on."""
    times = [0.0, 60.0, 65.0] if allowed else [0.0, 60.0]
    turn = Turn(now=iter(times).__next__)
    asked = Request("Bash", {"command": "ls"}, "t1")
    turn.held(asked)
    list(turn.hear(BASH))
    if allowed:
        turn.allowed(asked, asked.input)
    (returned,) = turn.hear(ToolFinished("t1", "", failed=not allowed))
    assert isinstance(returned, Returned)
    assert returned.seconds == seconds
