"""What Claude can ask Neovim for: how each call is described, checked, and shown in one line.

Places are a file, a line and a word on it: models count columns badly, and every language server
counts them in another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Union

import msgspec
from msgspec import Meta

from winnow.core.described import Described, described
from winnow.core.folder import UNKNOWN, Folder
from winnow.core.question import Malformed
from winnow.core.text.text import brief

SERVER = "winnow_editor"
PREFIX = f"mcp__{SERVER}__"
MOST = 1000  # entries of a quickfix list that a call brings

_Path = Annotated[str, Meta(description="From the project's folder, or absolute", max_length=4096)]
_Line = Annotated[int, Meta(description="From 1", ge=1, le=1 << 31)]
_Symbol = Annotated[
    str, Meta(description="The name, as it stands on that line", min_length=1, max_length=200)
]


class _Call(msgspec.Struct, frozen=True, tag_field="tool"):
    """Tagged by the tool's name; the doc of each is what the model reads."""


class Diagnostics(_Call, frozen=True, tag="diagnostics"):
    """Errors and warnings that the user's language servers and linters have found, also in text
    that is not saved yet. Cheaper and sooner than a build."""

    path: Annotated[str, Meta(description="One file; empty: all", max_length=4096)] = ""


class Buffers(_Call, frozen=True, tag="buffers"):
    """What the user has open in Neovim: files, which of them have unsaved changes, and where the
    cursor is."""


class ReadBuffer(_Call, frozen=True, tag="read_buffer"):
    """Text as it is in Neovim now, with the user's unsaved changes. What has none is read with
    Read."""

    path: Annotated[str, Meta(description="As the tool buffers names it", max_length=4096)]
    first: _Line = 1
    last: Annotated[int, Meta(description="Last line; 0: the end", ge=0, le=1 << 31)] = 0


class Definition(_Call, frozen=True, tag="definition"):
    """Where a name is defined, as the language server knows it."""

    path: _Path
    line: _Line
    symbol: _Symbol


class References(_Call, frozen=True, tag="references"):
    """All places where a name is used, as the language server knows them. Unlike a search for the
    text it leaves out others of the same name."""

    path: _Path
    line: _Line
    symbol: _Symbol


class Symbols(_Call, frozen=True, tag="symbols"):
    """The functions, classes and the like of a file, or those of the project whose names have a
    text in them, as the language server knows them."""

    path: Annotated[str, Meta(description="A file: all of its symbols", max_length=4096)] = ""
    query: Annotated[str, Meta(description="What their names hold", max_length=200)] = ""


class Quickfix(_Call, frozen=True, tag="quickfix"):
    """The user's quickfix list: places that a build or a search has found."""


class Rename(_Call, frozen=True, tag="rename"):
    """Rename a function, variable, class and the like everywhere, by the language server. The user
    is asked, and sees which files change."""

    path: _Path
    line: _Line
    symbol: _Symbol
    new_name: Annotated[str, Meta(min_length=1, max_length=200)]


class Item(msgspec.Struct, frozen=True):
    """An entry of a quickfix list."""

    path: _Path
    line: _Line = 1
    text: Annotated[str, Meta(description="What is to be said of it", max_length=1000)] = ""


class FillQuickfix(_Call, frozen=True, tag="fill_quickfix"):
    """Give the user a list of places to step through, as a new quickfix list. The user is asked."""

    title: Annotated[str, Meta(min_length=1, max_length=200)]
    entries: Annotated[tuple[Item, ...], Meta(min_length=1, max_length=MOST)]


class Jump(_Call, frozen=True, tag="jump"):
    """Show the user a place in Neovim, and move the cursor there. The user is asked; do it only
    when they want to be taken there."""

    path: _Path
    line: _Line = 1


class RunTest(_Call, frozen=True, tag="run_test"):
    """Run the test at a place with the user's own command, and read what it says. The user is
    asked."""

    path: Annotated[str, Meta(description="Empty: where the cursor is", max_length=4096)] = ""
    line: Annotated[int, Meta(description="From 1; 0: where the cursor is", ge=0, le=1 << 31)] = 0


Call = Union[
    Diagnostics,
    Buffers,
    ReadBuffer,
    Definition,
    References,
    Symbols,
    Quickfix,
    Rename,
    FillQuickfix,
    Jump,
    RunTest,
]
_KINDS: tuple[type[Call], ...] = (
    *(Diagnostics, Buffers, ReadBuffer, Definition, References, Symbols, Quickfix),
    *(Rename, FillQuickfix, Jump, RunTest),
)
_TOOLS: dict[str, type[Call]] = {str(kind.__struct_config__.tag): kind for kind in _KINDS}
NAMES = tuple(_TOOLS)
ASKING = ("rename", "fill_quickfix", "jump", "run_test")  # the user is asked for each
READING = tuple(name for name in NAMES if name not in ASKING)

# How each is called in the transcript.
TITLES = {
    "diagnostics": "Diagnostics",
    "buffers": "Buffers",
    "read_buffer": "Buffer",
    "definition": "Definition",
    "references": "References",
    "symbols": "Symbols",
    "quickfix": "Quickfix",
    "rename": "Rename",
    "fill_quickfix": "Quickfix",
    "jump": "Jump",
    "run_test": "Test",
}


def of(names: Sequence[str]) -> list[Described]:
    """Those of these names, in our order."""
    return [described(name, _TOOLS[name]) for name in NAMES if name in names]


def name_of(tool: str) -> str:
    """Our name of a tool of Claude Code's; empty: it is none of these."""
    name = tool.removeprefix(PREFIX)
    return name if tool.startswith(PREFIX) and name in _TOOLS else ""


def read(name: str, input: dict[str, Any]) -> Call | Malformed:
    """A call, or what is wrong with it, for the model."""
    given = {key: value for key, value in input.items() if key != "tool"}
    try:
        call = msgspec.convert(given, _TOOLS[name], strict=False)
    except msgspec.ValidationError as error:
        return Malformed(f"This call can't be understood: {error}.")
    match call:
        case Rename(symbol=symbol, new_name=new) if symbol == new:
            return Malformed(f"It has the name {new} already.")
        case Symbols(path="", query=query) if not query.strip():
            return Malformed("Give a path, or a query.")
        case ReadBuffer(first=first, last=last) if 0 < last < first:
            return Malformed(f"last ({last}) is before first ({first}).")
        case RunTest(path="", line=line) if line:
            return Malformed("A line needs a path.")
        case _:
            return call


def about(name: str, input: dict[str, Any], folder: Folder = UNKNOWN) -> str:
    """What tells a call from the next one; anything may stand in the input."""
    place = ""
    if isinstance(path := input.get("path"), str):
        place = folder.name(path)
        line = input.get("line") or input.get("first")
        place += f":{line}" if path and isinstance(line, int) and line > 0 else ""
    keys = ("symbol", "query", "title")
    said = next((brief(v, 60) for k in keys if isinstance(v := input.get(k), str)), "")
    if name == "rename":
        said += f" → {brief(str(input.get('new_name')), 60)}"
    return " ".join(filter(None, (place, said)))
