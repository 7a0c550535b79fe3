"""A transcript has all that was said and done, in order, streamed pieces merged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from winnow.core.run.transcript import Recorder, RunTurn
from winnow.core.transcript.entries import (
    Called,
    Ended,
    Entry,
    Held,
    Noted,
    Paused,
    Recorded,
    Retried,
    Returned,
    Said,
    Thought,
)


def recorded(*entries: Entry | str) -> list[RunTurn]:
    """The turns of these; a text is what the orchestrator says."""
    recorder, turns = Recorder("abcd", "t1", 3), []
    for at, entry in enumerate(entries):
        heard = recorder.told(entry, at) if isinstance(entry, str) else recorder.hear(entry, at)
        turns += list(heard)
    return turns


def test_a_conversation_is_in_order() -> None:
    turns = recorded(
        "Do it",
        *(Thought("hm"), Thought(" so"), Said("I "), Said("will."), Paused()),
        *(Called("c", "Bash", {"command": "make"}), Held("c"), Returned("c", "ok")),
        *(Said("Done"), "And that?", Said("Yes."), Retried("Again."), Noted("Mind."), Ended()),
        *(Recorded(["✓ Allowed"]), Ended(error="Broke."), Ended(stopped=True)),
    )
    assert [(turn.index, turn.role, turn.content, turn.at) for turn in turns] == [
        (3, "orchestrator", "Do it", 0),
        (4, "agent", "hm so", 1),
        (5, "agent", "I will.", 3),
        (6, "agent", "Bash make", 6),
        (7, "agent", "ok", 8),
        (8, "agent", "Done", 9),
        (9, "orchestrator", "And that?", 10),
        (10, "agent", "Yes.", 11),
        (11, "agent", "Mind.", 13),
        (12, "agent", "✓ Allowed", 15),
        (13, "agent", "Broke.", 16),
        (14, "agent", "Stopped.", 17),
    ]
    assert {(turn.run, turn.task) for turn in turns} == {("abcd", "t1")}


@given(st.lists(st.one_of(st.text(max_size=3).map(Said), st.just(Paused()), st.just("Go"))))
def test_no_piece_is_lost(entries: list[Entry | str]) -> None:
    """However it is cut."""
    said = "".join(one.text for one in entries if isinstance(one, Said))
    turns = recorded(*entries, Paused())
    assert [turn.index for turn in turns] == list(range(3, 3 + len(turns)))
    of_agent = "".join(turn.content for turn in turns if turn.role == "agent")
    assert of_agent.split() == said.split() or "".join(of_agent.split()) == "".join(said.split())
