"""The tools of a run, in the chat: a line each. They are answered by the run, never by the user."""

from __future__ import annotations

from typing import Any

from winnow.core.agent import Reply, Request
from winnow.core.asking.way import Answered, ReadFile, Way
from winnow.core.question import Malformed
from winnow.core.text.text import brief

PREFIX = "mcp__winnow__"
NAMES = (
    "create_tasks",
    "list_tasks",
    "reply",
    "cancel_task",
    "read_transcript",
    "finish",
    "ask_orchestrator",
    "answer_question",
)
NOT_HERE = "There is no run here."


class RunTool(Way):
    """See the module."""

    past = NOT_HERE

    def asks(self, tool: str, input: dict[str, Any]) -> bool:
        """See `Way`."""
        return tool.startswith(PREFIX) and tool.removeprefix(PREFIX) in NAMES

    def read(self, id: str, request: Request, file: ReadFile) -> Malformed:
        """Whoever gets here is in no run."""
        return Malformed(NOT_HERE)

    def reply(self, answered: Answered) -> Reply:
        """Nobody gets it."""
        return self.refused(answered.request, NOT_HERE)

    def line(self, input: dict[str, Any]) -> str:
        """See `Way`."""
        match input:
            case {"tasks": [*tasks]}:
                titles = [str(task.get("title")) for task in tasks if isinstance(task, dict)]
                return f"create {len(tasks)} tasks: {brief(', '.join(titles), 80)}"
            case {"question": str(question)}:
                return f"ask: {brief(question, 80)}"
            case {"task": str(task), "text": str(text)}:
                return f"reply to {brief(task, 10)}: {brief(text, 80)}"
            case {"query": str(query), "text": str(text)}:
                return f"answer {brief(query, 10)}: {brief(text, 80)}"
            case {"summary": str(summary)}:
                return f"finish: {brief(summary, 80)}"
        return ""
