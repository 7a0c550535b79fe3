"""Tools as a model is told of them."""

from __future__ import annotations

from typing import Any

import msgspec


class Described(msgspec.Struct, frozen=True):
    """A tool: what it is for is the first thing that a model reads."""

    name: str
    description: str
    schema: dict[str, Any]


def described(name: str, call: type[msgspec.Struct]) -> Described:
    """The tool whose input is this struct, and whose description is its doc."""
    schema = msgspec.json.schema(call)
    whole = _inlined(schema["$defs"][call.__name__], schema["$defs"])
    if tag := call.__struct_config__.tag_field:
        whole["properties"] = {k: v for k, v in whole["properties"].items() if k != tag}
        whole["required"] = [key for key in whole["required"] if key != tag]
    return Described(name, " ".join((call.__doc__ or "").split()), whole)


def _inlined(part: Any, defs: dict[str, Any]) -> Any:
    """A schema without references, docs and titles, which models don't need."""
    if isinstance(part, list):
        return [_inlined(one, defs) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = defs[part["$ref"].rpartition("/")[2]]
    if "properties" in part:
        part = {key: value for key, value in part.items() if key not in ("title", "description")}
    return {key: _inlined(value, defs) for key, value in part.items()}
