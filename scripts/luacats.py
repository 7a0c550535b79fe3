"""What Lua has from Python: ``make types`` writes it into files of ``lua/winnow/``.

``messages.lua`` has the messages of the protocol as types, ``grammar.lua`` is the buffer's grammar.
With ``--check``, as in ``make check``, a file that is not up to date is an error.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from msgspec import inspect
from winnow import protocol
from winnow.core.text import grammar as buffer_grammar

LUA = Path(__file__).parents[1] / "lua" / "winnow"
HEAD = """\
---@meta
-- Made by `make types` from the host's protocol.
"""
_NAMES: list[tuple[type[inspect.Type], str]] = [
    (inspect.StrType, "string"),
    (inspect.BoolType, "boolean"),
    (inspect.IntType, "integer"),
    (inspect.FloatType, "number"),
]


GRAMMAR = """\
--- What Neovim and the host both write into a chat's text, or read out of it.
-- Made by `make types` from the host's grammar.
return {
"""


def grammar() -> str:
    """The grammar as a table: line by line, with its comments."""
    source = Path(buffer_grammar.__file__).read_text()
    _, _, body = source.partition("from __future__ import annotations\n\n")
    body = re.sub(
        r"\(\n\s+(.*?),\n\)", lambda found: f"({_joined(found[1])})", body, flags=re.DOTALL
    )
    return f"{GRAMMAR}{''.join(map(_line, body.splitlines()))}}}\n"


def _joined(words: str) -> str:
    """Words that stand on lines of their own, on one."""
    return " ".join(words.split())


def _line(line: str) -> str:
    """A line of Python as Lua: a comment, or a name and its words."""
    if line.startswith("# "):
        return f"  -- {line[2:]}\n"
    if (found := re.fullmatch(r"""(\w+) = (".*?"|\(.*?\))(  # .*)?""", line)) is None:
        assert not line
        return "\n"
    value = ast.literal_eval(found[2])
    words = [f"'{word}'" for word in ([value] if isinstance(value, str) else value)]
    shown = words[0] if isinstance(value, str) else f"{{ {', '.join(words)} }}"
    if len(shown) > 90:
        shown = "".join(["{\n", *(f"    {word},\n" for word in words), "  }"])
    return f"  {found[1]} = {shown},{(found[3] or '').replace('  # ', ' -- ')}\n"


def luacats() -> str:
    """The messages as types."""
    classes: dict[str, str] = {}
    aliases = [
        _alias(kind, _members(union), classes)
        for kind, union in (("Event", protocol.Event), ("Effect", protocol.Effect))
    ]
    return "\n".join([HEAD, *classes.values(), *aliases, _tags(), _handlers()])


def _members(union: Any) -> list[inspect.StructType]:
    return cast(list[inspect.StructType], cast(inspect.UnionType, inspect.type_info(union)).types)


def _alias(kind: str, members: list[inspect.StructType], classes: dict[str, str]) -> str:
    names = [_collect(struct, classes, f"{kind.lower()}.") for struct in members]
    return "\n".join([f"---@alias winnow.{kind}", *(f"---| {name}" for name in names)]) + "\n"


def _tags() -> str:
    return "\n".join(
        [
            "---@alias winnow.EventType",
            *(f"---| '{one.tag}'" for one in _members(protocol.Event)),
            "",
        ]
    )


def _handlers() -> str:
    """The table in which Neovim has a function for each effect."""
    fields = (_handler(str(one.tag), one.cls) for one in _members(protocol.Effect))
    return "\n".join(["---@class winnow.Effects", *fields, ""])


def _handler(tag: str, effect: type) -> str:
    about = "winnow.Chat" if issubclass(effect, protocol.ChatMessage) else "nil"
    return f"---@field {tag} fun(chat: {about}, effect: winnow.effect.{effect.__name__})"


def _collect(struct: inspect.StructType, classes: dict[str, str], room: str = "") -> str:
    """Add a struct, after those in its fields; its name."""
    name = f"winnow.{room}{struct.cls.__name__}"
    if name not in classes:
        lines = list(_lines(name, struct, classes, room))
        classes[name] = "\n".join(lines) + "\n"
    return name


def _lines(
    name: str, struct: inspect.StructType, classes: dict[str, str], room: str
) -> Iterator[str]:
    yield f"--- {(struct.cls.__doc__ or '').partition(chr(10))[0].replace('``', '`')}"
    yield f"---@class {name}"
    if struct.tag is not None:
        yield f"---@field {struct.tag_field} '{struct.tag}'"
    for field in struct.fields:
        optional = "?" if room == "event." and not field.required else ""  # the host sends all
        yield f"---@field {field.encode_name}{optional} {_type(field.type, classes)}"


def _union(types: tuple[inspect.Type, ...], classes: dict[str, str]) -> str:
    """Structs have a name for what they all are; of others there are few."""
    members = [_type(one, classes) for one in types]
    if not isinstance(first := types[0], inspect.StructType):
        return "|".join(members)
    name = f"winnow.{first.cls.__mro__[1].__name__.removeprefix('_')}"
    classes[name] = "\n".join([f"---@alias {name}", *(f"---| {one}" for one in members), ""])
    return name


def _type(found: inspect.Type, classes: dict[str, str]) -> str:
    if isinstance(found, inspect.Metadata):
        found = found.type
    match found:
        case inspect.StructType():
            return _collect(found, classes)
        case inspect.LiteralType(values=values):
            return "|".join(f"'{value}'" for value in values)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            inside = _type(item, classes)
            return f"({inside})[]" if "|" in inside else f"{inside}[]"
        case inspect.DictType(key_type=key, value_type=value):
            return f"table<{_type(key, classes)}, {_type(value, classes)}>"
        case inspect.UnionType(types=types):
            return _union(types, classes)
    return next(name for kind, name in _NAMES if isinstance(found, kind))


def main() -> None:
    """Write the files, or see whether they are up to date."""
    for name, text in (("messages.lua", luacats()), ("grammar.lua", grammar())):
        target = LUA / name
        if "--check" not in sys.argv:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            sys.exit(f"{name} is not up to date: run `make types`")


if __name__ == "__main__":
    main()
