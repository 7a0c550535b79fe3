"""What the host asks Lua for: edits."""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from winnow.core.context.session import Command
from winnow.core.section.answer import Part
from winnow.protocol.base import ChatMessage, Message, SectionMessage
from winnow.protocol.editor import EditorCall, EditorDrop
from winnow.protocol.lists import ListEffect
from winnow.protocol.rewind import AskUnsaved, Branches
from winnow.protocol.work import AgentPage, Live, Promoted

State = Literal["asleep", "connecting", "idle", "working", "waiting", "failed"]
"""What a chat is doing. A draft can be committed at once only in ``idle``; ``asleep`` has no agent
process yet."""

Level = Literal["info", "warn", "error"]


class Write(ChatMessage, frozen=True):
    """Append to the transcript; ``fresh`` starts a new paragraph."""

    text: str
    fresh: bool = False


class Tool(ChatMessage, frozen=True):
    """Show a tool call as one line, or update it; ``output`` goes folded beneath.

    An empty line takes it away: it comes again below the section that asks for permission.
    ``seconds`` are counted down behind it.
    """

    id: str
    line: str
    output: list[str] = []
    seconds: float = 0.0


class Section(SectionMessage, frozen=True):
    """Open a section above the draft.

    ``previews`` are Markdown, keyed ``question.option``. ``focus``: the user asked for it, so the
    cursor goes there from wherever it is in this buffer. ``edited``: how the user left the lines
    before; ``u`` takes that back.
    """

    lines: list[str]
    previews: dict[str, str] = {}
    focus: bool = False
    edited: list[str] = []


class Verdict(SectionMessage, frozen=True):
    """What ``<CR>`` would send now, for the section's foot; ``waiting`` sections follow it.

    ``offer`` is an earlier answer that ``<CR>`` on the foot would take. ``acted``: it comes after
    what a ``<CR>`` has done, and not of an edit before that.
    """

    parts: list[Part]
    waiting: int = 0
    offer: str = ""
    acted: bool = False


class Say(ChatMessage, frozen=True):
    """One sentence for the user's message line, when nothing before it is held back."""

    text: str
    level: Level = "info"


class Notify(Message, frozen=True):
    """One sentence for the user's message line, at once."""

    text: str
    level: Level = "info"


class Move(SectionMessage, frozen=True):
    """Move the cursor to a question of the open section (from 1), or to its foot (0)."""

    question: int


class Reveal(SectionMessage, frozen=True):
    """Go to the first line of the open section that was not on the screen yet."""


class Delete(SectionMessage, frozen=True):
    """Delete these rows of the lines that `Confirm` or `Keep` had, then confirm again."""

    question: int
    rows: list[int]


class Fill(SectionMessage, frozen=True):
    """Make these the lines of the open section, as the user could have: ``u`` takes it back."""

    lines: list[str]


class Freeze(SectionMessage, frozen=True):
    """Replace the open section by its record."""

    lines: list[str]


class Take(ChatMessage, frozen=True):
    """Commit what is queued first and answer with `Send`."""


class Hold(ChatMessage, frozen=True):
    """The turn has failed, or was stopped: what is queued is not sent before the user says so.

    ``number`` is that of the last `Queue` that was heard: the user has said so since, if there is a
    later one.
    """

    number: int


class Taken(ChatMessage, frozen=True):
    """The agent has taken these messages, which were sent in the middle of a turn."""

    messages: list[str]


class AsideSaid(ChatMessage, frozen=True):
    """A piece of the answer to `AskAside`. ``done``: there is no more; ``problem`` says why."""

    id: int
    text: str = ""
    done: bool = False
    problem: str = ""


class Refill(ChatMessage, frozen=True):
    """Put a message that was not delivered back into the draft, above what stands there.

    ``messages`` are the ids of those that it is, to be told of with `Refilled`.
    """

    text: str
    messages: list[str] = []


class Stored(ChatMessage, frozen=True):
    """The store has these messages: nobody else has to remember them."""

    messages: list[str]


