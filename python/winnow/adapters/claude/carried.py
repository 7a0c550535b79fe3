"""What Claude Code says of itself: its commands, its models, what a session carries.

The shapes are those of the SDK's ``get_server_info`` and ``get_context_usage``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from winnow.core.context.session import Carried, Command, Item
from winnow.core.controls import objects

_FREE = ("free_space", "autocompact_buffer")


def commands(info: Mapping[str, Any]) -> list[Command]:
    """What can be said to it. One that is malformed is left out."""
    return [
        Command(str(one["name"]), _text(one, "description"), _text(one, "argumentHint"))
        for one in objects(info.get("commands"))
        if one.get("name")
    ]


def carried(usage: Mapping[str, Any]) -> Carried:
    """What a session carries: categories, and what is in some of them."""
    parts = [
        ("By kind", _categories(usage)),
        ("Memory and instructions", _files(usage)),
        ("MCP tools", list(_items(usage.get("mcpTools"), "name"))),
        ("Agents", list(_items(usage.get("agents"), "agentType"))),
        ("Skills", list(_items((usage.get("skills") or {}).get("skillFrontmatter"), "name"))),
    ]
    total, most = _number(usage.get("totalTokens")), _number(usage.get("maxTokens"))
    return Carried(total, most, [(head, items) for head, items in parts if items])


def _categories(usage: Mapping[str, Any]) -> Sequence[Item]:
    used = [one for one in objects(usage.get("categories")) if one.get("id") not in _FREE]
    return list(_items(used, "name"))


def _files(usage: Mapping[str, Any]) -> Sequence[Item]:
    files = [one for one in objects(usage.get("memoryFiles")) if one.get("path")]
    return [
        Item(_text(one, "type"), _number(one.get("tokens")), _text(one, "path")) for one in files
    ]


def _items(found: Any, name: str) -> Iterator[Item]:
    for one in objects(found):
        if one.get(name):
            yield Item(_text(one, name), _number(one.get("tokens")), _text(one, "path"))


def _text(one: Mapping[str, Any], name: str) -> str:
    return str(one.get(name) or "")


def _number(found: Any) -> int:
    return int(found) if isinstance(found, (int, float)) else 0
