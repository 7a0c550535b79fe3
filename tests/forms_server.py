"""A tiny MCP server on stdio whose tools ask the user by forms.

Tool ``form`` asks with the ``schema`` of its arguments, ``url`` with an address; ``gone`` withdraws
its form when the file ``until`` is there. The result of each says what came back. Standard library
only: the ``mcp`` package takes a second to import.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ADDRESS = "https://example.com/login?next=%2F"
TOOLS = ("form", "url", "gone")


class Server:
    """Answers the lines of its standard input.

    What it asks itself has the id of the call that it asks for, behind an ``e``.
    """

    def __init__(self) -> None:
        self._calls: dict[str, Json] = {}  # by the ids of what they ask

    def hear(self, message: Json) -> None:
        """Do what a message wants."""
        id, method = message.get("id"), message.get("method")
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "forms", "version": "1"}
            self._reply(
                id,
                {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info},
            )
        elif method == "tools/list":
            schema = {"type": "object"}
            self._reply(
                id,
                {"tools": [{"name": n, "description": n, "inputSchema": schema} for n in TOOLS]},
            )
        elif method == "tools/call":
            self._call(message)
        elif method is not None and id is not None:
            self._reply(id, {})
        elif id in self._calls:
            call = self._calls.pop(id)
            if call["params"]["name"] == "url":
                self._tell("notifications/elicitation/complete", {"elicitationId": "one"})
            told = message.get("result", message.get("error"))
            self._finish(call, json.dumps(told))

    def _call(self, call: Json) -> None:
        given, id = call["params"].get("arguments") or {}, f"e{call['id']}"
        asked: Json = {"message": given.get("message", "Who is it?")}
        if call["params"]["name"] == "url":
            asked |= {"mode": "url", "url": ADDRESS, "elicitationId": "one"}
        else:
            asked |= {"requestedSchema": given.get("schema")}
        self._calls[id] = call
        self._write({"id": id, "method": "elicitation/create", "params": asked})
        if call["params"]["name"] == "gone":
            until = Path(given["until"])
            threading.Thread(target=self._withdraw, args=(id, until), daemon=True).start()

    def _withdraw(self, id: str, until: Path) -> None:
        while not until.exists():
            time.sleep(0.02)
        self._tell("notifications/cancelled", {"requestId": id, "reason": "over"})
        self._finish(self._calls.pop(id), "withdrawn")

    def _finish(self, call: Json, text: str) -> None:
        self._reply(call["id"], {"content": [{"type": "text", "text": text}]})

    def _reply(self, id: Any, result: Json) -> None:
        self._write({"id": id, "result": result})

    def _tell(self, method: str, params: Json) -> None:
        self._write({"method": method, "params": params})

    def _write(self, message: Json) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    server = Server()
    for line in sys.stdin:
        server.hear(json.loads(line))
