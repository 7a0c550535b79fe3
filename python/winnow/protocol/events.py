"""What Lua tells the host: facts."""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from winnow.core.context.attachment import Attachment
from winnow.core.context.session import Mentioned
from winnow.core.run.events import Limits
from winnow.core.run.places import Place
from winnow.protocol.base import ChatMessage, ListMessage, Message, RunMessage, SectionMessage
from winnow.protocol.editor import EditorAnswer
from winnow.protocol.lists import FindChats, Fork, LeaveTree, Resume, Wake
from winnow.protocol.review import ReviewEvent
from winnow.protocol.rewind import FindBranches, Rewind, Unsaved
from winnow.protocol.work import AgentViewEvent, Background, Merge, Promote, Worktree


class Sent(msgspec.Struct, frozen=True):
    """A message that was sent; ``id`` is a UUID. ``section`` is what it was said about."""

    id: str
    text: str
    section: str = ""


class Clarify(msgspec.Struct, frozen=True):
    """What is clarified in a chat, and how; an empty ``id``: nothing.

    ``folder`` is where specifications go, from the chat's directory; ``templates`` that of the
    user's own templates, empty: there are none.
    """

    id: str = ""
    folder: str = "specs"
    templates: str = ""
    one_by_one: bool = False


class Open(ChatMessage, frozen=True):
    """A chat buffer was attached. ``sections`` are the ids whose markers its text still holds.

    ``lines`` are the open section's as the user left them, for a host that is new. Empty when the
    text was read from the file, which may be older than what the store has.
    """

    path: str
    cwd: str
    agent: str = ""  # as the frontmatter has it: "claude", "scripted", or empty for the default
    session: str = ""
    model: str = ""
    effort: str = ""
    fast: bool = False
    mode: str = ""  # as the frontmatter has it, which anybody may have written
    configured: str = ""  # the mode that the user wants for chats without one
    questions: str = ""  # how the agent asks: by "tool", in its "text", or "both"; else by tool
    sections: list[str] = []
    lines: list[str] = []
    confirmed: int = -1  # the row of a <CR> in them that the host before has not acted on
    sent: list[Sent] = []  # messages of which no `Stored` came
    headless: bool = False  # nobody sees this Neovim
    eager: bool = True  # a new chat connects while the user still types
    budget: float = 0.0  # US dollars that it may cost in all; 0: no limit
    compact: str = ""  # what is done about a full context: "auto", "off" or "ask"
    run: str = ""  # the run that is led in it
    limits: Limits = Limits()  # of that run
    clarify: Clarify = Clarify()
    places: list[Place] = []  # where its workers may run
    tools: list[str] = []  # of the editor, that its agent gets
    task: str = ""  # no chat, but the buffer of this task of the run
    worktree: Worktree = Worktree()


class Close(ChatMessage, frozen=True):
    """The buffer is gone: deny what waits, end the agent."""


class Send(ChatMessage, frozen=True):
    """A message that the buffer already shows. Empty: there was nothing to take after all.

    ``attached`` is what goes along for what it mentions, as far as the agent does not read it.
    """

    text: str
    id: str = ""  # a uuid
    attached: list[Attachment] = []


class Mentions(ChatMessage, frozen=True):
    """What the draft mentions now, for the list of what is sent."""

    mentions: list[Mentioned]


class Refilled(ChatMessage, frozen=True):
    """These messages stand in the draft, and the draft in its file."""

    messages: list[str]


class Queue(ChatMessage, frozen=True):
    """The user wants something sent, but the chat was not idle: ask for it with `Take`.

    ``now``: into the turn that runs; else when it is over. ``number`` counts how often the user has
    said so in this buffer.
    """

    now: bool = False
    number: int = 0


class Again(ChatMessage, frozen=True):
    """Do what helps after a turn that failed, and go on; ``draft``: with what stands there."""

    draft: bool = False


class Budget(ChatMessage, frozen=True):
    """The chat may cost so many US dollars from when it was opened; 0: as much as it likes."""

    dollars: float = 0.0


class Compact(ChatMessage, frozen=True):
    """Put a summary in the place of what was said; ``text`` says what it is to keep."""

    text: str = ""


class AskAside(ChatMessage, frozen=True):
    """Ask about the chat without a trace in it; ``id`` comes back with the answer."""

    id: int
    text: str


class EndAside(ChatMessage, frozen=True):
    """Nobody reads that answer any more."""

    id: int


class Stop(ChatMessage, frozen=True):
    """End the running turn."""


class Edit(SectionMessage, frozen=True):
    """The lines of the open section changed.

    Those from ``first`` up to ``after``, of ``size`` that were told before, became these; with -1
    all did.
    """

    lines: list[str]
    first: int = 0
    after: int = -1
    size: int = -1


class Confirm(SectionMessage, frozen=True):
    """``<CR>`` in the open section, with the cursor on ``row`` of ``lines``.

    ``unseen`` lines of what it asks for were not on the screen yet, or not whole. ``anew``: another
    key was typed since the last one, so it is no second press.
    """

    lines: list[str]
    row: int
    unseen: int = 0
    anew: bool = False


