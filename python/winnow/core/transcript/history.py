"""A session's messages, as its agent has kept them, as entries of a transcript.

Their content is the Messages API's, and whatever is not that counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from winnow.core.context.attachment import unparted
from winnow.core.text import blocks
from winnow.core.transcript.entries import (
    Called,
    Entry,
    Noted,
    Paused,
    Returned,
    Said,
    Thought,
    Told,
)

# What Claude Code puts among the user's words, for commands that it answers itself.
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_OUTPUT = re.compile(r"\A<local-command-std(?:out|err)>(.*?)</local-command-", re.DOTALL)
_STOPPED = "[Request interrupted by user"


class Past(msgspec.Struct, frozen=True):
    """A message of a session."""

    id: str
    role: Literal["user", "assistant"]
    content: Any

    @property
    def prompt(self) -> str:
        """What the user said, if they did; not what tools said, nor a command's output."""
        if self.role != "user":
            return ""
        text = "\n\n".join(self._texts).strip()
        return "" if text.startswith("<local-command-") or _COMMAND.search(text) else text

    def says(self, text: str) -> bool:
        """Whether the user said this, whatever went along: that stands in blocks before it."""
        texts, wanted = self._texts, _squeezed(text)
        own = (texts, texts[-1:], texts[-2:])  # two if a block of code has one of its own
        return bool(wanted) and any(_squeezed("\n\n".join(some)) == wanted for some in own)

    @property
    def _texts(self) -> list[str]:
        texts = [unparted(block["text"]) for block in _blocks(self.content) if _is(block, "text")]
        return [text for text in texts if not text.startswith(_STOPPED)]


def entries(messages: Iterable[Past]) -> Iterator[Entry]:
    """What happened in them."""
    for message in messages:
        if text := message.prompt:
            yield Told(text)
            continue
        for block in _blocks(message.content):
            if message.role == "user":
                yield from _of_user(block)
            else:
                yield from _of_agent(block)


def _of_user(block: dict[str, Any]) -> Iterator[Entry]:
    match block:
        case {"type": "tool_result", "tool_use_id": str(call)}:
            failed = bool(block.get("is_error"))
            yield Returned(call, _plain(block.get("content")), failed)
        case {"type": "text", "text": str(text)} if found := _COMMAND.search(text):
            given = _ARGUMENTS.search(text)
            yield Told(f"{found[1]} {given[1] if given else ''}".strip())
        case {"type": "text", "text": str(text)} if found := _OUTPUT.match(text):
            if found[1].strip():
                yield Noted(found[1].strip())
        case {"type": "text", "text": str(text)} if text.startswith(_STOPPED):
            yield Noted("Stopped.")


def _of_agent(block: dict[str, Any]) -> Iterator[Entry]:
    match block:
        case {"type": "text", "text": str(text)} if text.strip():
            yield Said(text)
            yield Paused()
        case {"type": "thinking", "thinking": str(text)} if text.strip():
            yield Thought(text)
            yield Paused()
        case {"type": "tool_use", "id": str(call), "name": str(name)}:
            input = block.get("input")
            yield Called(call, name, input if isinstance(input, dict) else {})


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    found = content if isinstance(content, list) else []
    return [block for block in found if isinstance(block, dict)]


def _is(block: dict[str, Any], kind: str) -> bool:
    return block.get("type") == kind and isinstance(block.get(kind), str)


def _plain(content: Any) -> str:
    if isinstance(content, list):
        return blocks.plain(content)
    return content if isinstance(content, str) else ""


class Cut(NamedTuple):
    """Where to cut a session: before a ``prompt``; ``last`` stays, empty: nothing does."""

    last: str
    prompt: str


def before(messages: Iterable[Past], text: str, nth: int) -> Cut | None:
    """Where to cut a session, so that one prompt of it and all after that are left out.

    Args:
        messages: the session's.
        text: the prompt's, as the chat shows it.
        nth: which prompt of the chat it is, from 0: of several such, the nearest one counts.

    Returns:
        None: there is no such prompt.
    """
    found: list[tuple[int, Cut]] = []
    last, count = "", 0
    for message in messages:
        if message.prompt:
            if message.says(text):
                found.append((abs(count - nth), Cut(last, message.id)))
            count += 1
        last = message.id
    return min(found, key=lambda one: one[0])[1] if found else None


def _squeezed(text: str) -> str:
    """A text to compare: without the ``@`` of mentions, which not all have when they are sent."""
    return " ".join(text.replace("@", "").split())
