"""A tool's arguments as text to be read and edited, and the way back: what stands there runs.

A shell command is a block of its own. All else is a list: ``name: text`` for a text of one line,
``name:`` and indented lines for a longer one, and JSON in the same way for what is no text. The
input is kept beside the text: it tells what kind each argument has, and whatever the user leaves
alone is taken from it, byte for byte.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from winnow.core.proposal.blocks import Block, Gone, Malformed, Seen, Text
from winnow.core.proposal.origins import Line, Refused, restored
from winnow.core.text.text import brief
from winnow.core.text.visible import show

_WIDEST = 80  # characters of a line of JSON; more is easier to read one member a line
_DEEPEST = 100  # fixed: where a RecursionError strikes depends on the caller, too
_CANT_SHOW = "… (nested too deeply, or no JSON: it can't be shown here)"

# (?a): letters from right to left would reorder the line, so that the name stands elsewhere.
_PLAIN = re.compile(r"(?a)[a-z_A-Z][\w.-]*")
_HEAD = re.compile(r'(?as)([a-z_A-Z][\w.-]*|"[^"\\]*(?:\\.[^"\\]*)*"):(?: (.*))?')


class _Argument(msgspec.Struct, frozen=True):
    value: Any
    lines: tuple[str, ...]  # as they are before `show`


class _Item(msgspec.Struct, frozen=True):
    """An argument as it stands in the buffer: its head, what that says after the name, the rest."""

    head: Line
    said: str
    rest: list[Line]


def blocks(tool: str, input: dict[str, Any]) -> tuple[Block, ...]:
    """The arguments as they are shown. A command's description is shown elsewhere."""
    return tuple(
        Block(info, tuple(map(show, lines)))
        for info, lines in (
            ("sh", _command(tool, input)),
            ("arguments", _lines(_listed(tool, input))),
        )
        if lines
    )


def read(tool: str, input: dict[str, Any], seen: Sequence[Seen]) -> dict[str, Any] | Malformed:
    """The arguments that stand there now: ``input`` itself if they are those proposed."""
    shown = blocks(tool, input)
    texts: dict[str, Text] = {}  # those edited
    for number, block in enumerate(shown):
        now = seen[number] if number < len(seen) else Gone()
        if isinstance(now, Malformed):
            return now
        if isinstance(now, Gone):
            what = "command" if block.info == "sh" else "list of arguments"
            return Malformed(0, f"the {what} is gone: u brings it back")
        if now.lines != block.lines:
            texts[block.info] = now
    if not texts:
        return input
    listed = _listed(tool, input)
    apart = {name: value for name, value in input.items() if name not in listed}
    values = {name: argument.value for name, argument in listed.items()}
    try:
        if text := texts.get("sh"):
            apart["command"] = _read_command(_command(tool, input), text)
        if text := texts.get("arguments"):
            values = _read_list(listed, apart, text)
    except Refused as refused:
        return Malformed(refused.row, str(refused))
    result = {**apart, **values}
    if not result:  # Claude Code would take none for "as proposed"
        return Malformed(texts["arguments"].row, "all arguments are gone: u brings them back")
    if apart:  # it has no place in the list
        result = {name: result[name] for name in (*input, *values) if name in result}
    same = result.keys() == input.keys() and all(_same(result[name], input[name]) for name in input)
    return input if same else result


# --- what is shown ---


def _command(tool: str, input: dict[str, Any]) -> list[str]:
    command = input.get("command")
    return command.split("\n") if tool == "Bash" and isinstance(command, str) else []


def _listed(tool: str, input: dict[str, Any]) -> dict[str, _Argument]:
    """The arguments of the list."""
    apart = ("command", "description") if _command(tool, input) else ()
    return {
        name: _Argument(value, _show_argument(name, value))
        for name, value in input.items()
        if name not in apart or not isinstance(value, str)
    }


def _lines(listed: dict[str, _Argument]) -> list[str]:
    return [line for argument in listed.values() for line in argument.lines]


def _show_argument(name: str, value: Any) -> tuple[str, ...]:
    head = name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    if isinstance(value, str):
        lines = value.split("\n")
        on_head = len(lines) == 1
    else:
        lines = _show_json(value, _WIDEST - len(f"{head}: "))
        on_head = len(lines) == 1 and len(f"{head}: {lines[0]}") <= _WIDEST
    if on_head:
        return (f"{head}: {lines[0]}",)
    return (f"{head}:", *("  " + line if line else "" for line in lines))


