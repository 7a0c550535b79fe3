"""What a message is about: a section of a chat, a chat, or neither.

Who dispatches looks up only what the message's base names.
"""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower):
    """Immutable, tagged by the lower-case class name."""


class RunMessage(Message, frozen=True):
    """``run`` is its id."""

    run: str


class ListMessage(Message, frozen=True):
    """``name`` is that of a list, a buffer in which lines are things.

    ``of`` is the number of the chat whose list it is; 0: it is about all of them.
    """

    name: str
    of: int = 0


class ChatMessage(Message, frozen=True):
    """``chat`` is the number of its buffer: one host serves one Neovim."""

    chat: int


class SectionMessage(ChatMessage, frozen=True):
    """``section`` is its marker."""

    section: str
