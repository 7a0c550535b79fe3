"""What the app needs from the world. Adapters implement these; tests may, too."""

from __future__ import annotations

from winnow.core.run.events import Tree
from winnow.core.run.places import Place
from winnow.ports.agent import (
    Agent,
    AgentError,
    AgentSpec,
    Ask,
    Controls,
    EditorError,
    EditorTools,
    Heard,
    MakeAgent,
    NotWanted,
    SessionGone,
)
from winnow.ports.disk import Files, Projects, Templates
from winnow.ports.library import Library, LibraryError, MakeSessions, Sessions
from winnow.ports.past import Changes, MakePast, Past, PastError
from winnow.ports.query import MakeQuerier, Querier, QueryError
from winnow.ports.store import (
    Clarified,
    Decided,
    Kept,
    Message,
    Overtaken,
    Runs,
    Store,
    StoredSection,
    StoreError,
)
from winnow.ports.subagents import PastSubagent, Subagents
from winnow.ports.trees import Ensured, KeptTree, Merged, TreeChange, TreeError, Worktrees
from winnow.ports.world import Clock, Editor, World

__all__ = [
    "Agent",
    "AgentError",
    "AgentSpec",
    "Ask",
    "Changes",
    "Clarified",
    "Clock",
    "Controls",
    "Decided",
    "Editor",
    "EditorError",
    "EditorTools",
    "Ensured",
    "Files",
    "Heard",
    "Kept",
    "KeptTree",
    "Library",
    "LibraryError",
    "MakeAgent",
    "MakePast",
    "MakeQuerier",
    "MakeSessions",
    "Merged",
    "Message",
    "NotWanted",
    "Overtaken",
    "Past",
    "PastError",
    "PastSubagent",
    "Place",
    "Projects",
    "Querier",
    "QueryError",
    "Runs",
    "SessionGone",
    "Sessions",
    "Store",
    "StoreError",
    "StoredSection",
    "Subagents",
    "Templates",
    "Tree",
    "TreeChange",
    "TreeError",
    "Worktrees",
    "World",
]
