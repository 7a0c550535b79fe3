"""Chats and sessions as lines of one list, and a session's messages as a transcript."""

from __future__ import annotations

from typing import Any

import pytest
from winnow.adapters.claude.prompts import content
from winnow.core import sessions
from winnow.core.context.attachment import Attachment
from winnow.core.sessions import Item, Kept, Live, Session, head
from winnow.core.transcript import checkpoints, history
from winnow.core.transcript.history import Past
from winnow.core.transcript.transcript import Transcript

CHAT = "---\nwinnow: 1\nsession: s1\ncwd: ~/shop\n---\n\n## You\n\nFix  the cart\n\n## Claude\n"


def kept(name: str, text: str, changed: float = 0) -> Kept:
    return Kept(f"/chats/{name}.md", head(text), changed)


def test_the_head_of_a_file_says_what_the_chat_is() -> None:
    found = head(CHAT)
    assert found.values == {"winnow": "1", "session": "s1", "cwd": "~/shop"}
    assert found.first == "Fix  the cart"


@pytest.mark.parametrize(
    "text",
    ["", "---", "---\nwinnow: 1", "no chat", "---\n" * 40, "\0\n## You\n", "---\n---\n## You"],
)
def test_a_file_that_is_no_chat_says_nothing(text: str) -> None:
    assert not head(text).values


def test_of_a_key_that_stands_twice_the_first_counts() -> None:
    assert head("---\ncwd: a\ncwd: b\nmodeline: x\n---\n").values == {"cwd": "a"}


def test_sessions_that_are_chats_are_no_lines_of_their_own() -> None:
    """Nor those whose chat was deleted, nor what was begun for a worker; the newest comes first."""
    found = sessions.items(
        [kept("a", CHAT, 5), kept("task", CHAT.replace("cwd", "task: t1\ncwd"))],
        [
            Session("s1", "/home/me/shop", 9, title="Cart"),
            Session("s2", "/home/me/shop", 8, first="Why?"),
            Session("s3", "/home/me/shop", 7, first="gone"),
            Session("s4", "/home/me/shop", 6, first="work", foreign=False),
        ],
        hidden=["s3"],
    )
    assert [(item.session, item.title, item.changed) for item in found] == [
        ("s2", "Why?", 8),
        ("s1", "Cart", 5),
    ]


def test_a_title_is_derived_until_somebody_gives_one() -> None:
    long = CHAT.replace("Fix  the cart", "word " * 40)
    [item] = sessions.items([kept("a", long)])
    assert item.title == "word " * 15 + "word…"
    named = CHAT.replace("cwd", "title: The cart: 1/2\ncwd")
    assert sessions.items([kept("a", named)])[0].title == "The cart: 1/2"
    assert sessions.items([kept("a", "---\ncwd: /\n---\n")])[0].title == sessions.UNTITLED


def test_a_line_says_what_the_chat_is_doing() -> None:
    [item] = sessions.items([kept("a", CHAT, 100)])
    lines = [
        sessions.row(item, 160, live, "/home/me").text
        for live in (None, Live("working", (), 0.5), Live("waiting", ("Bash: ls",)), Live("idle"))
    ]
    assert lines == [
        "Fix the cart · shop · 1 min",
        "Fix the cart · shop · 1 min · $0.50 · working",
        "Fix the cart · shop · 1 min · waits: Bash: ls",
        "Fix the cart · shop · 1 min · open",
    ]


@pytest.mark.parametrize(
    ("now", "title"),
    [
        ("Cart · new · shop · now", "Cart · new"),
        ("a⟦x=0=l⟧ / b\t · shop · now", "a / b⇥"),
        (" · shop · now", ""),
        ("Cart · shop · later", None),
        ("Cart", None),
    ],
)
def test_only_the_title_of_a_line_can_be_edited(now: str, title: str | None) -> None:
    item = Item("k", "Cart", "/shop", 0)
    assert sessions.retitled(item, "Cart · shop · now", now) == title


def test_a_session_is_meant_by_its_id_or_a_part_of_its_title() -> None:
    found = [
        Item("a", "Cart", "/", 0, session="0123456789"),
        Item("b", "Carts 01234567", "/", 0, session="x"),
    ]
    assert [it.key for it in sessions.matching(found, "CART")] == ["a", "b"]
    assert [it.key for it in sessions.matching(found, "01234567")] == ["a"]
    assert sessions.matching(found, "build") == []


def test_branches_belong_together_however_they_were_forked() -> None:
    found = [
        Item("a", "", "", 0, "/c/a.md"),
        Item("b", "", "", 0, "/c/b.md", fork="a.md"),
        Item("c", "", "", 0, "/c/c.md", fork="b.md"),
        Item("d", "", "", 0, "/c/d.md", fork="d.md"),
        Item("e", "", "", 0, "/c/e.md", fork="lost.md"),
    ]
    assert [it.key for it in sessions.family(found, "/c/b.md")] == ["a", "b", "c"]
    assert [it.key for it in sessions.family(found, "/c/d.md")] == ["d"]


