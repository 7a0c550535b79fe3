"""Imports the SDK without the package ``mcp``, which Winnow has no use for.

Of two seconds of processor time that importing the SDK takes, ``mcp`` with its models is more than
four fifths, and the first turn of a chat waits for it. The SDK needs it for MCP servers in its own
process; ours are a `ToolServer`. So while it is imported, modules stand in for those of ``mcp``
that it names; where they are not enough any more, it is imported as it is.
"""

from __future__ import annotations

import importlib
import logging
import sys
import threading
from types import ModuleType
from typing import Any

log = logging.getLogger(__name__)

_SDK = "claude_agent_sdk"
# What the SDK imports of it when it is imported itself: names, by module.
_NAMES = {
    "mcp": (),
    "mcp.server": ("Server",),
    "mcp.shared": (),
    "mcp.shared.memory": ("create_client_server_memory_streams",),
    "mcp.shared.message": ("SessionMessage",),
    "mcp.types": ("CallToolResult", "ListToolsResult", "RequestId", "Tool", "ToolAnnotations"),
}
_lock = threading.Lock()


class _Nothing:
    """Stands for a class of ``mcp``; nobody makes one."""

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
        if "mcp" not in sys.modules:
            _load_without_mcp()
        importlib.import_module(_SDK)


def _load_without_mcp() -> None:
    modules = {name: _module(name, names) for name, names in _NAMES.items()}
    for name, module in modules.items():
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(modules[parent], child, module)
    sys.modules.update(modules)
    try:
        importlib.import_module(_SDK)
    except Exception:
        log.warning("the SDK needs more of mcp than it did", exc_info=True)
        for name in [name for name in sys.modules if name.partition(".")[0] == _SDK]:
            del sys.modules[name]
    finally:
        for name in modules:  # whoever else wants mcp gets it
            del sys.modules[name]


def _module(name: str, names: tuple[str, ...]) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []
    for one in names:
        setattr(module, one, type(one, (_Nothing,), {}))
    return module
