"""Pieces of one text that come at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from random import Random
from typing import Any

from winnow.adapters.claude.process import merged

KINDS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def piece(kind: str, text: object, index: int = 0, agent: str | None = None) -> dict[str, Any]:
    delta = {"type": kind, KINDS[kind]: text}
    event = {"type": "content_block_delta", "index": index, "delta": delta}
    return {"type": "stream_event", "event": event, "parent_tool_use_id": agent}


def odd(random: Random) -> dict[str, Any]:
    """No piece of a text, whatever it looks like."""
    return random.choice(
        [
            {"type": "assistant", "message": {"content": []}},
            {"type": "stream_event", "event": {"type": "content_block_stop", "index": 0}},
            {"type": "stream_event", "event": {"index": 0, "delta": {"type": ["text_delta"]}}},
            {"type": "stream_event", "event": None},
            piece("text_delta", None),
            piece("input_json_delta", "{"),
            {},
        ]
    )


def whole(messages: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Where each text belongs, and all of it that comes without a break."""

    def place(message: dict[str, Any]) -> tuple[str, str]:
        text = ""
        match message:
            case {"event": {"delta": {"type": "text_delta", "text": str(text)} as delta}}:
                delta["text"] = ""
            case {"event": {"delta": {"type": "thinking_delta", "thinking": str(text)} as delta}}:
                delta["thinking"] = ""
        return json.dumps(message), text

    told = [place(message) for message in messages]
    for where, parts in groupby(told, key=lambda part: part[0]):
        yield where, "".join(text for _, text in parts)


def test_one_text_is_one_message() -> None:
    """Whose text is another's, or of another kind, begins anew; half characters meet."""
    texts = [piece("text_delta", text) for text in ("Hi ", "you", "\ud83d", "\ude00")]
    others = [piece("text_delta", "1", 1), piece("text_delta", "s", 1, "agent")]
    thoughts = [piece("thinking_delta", "a", 1, "agent"), piece("thinking_delta", "b", 1, "agent")]
    assert list(merged([*texts, *others, *thoughts])) == [
        piece("text_delta", "Hi you\ud83d\ude00"),
        *others,
        piece("thinking_delta", "ab", 1, "agent"),
    ]
    assert list(merged([])) == []


def test_nothing_is_lost_or_out_of_order() -> None:
    """Whatever comes between."""
    random = Random(3)
    for _ in range(300):
        made = [
            odd(random)
            if random.random() < 0.2
            else piece(
                random.choice(["text_delta", "thinking_delta"]),
                str(number),
                random.randrange(2),
                random.choice([None, None, "agent"]),
            )
            for number in range(random.randrange(20))
        ]
        told = json.dumps(made)
        shorter = list(merged(json.loads(told)))
        assert list(whole(shorter)) == list(whole(json.loads(told)))
        assert len(shorter) <= len(made)
