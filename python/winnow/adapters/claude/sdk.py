"""Imports the SDK without packages that Winnow has no use for.

Of two seconds of processor time that importing the SDK takes, ``mcp`` with its models is more than
four fifths, and of the rest ``jsonschema`` is the half; the first turn of a chat waits for it. The
SDK needs them for MCP servers in its own process; ours are a `ToolServer`. So while it is imported,
modules stand in for those that it names; where they are not enough any more, all is imported as it
is. Of what is left, a sixth is ``importlib.metadata``, by which the SDK would find a name for its
program, once there is a Claude Code that takes one. Before it starts the CLI, it imports
``opentelemetry``, to tell of the span that it is in, and here it is in none.
"""

from __future__ import annotations

import importlib
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, cast

log = logging.getLogger(__name__)

_SDK = "claude_agent_sdk"
_TRACING = "opentelemetry"
_METADATA = "importlib.metadata"
# What the SDK imports of them when it is imported itself: names, by module.
_NAMES = {
    "jsonschema": (),
    "mcp": (),
    "mcp.server": ("Server",),
    "mcp.shared": (),
    "mcp.shared.memory": ("create_client_server_memory_streams",),
    "mcp.shared.message": ("SessionMessage",),
    "mcp.types": ("CallToolResult", "ListToolsResult", "RequestId", "Tool", "ToolAnnotations"),
}
_lock = threading.Lock()


class _Nothing:
    """Stands for a class of theirs; nobody makes one."""

    def __init_subclass__(cls, **_: Any) -> None:
        super().__init_subclass__()


def load() -> None:
    """Import the SDK, unless that is done.

    Raises:
        ImportError: it is not installed.
    """
    with _lock:
        if _SDK in sys.modules:
            return
        if not _NAMES.keys() & sys.modules.keys():
            _load_without()
        importlib.import_module(_SDK)


@contextmanager
def untraced() -> Iterator[None]:
    """Meanwhile nobody can import what the SDK would trace with, if it is not there already."""
    is_missing = _TRACING not in sys.modules
    if is_missing:
        sys.modules[_TRACING] = cast(Any, None)
    try:
        yield
    finally:
        if is_missing:
            del sys.modules[_TRACING]


def _load_without() -> None:
    modules = {name: _module(name, names) for name, names in _NAMES.items()}
    if _METADATA not in sys.modules:
        modules[_METADATA] = _module(_METADATA, ())
    sys.modules.update(modules)
    for name, module in modules.items():
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
    try:
        importlib.import_module(_SDK)
    except Exception:
        log.warning("the SDK needs more of other packages than it did", exc_info=True)
        for name in [name for name in sys.modules if name.partition(".")[0] == _SDK]:
            del sys.modules[name]
    finally:
        for name in modules:  # whoever else wants them gets them
            del sys.modules[name]
        if _METADATA in modules:
            del importlib.metadata  # else it would count as imported


def _module(name: str, names: tuple[str, ...]) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []
    for one in names:
        setattr(module, one, type(one, (_Nothing,), {}))
    return module
