"""The list of what waits: what becomes of a line that was edited."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from winnow import protocol as p
from winnow.app import pending_list
from winnow.app.lists import FRAME
from winnow.core import agent as a
from winnow.core.text.text import strip_markers

from tests.app.fakes import Asked, Room, answers, denied, working


def bash(command: str, rule: str = "", **more: Any) -> a.Request:
    """A command, with the rule that Claude Code suggests for it."""
    rules = [{"toolName": "Bash", "ruleContent": rule}]
    update = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
    found: list[a.Update] = [update] if rule else []
    return a.Request("Bash", {"command": command}, suggestions=found, **more)


async def waiting(room: Room, *requests: a.Request) -> list[Asked]:
    """These wait, and the list is looked at."""
    await working(room)
    asked = [room.agent.ask(request) for request in requests]
    await room.settle()
    await room.do(p.WatchList("pending", open=True))
    return asked


def lines(room: Room) -> list[str]:
    return room.editor.every(p.Listed)[-1].lines


async def edit(room: Room, *words: str, force: bool = False) -> list[tuple[int, str]]:
    """Put these in the place of the first words; which lines are named, and why."""
    new = [line.replace("ask", word, 1) for line, word in zip(lines(room), words, strict=True)]
    await room.do(p.EditList("pending", before=lines(room), lines=new, force=force))
    return [(told.row, told.sentence) for told in room.editor.every(p.ListProblem)]


async def test_always_is_by_the_rule_that_the_line_says(room: Room) -> None:
    """What waits and is covered by it runs; what is denied by the same `:w` never does."""
    requests = (bash("make a", "make *"), bash("make b", "make *"), bash("make c", "make *"))
    always, denies, left = await waiting(room, *requests)
    shown = strip_markers(lines(room)[0])
    assert shown.startswith("ask Bash make a · ")
    assert shown.endswith(" · now · always “make …” (this session)")
    assert await edit(room, "always", "deny", "ask") == []
    assert always.result() == a.Allow({"command": "make a"}, requests[0].suggestions)
    denied(denies)
    assert left.result() == a.Allow({"command": "make c"})
    await asyncio.sleep(2 * FRAME)


async def test_what_a_subagent_wants_names_it(room: Room) -> None:
    write = {"file_path": "/x/new.txt", "content": "one"}
    asked = a.Request("Write", write, agent_id="a1", agent="Explore 4: look")
    await waiting(room, asked)
    assert "new.txt (Explore 4: look) · " in strip_markers(lines(room)[0])


async def test_several_are_allowed_at_once(room: Room) -> None:
    """One that is allowed by itself, though a rule beside it had let it run, too."""
    asked = await waiting(room, bash("make a", "make *"), bash("make b", "make *"), bash("ls"))
    assert await edit(room, "always", "allow", "allow") == []
    results = [one.result() for one in asked]
    assert results[1:] == [a.Allow({"command": "make b"}), a.Allow({"command": "ls"})]


async def test_what_nobody_saw_is_not_allowed(room: Room) -> None:
    """It came while `:w` was typed, or stands below the window; to deny it is always safe."""
    seen, unseen = await waiting(room, bash("make"), bash("ls"))
    before, key = lines(room), room.editor.every(p.Section)[0].section
    for words in (["allow", "allow"], ["deny", "deny"]):
        new = [line.replace("ask", word) for line, word in zip(before, words, strict=True)]
        await room.do(p.EditList("pending", before=before, lines=new, unseen=["s2"]))
        if words[0] == "allow":
            (told,) = room.editor.every(p.ListProblem)
            assert (told.row, told.sentence, key) == (1, pending_list.UNSEEN, "s1")
            assert not seen.done()
    denied(unseen)


@pytest.mark.parametrize(
    ("request_", "word", "sentence"),
    [
        (bash("ls"), "always", "no rule is offered for it: allow, or deny."),
        (bash("ls", "ls *", reason="It is odd"), "always", "no rule is offered"),
        (bash("ls " * 50, "ls *"), "always", "it can't be seen whole here"),
        (bash("ls", "l" * 120), "always", "it can't be seen whole here"),
        (bash("ls\u202e", "ls *"), "allow", "it can't be seen whole here"),
        (bash("ls"), "answer yes", "answer is none of ask, allow, always, deny."),
        (bash("ls"), "allow not", pending_list.ONLY_VERB),
    ],
)
async def test_what_is_not_on_the_line_is_not_allowed(
    room: Room, request_: a.Request, word: str, sentence: str
) -> None:
    """And nothing of the rest is done."""
    other, asked = await waiting(room, bash("make"), request_)
    ((row, said),) = await edit(room, "allow", word)
    assert row == 1
    assert said.startswith(sentence)
    assert not other.done()
    assert not asked.done()


def question(*labels: str, more: int = 0, multi: bool = False) -> a.Request:
    """One question, or more than one."""
    options = [{"label": label} for label in labels]
    asked = [
        {"question": f"Which{n}?", "header": "Store", "options": options, "multiSelect": multi}
        for n in range(1 + more)
    ]
    return a.Request("AskUserQuestion", {"questions": asked})


STORES = ("PostgreSQL (Recommended)", "MySQL", "MySQL 8")


@pytest.mark.parametrize(
    ("words", "label"),
    [("PostgreSQL (Recommended)", 0), ("postgres", 0), ("MySQL", 1), ("mysql", 1), ("MySQL 8", 2)],
)
async def test_a_question_is_answered_by_an_option(room: Room, words: str, label: int) -> None:
    """By its label, or by the beginning of it; it goes back byte for byte."""
    (asked,) = await waiting(room, question(*STORES))
    shown = strip_markers(lines(room)[0])
    assert shown.startswith(f"ask question: Store ({', '.join(STORES)}) · ")
    assert await edit(room, f"answer {words}") == []
    assert answers(asked) == {"Which0?": STORES[label]}


@pytest.mark.parametrize(
    ("asked", "word", "sentence"),
    [
        (question(*STORES), "answer My", "“My” is none of PostgreSQL (Recommended), MySQL"),
        (question(*STORES), "answer Redis", "“Redis” is none of"),
        (question(*STORES), "answer", "“” is none of"),
        (question(*STORES), "MySQL", "MySQL is none of ask, answer."),
        (question(*STORES), "ask MySQL", pending_list.ONLY_ANSWER),
        (question(*STORES, more=1), "answer MySQL", "one word does not answer it"),
        (question(*STORES, multi=True), "answer MySQL", "one word does not answer it"),
    ],
)
async def test_what_answers_nothing_is_said(
    room: Room, asked: a.Request, word: str, sentence: str
) -> None:
    """With its line, and nothing happens."""
    (task,) = await waiting(room, asked)
    ((row, said),) = await edit(room, word)
    assert row == 0
    assert said.startswith(sentence)
    assert not task.done()


async def test_a_question_that_is_being_edited_is_answered_there(room: Room) -> None:
    (asked,) = await waiting(room, question(*STORES))
    section = room.shown()
    await room.do(p.Edit(section.chat, section.section, section.lines[:-2]))
    ((_, said),) = await edit(room, "answer MySQL")
    assert said.startswith("its section was edited")
    assert not asked.done()


async def test_nested_subagents_ask_in_order_and_by_name(room: Room) -> None:
    """At any depth; one waits behind the other, and each answer goes to who asked."""
    who = ("tests", "tests of the cart", "a flaky test")
    asked = await waiting(
        room, *(bash(f"make {n}", agent_id=f"sub{n}", agent=name) for n, name in enumerate(who))
    )
    assert [strip_markers(line).split(" · ")[0] for line in lines(room)] == [
        f"ask Bash make {n} ({name})" for n, name in enumerate(who)
    ]
    for n, name in enumerate(who):
        section = room.shown()
        assert section.lines[0].startswith(f"━━ Permission: Bash · {name}⟦")
        assert any(line.startswith(f"Subagent {name} wants") for line in section.lines)
        assert [one.done() for one in asked] == [True] * n + [False] * (len(who) - n)
        await room.do(p.Grant(section.chat, section.section, "allow"))
        assert asked[n].result() == a.Allow({"command": f"make {n}"})
