"""The fields of an MCP server's form: how each one reads, and what may stand in it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from winnow.core.question import Option, Question
from winnow.core.text import grammar

_Object = dict[str, Any]

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_FORMATS = {
    "email": "an e-mail address",
    "uri": "an address such as https://example.com",
    "date": "a date such as 2026-05-12",
    "date-time": "a time such as 2026-05-12T09:30:00Z",
}


class Field(msgspec.Struct, frozen=True):
    """One property of a schema that says what is wanted.

    Args:
        name: its key.
        kind: the schema's type: "string", "number", "integer", "boolean" or "array"; any other
            is taken as JSON.
        values: what may be chosen, with labels; empty: it is written.
    """

    name: str
    kind: str
    schema: _Object
    required: bool
    values: tuple[tuple[Any, str], ...] = ()

    @classmethod
    def read(cls, name: str, schema: Any, *, required: bool) -> Field:
        """The field of this property, whatever its schema is."""
        schema = schema if isinstance(schema, dict) else {}
        kind = str(schema.get("type"))
        if kind == "boolean":
            return cls(name, kind, schema, required, ((True, "Yes"), (False, "No")))
        items = schema.get("items") if kind == "array" else schema
        values = tuple(_values(items)) if isinstance(items, dict) else ()
        return cls(name, kind, schema, required, values)

    @property
    def question(self) -> Question:
        """How it is asked."""
        default = self.schema.get("default")
        title = str(self.schema.get("title") or self.name)
        described = str(self.schema.get("description") or "")
        text = f"{title} ({', '.join(self._rules())})"
        options = [Option(label, "default" * (value == default)) for value, label in self.values]
        known = [value for value, _ in self.values]
        recommended = self.kind != "array" and default in known
        if recommended:
            options.insert(0, options.pop(known.index(default)))
        filled = "" if self.values or default is None else self._written(default)
        return Question(
            f"{text}\n{described}".rstrip(),
            title,
            tuple(options),
            multi=self.kind == "array" and bool(self.values),
            recommended=recommended,
            field=self.problem,
            filled=" ".join(filled.split("\n")),
        )

    def value(self, kept: tuple[int, ...], own: str) -> Any:
        """What is sent of an answer without a `problem`."""
        if self.values:
            labels = [option.label for option in self.question.options]
            known = {label: value for value, label in self.values}
            picked = [known[labels[option - 1]] for option in kept]
            return picked if self.kind == "array" else picked[0]
        if self.kind == "string":
            return own
        number = _number(own)
        if self.kind == "integer" and number is not None:
            return int(number)
        return json.loads(own) if number is None else number

    def problem(self, kept: tuple[int, ...], own: str) -> str:
        """Why this can't be sent, and what to do; empty: it can."""
        if self.values:
            return self._not_chosen(len(kept), own)
        if not own:
            return f"required: write after {grammar.OWN}" if self.required else ""
        if self.kind == "string":
            return self._wrong_text(own)
        if self.kind in ("number", "integer"):
            return self._wrong_number(own)
        try:
            json.loads(own)
        except (ValueError, RecursionError):
            return "this must be JSON"
        return ""

    # --- what is wrong ---

    def _not_chosen(self, count: int, own: str) -> str:
        if own:
            return "only its options can be sent: delete your own text"
        if self.kind != "array":
            if count > 1:
                return f"keep one of {count}" + ("" if self.required else ", or none")
            return "required: u brings options back" if self.required and not count else ""
        least, most = self._limit("minItems"), self._limit("maxItems")
        if not count and not self.required:
            return ""
        if count < max(least or 0, self.required):
            return f"keep at least {max(least or 0, 1):g}"
        return f"keep at most {most:g}" if most is not None and count > most else ""

    def _wrong_text(self, own: str) -> str:
        least, most = self._limit("minLength"), self._limit("maxLength")
        if least is not None and len(own) < least:
            return f"at least {least:g} characters, not {len(own)}"
        if most is not None and len(own) > most:
            return f"at most {most:g} characters, not {len(own)}"
        format = str(self.schema.get("format"))
        return "" if _is(format, own) else f"this must be {_FORMATS[format]}"

    def _wrong_number(self, own: str) -> str:
        number = _number(own)
        whole = self.kind == "integer"
        if number is None or (whole and number != int(number)):
            return "this must be a whole number" if whole else "this must be a number"
        least, most = self._limit("minimum"), self._limit("maximum")
        if least is not None and number < least:
            return f"at least {least:g}"
        return f"at most {most:g}" if most is not None and number > most else ""

    def _limit(self, key: str) -> float | None:
        limit = self.schema.get(key)
        known = isinstance(limit, (int, float)) and not isinstance(limit, bool)
        return limit if known else None

    def _rules(self) -> list[str]:
        """What holds of it, in words."""
        rules = ["required" if self.required else "optional"]
        units = {"Length": " characters", "Items": " of them", "imum": ""}
        for sort, unit in units.items():
            least, most = self._limit(f"min{sort}"), self._limit(f"max{sort}")
            if least is not None and most is not None:
                rules.append(f"{least:g} to {most:g}{unit}")
            elif least is not None:
                rules.append(f"at least {least:g}{unit}")
            elif most is not None:
                rules.append(f"at most {most:g}{unit}")
        if self.kind == "integer":
            rules.append("a whole number")
        elif self.kind == "number":
            rules.append("a number")
        elif self.kind == "string":
            rules += [_FORMATS[f] for f in (str(self.schema.get("format")),) if f in _FORMATS]
        elif not self.values:
            rules.append("as JSON")
        return rules

    def _written(self, default: Any) -> str:
        return default if isinstance(default, str) else json.dumps(default)


def _values(schema: _Object) -> list[tuple[Any, str]]:
    """What may be chosen: an ``enum``, with names of its own, or constants with titles."""
    enum, names = schema.get("enum"), schema.get("enumNames")
    if isinstance(enum, list):
        labels = names if isinstance(names, list) and len(names) == len(enum) else enum
        return _distinct([(value, str(label)) for value, label in zip(enum, labels, strict=True)])
    one_of = schema.get("oneOf") or schema.get("anyOf")
    listed = one_of if isinstance(one_of, list) else []
    consts = [one for one in listed if isinstance(one, dict) and "const" in one]
    return _distinct([(one["const"], str(one.get("title") or one["const"])) for one in consts])


def _distinct(values: list[tuple[Any, str]]) -> list[tuple[Any, str]]:
    """Labels that say which value is meant, if two read the same."""
    counts = Counter(label for _, label in values)
    return [
        (value, label if counts[label] == 1 else f"{label} [{value}]") for value, label in values
    ]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is(format: str, text: str) -> bool:
    """Whether a text has this format; an unknown one it has."""
    try:
        match format:
            case "email":
                return bool(_EMAIL.fullmatch(text))
            case "uri":
                parts = urlsplit(text)
                return bool(parts.scheme and (parts.netloc or parts.path)) and " " not in text
            case "date":
                return bool(date.fromisoformat(text))
            case "date-time":
                return bool(datetime.fromisoformat(text.upper().replace("Z", "+00:00")))
    except ValueError:
        return False
    return True
