"""The text that a call of Write or Edit proposes, and the input that writes exactly another one.

Measured on Claude Code 2.1.332: Edit sees a file without the CR of its CRLFs. If at the file's
beginning these outnumber bare newlines, all that it writes gets them; otherwise it writes what
`new_string` says, and all else with bare newlines. Where `old_string` is only found if typographic
quotes are taken for those of a keyboard, `new_string` gets typographic ones. Write writes what it
is told, but keeps a byte order mark.
"""

from __future__ import annotations

import json
import re
from typing import Any

BOM = "\ufeff"
_HEAD = 4096  # characters that decide about line ends
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TYPED = str.maketrans("‘’“”", "''\"\"")


def proposed(tool: str, input: dict[str, Any], old: str | None) -> str | None:
    """The text that a call is meant to leave in the file.

    Where a file mixes line ends, Edit would also change those it was not asked to. This does not,
    wherever `rewrite` can have its way.

    Args:
        tool: its name.
        input: what the tool is called with.
        old: the file's text, None where there is none.

    Returns:
        The new text, or None where that can't be told.
    """
    match tool, input:
        case "Write", {"content": str(content)}:
            content = _encodable(content)
            return content if content.startswith(BOM) else _bom(old) + content
        case "Edit", {"old_string": "", "new_string": str(new)}:
            return None if old else _encodable(new)
        case "Edit", {"old_string": str(this), "new_string": str(new)} if old is not None:
            every = input.get("replace_all") is True
            text = _replaced(old, this, _encodable(new), every=every)
            if text is None:
                return None
            text = _line_ends(old, text)
            # To Claude Code, which sees no CR of a CRLF, this would be no change: it refuses that.
            return None if text != old and text == old.replace("\r\n", "\n") else text
    return None


def rewrite(tool: str, input: dict[str, Any], old: str | None, new: str) -> dict[str, Any] | None:
    """The input with which a call leaves exactly ``new`` in the file; None where none does.

    For Edit it holds the whole file, so that the tool refuses one that changed meanwhile. Write
    does so by itself, but overwrites a file that is only there since.
    """
    match tool:
        case "Write" if proposed("Write", {"content": new}, old) == new:
            return {**input, "content": new}
        case "Edit":
            this = (old or "").replace("\r\n", "\n")
            text = new if _is_bare(old or "") else new.replace("\r\n", "\n")
            if this != text and _line_ends(old or "", text) == new:
                whole = {"old_string": this, "new_string": text, "replace_all": False}
                return {**input, **whole}
    return None


def cell(notebook: str, name: str) -> str | None:
    """The source of a notebook's cell, by its id; else as ``cell-N``, counted from 0."""
    try:
        cells = json.loads(notebook)["cells"]
        named = {f"cell-{number}": one for number, one in enumerate(cells)}
        named |= {one.get("id"): one for one in reversed(cells)}  # the first of those with one id
        source = named[name]["source"]
        return source if isinstance(source, str) else "".join(source)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _replaced(old: str, this: str, new: str, *, every: bool) -> str | None:
    if "\r" in this:
        return None
    seen = old.replace("\r\n", "\n")
    if this not in seen and (at := seen.translate(_TYPED).find(this.translate(_TYPED))) >= 0:
        this = seen[at : at + len(this)]
        new = _typographic(new, this)
    count = seen.count(this)
    if count == 0 or (count > 1 and not every):
        return None
    if not new and not this.endswith("\n") and this + "\n" in seen:
        this += "\n"  # deletes lines, not only what they say
    pattern = re.escape(this).replace("\\\n", "\r?\n")
    return re.sub(pattern, lambda _: new, old)


def _encodable(text: str) -> str:
    """As Claude Code writes it: UTF-8 has no form for half a character."""
    try:
        text.encode()  # which is quicker than to look for one
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
    return text


def _typographic(text: str, like: str) -> str:
    """With the quotes of ``like``, where the model types those of a keyboard."""
    for typed, opening, closing in (('"', "“", "”"), ("'", "‘", "’")):
        if opening in like or closing in like:
            text = re.sub(rf"(?<![^\s(\[{{—–]){typed}", opening, text).replace(typed, closing)
    return text


def _line_ends(old: str, text: str) -> str:
    return text if _is_bare(old) else text.replace("\r\n", "\n").replace("\n", "\r\n")


def _is_bare(text: str) -> bool:
    """Does the file end its lines with bare newlines?"""
    head = text[:_HEAD]
    crlf = head.count("\r\n")
    return crlf <= head.count("\n") - crlf


def _bom(old: str | None) -> str:
    return BOM if old and old.startswith(BOM) else ""
