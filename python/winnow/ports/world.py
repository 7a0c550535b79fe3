"""Everything that the app needs, once."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from winnow.core.folder import Folder
from winnow.ports.agent import MakeAgent
from winnow.ports.disk import Files, Projects, Templates
from winnow.ports.library import Library, MakeSessions
from winnow.ports.past import MakePast
from winnow.ports.query import MakeQuerier
from winnow.ports.store import Clarified, Decided, Runs, Store
from winnow.ports.subagents import Subagents
from winnow.ports.trees import Worktrees
from winnow.protocol import Effect


class Editor(Protocol):
    """Where effects go. Never blocks, never answers."""

    def apply(self, *effects: Effect) -> None:
        """Queue effects; they reach the editor in order."""


class Clock(Protocol):
    """Seconds since the epoch."""

    def now(self) -> float:
        """The time."""


class World(NamedTuple):
    """All that the app needs of it."""

    make_agent: MakeAgent
    editor: Editor
    store: Store
    clock: Clock
    files: Files
    projects: Projects
    decided: Decided
    runs: Runs
    trees: Worktrees
    make_querier: MakeQuerier
    clarified: Clarified
    templates: Templates
    form_hours: float = 24  # for which choices in an agent's text stay open over restarts
    at_once: int = 2  # agents that start at a time
    home: str = ""  # the user's directory
    subagents: Subagents | None = None  # None: nobody has kept any
    library: Library | None = None  # None: chats have no files here
    make_sessions: MakeSessions | None = None
    make_past: MakePast | None = None  # None: nobody knows what files held before

    def folder(self, cwd: str) -> Folder:
        """Of a chat in this directory."""
        return Folder(cwd, self.home)