class Pending(msgspec.Struct, frozen=True):
    """A section that waits for the user, shown already or not."""

    section: str
    kind: Literal["question", "permission", "patch", "plan", "trust", "form", "rewind"]
    title: str
    agent: str  # the subagent that asks; empty: the chat's own
    since: float  # seconds since the epoch


class Status(ChatMessage, frozen=True):
    """What the chat is doing, what waits in it, and what it has cost in US dollars.

    ``mode`` is the permission mode, empty while nobody knows it; ``ahead`` says how many other
    agents start before this one, ``background`` how many tasks run that nobody waits for.
    ``context`` is how full the context is, in percent, 0 while nobody
    knows; ``warning`` is what the user should know for as long as it is so. After a turn that
    failed, ``again`` says what `Again` does, and ``until`` when it helps, in seconds since the
    epoch.
    """

    state: State
    pending: list[Pending] = []
    cost: float = 0.0
    mode: str = ""
    ahead: int = 0
    background: int = 0
    context: int = 0
    warning: str = ""
    again: str = ""
    until: float = 0.0


Data = dict[str, Union[str, float, bool]]


class Happened(ChatMessage, frozen=True):
    """Something happened: a ``User`` autocommand of the name ``Winnow{name}``."""

    name: Literal["Question", "Answered", "TurnEnd", "TaskEnd"]
    data: Data


class Meta(ChatMessage, frozen=True):
    """Frontmatter values that are known now."""

    values: dict[str, str]


class Offered(ChatMessage, frozen=True):
    """What can be said to the agent, for completion."""

    commands: list[Command]


class Unmention(ChatMessage, frozen=True):
    """Take these mentions out of the draft, as the user could: ``u`` takes it back."""

    mentions: list[str]


class Save(ChatMessage, frozen=True):
    """Write the chat's file."""


class Visit(ChatMessage, frozen=True):
    """Show a file beside the chat, at a line (from 1)."""

    path: str
    line: int


class Touched(ChatMessage, frozen=True):
    """The agent reads a file from this line on; or has written it: 0, and a line that is new."""

    path: str
    line: int
    text: str


class Reload(Message, frozen=True):
    """The agent has written files: show them as they are now, where nothing is unsaved.

    ``path`` empty: maybe any file.
    """

    path: str = ""


class Offers(ChatMessage, frozen=True):
    """What can be chosen in this chat: models, each with what is said of it, and efforts."""

    models: dict[str, str]
    efforts: list[str]


class Sides(ChatMessage, frozen=True):
    """Show a file as it is beside what the open patch makes of it."""

    path: str
    old: list[str]
    new: list[str]


class Rules(Message, frozen=True):
    """Show the permission mode and the rules in force, or what was decided about a project."""

    lines: list[str]


class Decisions(Message, frozen=True):
    """Show the ledger in a buffer of its own."""

    lines: list[str]


class Transcript(ChatMessage, frozen=True):
    """All that stands above the draft of a task, its open section aside.

    ``earlier``: what goes above all that is there already.
    """

    lines: list[str]
    earlier: bool = False


class Lived(Message, frozen=True):
    """Show a run's timeline in a buffer of its own."""

    lines: list[str]


class File(msgspec.Struct, frozen=True):
    """A file to be written; ``name`` comes after a number."""

    name: str
    lines: list[str]


class Export(Message, frozen=True):
    """Write new files: into the folder ``path``, or the one of that very path."""

    path: str
    files: list[File]


Effect = Union[
    Write,
    Tool,
    Live,
    AgentPage,
    Promoted,
    Section,
    Verdict,
    Say,
    Notify,
    Move,
    Reveal,
    Delete,
    Fill,
    Freeze,
    Take,
    Hold,
    Taken,
    AsideSaid,
    Refill,
    Stored,
    Status,
    Happened,
    Meta,
    Offered,
    Unmention,
    Save,
    Visit,
    Touched,
    Reload,
    AskUnsaved,
    Branches,
    EditorCall,
    EditorDrop,
    Offers,
    Sides,
    Rules,
    Decisions,
    Transcript,
    ListEffect,
    Lived,
    Export,
]
