"""What a rewind does with files and with the conversation, and when it does nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from winnow import protocol as p
from winnow.app.chats import Chats
from winnow.app.parts import rewind
from winnow.core import agent as a
from winnow.core.asking.way import FileError
from winnow.core.proposal.merge import FileChange
from winnow.core.review.history import Began, History, Yours
from winnow.core.transcript.history import Past
from winnow.ports.past import Changes

from tests.app.fakes import CHAT, Room
from tests.app.test_chats_list import Books, Shelf

LINES = ["## You", "", "First", "", "## Claude", "", "One.", "", "## You", "", "Second", ""]
OPTION = re.compile(r"=1=\d")
OLD, NEW = "a\nb\nc\n", "a\nB\nc\n"


@pytest.fixture
async def shelf(room: Room) -> Shelf:
    """An idle chat whose second prompt has changed ``/f`` and made ``/made``."""
    shelf = Shelf()
    shelf.past = [
        Past("p1", "user", "First"),
        Past("r1", "assistant", "One."),
        Past("p2", "user", "Second"),
        Past("r2", "assistant", "Two."),
    ]
    shelf.copies = {"/f": "/copies/f@v1", "/made": "", "/same": "/copies/f@v1"}
    room.files.texts |= {"/copies/f@v1": OLD, "/f": NEW, "/made": "made\n", "/same": OLD}

    async def make() -> Books:
        return Books(shelf)

    room.world = room.world._replace(make_sessions=make)
    room.chats = Chats(room.world)
    await room.open("session")
    return shelf


async def until(what: Callable[[], object]) -> None:
    """Wait for what is done in a thread."""
    for _ in range(2000):
        if what():
            return
        await asyncio.sleep(0.001)
    raise AssertionError


def sentences(room: Room) -> list[str]:
    return [said.text for said in room.editor.every(p.Say)]


async def ask(room: Room, text: str = "Second", *unsaved: str) -> None:
    await room.do(p.Rewind(CHAT, text, 1, LINES, 8, list(unsaved)))
    await until(lambda: room.editor.section or sentences(room))


async def keep(room: Room, label: str, without: str = "\0") -> None:
    """Confirm with this option only, and without the lines that hold that."""
    section = room.shown()
    lines = [line for line in section.lines if line.startswith(label) or not OPTION.search(line)]
    lines = [line for line in lines if without not in line]
    await room.do(p.Confirm(CHAT, section.section, lines, len(lines) - 1))


async def choose(room: Room, label: str, *unsaved: str, without: str = "\0") -> None:
    """The same, to its end; these files are unsaved by then."""
    await keep(room, label, without)
    await room.do(p.Unsaved(CHAT, list(unsaved)))
    await until(lambda: not any("Rewind._rewind" in str(task) for task in asyncio.all_tasks()))
    await room.settle()


async def test_files_go_back_and_claude_is_told_of_it(room: Room, shelf: Shelf) -> None:
    """With the user's next message; what was deleted from the patch stays."""
    await ask(room)
    assert any(line.startswith(rewind.BESIDE[:-1]) for line in room.shown().lines)
    await choose(room, "Files only", without="made: deleted")
    assert room.files.texts["/f"] == OLD
    assert room.files.texts["/made"] == "made\n"
    assert room.editor.every(p.Reload) == [p.Reload("/f")]
    [done] = room.editor.every(p.Tool)
    assert done.line == "▸ Rewind: 1 file put back ✓ /f"
    assert {"│ -B", "│ +b"} <= set(done.output)
    await room.do(p.Queue(CHAT))
    await room.send("Go on")
    assert list(room.agent.prompts) == ["Go on"]
    assert "Read them again" in room.agent.attached[0].text


async def test_all_of_it_is_a_branch_with_the_message_as_its_draft(
    room: Room, shelf: Shelf
) -> None:
    await ask(room)
    await choose(room, "Files and conversation")
    assert "/made" not in room.files.texts
    [branch] = room.editor.every(p.Adopt)
    assert branch.values == {"fork": "chat.md", "at": "1", "session": "session-fork"}
    assert (branch.lines, branch.draft) == (LINES[:7], "Second")


@pytest.mark.parametrize(
    ("change", "unsaved", "sentence"),
    [
        ({"/f": "mine\n"}, [], "/f has changed meanwhile."),
        ({}, ["/f"], "/f is changed in a buffer"),
        ({"/made": FileError("/made is a folder.")}, [], "/made is a folder."),
    ],
)
async def test_nothing_is_written_where_one_file_is_not_as_it_was_shown(
    room: Room, shelf: Shelf, change: dict[str, str], unsaved: list[str], sentence: str
) -> None:
    """Nor is there a branch then."""
    await ask(room)
    room.files.texts |= change
    before = dict(room.files.texts)
    await choose(room, "Files and conversation", *unsaved)
    assert room.files.texts == before
    assert sentences(room)[-1].startswith(f"Nothing was rewound: {sentence}")
    assert room.editor.every(p.Adopt) == []


