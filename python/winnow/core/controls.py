"""What a session can be asked about beside the conversation: models, servers, rules.

The replies are the CLI's (2.1.332, tried): its ``models`` come with ``initialize``, servers with
``mcp_status``, rules with ``list_permission_rules``. What is not as expected is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

EFFORTS = ("low", "medium", "high", "xhigh", "max")  # all that Claude Code knows


class Model(msgspec.Struct, frozen=True):
    """A model that the account has."""

    name: str
    about: str = ""
    efforts: tuple[str, ...] = ()
    fast: bool = False


class Server(msgspec.Struct, frozen=True):
    """An MCP server."""

    name: str
    state: str  # "connected", "disabled", "failed", "pending", "needs-auth"
    tools: tuple[str, ...] = ()
    error: str = ""


class Rule(msgspec.Struct, frozen=True):
    """A permission rule, or a folder in which Claude may work."""

    behavior: str  # of a folder "folder"
    rule: str  # as it is stored
    source: str  # in the CLI's words
    where: str  # the same in words for the user
    kept: str = "readonly"  # "persistent": in a file; "session"; "readonly"
    root: str = ""  # the folder whose settings are the project's
    unused: bool = False  # not in effect: managed settings say so

    @property
    def line(self) -> str:
        """How it reads."""
        unused = " (not in effect)" if self.unused else ""
        return f"{self.behavior} {' '.join(self.rule.splitlines())} · {self.where}{unused}"


def models(found: Any) -> list[Model]:
    """Those that the CLI offers."""
    return [
        Model(
            str(one["value"]),
            str(one.get("description") or one.get("displayName") or ""),
            tuple(map(str, one.get("supportedEffortLevels") or ())),
            bool(one.get("supportsFastMode")),
        )
        for one in objects(found)
        if one.get("value") and not one.get("disabled")
    ]


def servers(found: Any) -> list[Server]:
    """Those that a session has."""
    return [
        Server(
            str(one["name"]),
            str(one.get("status") or "unknown"),
            tuple(str(tool.get("name", "")) for tool in objects(one.get("tools"))),
            str(one.get("error") or ""),
        )
        for one in objects(found)
        if one.get("name")
    ]


def rules(state: Mapping[str, Any], words: Mapping[str, str]) -> list[Rule]:
    """Those in force, and the folders.

    Args:
        state: the CLI's.
        words: what its sources mean.
    """
    found = [
        Rule(
            str(one.get("behavior", "")),
            str(one["rule"]),
            str(one.get("source", "")),
            words.get(str(one.get("source", "")), str(one.get("source", ""))),
            str(one.get("editability") or "readonly"),
            str(state.get("originalCwd") or ""),
            bool(one.get("notInEffect")),
        )
        for one in objects(state.get("rules"))
        if one.get("rule")
    ]
    for one in objects(state.get("workspaceDirectories")):
        source = str(one.get("source", ""))
        found.append(Rule("folder", str(one.get("path", "")), source, words.get(source, source)))
    return found


def objects(found: Any) -> list[dict[str, Any]]:
    """Those of a list that are some; of anything else, none."""
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
