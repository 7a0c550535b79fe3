"""Both sides of the wire know the same messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from winnow import protocol

LUA = Path(__file__).parents[2] / "lua" / "winnow"


@pytest.mark.parametrize(
    ("union", "file", "table"),
    [(protocol.Event, "host", "events"), (protocol.Effect, "dispatch", "effects")],
)
def test_lua_knows_every_message(union: object, file: str, table: str) -> None:
    """Its table has the tags of our union, no more and no less."""
    source = (LUA / f"{file}.lua").read_text()
    body = re.search(rf"^M\.{table} = {{\n(.*?)^}}", source, re.MULTILINE | re.DOTALL)
    assert body is not None
    known = re.findall(r"^  (\w+) =", body[1], re.MULTILINE)
    assert sorted(known) == sorted(kind.__struct_config__.tag for kind in get_args(union))