async def test_a_file_that_cant_be_written_takes_the_others_back(room: Room, shelf: Shelf) -> None:
    shelf.copies = {"/f": "/copies/f@v1", "/g": "/copies/f@v1"}
    room.files.texts["/g"] = NEW
    room.files.locked = {"/g"}
    await ask(room)
    await choose(room, "Files only")
    assert room.files.texts["/f"] == room.files.texts["/g"] == NEW
    assert "can't be written" in sentences(room)[-1]


@pytest.mark.parametrize(
    ("text", "unsaved", "sentence"),
    [
        ("Never said", (), rewind.UNKNOWN),
        ("", (), rewind.NOTHING),
        ("Second", ("/f", "/other"), rewind.UNSAVED.format("/f is")),
    ],
)
async def test_what_cant_be_rewound_says_why(
    room: Room, shelf: Shelf, text: str, unsaved: tuple[str, ...], sentence: str
) -> None:
    await ask(room, text, *unsaved)
    assert sentences(room) == [sentence]
    assert room.editor.section is None


async def test_nothing_is_rewound_in_a_turn(room: Room, shelf: Shelf) -> None:
    await room.do(p.Queue(CHAT))
    await room.send("Third")
    await room.hear(a.Text("Well"))
    await ask(room)
    assert sentences(room) == [rewind.BUSY]


class Kept:
    """A past of a folder; see `winnow.ports.Past`."""

    partial = ""

    async def now(self) -> str:
        return "now"

    def load(self) -> bytes:
        return msgspec.json.encode(History("session", [Began("first", "p1"), Began("then", "p2")]))

    async def changes(self, old: str, new: str, yours: Sequence[Yours]) -> Changes:
        assert (old, new) == ("then", "now")
        by_tool, by_command = FileChange("/f", "x", NEW), FileChange("/g", OLD, NEW)
        return Changes("", (by_tool, by_command, FileChange("/p.png", what="binary, 3 KB")))


async def test_what_commands_changed_goes_back_too(room: Room, shelf: Shelf) -> None:
    """Where that is known of the turn; a file of which there is no copy, too."""

    async def make(cwd: str, chat: str) -> Any:
        return Kept()

    room.world = room.world._replace(make_past=make)
    room.chats = Chats(room.world)
    await room.open("session")
    shelf.copies = {"/f": "/copies/f@v1", "/g": None}
    room.files.texts["/g"] = NEW
    await ask(room)
    shown = "\n".join(room.shown().lines)
    assert rewind.NO_TEXT.format("/p.png")[:-1] in shown
    assert rewind.BESIDE[:-1] not in shown
    await choose(room, "Files only")
    assert (room.files.texts["/f"], room.files.texts["/g"]) == (OLD, OLD)


async def test_what_writes_waits_until_it_is_known_what_was_there(room: Room) -> None:
    """From the first message on, however long git takes."""
    looked = asyncio.Event()

    class Slow(Kept):
        async def now(self) -> str:
            await looked.wait()
            return "now"

        def keep(self, known: bytes) -> None:
            """See `Past.keep`."""

    async def make(cwd: str, chat: str) -> Any:
        return Slow()

    room.world = room.world._replace(make_past=make)
    room.chats = Chats(room.world)
    await room.open()
    before = room.agent.spec.before_writing
    assert before is not None
    await before()
    await room.send("Hi")
    waits = asyncio.ensure_future(before())
    await room.settle()
    assert not waits.done()
    looked.set()
    await waits


async def test_without_copies_there_is_the_conversation(room: Room, shelf: Shelf) -> None:
    """Of a copy that is gone, its file is left out and named: it is not taken for none."""
    shelf.copies = {"/f": "/copies/gone", "/g": None, "/made": ""}
    await ask(room)
    assert "so they stay: /f, /g" in str(room.shown().lines)
    await room.cancel()
    await room.settle()
    shelf.copies = None
    await ask(room)
    assert rewind.UNTRACKED[:-1] in str(room.shown().lines)
    await choose(room, "Conversation only")
    assert room.editor.every(p.Adopt)[0].draft == "Second"


@pytest.mark.parametrize("label", ["Summarise from here", "Summarise up to here"])
async def test_a_summary_takes_the_place_of_a_part(room: Room, shelf: Shelf, label: str) -> None:
    """Made by an agent that leaves no trace: as the draft, or before all that stays."""
    await ask(room)
    await keep(room, label)
    await until(lambda: room.agent.spec.aside and room.agent.prompts)
    [asked] = room.agent.prompts
    assert "begins with “Second”" in asked
    await room.hear(a.Text("In short."), a.TurnEnded())
    await until(lambda: room.editor.every(p.Adopt))
    [branch] = room.editor.every(p.Adopt)
    if "from" in label:
        assert branch.lines == LINES[:7]
        assert branch.values["at"] == "1"
        assert branch.draft.endswith("In short.\n\n")
    else:
        assert branch.values["at"] == "1 0"  # which is its own first message
        assert branch.lines[-3:] == LINES[8:11]
        assert "In short." in branch.lines
        assert shelf.done[-1][:3] == ("cut", "session", "p2")
