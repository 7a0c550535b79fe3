"""What Claude Code asks the user, on its way to the app, and the reply on its way back."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

from claude_agent_sdk import (
    AssistantMessage,
    HookContext,
    HookInput,
    HookJSONOutput,
    Message,
    PermissionResultAllow,
    PermissionResultDeny,
    SystemMessage,
    ToolPermissionContext,
    ToolUseBlock,
)

from winnow import ports
from winnow.adapters.claude import private, rules
from winnow.adapters.claude.translate import Translator, as_object
from winnow.core import agent as a
from winnow.core.asking import compaction, elicitation
from winnow.core.asking.ask_user_question import told_apart


class Requests:
    """The requests of one session.

    Args:
        folder: the session's.
        ask: see `ports.Ask`.
        translator: knows the permission mode, and what the CLI can do.
        stop: ends the turn; done once the CLI has been told.
    """

    def __init__(
        self,
        folder: str,
        ask: ports.Ask,
        translator: Translator,
        stop: Callable[[], Awaitable[None]],
    ) -> None:
        self._stop = stop
        self._folder = folder
        self._ask = ask
        self._translator = translator
        # By the id of a tool call that the app has dealt with, or of a subagent that has a name.
        self._told: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._agents: dict[str, str] = {}  # what each subagent is for
        self._kinds: Counter[object] = Counter()  # so that two of one kind can be told apart
        self._plans: dict[str, dict[str, Any]] = {}  # inputs of ExitPlanMode by their call
        self._notes: dict[str, str] = {}  # what goes with the result of a call
        self._goes_on = False  # with a full context, until the turn ends
        self._waiting: dict[asyncio.Task[Any], str] = {}  # to the subagent that asks, or ""

    def learn(self, message: Message) -> None:
        """Remember what explains a later request."""
        match message:
            case SystemMessage(subtype="task_started", data={"task_id": str(agent_id), **rest}):
                kind, what = rest.get("subagent_type"), rest.get("description")
                self._kinds[kind] += 1
                number = f" {self._kinds[kind]}" if kind and self._kinds[kind] > 1 else ""
                words = (kind and f"{kind}{number}", what)
                self._agents[agent_id] = ": ".join(str(word) for word in words if word)
                self._told[agent_id].set()
            case AssistantMessage(content=[ToolUseBlock(name="ExitPlanMode") as call]):
                self._plans[call.id] = as_object(call.input)

    def told(self, call: str) -> None:
        """The app has dealt with this tool call, and may be asked about it."""
        self._told[call].set()

    def withdraw(self, *, subagents: bool) -> None:
        """Cancel what waits for the user: the CLI does not always do so itself.

        Args:
            subagents: also what they ask; they outlive the turn.
        """
        for task, agent_id in self._waiting.items():
            if subagents or not agent_id:
                task.cancel()

    async def can_use_tool(
        self, tool: str, input: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        """Ask the user; the SDK calls this beside the stream, and maybe before it."""
        if not isinstance(input, dict):
            return PermissionResultDeny(f"The input of {tool} must be an object.")
        tool_use_id, agent_id = context.tool_use_id or "", context.agent_id or ""
        # Wait until the text that leads to it was shown, and the subagent has a name; but not on
        # a busy app.
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._told[agent_id or tool_use_id].wait(), 0.5)
        # A plan stands only in the call, unless Claude wrote it into a file.
        shown = {**self._plans.pop(tool_use_id, {}), **input}
        request = a.Request(
            tool,
            shown,
            tool_use_id,
            agent_id,
            self._agents.get(agent_id, ""),
            reason=context.decision_reason or "",
            # As seen from the session's folder, if it is in there.
            blocked=(context.blocked_path or "").removeprefix(f"{self._folder}/"),
            suggestions=rules.suggestions(context),
            mode=self._translator.mode,
        )
        match await self._wait(request):
            case a.Allow(input=allowed, updates=updates, note=note):
                if note:
                    self._notes[tool_use_id] = note
                capable = private.UNANSWERED in self._translator.capabilities
                return PermissionResultAllow(
                    # With the plan added, Claude would be told that the user has edited it.
                    updated_input=input
                    if allowed == shown
                    else told_apart(tool, allowed, capable=capable),
                    updated_permissions=rules.updates(updates),
                )
            case a.Deny(message=message, stop=stop):
                return PermissionResultDeny(message=message, interrupt=stop)

    async def _wait(self, request: a.Request) -> a.Reply:
        this = asyncio.current_task()
        assert this is not None
        self._waiting[this] = request.agent_id
        try:
            return await self._ask(request)
        finally:
            del self._waiting[this]

    async def compacts(
        self,
        input: HookInput,  # noqa: ARG002
        tool_use_id: str | None,  # noqa: ARG002
        context: HookContext,  # noqa: ARG002
    ) -> HookJSONOutput:
        """A hook: the CLI is about to compact by itself, and would ask before each request."""
        if not self._goes_on:
            match await self._wait(compaction.asked()):
                case a.Allow(input={"instructions": str(wanted)}):
                    return {"systemMessage": wanted} if wanted.strip() else {}
                case a.Deny(stop=True):
                    await self._stop()  # first: after the hook's reply the turn would go on
                case _:
                    pass
            self._goes_on = True
        return {"decision": "block", "reason": "The user decides about it."}

    def turn_ended(self) -> None:
        """What was decided for this turn is past."""
        self._goes_on = False

    async def elicit(self, asked: dict[str, Any]) -> dict[str, Any]:
        """An MCP server asks the user; see `private.ELICITATION`."""
        return elicitation.response(await self._wait(elicitation.request(asked)))

    async def tool_ended(
        self,
        input: HookInput,
        tool_use_id: str | None,
        context: HookContext,  # noqa: ARG002
    ) -> HookJSONOutput:
        """A hook: add the user's note to the result of a tool, if there is one."""
        note = self._notes.pop(tool_use_id or "", "")
        if not note:
            return {}
        event = input["hook_event_name"]
        output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": note}}
        return cast(HookJSONOutput, output)
