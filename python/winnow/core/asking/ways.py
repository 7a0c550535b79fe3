"""All ways to ask."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from winnow.core.asking.ask_user_question import AskUserQuestion
from winnow.core.asking.choices import ChoicesInText
from winnow.core.asking.clarify_round import ClarifyRound
from winnow.core.asking.compaction import Compaction
from winnow.core.asking.editor_tool import EditorTool
from winnow.core.asking.elicitation import Elicitation
from winnow.core.asking.human_query import AskHuman
from winnow.core.asking.merging import Merging
from winnow.core.asking.permission import Permission
from winnow.core.asking.plan import PlanApproval
from winnow.core.asking.question_tool import QuestionTool
from winnow.core.asking.rewinding import Rewinding
from winnow.core.asking.run_tool import RunTool
from winnow.core.asking.trust import ProjectTrust
from winnow.core.asking.way import Way

WAYS: list[Way] = [
    AskUserQuestion(),
    QuestionTool(),
    ChoicesInText(),
    ProjectTrust(),
    PlanApproval(),
    Merging(),
    Rewinding(),
    Compaction(),
    AskHuman(),
    ClarifyRound(),
    RunTool(),
    Elicitation(),
    EditorTool(),
    Permission(),  # all that is left
]


def of(tool: str, input: dict[str, Any]) -> Way:
    """The way in which a call of this tool, with this input, asks."""
    return next(way for way in _likely(tool, tuple(WAYS)) if way.asks(tool, input))


@lru_cache(maxsize=256)
def _likely(tool: str, ways: tuple[Way, ...]) -> list[Way]:
    """Those that may ask by this tool; a transcript wants to know it of thousands of calls."""
    return [way for way in ways if way.tool == tool or type(way).asks is not Way.asks]
