"""Both sides of the wire know the same messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from winnow import protocol

LUA = Path(__file__).parents[2] / "lua" / "winnow"


def tags(union: object) -> list[str]:
    """Those of a union of messages."""
    return sorted(kind.__struct_config__.tag for kind in get_args(union))


def test_lua_handles_every_effect() -> None:
    """Its table has their tags, no more and no less."""
    source = (LUA / "dispatch.lua").read_text()
    body = re.search(r"^M\.effects = {\n(.*?)^}", source, re.MULTILINE | re.DOTALL)
    assert body is not None
    assert sorted(re.findall(r"^  (\w+) =", body[1], re.MULTILINE)) == tags(protocol.Effect)


def test_lua_sends_every_event() -> None:
    """Somewhere; and nothing that the host does not know."""
    source = "".join(path.read_text() for path in LUA.rglob("*.lua"))
    sent = set(re.findall(r"\b(?:tell|notify)\('(\w+)'", source))
    assert sorted(sent) == tags(protocol.Event)
