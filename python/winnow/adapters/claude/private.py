"""What we use of the SDK and of Claude Code that no documentation promises, each with the reason.

A newer version may change any of it. ``tests/app/test_sdk.py`` fails for each one that has moved or
means something else, and no other module uses a private name of the SDK. What is read without
the SDK stands beside its reader: a session's file in ``session_file.py``, settings in
``projects.py``, logins in ``credentials.py``, the CLI that the SDK brings along in ``health.py``.
What the CLI's messages hold is public with the SDK's `SystemMessage`; see ``translate.py``.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, cast

from anyio.abc import Process
from anyio.streams.text import TextReceiveStream
from claude_agent_sdk import ClaudeAgentOptions
from claude_agent_sdk._internal.transport.subprocess_cli import (
    _ACTIVE_CHILDREN,
    SubprocessCLITransport,
    _kill_active_children,
)
from claude_agent_sdk.types import HookEvent

# --- the SDK ----------------------------------------------------------------------------------

# What the SDK puts among the CLI's messages itself: the end of them, and an error that is raised.
# A message of the CLI by such a name would end the session.
RESERVED = ("end", "error")


class Subprocess(SubprocessCLITransport):
    """The SDK's own transport: finds the CLI, makes its arguments and environment, and ends it.

    `Transport` is public, but whoever implements it would have to do all that anew.
    """

    def __init__(self, options: ClaudeAgentOptions) -> None:
        # For a transport that it makes itself, the SDK sets this: permissions come to us.
        super().__init__(_nothing(), replace(options, permission_prompt_tool_name="stdio"))

    @property
    def process(self) -> Process | None:
        """The CLI's: its raw output, its end, and a way to end it; None before and after."""
        return self._process

    def wrapped(self, command: list[str]) -> list[str]:
        """What is started in place of this command. The SDK has no such option."""
        return command

    def _build_command(self) -> list[str]:
        return self.wrapped(super()._build_command())

    async def _handle_stderr(self) -> None:
        # The SDK's own stream stops at the first byte that is no UTF-8.
        if self._process and self._process.stderr:
            self._stderr_stream = TextReceiveStream(self._process.stderr, errors="replace")
        await super()._handle_stderr()


# The SDK does that by itself when Python exits, before anything else. To a host that still keeps
# what Neovim said last, each agent would be one that is lost, and its questions over.
atexit.unregister(_kill_active_children)


def end_all(patience: float) -> None:
    """Tell each CLI to end, and wait for so many seconds.

    One whose stdin is closed before it is told takes what it has asked for as denied, and goes on.
    """
    running, deadline = list(_ACTIVE_CHILDREN), time.monotonic() + patience
    _kill_active_children()
    while any(one.returncode is None for one in running) and time.monotonic() < deadline:
        time.sleep(0.01)


def bundled() -> bool:
    """Whether the SDK brings a CLI along."""
    return Subprocess(ClaudeAgentOptions())._find_bundled_cli() is not None


async def _nothing() -> AsyncIterator[dict[str, Any]]:
    """Prompts are sent when there are some."""
    return
    yield {}


# --- what the CLI is asked for ----------------------------------------------------------------

# A control request that the SDK has no method for. Replies with ``state``, see ``rules.py``.
LIST_RULES = "list_permission_rules"

# Settings of this session only: ``effortLevel``, of which null is the model's own, and
# ``fastMode``. It takes any word without complaint.
FLAGS = "apply_flag_settings"

# A running call goes on in the background; replies with ``backgrounded``, false for one that is no
# task yet. And what a command in the background has said: ``output``, with ``total_bytes``.
BACKGROUND = "background_tasks"
TASK_OUTPUT = "get_task_output"

# How full the context is. The SDK's method can't say ``detail``: by itself the CLI counts each
# part with a request to the API.
CONTEXT = "get_context_usage"

# What the session has cost, also before it was resumed (``session.total_cost_usd``), and what is
# left of a plan (``rate_limits``). With ``skip_behaviors`` it reads no transcripts.
USAGE = "get_usage"

# Of a prompt with a ``uuid`` the CLI tells in messages of this type, which the SDK drops, what
# becomes of it: ``{"command_uuid", "state": "queued" | "started" | "completed" | "cancelled"}``.
# ``started``: it is part of a turn now, its own or the running one.
LIFECYCLE = "command_lifecycle"

# A session that writes no file, which the SDK has no option for: none is left of a fork.
NO_TRACE = {"no-session-persistence": None}

# Of the control request ``interrupt``, for which the SDK has no argument: prompts that no turn has
# taken are dropped, and named in the reply's ``cancelled``. Else each would get a turn.
CANCEL_QUEUED = "cancel_queued"

# A hook that the SDK's types lack: settings on disk have changed. Its ``block`` keeps them out.
CONFIG_CHANGE = cast(HookEvent, "ConfigChange")

# Of an MCP server: its tools are there at once. Else Claude must search for one before it asks.
ALWAYS_LOAD = {"alwaysLoad": True}

# Claude Code looks for commands and @mentions in the last block of a message only. Its field
# `client_composed` says the same, but then leaves out what else comes with a prompt, too.
LITERAL = "(The user picked or wrote this as an answer.)"

# A control request of the CLI that the SDK answers with an error: an MCP server asks the user. The
# reply has ``action`` ("accept", "decline" or "cancel") and, if accepted, ``content``.
ELICITATION = "elicitation"

# Of its capabilities, as ``init`` lists them: an answer may say how a question went unanswered.
UNANSWERED = "ask_user_question_unanswered_v1"

# How it says that the session to be resumed is not there; only in words.
NO_SESSION = "No conversation found"

# --- the CLI's environment --------------------------------------------------------------------

# Without it, the options of a question have no previews.
PREVIEWS = {"CLAUDE_CODE_QUESTION_PREVIEW_FORMAT": "markdown"}

# Without it, newer models have no tools for a list of what they have to do.
TODO = {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}

# No summary takes the place of a full context by itself; `/compact` still does.
UNCOMPACTED = {"DISABLE_AUTO_COMPACT": "1"}

# What makes up for settings that are not read from the project's files. Its prompts are, and what
# it wants done by the clock is not, which Claude Code does even without its settings.
PARTLY = {
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
}

# What a surrounding Claude Code tells its children about itself. A CLI that believes it would
# join that session or talk to that editor. The SDK can't remove a variable, but an empty one
# counts as unset.
_OUTER_SESSION = (
    "CLAUDE_CODE_BRIDGE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_PID",
)


def variables(*, whole: bool) -> dict[str, str]:
    """What a session's environment has in place of, and on top of, the inherited one.

    Args:
        whole: the session gets all of its project's settings.
    """
    outer = {name: "" for name in _OUTER_SESSION if name in os.environ}
    return {**outer, **PREVIEWS, **TODO, **({} if whole else PARTLY)}
