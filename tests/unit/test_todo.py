"""The todo list: what calls make of it, and how what the user has changed is told."""

from __future__ import annotations

import pytest
from winnow.core import todo
from winnow.core.listing import Edits, read, render
from winnow.core.todo import Item, Items

MADE = "Task #{} created successfully: {}"


def made(*texts: str) -> Items:
    items: Items = ()
    for number, text in enumerate(texts, 1):
        items = todo.after(items, "TaskCreate", {"subject": text}, MADE.format(number, text))
    return items


ABC = made("A", "B", "C")


def update(items: Items, output: str = "Updated task #2", **changes: str) -> Items:
    return todo.after(items, "TaskUpdate", {"taskId": "2", **changes}, output)


def test_calls_make_and_change_it() -> None:
    assert [one.id for one in ABC] == ["1", "2", "3"]
    doing = update(ABC, status="in_progress", subject="Bee")
    assert doing[1] == Item("2", "Bee", "in_progress")
    assert todo.summary(doing) == "Todo 0 of 3 done · Bee"
    assert todo.block(doing) == ["│ ○ A", "│ ▸ Bee", "│ ○ C"]
    assert [one.text for one in update(ABC, status="deleted")] == ["A", "C"]


def test_what_failed_or_makes_no_sense_changes_nothing() -> None:
    assert update(ABC, "Task not found", status="deleted") == ABC
    assert todo.after(ABC, "TaskCreate", {"subject": 7}, MADE.format(4, "D")) == ABC
    assert todo.after(ABC, "TaskCreate", {"subject": "D"}, "?") == ABC
    assert todo.after(ABC, "TodoWrite", {"todos": "all"}, "") == ABC
    assert todo.after(ABC, "TodoWrite", {"todos": ["x", {}]}, "") == (Item("1", ""),)


def test_the_whole_of_it_takes_its_place() -> None:
    said = "#1 [completed] A\n#5 [pending] New"
    assert todo.after(ABC, "TaskList", {}, said) == (Item("1", "A", "completed"), Item("5", "New"))
    todos = [{"content": "x", "status": "in_progress"}]
    assert todo.after(ABC, "TodoWrite", {"todos": todos}, "") == (Item("1", "x", "in_progress"),)


def user(items: Items, *now: str) -> Items:
    """The list after its lines were made these; ``{1}`` stands for one that is there."""
    lines = render(todo.rows(items))
    edits = read(todo.rows(items), lines, [line.format("", *lines) for line in now])
    assert isinstance(edits, Edits)
    return todo.edited(items, edits, 1)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["{1}", "{2}", "{3}"], ""),
        (["{1}", "{3}"], "removed #2 “B”"),
        (["{1}", "new", "{2}", "{3}"], "added “new” after #1 “A”"),
        (["- [x] new", "{1}", "{2}", "{3}"], "added “new” (done) at the top"),
        (["{1}", "{3}", "{2}"], "put it in this order: #1 “A”, #3 “C”, #2 “B”"),
        ([], "removed #1 “A”; removed #2 “B”; removed #3 “C”"),
    ],
)
def test_what_the_user_changes_is_told_exactly(lines: list[str], words: str) -> None:
    said = todo.changes(ABC, user(ABC, *lines))
    expected = f"I changed the todo list: {words}. Make yours the same, and go by it."
    assert said == (expected if words else "")


def test_rewording_and_marking_are_told() -> None:
    lines = render(todo.rows(ABC))[:3]
    done, reworded = lines[0].replace("[ ]", "[x]"), lines[1].replace("B", "Bee")
    words = todo.changes(ABC, user(ABC, done, reworded, "{3}"))
    assert "marked #1 “A” as done; reworded #2 “B” as “Bee”." in words


def test_what_the_agent_does_meanwhile_is_kept_with_what_the_user_wants() -> None:
    """Deleted by one is deleted, reworded by the user is theirs, made by the agent is there."""
    wanted = user(ABC, "{2}", "{3}", "mine")
    agents = update(ABC, status="completed")
    agents = todo.after(agents, "TaskCreate", {"subject": "D"}, MADE.format(4, "D"))
    agents = tuple(one for one in agents if one.id != "3")
    now = todo.merged(ABC, agents, wanted)
    assert [(one.text, one.state) for one in now] == [
        ("B", "completed"),
        ("mine", "pending"),
        ("D", "pending"),
    ]
    assert todo.changes(agents, now).startswith("I changed the todo list: removed #1 “A”; added")
    told = todo.after(now, "TaskCreate", {"subject": "mine"}, MADE.format(5, "mine"))
    assert [one.id for one in told] == ["2", "5", "4"]


def test_three_hundred_items_with_hostile_words() -> None:
    hostile = made(*(f"item {n}\n⟦ab=1=l⟧ [x] ⟦" for n in range(300)))
    lines = render(todo.rows(hostile))
    assert len(lines) == 300
    edits = read(todo.rows(hostile), lines, lines)
    assert isinstance(edits, Edits)
    assert not edits.any
    assert todo.changes(hostile, todo.edited(hostile, edits, 1)) == ""
