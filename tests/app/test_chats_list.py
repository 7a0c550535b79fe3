"""The list of all chats: what its lines ask for, and what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

import pytest
from winnow import ports
from winnow import protocol as p
from winnow.app.chats import Chats
from winnow.app.chats_list import ONLY_TITLE, UNTITLED
from winnow.core.sessions import Kept, Session, Trashed, head
from winnow.core.transcript.history import Past

from tests.app.fakes import Room

FILE = "---\nwinnow: 1\nsession: {}\ncwd: /shop\n---\n\n## You\n\n{}\n"


class Shelf:
    """A library of three chats, of which another Neovim has the last; and Claude Code's books."""

    def __init__(self) -> None:
        self.kept = [
            Kept(f"/{name}.md", head(FILE.format(f"session-{name}", name)), 9 - number, name == "c")
            for number, name in enumerate("abc")
        ]
        self.known = [Session("session-cli", "/shop", 1, first="from the CLI")]
        self.past = [Past("1", "user", "Hello"), Past("2", "assistant", "Hi.")]
        self.done: list[tuple[str, ...]] = []
        self.copies: dict[str, str | None] | None = None
        self.broken = False

    async def chats(self) -> list[Kept]:
        return self.kept

    async def trashed(self) -> list[Kept]:
        return [Kept("/x\ny.md", head(FILE.format("session-x", "x")), 1)]

    async def holding(self, text: str, paths: Collection[str]) -> set[str]:
        return {path for path in paths if text in path}

    async def end_of(self, path: str) -> list[str]:
        return [path]

    async def bring_back(self, name: str) -> str:
        self.done.append(("back", name))
        return f"/{name}"


class Books:
    """Claude Code's, of that shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def of(self, cwd: str) -> Sequence[Session]:
        return [one for one in self._shelf.known if one.cwd == cwd]

    async def find(self, id: str) -> Session | None:
        return next((one for one in self._shelf.known if one.id == id), None)

    async def messages(self, id: str) -> Sequence[Past]:
        return self._shelf.past

    async def rename(self, id: str, title: str) -> None:
        self._shelf.done.append(("rename", id, title))
        if self._shelf.broken:
            raise ports.LibraryError("It can't be renamed.")

    async def discard(self, id: str, title: str) -> None:
        self._shelf.done.append(("discard", id, title))

    async def fork(self, id: str, last: str, title: str) -> str:
        return f"{id}-fork"

    async def cut(self, id: str, first: str, summary: str) -> str:
        self._shelf.done.append(("cut", id, first, summary))
        return f"{id}-cut"

    async def checkpoint(self, id: str, prompt: str) -> Mapping[str, str | None] | None:
        return self._shelf.copies

    async def trashed(self) -> Sequence[Trashed]:
        return [Trashed("0" * 36, 1, "an old session")]

    async def bring_back(self, id: str) -> None:
        self._shelf.done.append(("back", id))


@pytest.fixture
async def shelf(room: Room) -> Shelf:
    """The list is open, with all that there is."""
    shelf = Shelf()

    async def make() -> Books:
        return Books(shelf)

    room.world = room.world._replace(library=shelf, make_sessions=make)
    room.chats = Chats(room.world)
    await room.do(p.FindChats("/shop"), p.WatchList("chats", open=True))
    return shelf


async def adopted(room: Room) -> p.Adopt:
    """What becomes a chat, as soon as its text is made."""
    while not (found := room.editor.every(p.Adopt)):  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    return found[0]


def lines(room: Room) -> list[str]:
    """What the list shows now."""
    return [effect for effect in room.editor.every(p.Listed) if effect.name == "chats"][-1].lines


async def edit(room: Room, *now: str, force: bool = False) -> None:
    await room.do(p.EditList("chats", before=lines(room), lines=list(now), force=force))


async def test_chats_and_sessions_are_listed(room: Room, shelf: Shelf) -> None:
    assert [line.partition(" · ")[0] for line in lines(room)] == ["a", "b", "c", "from the CLI"]
    assert "open in another Neovim" in lines(room)[2]
    assert "Claude Code" in lines(room)[3]


async def test_a_text_chooses_those_that_hold_it(room: Room, shelf: Shelf) -> None:
    """In their file or, as with a session, in their title."""
    await room.do(p.FindChats("/shop", about="b"), p.WatchList("chats", open=True))
    assert [line.partition(" · ")[0] for line in lines(room)[1:]] == ["b"]
    await room.do(p.FindChats("/shop", about="nothing"), p.WatchList("chats", open=True))
    assert lines(room) == ["No chat holds “nothing”; :Winnow chats shows all."]
    await room.do(p.FindChats("/shop", family="/new.md"), p.WatchList("chats", open=True))
    assert lines(room) == ["This chat has no branches; :Winnow chats shows all."]


async def test_a_line_that_goes_is_a_chat_in_the_trash(room: Room, shelf: Shelf) -> None:
    await edit(room, *lines(room)[1:])
    assert room.editor.every(p.Discard) == [p.Discard(["/a.md"])]
    assert room.editor.every(p.Listed)[-1].done
    assert not lines(room)[0].startswith("a")


async def test_what_others_use_goes_only_when_that_is_meant(room: Room, shelf: Shelf) -> None:
    """Another Neovim's chats, and what only Claude Code has."""
    left = lines(room)[:2]
    await edit(room, *left)
    [asked] = room.editor.every(p.ListAsks)
    assert "“c”, which another Neovim has open" in asked.sentence
    assert "“from the CLI”, which Claude Code has made" in asked.sentence
    assert room.editor.every(p.Discard) == []
    await edit(room, *left, force=True)
    assert room.editor.every(p.Discard) == [p.Discard(["/c.md"])]
    assert shelf.done == [("discard", "session-cli", "from the CLI")]


