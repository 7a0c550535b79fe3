"""The list of what an agent has to do: how it becomes what it is, and what the user wants of it.

Claude Code 2.1.332 has a tool for each step (``TaskCreate``, ``TaskUpdate``, ``TaskList``); earlier
ones wrote all of it at once (``TodoWrite``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from winnow.core.listing import Edits, Row, key
from winnow.core.text import grammar
from winnow.core.text.text import clean

TOOLS = frozenset({"TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TodoWrite"})
BOXES = {"pending": "[ ]", "in_progress": "[-]", "completed": "[x]"}
_STATES = {" ": "pending", "": "pending", "-": "in_progress", "x": "completed", "X": "completed"}
_WORDS = {"pending": "not done", "in_progress": "in progress", "completed": "done"}
_SIGNS = {"pending": grammar.UNDECIDED, "in_progress": grammar.TOOL, "completed": grammar.KEPT}
_BOX = re.compile(r"(?:[-*+] )?\[([ xX-]?)\]\s*(.*)")
_MADE = re.compile(r"Task #(\S+) created")
_LISTED = re.compile(r"#(\S+) \[(\w+)\] (.*)")
NONE = "Nothing is to be done yet: Claude makes the list, and new lines here are added to it."


class Item(msgspec.Struct, frozen=True):
    """One thing to be done. ``id`` is Claude Code's; one that the user has added has none there."""

    id: str
    text: str
    state: str = "pending"


Items = tuple[Item, ...]


def after(items: Items, tool: str, arguments: Mapping[str, Any], output: str) -> Items:
    """The list after a call has returned this."""
    match tool, arguments:
        case "TaskCreate", {"subject": str(text)} if made := _MADE.search(output):
            return with_item(items, Item(made[1], text))
        case "TaskUpdate", {"taskId": id, **changes} if output.startswith("Updated"):
            return _updated(items, str(id), changes)
        case "TaskList", _:
            found = tuple(Item(id, text, state) for id, state, text in _LISTED.findall(output))
            return found or (() if "No tasks" in output else items)
        case "TodoWrite", {"todos": list(todos)}:
            whole = [one for one in todos if isinstance(one, dict)]
            return tuple(
                Item(str(number), str(one.get("content", "")), str(one.get("status", "pending")))
                for number, one in enumerate(whole, 1)
            )
    return items


def with_item(items: Items, new: Item) -> Items:
    """With one more; it takes the place of what the user has added in the same words."""
    same = [one for one in items if one.id == new.id or (_own(one) and one.text == new.text)]
    if same:
        return tuple(new if one is same[0] else one for one in items)
    return (*items, new)


def _updated(items: Items, id: str, changes: Mapping[str, Any]) -> Items:
    state, text = changes.get("status"), changes.get("subject")
    if state == "deleted":
        return tuple(one for one in items if one.id != id)
    return tuple(
        Item(one.id, str(text or one.text), str(state or one.state)) if one.id == id else one
        for one in items
    )


def merged(before: Items, after: Items, wanted: Items) -> Items:
    """What the user wants, with what the agent has changed since, who does not know that yet."""
    old, new = {one.id: one for one in before}, {one.id: one for one in after}
    kept = []
    for one in wanted:
        if one.id in old and one.id not in new:
            continue  # the agent has deleted it, too
        changed = one.id in new and one == old.get(one.id)
        kept.append(new[one.id] if changed else one)
    result = tuple(kept)
    for one in after:
        if one.id not in old:
            result = with_item(result, one)
    return result


def _own(item: Item) -> bool:
    return item.id.startswith("you")


# --- how it reads -------------------------------------------------------------------------------


def rows(items: Items) -> list[Row]:
    """The lines of its buffer."""
    found = [Row(f"{_box(one)} {clean(one.text)}", key(one.id), editable=True) for one in items]
    return found or [Row(NONE)]


def _box(item: Item) -> str:
    return BOXES.get(item.state, "[ ]")


def summary(items: Items) -> str:
    """Its line in the chat, without sign and state."""
    done = sum(one.state == "completed" for one in items)
    doing = next((one.text for one in items if one.state == "in_progress"), "")
    about = f"{done} of {len(items)} done" if items else "empty"
    return " · ".join(["Todo " + about, *([clean(doing)] if doing else [])])


def block(items: Items) -> list[str]:
    """What stands folded beneath that line."""
    signs = ((_SIGNS.get(one.state, grammar.UNDECIDED), clean(one.text)) for one in items)
    return [f"{grammar.OUTPUT} {sign} {text}" for sign, text in signs]


# --- what the user wants ------------------------------------------------------------------------


def edited(items: Items, edits: Edits, first: int) -> Items:
    """The list as the user has left its lines.

    Args:
        first: the number of the first thing that is new.
    """
    known = {key(one.id): one for one in items}
    gone, left = set(edits.gone), set(edits.order)
    kept = {found: one for found, one in known.items() if found not in gone}
    for found, text in edits.changed.items():
        if found in kept:
            kept[found] = _read(text, kept[found])
    order = [*(found for found in edits.order if found in kept)]
    order += [found for found in kept if found not in left]
    new: defaultdict[str, list[Item]] = defaultdict(list)
    for n, (above, text) in enumerate(edits.added):
        new[above if above in kept else ""].append(_read(text, Item(f"you{first + n}", "")))
    result = new[""]
    for found in order:
        result += [kept[found], *new.get(found, ())]
    return tuple(result)


def _read(text: str, item: Item) -> Item:
    if box := _BOX.fullmatch(text.strip()):
        return Item(item.id, box[2].strip(), _STATES[box[1]])
    return Item(item.id, text.strip(), item.state)


def changes(before: Items, now: Items) -> str:
    """What the user has changed, in words for the agent; empty: nothing."""
    parts = [*_parts(before, now)]
    if not parts:
        return ""
    return f"I changed the todo list: {'; '.join(parts)}. Make yours the same, and go by it."


def _parts(before: Items, now: Items) -> Iterator[str]:
    old, new = {one.id: one for one in before}, {one.id: one for one in now}
    yield from (f"removed {_name(one)}" for one in before if one.id not in new)
    above = ""
    for one in now:
        if one.id not in old:
            state = "" if one.state == "pending" else f" ({_WORDS.get(one.state, one.state)})"
            yield f"added “{one.text}”{state} {f'after {above}' if above else 'at the top'}"
        else:
            was = old[one.id]
            if was.text != one.text:
                yield f"reworded {_name(was)} as “{one.text}”"
            if was.state != one.state:
                yield f"marked {_name(one)} as {_WORDS.get(one.state, one.state)}"
        above = _name(one)
    left = _ids(before, new)
    if left != _ids(now, old):
        yield f"put it in this order: {', '.join(_name(one) for one in now)}"


def _ids(items: Sequence[Item], among: Iterable[str]) -> list[str]:
    known = set(among)
    return [one.id for one in items if one.id in known]


def _name(item: Item) -> str:
    number = "" if _own(item) else f"#{item.id} "
    return f"{number}“{item.text}”"
