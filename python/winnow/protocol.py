"""What Neovim and the host say to each other.

Lua pushes facts in (`Event`); Python pushes edits out (`Effect`). Python never reads from
Neovim, so neither side ever waits for the other. Both unions are tagged by ``type``: the tags of
`Event` are what Lua sends with ``lua/winnow/host.lua``, the tags of `Effect` are the keys of
``lua/winnow/dispatch.lua``, and a test holds the two sides equal.

A chat is named by its buffer number: one host serves one Neovim. What is about no chat has the
number 0. Rows count from 0.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from winnow.core.section.answer import Part

State = Literal["asleep", "connecting", "idle", "working", "waiting", "failed"]
"""What a chat is doing. A draft can be committed at once only in ``idle``; ``asleep`` has no agent
process yet."""

Level = Literal["info", "warn", "error"]


class Message(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower):
    """Base of both unions: immutable, tagged by the lower-case class name."""


# --- Lua → Python -----------------------------------------------------------------------------


class Sent(msgspec.Struct, frozen=True):
    """A message that was sent; ``id`` is a UUID. ``section`` is what it was said about."""

    id: str
    text: str
    section: str = ""


class Open(Message, frozen=True):
    """A chat buffer was attached. ``sections`` are the ids whose markers its text still holds.

    ``lines`` are the open section's as the user left them, for a host that is new. Empty when the
    text was read from the file, which may be older than what the store has.
    """

    chat: int
    path: str
    cwd: str
    agent: str = ""  # as the frontmatter has it: "claude", "scripted", or empty for the default
    session: str = ""
    model: str = ""
    mode: str = ""  # as the frontmatter has it, which anybody may have written
    configured: str = ""  # the mode that the user wants for chats without one
    questions: str = ""  # how the agent asks: by "tool", in its "text", or "both"; else by tool
    sections: list[str] = []
    lines: list[str] = []
    confirmed: int = -1  # the row of a <CR> in them that the host before has not acted on
    sent: list[Sent] = []  # messages of which no `Kept` came
    headless: bool = False  # nobody sees this Neovim
    eager: bool = True  # a new chat connects while the user still types


class Close(Message, frozen=True):
    """The buffer is gone: deny what waits, end the agent."""

    chat: int


class Send(Message, frozen=True):
    """A message that the buffer already shows. Empty: there was nothing to take after all."""

    chat: int
    text: str
    id: str = ""  # a uuid


class Refilled(Message, frozen=True):
    """These messages stand in the draft, and the draft in its file."""

    chat: int
    messages: list[str]


class Queue(Message, frozen=True):
    """The user wants the draft sent, but the chat was not idle: ask for it with `Take`."""

    chat: int


class Stop(Message, frozen=True):
    """End the running turn."""

    chat: int


class Edit(Message, frozen=True):
    """The lines of the open section changed."""

    chat: int
    section: str
    lines: list[str]


class Confirm(Message, frozen=True):
    """``<CR>`` in the open section, with the cursor on ``row`` of ``lines``.

    ``unseen`` lines of what it asks for were not on the screen yet, or not whole.
    """

    chat: int
    section: str
    lines: list[str]
    row: int
    unseen: int = 0


class Keep(Message, frozen=True):
    """Keep only the option on ``row`` of ``lines`` of the open section; `Delete` does it."""

    chat: int
    section: str
    lines: list[str]
    row: int


class Cancel(Message, frozen=True):
    """``<Esc>`` in the open section."""

    chat: int
    section: str
    lines: list[str]


class Reopen(Message, frozen=True):
    """``<CR>`` on the record of a section that was never answered."""

    chat: int
    section: str


class Discuss(Message, frozen=True):
    """Talk back about the open section instead of answering it."""

    chat: int
    section: str
    lines: list[str]
    text: str
    id: str = ""  # a uuid


class Grant(Message, frozen=True):
    """Answer a permission, patch or plan from anywhere; ``always``: with its first rule.

    ``lines`` are the section's, if it is open; ``unseen`` as in `Confirm`.
    """

    chat: int
    section: str
    choice: Literal["allow", "always", "deny"]
    reason: str = ""
    lines: list[str] = []
    unseen: int = 0


class Mode(Message, frozen=True):
    """Change the permission mode; empty: show it, with the rules in force."""

    chat: int
    mode: str = ""


class Compare(Message, frozen=True):
    """Show the open patch beside the file, as a diff of two buffers."""

    chat: int
    section: str
    lines: list[str]


class Unshown(Message, frozen=True):
    """A section could not be shown."""

    chat: int
    section: str


class Recall(Message, frozen=True):
    """Show what was decided, or export it.

    ``about`` and ``path`` choose: a text that occurs in it, and the file of its chat. ``export``
    is a folder for a Markdown file each, or a ``.json`` file for all of it.
    """

    chat: int
    about: str = ""
    path: str = ""
    export: str = ""


class Trust(Message, frozen=True):
    """Show what was decided about the settings of the project at ``cwd``, or forget it."""

    chat: int
    cwd: str
    revoke: bool = False


Event = Union[
    Open,
    Close,
    Send,
    Refilled,
    Queue,
    Stop,
    Edit,
    Confirm,
    Keep,
    Cancel,
    Reopen,
    Discuss,
    Grant,
    Mode,
    Compare,
    Unshown,
    Recall,
    Trust,
]


# --- Python → Lua -----------------------------------------------------------------------------


class Write(Message, frozen=True):
    """Append to the transcript; ``fresh`` starts a new paragraph."""

    chat: int
    text: str
    fresh: bool = False


class Tool(Message, frozen=True):
    """Show a tool call as one line, or update it; ``output`` goes folded beneath.

    An empty line takes it away: it comes again below the section that asks for permission.
    """

    chat: int
    id: str
    line: str
    output: list[str] = []


class Section(Message, frozen=True):
    """Open a section above the draft.

    ``previews`` are Markdown, keyed ``question.option``. ``focus``: the user asked for it, so the
    cursor goes there from wherever it is in this buffer. ``edited``: how the user left the lines
    before; ``u`` takes that back.
    """

    chat: int
    section: str
    lines: list[str]
    previews: dict[str, str] = {}
    focus: bool = False
    edited: list[str] = []


class Verdict(Message, frozen=True):
    """What ``<CR>`` would send now, for the section's foot; ``waiting`` sections follow it.

    ``offer`` is an earlier answer that ``<CR>`` on the foot would take.
    """

    chat: int
    section: str
    parts: list[Part]
    waiting: int = 0
    offer: str = ""


class Say(Message, frozen=True):
    """One sentence for the user's message line."""

    chat: int
    text: str
    level: Level = "info"


