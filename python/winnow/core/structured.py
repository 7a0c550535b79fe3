"""Objects that a model gave, held against a JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

_FENCED = re.compile(r"\A\s*(`{3,}|~{3,})[^\n]*\n(.*?)\n?\1\s*\Z", re.DOTALL)


class Unfit(Exception):
    """Nothing that was given fits; the text says where it does not."""


def fitting(given: Any, schema: Mapping[str, Any]) -> Any:
    """What fits the schema: what was given, or what that wraps, once.

    Models put the object into another one, into a string, or into a fenced block.

    Raises:
        Unfit: neither does.
    """
    validator = Draft202012Validator(dict(schema))
    first = best_match(validator.iter_errors(given))
    if first is None:
        return given
    for inner in _unwrapped(given):
        if validator.is_valid(inner):
            return inner
    where = "/".join(map(str, first.absolute_path))
    raise Unfit(f"{where}: {first.message}" if where else first.message)


def _unwrapped(given: Any) -> Iterator[Any]:
    if isinstance(given, dict) and len(given) == 1:
        (inner,) = given.values()
        yield inner
    if isinstance(given, str):
        fenced = _FENCED.match(given)
        try:
            yield msgspec.json.decode(fenced[2] if fenced else given)
        except (msgspec.DecodeError, RecursionError):
            return