# --- a session's messages ----------------------------------------------------------------------


def user(content: Any, id: str = "u") -> Past:
    return Past(id, "user", content)


def claude(*blocks: Any, id: str = "c") -> Past:
    return Past(id, "assistant", list(blocks))


def said(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_messages_read_as_the_chat_would_have_shown_them() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [said("a.txt")]}
    text = Transcript(
        history.entries(
            [
                user("Look."),
                claude({"type": "thinking", "thinking": "Hm."}, said("I look."), call),
                user([result]),
                claude(said("One file.")),
                user("<command-name>/cost</command-name><command-args></command-args>"),
                user("<local-command-stdout>$0.01</local-command-stdout>"),
            ]
        )
    ).text
    assert text.split("\n\n") == [
        "## You",
        "Look.",
        "## Claude",
        "✻ Thinking\n│ Hm.",
        "I look.",
        "▸ Bash ls ✓\n│ a.txt",
        "One file.",
        "## You",
        "/cost",
        "## Claude",
        "⚠ $0.01",
    ]


@pytest.mark.parametrize("content", [None, 3, [None, 3, {}], {"a": 1}, [{"type": "text"}], ""])
def test_what_is_no_message_is_left_out(content: Any) -> None:
    assert list(history.entries([user(content), Past("c", "assistant", content)])) == []


def test_a_chat_knows_its_branches_and_what_it_is_one_of() -> None:
    found = sessions.items(
        [
            kept("a", CHAT),
            kept("b", CHAT.replace("cwd:", "fork: a.md\nat: 2\ncwd:")),
            kept("c", CHAT.replace("cwd:", "fork: b.md\nat: many\ncwd:")),
            kept("d", CHAT.replace("cwd:", "fork: gone.md\nat: 3 0\ncwd:")),
        ]
    )
    a, b, c, d = sorted(found, key=lambda item: item.path)
    assert [(it.at, it.here) for it in (b, d)] == [(2, 2), (3, 0)]
    assert [(it.at, it.branches) for it in (a, b, c)] == [(-1, 1), (2, 1), (-1, 0)]
    assert sessions.forked(found, b.path) == ([c], a)
    assert sessions.forked(found, a.path) == ([b], None)
    assert sessions.forked(found, "/chats/lost.md") == ([], None)


def test_what_is_damaged_in_a_session_tells_nothing_of_files() -> None:
    """Nor what a newer Claude Code may write; the rest counts, and copies stay in their folder."""

    def backup(name: object) -> dict[str, object]:
        return {"backupFileName": name, "realParentDir": "/shop/src"}

    entries: list[object] = [
        None,
        [],
        {"type": "file-history-snapshot"},
        {"type": "file-history-snapshot", "snapshot": {"messageId": "1", "trackedFileBackups": 3}},
        {"type": "file-history-delta", "snapshotMessageId": "1", "trackingPath": "src/a"},
        *(
            {
                "type": "file-history-delta",
                "snapshotMessageId": "1",
                "trackingPath": f"src/{path}",
                "backup": backup(name),
            }
            for path, name in (("a", "x@v1"), ("b", None), ("c", "../x"), ("d", ".."), ("e", 7))
        ),
        {
            "type": "file-history-snapshot",
            "snapshot": {"messageId": "2", "trackedFileBackups": {"src/a": backup("x@v2")}},
        },
    ]
    found = {id: checkpoints.at("s", entries, id) for id in "123"}
    assert [(of.known, of.files.get("/shop/src/a")) for of in found.values()] == [
        (True, ("s", "x@v1")),
        (True, ("s", "x@v2")),
        (False, ("s", "x@v1")),
    ]
    assert set(found["2"].files) == {"/shop/src/a", "/shop/src/b"}


def test_a_prompt_is_found_where_it_stands() -> None:
    """By its words and, of several such, by its place; with the message before it."""
    past = [
        user("go on", "1"),
        claude(said("a"), id="2"),
        user("go  on", "3"),
        user([{"type": "tool_result", "tool_use_id": "t"}], "4"),
        claude(said("b"), id="5"),
        user("go on", "6"),
    ]
    assert [history.before(past, "go on", nth) for nth in range(4)] == [
        ("", "1"),
        ("2", "3"),
        ("5", "6"),
        ("5", "6"),
    ]
    assert history.before(past, "other", 0) is None


@pytest.mark.parametrize("code", ["", "```\n# @~/key\n```\n"])
@pytest.mark.parametrize("mention", ["@buffer", "@a.py", ""])
def test_a_prompt_is_found_whatever_went_along(mention: str, code: str) -> None:
    """What is told of it is none of the words, in which a file is not mentioned once more."""
    text = f"See {mention}\n{code}Why?"
    attached = [Attachment(mention, "a.py 1-2", "a = 1", path="." in mention)] * bool(mention)
    past = [user(content(text, attached, command=True), "1")]
    assert history.before(past, text, 0) == ("", "1")
    assert history.before(past, "Why", 0) is None
    assert history.before(past, "", 0) is None
