"""A scripted Messages API on loopback, so that the real Claude Code CLI can be tested offline.

Each main request, which is one that offers tools, takes the next reply of the script; subagents'
requests count, too. Everything else that the CLI asks for (titles, token counts, ``HEAD``) gets a
harmless answer. As a program it serves a JSON script until it is killed, and prints the
environment that the CLI needs::

    python tests/api.py script.json
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Union

import msgspec
from msgspec.structs import replace

Json = dict[str, Any]
# What Claude Code says of itself after some turns, as a message of its own at the end.
REMINDER = "The task tools haven't been used recently."


class Text(msgspec.Struct, frozen=True, tag="text"):
    """A text block, sent as ``chunks``, or in pieces of a few characters."""

    text: str = ""
    chunks: list[str] = []


class Thinking(msgspec.Struct, frozen=True, tag="thinking"):
    """A reasoning block."""

    thinking: str


class ToolUse(msgspec.Struct, frozen=True, tag="tool_use"):
    """A tool call; the CLI runs its real tool."""

    name: str
    input: Json
    id: str


class Gate(msgspec.Struct, frozen=True, tag="gate"):
    """The stream halts here until `ScriptedAPI.release`."""


class Drop(msgspec.Struct, frozen=True, tag="drop"):
    """The connection breaks here."""


Block = Union[Text, Thinking, ToolUse, Gate, Drop]


class Message(msgspec.Struct, frozen=True, tag="message"):
    """What the model says, with ``pace`` seconds before each chunk.

    ``read`` tokens are what it claims to have read, that is, how full its context is.
    """

    content: list[Block]
    pace: float = 0.0
    read: int = 10


class Failure(msgspec.Struct, frozen=True, tag="failure"):
    """What the API answers when it refuses."""

    status: int
    kind: str = "api_error"
    message: str = "scripted failure"


Reply = Union[Message, Failure]


def say(*blocks: str | Block) -> Message:
    """The usual reply: strings are text blocks."""
    return Message([Text(block) if isinstance(block, str) else block for block in blocks])


def ask(id: str, *questions: Json) -> ToolUse:
    """A call of AskUserQuestion."""
    return ToolUse("AskUserQuestion", {"questions": list(questions)}, id)


def question(text: str, *labels: str, header: str = "Pick", multiple: bool = False) -> Json:
    """One question of `ask`; each label is described as ``about {label}``."""
    options = [{"label": label, "description": f"about {label}"} for label in labels]
    return {"question": text, "header": header, "options": options, "multiSelect": multiple}


class ScriptedAPI:
    """The server, as a context manager. Safe to use from any thread.

    Attributes:
        requests: the bodies of the main requests so far, in order.
        length: of the conversation after the last of these, in messages.
    """

    def __init__(self, *script: Reply) -> None:
        self.requests: list[Json] = []
        self.length = 0
        self._script = list(script)
        self._scripts: dict[str, list[Reply]] = {}
        self._changed = threading.Condition()
        self._gate = threading.Semaphore(0)
        self._before = 0
        self._rounds = count(1)
        self._suffix = ""  # of ids; `_1` would mean something to Claude Code
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ScriptedAPI:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gate.release(1000)  # a reply that still waits must not keep its thread
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def env(self, config_dir: Path | str) -> dict[str, str]:
        """What the CLI needs to talk to this server and to nothing else.

        Args:
            config_dir: stands for ``~/.claude``; keep it between runs to resume a session.
        """
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "scripted",
            "ANTHROPIC_AUTH_TOKEN": "",
            "CLAUDE_CODE_OAUTH_TOKEN": "",
            "CLAUDE_CONFIG_DIR": str(config_dir),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "NO_PROXY": "127.0.0.1",
        }

    def add(self, *replies: Reply) -> None:
        """Append to the script."""
        with self._changed:
            self._script += replies

    def on(self, words: str, *replies: Reply) -> None:
        """Answer requests that hold these words from a script of their own."""
        with self._changed:
            self._scripts.setdefault(words, []).extend(replies)

    def clear(self) -> None:
        """Forget the rest of the script."""
        with self._changed:
            self._script.clear()

    def reset(self, before: int = 0) -> None:
        """Be as new: no script, no requests; who waits at a `Gate` goes on.

        Args:
            before: so many messages at the beginning of each request are not shown; then calls
                are others than before even if their ids are the same.
        """
        with self._changed:
            gate, self._gate = self._gate, threading.Semaphore(0)
            self._script.clear()
            self._scripts.clear()
            self.requests.clear()
            self._before = before
            self._suffix = f"x{next(self._rounds)}" if before else ""
        gate.release(1000)

    def release(self) -> None:
        """Let the reply that waits at a `Gate`, or the next to reach one, go on."""
        self._gate.release()

    def wait_gate(self) -> None:
        """Called by a reply that reached a `Gate`."""
        self._gate.acquire()

    def take(self, body: Json) -> Reply:
        """Record a main request and consume the reply for it."""
        with self._changed:
            self.length = len(body["messages"]) + 1
            messages = body["messages"][self._before :]
            if messages and _reminds(messages[-1]):
                messages = messages[:-1]
            self.requests.append({**body, "messages": messages})
            self._changed.notify_all()
            said = json.dumps([body["messages"], body.get("system")], ensure_ascii=False)
            own = (script for words, script in self._scripts.items() if words in said)
            script = next(own, self._script)
            return self._renamed(script.pop(0) if script else say("(script is empty)"))

    def _renamed(self, reply: Reply) -> Reply:
        if isinstance(reply, Failure):
            return reply
        content = [
            replace(block, id=block.id + self._suffix) if isinstance(block, ToolUse) else block
            for block in reply.content
        ]
        return replace(reply, content=content)

    def request(self, number: int, timeout: float = 60) -> Json:
        """The main request of this number, counted from 0; waits for it."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) > number, timeout):
                raise TimeoutError(f"no request {number}: {len(self.requests)} came")
            return self.requests[number]

    def tool_result(self, tool_use_id: str, timeout: float = 60) -> str:
        """What the model read as the result of this call; waits for it."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._results(tool_use_id), timeout):
                raise TimeoutError(f"no result of {tool_use_id}")
            return self._results(tool_use_id)[0]

    def _results(self, tool_use_id: str) -> list[str]:
        tool_use_id += self._suffix
        return [
            _plain(block["content"])
            for body in self.requests
            for message in body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result" and block["tool_use_id"] == tool_use_id
        ]


def _plain(content: str | list[Json]) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    api: ScriptedAPI


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            self._json({"input_tokens": 1})
        elif path != "/v1/messages":
            self._json({})
        elif not body.get("tools"):
            self._reply(say("ok"), body)
        else:
            self._reply(self.server.api.take(body), body)

    def _reply(self, reply: Reply, body: Json) -> None:
        if isinstance(reply, Failure):
            error = {"type": reply.kind, "message": reply.message}
            self._json({"type": "error", "error": error}, reply.status)
            return
        try:
            if body.get("stream"):
                self._stream(reply, body["model"])
            else:
                self._json(_whole(reply, body["model"]))
        except ConnectionError:
            pass  # the CLI was interrupted

    def _json(self, value: Json, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, reply: Message, model: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in _events(reply, model):
            if isinstance(event, Drop):
                return
            if isinstance(event, Gate):
                self.server.api.wait_gate()
                continue
            if event["type"] == "content_block_delta":
                time.sleep(reply.pace)
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()


def _reminds(message: Json) -> bool:
    """Whether a message says nothing but what Claude Code reminds itself of."""
    content = message["content"]
    blocks = [{"text": content}] if isinstance(content, str) else content
    return all(block.get("text", "").lstrip().startswith(REMINDER) for block in blocks)


def _whole(reply: Message, model: str) -> Json:
    """The reply as one object, for requests that don't stream."""
    blocks = [block for block in reply.content if not isinstance(block, (Gate, Drop))]
    calls = any(isinstance(block, ToolUse) for block in blocks)
    return {
        "id": f"msg_{time.monotonic_ns()}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [msgspec.to_builtins(block) for block in blocks],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": reply.read, "output_tokens": 10},
    }


def _events(reply: Message, model: str) -> Iterator[Json | Gate | Drop]:
    """The reply as the API streams it."""
    whole = _whole(reply, model)
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    index = -1
    for block in reply.content:
        if isinstance(block, (Gate, Drop)):
            yield block
            continue
        index += 1
        start, deltas = _block(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}


def _block(block: Text | Thinking | ToolUse) -> tuple[Json, list[Json]]:
    """A block's start and its deltas."""
    if isinstance(block, Text):
        chunks = block.chunks or _pieces(block.text)
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": c} for c in chunks]
    if isinstance(block, Thinking):
        deltas = [{"type": "thinking_delta", "thinking": c} for c in _pieces(block.thinking)]
        deltas.append({"type": "signature_delta", "signature": "c2lnbmVk"})
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    start = {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
    pieces = _pieces(json.dumps(block.input), 64)
    return start, [{"type": "input_json_delta", "partial_json": p} for p in pieces]


def _pieces(text: str, size: int = 6) -> Sequence[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def main() -> None:
    """Serve the script named on the command line."""
    script = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=list[Reply])
    with ScriptedAPI(*script) as api:
        print(json.dumps(api.env(Path(sys.argv[1]).parent / "claude-config")), flush=True)  # noqa: T201
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
