"""What may be allowed for longer: taken once, the same call is not asked for again.

Held against the real CLI, since that alone knows which of its suggestions are enough.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from winnow import ports
from winnow.core import agent as a
from winnow.core.asking import trust, ways
from winnow.core.section.form import Form

from tests import api
from tests.app.stage import Stage, connected
from tests.soaking import soak

# A tool's input, where ``N`` is a number of its own in each try, ``OUT`` a folder elsewhere and
# ``IN`` one of the project; and whether there is an option "Always …" by default, and where edits
# are accepted (None: it is not asked there).
COMMANDS: list[tuple[str, int, int | None]] = [
    ("touch OUT/f", 1, 1),
    ("touch IN/N", 1, None),
    ("touch aN OUT/f", 1, 1),
    ("touch aN && touch OUT/b", 0, 1),
    ("touch aN; touch bN", 1, None),
    ("mkdir dN; touch dN/x", 1, None),
    ("rm -rf buildN", 1, None),
    ("rm -rf OUT/x", 1, 1),
    ("cp OUT/h hereN", 1, 1),
    ("sed -i s/a/N/ IN/h", 1, 0),
    ("echo N > OUT/g", 0, 1),
    ("echo N > IN/g", 0, None),
    ("python3 -c N > OUT/log 2>&1", 0, 1),
    ("sort OUT/h > thereN", 0, 1),
    ("cat OUT/h | tee thereN", 0, 1),
    ("cat IN/h | tee thereN", 0, 1),
    ("ls OUT", 1, 1),
    ("cat OUT/h", 1, 1),
    ("ls OUT | head -N", 1, 1),
    ("cat OUT/h | python3 -c N", 1, 1),
    ("cd OUT && ls", 1, 1),
    ("cd OUT && touch z", 0, 0),
    ("curl -s http://127.0.0.1:9/N | sh N", 1, 1),
    ("python3 -c N", 1, 1),
    ("X=N python3 -c N", 1, 1),
    ("npm --version N && node --version N", 1, 1),
    ("git commit -m N | tail -N", 1, 1),
    ("for i in N; do touch $i; done", 0, 0),
    ("echo $(python3 -c N)", 0, 0),
    ("find . -name N -delete", 0, 0),
    ("touch .git/N", 0, 0),
]
FILES: list[tuple[str, dict[str, Any], int, int | None]] = [
    ("Write", {"file_path": "IN/n", "content": "TRY"}, 1, None),
    ("Write", {"file_path": "OUT/w", "content": "TRY"}, 1, 1),
    ("Write", {"file_path": ".git/N", "content": "TRY"}, 0, 0),
    ("Write", {"file_path": "linkN/w", "content": "TRY"}, 1, 1),
    ("Read", {"file_path": "OUT/h"}, 1, 1),
    ("Read", {"file_path": "linkN/h"}, 1, 1),
    ("WebSearch", {"query": "N"}, 1, 1),
]
CALLS = [("Bash", {"command": one}, plain, edits) for one, plain, edits in COMMANDS] + FILES


class Tries:
    """Calls, each in places of its own."""

    def __init__(self, folder: Path) -> None:
        self._in, self._out = folder / "inside", folder.with_name(f"{folder.name}-outside")
        self._folder = folder
        self._numbers = count(1000)

    def next(self, input: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The input in new places, again and again; only what a file then holds differs."""
        number = next(self._numbers)
        places = {"IN": self._in / str(number), "OUT": self._out / str(number)}
        for place in places.values():
            place.mkdir(parents=True)
            (place / "h").write_text("a\n")
        (self._folder / f"link{number}").symlink_to(places["OUT"])
        filled = json.dumps(input)
        for name, place in places.items():
            filled = filled.replace(name, str(place))
        filled = filled.replace("N", str(number))
        for again in count():
            yield json.loads(filled.replace("TRY", f"{again}"))


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["default", *soak("acceptEdits")])
async def test_what_is_allowed_always_is_not_asked_again(real: Stage, mode: str) -> None:
    """Nor is anything offered that would be."""
    (real.folder / ".git").mkdir()
    tries = Tries(real.folder)
    wrong: list[object] = []
    async with connected(real.claude(mode=mode), real.user) as agent:
        for tool, input, plain, edits in CALLS:
            await agent.set_mode(mode)
            inputs = tries.next(input)
            expected = plain if mode == "default" else edits
            labels = await ask(real, agent, tool, next(inputs))
            if (None if labels is None else len(labels)) != expected:
                wrong.append((tool, input, labels))
            elif labels and await ask(real, agent, tool, next(inputs)) is not None:
                wrong.append((tool, input, labels, "asked again"))
    assert wrong == []


TURNS = count(1)


async def ask(
    stage: Stage, agent: ports.Agent, tool: str, input: dict[str, Any]
) -> list[str] | None:
    """Let Claude call the tool, and take all options "Always …".

    Returns their labels; None where it isn't asked.
    """
    turn, user = next(TURNS), stage.user
    over = len(user.every(a.TurnEnded)) + 1
    stage.server.add(api.say(api.ToolUse(tool, input, f"toolu_{turn}")), api.say("Done."))
    await agent.prompt("Go on.", f"uuid-{turn}")
    asked = asyncio.ensure_future(user.asked.get())
    ended = asyncio.ensure_future(user.turn(over))
    await asyncio.wait({asked, ended}, return_when=asyncio.FIRST_COMPLETED)
    if not asked.done():
        asked.cancel()
        return None
    request, reply = await asked
    form = ways.of(tool, request.input).read("ab", request, lambda _: None)
    assert isinstance(form, Form)
    always = [option for option in form.questions[0].options if option.role == "always"]
    updates = [update for option in always for update in option.updates]
    allowed = a.Allow(request.input, trust.held(updates)[0])
    reply.set_result(allowed if updates else a.Deny("No."))
    await ended
    return [option.label for option in always]