async def test_an_edited_title_is_everybody_s(room: Room, shelf: Shelf) -> None:
    """In the chat's file and in Claude Code, which may have forgotten the session."""
    shelf.broken = True
    first, *others = lines(room)
    await edit(room, first.replace("a", "Cart / 2", 1), *others)
    assert room.editor.every(p.Retitle) == [p.Retitle("/a.md", "Cart / 2")]
    assert shelf.done == [("rename", "session-a", "Cart / 2")]
    assert lines(room)[0].startswith("Cart / 2 · ")


@pytest.mark.parametrize(("new", "sentence"), [("a · now", ONLY_TITLE), (" · shop", UNTITLED)])
async def test_nonsense_is_named_and_nothing_happens(
    room: Room, shelf: Shelf, new: str, sentence: str
) -> None:
    first, *others = lines(room)
    damaged = first.replace("a · shop", new) if new != "a · now" else first.replace("shop", "shed")
    await edit(room, *others[:1], damaged)
    assert [(told.row, told.sentence) for told in room.editor.every(p.ListProblem)] == [
        (1, sentence)
    ]
    assert room.editor.every(p.Discard) == []


async def test_a_session_becomes_a_chat_with_its_history(room: Room, shelf: Shelf) -> None:
    await room.do(p.Resume("/shop", "from the"))
    chat = await adopted(room)
    assert chat.values == {"agent": "claude", "session": "session-cli"}
    assert chat.lines == ["## You", "", "Hello", "", "## Claude", "", "Hi."]


async def test_several_are_offered(room: Room, shelf: Shelf) -> None:
    """One of them is picked by its key."""
    await room.do(p.Resume("/shop"))
    [pick] = room.editor.every(p.Pick)
    assert [choice.text.partition(" · ")[0] for choice in pick.choices][:2] == ["a", "b"]
    await room.do(p.PickLine("chats", key=pick.choices[1].key))
    assert room.editor.every(p.OpenChat) == [p.OpenChat("/b.md")]


async def test_a_session_of_another_project_is_found_by_its_id(room: Room, shelf: Shelf) -> None:
    shelf.known.append(Session("session-far", "/elsewhere", 1, first="far"))
    await room.do(p.Resume("/shop", "session-far"), p.Resume("/shop", "nothing"))
    assert (await adopted(room)).cwd == "/elsewhere"
    [told] = room.editor.every(p.Notify)
    assert "“nothing”" in told.text


async def test_a_session_that_can_t_be_read_says_so(room: Room, shelf: Shelf) -> None:
    shelf.past = []
    await room.do(p.Resume("/shop", "from the CLI"))
    [told] = room.editor.every(p.Notify)
    assert told.text == "Nothing can be read of “from the CLI”."


async def test_the_trash_is_listed_with_what_is_kept_of_worktrees(room: Room, shelf: Shelf) -> None:
    """A line each, whatever is in a name; and a name says what it is that comes back."""
    await room.do(p.Restore("/no-trees"), p.Restore("/no-trees", "a.md"))
    await room.do(p.Restore("/no-trees", "0" * 36))
    [kept] = room.editor.every(p.KeptTrees)
    chat, session = (line.split(" · ") for line in kept.lines)
    assert chat == ["x ⏎ y.md", chat[1], "x"]
    assert session == ["0" * 36, chat[1], "an old session"]
    assert room.editor.every(p.OpenChat) == [p.OpenChat("/a.md")]
    assert shelf.done == [("back", "a.md"), ("back", "0" * 36)]
