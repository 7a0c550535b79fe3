"""Shall what a task has changed in its worktree be merged? Asked as one patch of many files."""

from __future__ import annotations

from typing import Any

import msgspec

from winnow.core.agent import Allow, Deny, Reply, Request
from winnow.core.asking.permission import because, sentences
from winnow.core.asking.way import Answered, ReadFile, Way
from winnow.core.proposal.merge import FileChange, Merge, diffstat
from winnow.core.proposal.proposal import Changed, Kept
from winnow.core.question import Option, Question
from winnow.core.section.form import Form

TOOL = "winnow:merge"  # no tool: what Winnow itself asks when a task is done
_TASK = "task"


class Merging(Way):
    """Not asked by an agent. ``input`` holds the ``task``, and its ``files`` as they changed."""

    tool = TOOL
    has_line = False
    past = "What was to be merged is asked about again from its task."

    def read(self, id: str, request: Request, file: ReadFile) -> Form:
        """See `Way`."""
        return form(id, request.input, request.asker)

    def reply(self, answered: Answered) -> Reply:
        """Allowed with what is ``wanted`` (see `Merge`), or denied with what the user says."""
        refused = answered.form.refuses(answered.given.kept)
        match answered.change:
            case Kept(input=input) | Changed(input=input) if not refused:
                return Allow(input, note=answered.given.notes)
        return Deny(because("The user did not merge this", answered))

    def line(self, input: dict[str, Any]) -> str:
        """See `Way`."""
        return f"Merge {input[_TASK]}"


def asked(task: str, title: str, files: tuple[FileChange, ...], why: tuple[str, ...]) -> Request:
    """Ask whether to merge what the task of this id and title has changed.

    Args:
        task: its id.
        title: what it is, for the user.
        files: what it changed.
        why: sentences that matter, such as what stood in the way the last time.
    """
    input = {_TASK: task, "title": title, "files": msgspec.to_builtins(files), "why": list(why)}
    return Request(TOOL, input, agent_id=task, agent=title)


def form(form_id: str, input: dict[str, Any], agent: str) -> Form:
    """The section that asks."""
    files = msgspec.convert(input["files"], tuple[FileChange, ...])
    proposal = Merge({_TASK: input[_TASK]}, str(input["title"]), files)
    wish = f"wants to merge {diffstat(files)}. Delete hunks and files that shall stay out."
    text = sentences(agent, wish, tuple(input["why"]), proposal)
    options = (
        Option("Merge what is left", role="allow"),
        Option("Send it back", "write what to change after this line", role="deny"),
    )
    return Form(form_id, (Question(text, proposal.title, options),), proposal, agent)
