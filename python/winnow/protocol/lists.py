"""What Lua and the host tell each other about lists, and about what stands in them."""

from __future__ import annotations

from typing import Union

import msgspec

from winnow.protocol.base import ChatMessage, ListMessage, Message
from winnow.protocol.review import Remark


class Wake(ChatMessage, frozen=True):
    """The user asks for what only the agent knows, which need not have started."""


class Listed(ListMessage, frozen=True, kw_only=True):
    """The lines of a list. ``done``: what was asked for by `EditList` is.

    Many come in pieces: those from row ``at`` on; ``more``: others follow.
    """

    lines: list[str]
    done: bool = False
    at: int = 0
    more: bool = False


class ListProblem(ListMessage, frozen=True, kw_only=True):
    """A line (from 0) of an `EditList` can't be understood; nothing is done."""

    row: int
    sentence: str


class ListAsks(ListMessage, frozen=True, kw_only=True):
    """Is what an `EditList` would do really meant? Then it comes again with ``force``."""

    sentence: str


class Peeked(Message, frozen=True):
    """Show Markdown beside the cursor."""

    lines: list[str]


class Choice(msgspec.Struct, frozen=True):
    """Something to pick: a line of a list, and what it says."""

    key: str
    text: str


class Pick(ListMessage, frozen=True, kw_only=True):
    """Let the user pick one of these; `PickLine` says which."""

    prompt: str
    choices: list[Choice]


class Discard(Message, frozen=True):
    """Close the chats of these paths, and move their files into the trash."""

    paths: list[str]


class Retitle(Message, frozen=True):
    """Give the chat of this path a title; empty: the one that it has by itself."""

    path: str
    title: str


class Adopt(Message, frozen=True):
    """Make a chat of what was said elsewhere, and go there.

    ``values`` are more frontmatter, ``lines`` what stands above the draft. ``late``: the user may
    be elsewhere by now, and stays there then.
    """

    cwd: str
    values: dict[str, str]
    lines: list[str]
    draft: str = ""
    late: bool = False


class OpenChat(Message, frozen=True):
    """Go to the chat of this path."""

    path: str


class KeptTrees(Message, frozen=True):
    """Show what is kept of worktrees in the repository at ``cwd``; each line begins with a name."""

    cwd: str
    lines: list[str]


class FindChats(Message, frozen=True):
    """Which chats the list of them is to show, with the sessions of the project at ``cwd``.

    ``about`` is a text that they hold; ``family`` the path of one that they were forked from, or
    have forked. Both empty: all.
    """

    cwd: str
    about: str = ""
    family: str = ""


class Fork(Message, frozen=True):
    """Go on from before a message of the user's, in a chat of its own; that one is its draft.

    ``nth`` says which of the user's messages it is, from 0; ``text`` empty: from the end of all.
    ``lines`` stand above it in the chat at ``path``.
    """

    path: str
    cwd: str
    session: str
    text: str
    nth: int
    lines: list[str]
    values: dict[str, str] = {}  # of its frontmatter, that the new one has, too


class LeaveTree(Message, frozen=True):
    """A chat was deleted, ``path``; its worktree goes, too, unless it holds something."""

    path: str
    cwd: str  # in the worktree
    project: str
    branch: str


class Resume(Message, frozen=True):
    """Go on with a session of the project at ``cwd``: by its id, or a part of its title.

    Where that means several, or is empty, the user is asked.
    """

    cwd: str
    about: str = ""


ListEffect = Union[
    Listed,
    ListProblem,
    ListAsks,
    Peeked,
    Pick,
    Discard,
    Retitle,
    Remark,
    Adopt,
    OpenChat,
    KeptTrees,
]
