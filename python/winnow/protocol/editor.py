"""What Claude asks of the editor, on its way there and back."""

from __future__ import annotations

from winnow.core.editor.told import Told
from winnow.core.editor.tools import Call
from winnow.protocol.base import ChatMessage, Message


class EditorCall(Message, frozen=True):
    """Claude asks for something: do it, and say with `EditorAnswer` what came of it.

    It is the agent of the chat ``of``, in the folder ``cwd``, of which alone something is told.
    After ``deadline``, in seconds since the epoch, nobody waits for it, and nothing may be done any
    more. ``dry``: only say what would be done. ``files``: the only ones that may change; empty:
    any.
    """

    id: str
    of: int
    cwd: str
    deadline: float
    call: Call
    dry: bool = False
    files: list[str] = []


class EditorDrop(Message, frozen=True):
    """Nobody waits for this `EditorCall` any more: end it."""

    id: str


class EditorAnswer(ChatMessage, frozen=True):
    """What came of an `EditorCall`."""

    id: str
    told: Told
