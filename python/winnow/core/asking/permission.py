"""May this tool run? Asked as a section with all that it would do, to be edited."""

from __future__ import annotations

from typing import Any

from winnow.core.agent import Allow, Deny, Reply, Request, Update
from winnow.core.asking import rules
from winnow.core.asking.way import Answered, FileError, ReadFile, Way
from winnow.core.folder import UNKNOWN, Folder
from winnow.core.proposal.merge import Merge
from winnow.core.proposal.patch import CellPatch, Patch, proposed_by, written_by
from winnow.core.proposal.proposal import Call, Changed, Emptied, Kept, Proposal
from winnow.core.question import Option, Question
from winnow.core.section.form import Form
from winnow.core.text.text import brief, clean

_LONGEST = 300  # characters of a sentence that an agent has a part in

# What fits into a window; of more, the size is said.
_LINES = 20
_CHARACTERS = 1000

_EACH_TIME = "No rule is enough for it: Claude Code asks each time."


class Permission(Way):
    """See the module. So asks every tool that has no way of its own."""

    past = "What a tool wanted is past: it asks anew when it is wanted again."

    def asks(self, tool: str, input: dict[str, Any]) -> bool:
        """See `Way`."""
        return True

    def read(self, id: str, request: Request, file: ReadFile) -> Form:
        """See `Way`."""
        proposal, problems = _proposal(request, file)
        offer = rules.offer(request)
        if request.suggestions and not offer:
            problems = (*problems, _EACH_TIME)
        reasons = why(request, problems)
        kind = "Worker" if request.worker else "Subagent"
        return form(
            id,
            proposal,
            offer,
            rules.passing(request),
            agent=request.asker,
            why=reasons,
            folder=request.folder,
            kind=kind,
        )

    def reply(self, answered: Answered) -> Reply:
        """See `Way`."""
        form, change, given = answered.form, answered.change, answered.given
        if form.refuses(given.kept) or not isinstance(change, (Kept, Changed)):
            return Deny(self.refusal(answered))
        told = form.proposal.told(change) if form.proposal and isinstance(change, Changed) else ""
        said = f"The user says: {given.notes}" if given.notes else ""
        (option,) = given.kept
        kept = form.questions[0].options[option - 1]
        updates, note = list(kept.updates), "\n\n".join(filter(None, (told, said)))
        if kept.role == "turn":
            return Allow(change.input, note=note, passing=updates)
        return Allow(change.input, updates, note)

    def refusal(self, answered: Answered) -> str:
        """What the agent reads where the user refuses; never empty."""
        return because(f"The user denied this use of {answered.request.tool}", answered)

    def covered(self, request: Request, updates: list[Update]) -> bool:
        """See `Way`."""
        return rules.cover(updates, request)

    def stale(self, form: Form, file: ReadFile) -> str:
        """See `Way`."""
        if (patch := form.patch) is None:
            return ""
        try:
            same = file(patch.path) == patch.disk
        except FileError as error:
            return error.sentence
        return "" if same else f"{patch.path} changed on disk after this was asked."


def why(request: Request, problems: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Sentences that say why the user is asked, and what else matters."""
    reason = (f"Why you are asked: {request.reason}",) if request.reason else ()
    hidden = request.blocked and request.blocked not in request.reason
    touched = (f"It touches: {request.folder.name(request.blocked)}",) if hidden else ()
    return (*reason, *problems, *touched)


def because(said: str, answered: Answered) -> str:
    """A sentence with the reason that the user gave."""
    reason, change = answered.given.notes, answered.change
    if isinstance(change, Emptied):
        reason = f"{change.words}. {reason}".rstrip()
    return f"{said}: {reason}" if reason else f"{said}."


def form(
    form_id: str,
    proposal: Call | Patch,
    offer: rules.Offer = (),
    passing: rules.Offer = (),
    *,
    agent: str = "",
    why: tuple[str, ...] = (),
    folder: Folder = UNKNOWN,
    kind: str = "Subagent",
) -> Form:
    """The section that asks whether this may be done.

    Args:
        form_id: the section's id.
        proposal: what is to be done, shown in full.
        offer: what may be allowed for longer.
        passing: what may be allowed until the turn ends.
        agent: the subagent that asks, empty for the main agent.
        why: sentences that say why the user is asked, and what else matters.
        folder: where the chat is that asks.
        kind: what to call who asks.
    """
    name = proposal.path.rpartition("/")[2] if isinstance(proposal, Patch) else proposal.tool
    text = sentences(agent, _wish(proposal, folder), why, proposal, kind)
    return Form(form_id, (Question(text, name, _options(offer, passing)),), proposal, agent)


def sentences(
    agent: str, wish: str, why: tuple[str, ...], proposal: Proposal, kind: str = "Subagent"
) -> str:
    """Who wants what, why the user is asked, and how much there is to read."""
    who = f"{kind} {brief(agent)}" if agent else "Claude"
    said = (f"{who} {wish}", *why, *_size(proposal))
    return "\n".join(clean(sentence, _LONGEST) for sentence in said)


def _options(offer: rules.Offer, passing: rules.Offer) -> tuple[Option, ...]:
    turn = [Option(rules.passing_label(*passing), role="turn", updates=passing)] if passing else []
    always = [Option(rules.label(*offer), role="always", updates=offer)] if offer else []
    deny = Option("Deny", "write a reason after this line", role="deny")
    return (Option("Allow once", role="allow"), *turn, *always, deny)


def _proposal(request: Request, file: ReadFile) -> tuple[Call | Patch, tuple[str, ...]]:
    """What is to be done, and what the user should know before."""
    call = Call(request.tool, request.input)
    if (path := written_by(request.tool, request.input)) is None:
        return call, ()
    try:
        return proposed_by(request.tool, request.input, path, file(path)) or call, ()
    except FileError as error:
        return call, (error.sentence,)


def _wish(proposal: Call | Patch, folder: Folder) -> str:
    """What is asked for, in words."""
    match proposal:
        case Patch(old=None, path=path) if not isinstance(proposal, CellPatch):
            return f"wants to create {folder.name(path)}."
        case Patch(path=path, tool=tool):
            return f"wants to change {folder.name(path)} with {tool}."
        case Call(tool="Bash", input={"description": str(description)}) if description.strip():
            return f"wants to use Bash: {description}"
    return f"wants to use {proposal.tool}."


def _size(proposal: Proposal) -> list[str]:
    """How much there is to read, where that is more than can be seen at once."""
    if isinstance(proposal, Merge):
        return []  # its diffstat has said it
    lines = [line for block in proposal.blocks for line in block.lines]
    text = "\n".join(lines)
    if isinstance(proposal, Call) and isinstance(command := proposal.input.get("command"), str):
        text = command  # with all of its blanks
    if len(lines) <= _LINES and len(text) <= _CHARACTERS:
        return []
    counted = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
    return [f"{len(text):,} characters in {counted}:"]