def _show_json(value: Any, room: int) -> list[str]:
    if _is_deep(value):
        return [_CANT_SHOW]
    try:
        line = json.dumps(value, ensure_ascii=False)
        if len(line) <= room:
            return [line]
        return json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    except (TypeError, ValueError):
        return [_CANT_SHOW]


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            member
            for outer in level
            if isinstance(outer, (dict, list))
            for member in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


# --- what stands there ---


def _read_command(originals: Sequence[str], text: Text) -> str:
    command = "\n".join(line.text for line in restored(originals, text))
    if not command.strip():
        message = "the command is empty: u brings it back, or delete Allow to deny"
        raise Refused(text.row, message)
    return command


def _read_list(listed: dict[str, _Argument], apart: dict[str, Any], text: Text) -> dict[str, Any]:
    owners = [name for name, argument in listed.items() for _ in argument.lines]
    items = _items(restored(_lines(listed), text))
    for name, item in items.items():
        if name in apart:
            raise Refused(item.head.row, f"“{brief(name)}” has its place elsewhere: delete it here")
        for line in item.rest:
            owner = name if line.was is None else owners[line.was]
            if owner not in items and name in listed and line.text:
                message = f"belongs to “{brief(owner)}”, whose first line is gone: u brings it back"
                raise Refused(line.row, f"“{brief(line.text)}” {message}")
    return {name: _value(name, item, listed.get(name)) for name, item in items.items()}


def _items(lines: Sequence[Line]) -> dict[str, _Item]:
    items: dict[str, _Item] = {}
    rest: list[Line] | None = None
    for line in lines:
        blank = _is_blank(line.text)
        if blank and rest is None:
            continue
        if rest is not None and (blank or line.text.startswith("  ")):
            rest.append(line)
            continue
        name, said = _head(line)
        if name in items:
            raise Refused(line.row, f"“{brief(name)}” stands twice: delete one of the two")
        rest = []
        items[name] = _Item(line, said, rest)
    return items


def _is_blank(line: str) -> bool:
    return not line.strip(" \t")


def _head(line: Line) -> tuple[str, str]:
    if found := _HEAD.fullmatch(line.text):
        name, said = found.groups(default="")
        try:
            return json.loads(name) if name.startswith('"') else name, said
        except ValueError:
            pass
    message = "is neither “name: …” nor indented below one: u brings it back"
    raise Refused(line.row, f"“{brief(line.text)}” {message}")


def _value(name: str, item: _Item, argument: _Argument | None) -> Any:
    is_text = argument is not None and isinstance(argument.value, str)
    rest = [line.text for line in item.rest]
    if item.said and all(map(_is_blank, rest)):  # room before the next argument
        rest = []
    if argument and (item.head.text, *rest) == argument.lines:
        return argument.value
    lines = [item.said, *(line[2:] for line in rest)]
    text = "\n".join(lines if item.said else lines[1:])
    if is_text:
        return text
    try:
        return _parse("\n".join(lines))
    except ValueError as error:
        if argument is None:
            return text
        below, reason = 0, str(error)
        if isinstance(error, json.JSONDecodeError):
            below, reason = min(error.lineno - 1, len(rest)), error.msg
        message = f"“{brief(name)}” is not JSON any more ({reason}): u brings it back"
        raise Refused(item.head.row + below, message) from None


def _parse(text: str) -> Any:
    """JSON, and nothing that Python alone takes for it. Raises ValueError."""
    try:
        value = json.loads(
            text,
            parse_int=_int,
            parse_float=_float,
            parse_constant=_no_constant,
            object_pairs_hook=_object,
        )
    except RecursionError:
        pass
    else:
        if not _is_deep(value):
            return value
    raise ValueError("nested too deeply")


def _int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise ValueError("a number is too long") from None


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{brief(digits)} is too large")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name stands twice")
    return members


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON has it: 1, 1.0 and true differ."""
    if one is other or isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    try:
        first, second = (json.dumps(v, ensure_ascii=False, sort_keys=True) for v in (one, other))
    except (RecursionError, TypeError, ValueError):
        return False
    return first == second
