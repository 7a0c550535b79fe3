"""What Neovim and the host both write into a chat's text, or read out of it.

``make types`` makes ``lua/winnow/grammar.lua`` of this, so that there is one table.
"""

from __future__ import annotations

# Headings of messages; the last one of the user's is the draft's.
YOU = "## You"
CLAUDE = "## Claude"
ORCHESTRATOR = "## Orchestrator"  # in a task: what its worker is told
WORKER = "## Worker"
AGENT = "## Agent"  # in what a subagent has said, whose prompts are Claude's
SPEAKERS = ("## You", "## Claude", "## Orchestrator", "## Worker")  # all of them

# How a line begins that only the host writes.
RULE = "━"  # two of them: head or foot of a section
KEPT = "✓"
REFUSED = "✗"
OWN = "✎"  # the user's own words
TOOL = "▸"
RUNNING = "…"  # behind a tool's call; KEPT and REFUSED: it is done, it has failed
THOUGHT = "✻"
OUTPUT = "│"  # folds beneath the line above it
NOTICE = "⚠"
GIVEN_BACK = "what you wrote is in the draft again"  # until it is sent
STOPPED = "■"
ENDED = "∎"  # what a turn has taken
REPLAYED = "↻"

QUEUED = "▎"  # a line of the queue: behind the number of its message

# Beside what is answered already, and what is not.
DECIDED = "●"
UNDECIDED = "○"

# The marker of a section's line: `⟦ID=QUESTION=SLOT⟧`. Neovim wraps lines as if it were there to
# be seen: so it is short, and has no character of 'breakat', where it could begin a row itself.
MARKER = "⟦"
MARKER_END = "⟧"
BENT = "‹"  # in place of the bracket in what only looks like one
ENDS = " !@*-+;:,./?)]}’”»…、。，！？：；）」』"  # may follow it

# SLOT is an option's number, or a letter.
HEAD = "h"
ASKED = "q"  # the question's text
OTHER = "e"  # the line for own words
FOOT = "f"
RECORD = "r"
BEGIN = "b"  # the fence above a body, where QUESTION is the body's number
END = "c"  # the one below it
TASK = "t"  # a task's line on the board, where QUESTION is its number and ID its run
LINE = "l"  # a line of a list, where ID is its key

# How the last line of a specification begins; what it is of, and ` -->`, follow.
SPEC = "<!-- winnow: clarify"

# What `:Winnow clarify` says in its user's place; after the first, its file and ": " follow.
AGAIN = "Go on with the specification"
WHAT_IS_OPEN = "Ask what is open now."

# What stands above a chat's text.
KEYS = (
    "winnow",
    "session",
    "cwd",
    "model",
    "effort",
    "fast",
    "mode",
    "agent",
    "questions",
    "title",
    "fork",
    "at",
    "run",
    "task",
    "clarify",
    "worktree",
    "branch",
)
