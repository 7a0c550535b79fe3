"""Messages sent while Claude works wait as lines above the draft, and go out one by one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api import Gate, ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, send, start, wait_idle
from tests.e2e.test_resume import chat_file

pytestmark = pytest.mark.fresh("nothing")


def working(claude: Editor, api: ScriptedAPI, *replies: str) -> None:
    """A chat whose first turn goes on until `ScriptedAPI.release`; then come these."""
    api.add(say("Begun.", Gate(), " Done."), *[say(reply) for reply in replies])
    start(claude)
    claude.wait_line("Begun.")


def prompts(api: ScriptedAPI) -> list[str]:
    """What the user said, by request."""
    found = []
    for request in api.requests:
        content = request["messages"][-1]["content"]
        texts = [block["text"] for block in content if block["type"] == "text"]
        own = [text for text in texts if not text.startswith(("The task tools", "<system"))]
        found.append(own[-1] if own else "")
    return found


def test_they_are_lines(claude: Editor, api: ScriptedAPI) -> None:
    """Edited, moved and deleted as any; each gets a turn of its own, once."""
    working(claude, api, "Two.", "Three.", "Four.")
    send(claude, "first")
    send(claude, "second<CR>and more")
    send(claude, "third")
    send(claude, "fourth")
    claude.keys("Athe draft<Esc>")
    assert draft(claude) == "1▎first\n2▎second\n2▎and more\n3▎third\n4▎fourth\n\nthe draft"
    claude.wait_screen("4 queued")
    claude.keys("?third<CR>ddkkPA, now<Esc>/fourth<CR>dd/and<CR>oto be<Esc>G")
    assert draft(claude) == "1▎first\n3▎third, now\n2▎second\n2▎and more\n2▎to be\n\nthe draft"
    api.release()
    claude.wait_line("Four.")
    wait_idle(claude)
    assert prompts(api)[1:] == ["first", "third, now", "second\nand more\nto be"]
    assert draft(claude) == "the draft"
    assert claude.text().count("## You\n\nsecond\nand more\nto be\n\n## Claude") == 1
    claude.keys("uu")
    assert draft(claude) == "4▎fourth"  # which was deleted; the others were sent


def test_one_that_is_edited_is_not_taken(claude: Editor, api: ScriptedAPI) -> None:
    """While the cursor stands elsewhere the draft may be typed on."""
    working(claude, api, "Two.", "Three.")
    send(claude, "first")
    send(claude, "second")
    claude.keys("?first<CR>A and")
    api.release()
    claude.wait_screen("goes out when the cursor leaves it")
    claude.keys(" more<Esc>Gimy dr")
    claude.wait_line("Three.")
    claude.keys("aft<Esc>")
    assert prompts(api)[1:] == ["first and more", "second"]
    assert draft(claude) == "my draft"
    claude.keys("u")
    assert draft(claude) == ""


@pytest.mark.parametrize("count", [1, 2])
def test_after_a_stop_nothing_goes_by_itself(claude: Editor, api: ScriptedAPI, count: int) -> None:
    """It is seen that it waits; one message alone is the draft."""
    working(claude, api)
    api.clear()
    api.add(*[say(f"Answer {number}.") for number in range(3)])
    for number in range(count):
        send(claude, f"message {number}")
    claude.keys(":Winnow stop<CR>")
    wait_idle(claude)
    api.release()
    waits = "message 0" if count == 1 else "1▎message 0\n2▎message 1"
    assert draft(claude) == waits
    assert len(api.requests) == 1
    if count > 1:
        claude.wait_screen("2 messages wait: <CR> sends them")
    claude.keys("G<CR>")
    claude.wait_line(f"Answer {count - 1}.")
    assert len(api.requests) == 1 + count
    for number in range(count):
        said = [str(request["messages"]).count(f"message {number}") for request in api.requests]
        assert said == [0] + [0] * number + [1] * (count - number)


@pytest.mark.fresh("chat")
def test_they_stand_in_the_file(claude: Editor, api: ScriptedAPI) -> None:
    """Opened again, they wait until the user sends them."""
    working(claude, api)
    send(claude, "first")
    send(claude, "second")
    api.clear()
    claude.restart(str(chat_file(claude)))
    api.release()
    claude.wait_screen("2 messages wait: <CR> sends them")
    api.add(say("Two."), say("Three."))
    claude.keys("G<CR>")
    claude.wait_line("Three.")
    assert prompts(api)[1:] == ["first", "second"]


@pytest.mark.fresh("chat")
def test_one_goes_into_the_turn(claude: Editor, api: ScriptedAPI) -> None:
    """Claude has it with the next result of a tool; its heading says since when."""
    claude.configure(mode="bypassPermissions")
    command = {"command": "sleep 1; echo out", "description": "d"}
    api.add(say("Begun.", ToolUse("Bash", command, "t1")), say("Heard.", Gate()), say("Two."))
    start(claude)
    claude.wait_line("Begun.")
    send(claude, "later")
    claude.keys("Aand this<Esc>:Winnow send!<CR>")
    claude.wait_screen("taken at")
    claude.wait_line("Heard.")
    assert "The user sent a new message while you were working:\nand this" in prompts(api)[1]
    assert draft(claude) == "1▎later"
    api.release()
    claude.wait_line("Two.")
    assert prompts(api)[2:] == ["later"]
    assert claude.text().count("and this") == 1


# What an edit makes of lines: before, after, and as they are read.
EDITS: list[tuple[list[str], list[str], list[str]]] = [
    # a line is added, behind one, between two, below a blank one
    (["", "1▎a"], ["", "1▎a", "x"], ["", "1▎a", "1▎x"]),
    (["1▎a", "2▎b"], ["1▎a", "x", "2▎b"], ["1▎a", "1▎x", "2▎b"]),
    (["1▎a", "", "d"], ["1▎a", "", "x", "d"], ["1▎a", "", "x", "d"]),
    # what keeps the draft apart is deleted
    (["1▎a", "", "d"], ["1▎a", "d"], ["1▎a", "d"]),
    # the first line of one, a bar, a number, all of a line
    (["1▎a", "2▎b", "2▎c"], ["1▎a", "2▎c"], ["1▎a", "2▎c"]),
    (["1▎a", "2▎b"], ["1▎a", "▎b"], ["1▎a", "2▎b"]),
    (["1▎a", "2▎b"], ["1▎a", "2b"], ["1▎a", "2▎2b"]),
    (["1▎a", "2▎b"], ["x", "2▎b"], ["1▎x", "2▎b"]),
    # joined lines, of two messages and of one
    (["1▎a", "2▎b"], ["1▎a 2▎b"], ["1▎a", "2▎b"]),
    (["2▎a", "2▎b"], ["2▎a 2▎b"], ["2▎a b"]),
    # copied lines of its own, and of another chat
    (["1▎a", "2▎b"], ["1▎a", "2▎b", "1▎a"], ["1▎a", "2▎b", "1▎a"]),
    (["1▎a", "2▎b"], ["1▎a", "2▎b", "1▎x", "1▎y"], ["1▎a", "2▎b", "3▎x", "3▎y"]),
]


def test_what_edits_mean(claude: Editor) -> None:
    """No text is lost, and no two messages become one."""
    made: list[Any] = claude.lua(
        """
        local steps, queued = require('winnow.chat.steps'), require('winnow.chat.queued')
        return vim.tbl_map(function(edit)
          local seen = {}
          for _, line in ipairs(edit[1]) do seen[line] = true end
          return queued.heal(steps.difference(edit[1], edit[2]), edit[2], seen)
        end, ...)
        """,
        EDITS,
    )
    assert made == [read for _, _, read in EDITS]
