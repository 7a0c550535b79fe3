"""How a turn reads in the chat: tool lines, thinking, notices.

Lines that start with `FOLDED` fold beneath the line above them (``lua/winnow/chat/fold.lua``).
"""

from __future__ import annotations

from typing import Any, Literal

from winnow.core.asking import ways
from winnow.core.text import grammar
from winnow.core.text.text import clean, clean_block

FOLDED = f"{grammar.OUTPUT} "
MAX_OUTPUT = 2_000  # lines of one tool's output kept in the buffer; the session has them all

ToolState = Literal["running", "done", "failed"]
_STATES = {"running": "…", "done": grammar.KEPT, "failed": grammar.REFUSED}
# What tells one call from the next, by tool; for the others the first text argument does.
_TELLING = {
    "Bash": "command",
    "Read": "file_path",
    "Edit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
    "Glob": "pattern",
    "Grep": "pattern",
    "WebFetch": "url",
    "WebSearch": "query",
    "Agent": "description",
    "Task": "description",
    "ExitPlanMode": "planFilePath",  # not the plan
}


def tool_line(name: str, arguments: dict[str, Any], *, state: ToolState | None = None) -> str:
    """A tool call on one line: its name and what it works on; with a state, as the chat has it."""
    call = ways.of(name, arguments).line(arguments)
    if not call:
        about = arguments.get(_TELLING.get(name, ""))
        if not isinstance(about, str) and name in _TELLING:
            about = ""
        elif not isinstance(about, str):
            about = next((value for value in arguments.values() if isinstance(value, str)), "")
        shown = clean(about)
        if len(shown) > 100:
            shown = shown[:99] + "…"
        call = f"{clean(name)} {shown}".rstrip()
    return f"{grammar.TOOL} {call} {_STATES[state]}" if state else call


def tool_output(text: str, name: str = "") -> list[str]:
    """A tool's output as folded lines."""
    if shown := ways.of(name, {}).output(text):
        return [FOLDED + line for line in shown]
    lines = clean_block(text.strip("\n")) if text.strip() else []
    if len(lines) > MAX_OUTPUT:
        left_out = len(lines) - MAX_OUTPUT
        lines = [*lines[:MAX_OUTPUT], f"… {left_out} more lines"]
    return [FOLDED + line for line in lines]


def thinking(text: str, *, first: bool) -> str:
    """A piece of reasoning; the first one carries its title line."""
    body = "\n".join(clean_block(text)).replace("\n", "\n" + FOLDED)
    return f"{grammar.THOUGHT} Thinking\n{FOLDED}{body}" if first else body


def notice(sentence: str) -> str:
    """Something that went wrong or that the user should know."""
    return f"{grammar.NOTICE} {clean(sentence)}"
