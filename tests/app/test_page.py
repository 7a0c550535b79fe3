"""A page shows what happened, and a later one the same."""

from __future__ import annotations

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


def test_what_was_refused_took_no_time() -> None:
    """The user had to look at it: that is no run of the tool."""
    turn = Turn(now=iter((0.0, 60.0, 60.0)).__next__)
    refused = Request("Bash", {"command": "ls"}, "t1")
    list(turn.hear(BASH))
    turn.refused(refused)
    (returned,) = turn.hear(ToolFinished("t1", "No.", failed=True))
    assert isinstance(returned, Returned)
    assert returned.seconds == 0