class Keep(SectionMessage, frozen=True):
    """Keep only the option on ``row`` of ``lines`` of the open section; `Delete` does it."""

    lines: list[str]
    row: int


class Cancel(SectionMessage, frozen=True):
    """``<Esc>`` in the open section."""

    lines: list[str]


class Reopen(SectionMessage, frozen=True):
    """``<CR>`` on the record of a section that was never answered."""


class Discuss(SectionMessage, frozen=True):
    """Talk back about the open section instead of answering it."""

    lines: list[str]
    text: str
    id: str = ""  # a uuid


class Grant(SectionMessage, frozen=True):
    """Answer a permission, patch or plan from anywhere, or a question that has one choice.

    ``always`` is by its rule, ``turn`` by that until the turn ends, ``answer`` is a question's
    ``option``, from 1. ``lines`` are the section's, if it is open; ``unseen`` as in `Confirm`.
    """

    choice: Literal["allow", "turn", "always", "deny", "answer"]
    reason: str = ""
    lines: list[str] = []
    unseen: int = 0
    option: int = 0


class Pace(ChatMessage, frozen=True):
    """Ask what clarify asks one by one, or all at once; also what is being asked."""

    one_by_one: bool


class SetMode(ChatMessage, frozen=True):
    """Change the permission mode; empty: show it, with the rules in force."""

    mode: str = ""


class Choose(ChatMessage, frozen=True):
    """Change what answers; ``fast`` is ``on`` or ``off``, of the others ``default`` is a value."""

    what: Literal["model", "effort", "fast"]
    value: str


class Compare(SectionMessage, frozen=True):
    """Show the open patch beside the file, as a diff of two buffers."""

    lines: list[str]


class Unshown(SectionMessage, frozen=True):
    """A section could not be shown."""


class Watched(Message, frozen=True):
    """A user interface was attached to this Neovim, or the last one was detached."""

    headless: bool


class Recall(Message, frozen=True):
    """Show what was decided, or export it.

    ``about`` and ``path`` choose: a text that occurs in it, and the file of its chat. ``export``
    is a folder for a Markdown file each, or a ``.json`` file for all of it.
    """

    about: str = ""
    path: str = ""
    export: str = ""


class Trust(Message, frozen=True):
    """Show what was decided about the settings of the project at ``cwd``, or forget it."""

    cwd: str
    revoke: bool = False


class Timeline(RunMessage, frozen=True):
    """Show what happened in a run."""


class GoOn(RunMessage, frozen=True):
    """Let a run go on whose budget is spent, or whose places could not be reached.

    ``budget`` is in US dollars; 0: as before.
    """

    budget: float = 0.0


class HaltRun(RunMessage, frozen=True):
    """Stop a run: its workers end, and go on with `GoOn`."""


class HandOver(RunMessage, frozen=True):
    """Have the task ``to`` answer a question: ``query``, or the only one of ``task``, or of all."""

    to: str
    query: str = ""
    task: str = ""


class WatchList(ListMessage, frozen=True, kw_only=True):
    """A list was opened, and is to be kept up to date; or it was closed."""

    open: bool


class EditList(ListMessage, frozen=True, kw_only=True):
    """Do what the lines ask for, which were ``before``; ``force``: also what is asked about.

    ``unseen`` are keys of things that the user could not see before, where that matters.
    ``unsaved`` are files that have edits in Neovim, where that matters.
    """

    before: list[str]
    lines: list[str]
    force: bool = False
    unseen: list[str] = []
    unsaved: list[str] = []


class PickLine(ListMessage, frozen=True, kw_only=True):
    """Go to what the line with this key is about; ``peek``: only look at it."""

    key: str
    peek: bool = False


class Peek(RunMessage, frozen=True):
    """Show the end of a task's transcript; without a task, what has become of the run."""

    task: str = ""


class GoToRun(RunMessage, frozen=True):
    """Go to the chat in which a run is led."""


class Restore(Message, frozen=True):
    """List what is kept of worktrees in the repository at ``cwd``, and of chats that were deleted;
    or bring one back, by name.
    """

    cwd: str
    name: str = ""


SectionEvent = Union[Edit, Confirm, Keep, Cancel, Reopen, Discuss, Grant, Compare, Unshown]
MendEvent = Union[Again, Budget, Compact, Choose, Mentions, Wake]
BesideEvent = Union[AskAside, EndAside, FindBranches, Rewind, Unsaved, ReviewEvent, EditorAnswer]
# Parts of a chat take these.
PartEvent = Union[AgentViewEvent, Promote, Background, MendEvent, Merge, BesideEvent]
# A chat takes these.
ChatEvent = Union[Open, Send, Refilled, Queue, Stop, Pace, SetMode, PartEvent, SectionEvent]
ListEvent = Union[WatchList, EditList, PickLine]
LedEvent = Union[GoOn, HaltRun, HandOver]  # what the chat that leads a run does
ShowEvent = Union[Peek, GoToRun, Timeline, LedEvent]  # about runs
LibraryEvent = Union[FindChats, Fork, Resume, Restore, LeaveTree]  # about all chats
Event = Union[ChatEvent, Close, Watched, Recall, Trust, ListEvent, ShowEvent, LibraryEvent]