class Step(Message, frozen=True):
    """Move the cursor to a question of the open section (from 1), or to its foot (0)."""

    chat: int
    section: str
    question: int


class Reveal(Message, frozen=True):
    """Go to the first line of the open section that was not on the screen yet."""

    chat: int
    section: str


class Delete(Message, frozen=True):
    """Delete these rows of the lines that `Confirm` or `Keep` had, then confirm again."""

    chat: int
    section: str
    question: int
    rows: list[int]


class Fill(Message, frozen=True):
    """Make these the lines of the open section, as the user could have: ``u`` takes it back."""

    chat: int
    section: str
    lines: list[str]


class Freeze(Message, frozen=True):
    """Replace the open section by its record."""

    chat: int
    section: str
    lines: list[str]


class Take(Message, frozen=True):
    """Commit the queued draft and answer with `Send`."""

    chat: int


class Refill(Message, frozen=True):
    """Put a message that was not delivered back into the draft, above what stands there.

    ``messages`` are the ids of those that it is, to be told of with `Refilled`.
    """

    chat: int
    text: str
    messages: list[str] = []


class Kept(Message, frozen=True):
    """The store has these messages: nobody else has to remember them."""

    chat: int
    messages: list[str]


class Pending(msgspec.Struct, frozen=True):
    """A section that waits for the user, shown already or not."""

    section: str
    kind: Literal["question", "permission", "patch", "plan", "trust"]
    title: str
    agent: str  # the subagent that asks; empty: the chat's own
    since: float  # seconds since the epoch


class Status(Message, frozen=True):
    """What the chat is doing, what waits in it, and what it has cost in US dollars.

    ``mode`` is the permission mode, empty while nobody knows it; ``ahead`` says how many other
    agents start before this one.
    """

    chat: int
    state: State
    pending: list[Pending] = []
    cost: float = 0.0
    mode: str = ""
    ahead: int = 0


Data = dict[str, Union[str, float, bool]]


class Happened(Message, frozen=True):
    """Something happened: a ``User`` autocommand of the name ``Winnow{name}``."""

    chat: int
    name: Literal["Question", "Answered", "TurnEnd"]
    data: Data


class Meta(Message, frozen=True):
    """Frontmatter values that are known now."""

    chat: int
    values: dict[str, str]


class Save(Message, frozen=True):
    """Write the chat's file."""

    chat: int


class Visit(Message, frozen=True):
    """Show a file beside the chat, at a line (from 1)."""

    chat: int
    path: str
    line: int


class Reload(Message, frozen=True):
    """The agent has written files: show them as they are now, where nothing is unsaved.

    ``path`` empty: maybe any file.
    """

    chat: int
    path: str = ""


class Sides(Message, frozen=True):
    """Show a file as it is beside what the open patch makes of it."""

    chat: int
    path: str
    old: list[str]
    new: list[str]


class Rules(Message, frozen=True):
    """Show the permission mode and the rules in force, or what was decided about a project."""

    chat: int
    lines: list[str]


class Decisions(Message, frozen=True):
    """Show the ledger in a buffer of its own."""

    chat: int
    lines: list[str]


class File(msgspec.Struct, frozen=True):
    """A file to be written; ``name`` comes after a number."""

    name: str
    lines: list[str]


class Export(Message, frozen=True):
    """Write new files: into the folder ``path``, or the one of that very path."""

    chat: int
    path: str
    files: list[File]


Effect = Union[
    Write,
    Tool,
    Section,
    Verdict,
    Say,
    Step,
    Reveal,
    Delete,
    Fill,
    Freeze,
    Take,
    Refill,
    Kept,
    Status,
    Happened,
    Meta,
    Save,
    Visit,
    Reload,
    Sides,
    Rules,
    Decisions,
    Export,
]
