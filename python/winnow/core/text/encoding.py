"""JSON that holds any string. An agent's may have half surrogates, which UTF-8 has no bytes for."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_HALF = re.compile("[\ud800-\udfff]")
_NAMED = re.compile("\0(d[89a-f][0-9a-f]{2})")


def joined(text: str) -> str:
    """Halves of surrogate pairs made one character; lone halves, which nothing can encode, �."""
    if text.isascii():  # quick, however long it is
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_name(path: str) -> str:
    """A path as SQLite takes it, though its bytes be no UTF-8; `from_name` gives back the same."""
    return _HALF.sub(lambda half: f"\0{ord(half[0]):04x}", path)  # no path has a NUL


def from_name(name: str) -> str:
    """The path that was made a name."""
    return _NAMED.sub(lambda half: chr(int(half[1], 16)), name)


def to_json(value: object, indent: int | None = None) -> str:
    """Structs and builtins as JSON; `from_json` gives back the same strings."""
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=indent)
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def packed(value: object) -> str:
    """As `to_json`, without blanks, and quickly."""
    try:
        text = msgspec.json.encode(value)
    except (UnicodeEncodeError, ValueError, TypeError, OverflowError):
        return to_json(value)
    return to_json(value) if b"null" in text else text.decode()  # which NaN would be, too


def from_json(text: str | bytes, type: type[T]) -> T:
    """The value of this type.

    Raises:
        msgspec.MsgspecError: it isn't one, or no JSON.
    """
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error
    return msgspec.convert(value, type)
