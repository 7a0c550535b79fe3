"""What Claude Code can be asked for beside talking: see `ports.Controls`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from claude_agent_sdk import ClaudeSDKClient

from winnow import ports
from winnow.adapters.claude import failures, leftovers, private
from winnow.adapters.claude.process import Process
from winnow.core.usage import context, plan
from winnow.core.usage.context import Context
from winnow.core.usage.plan import Window

T = TypeVar("T")


class Controls:
    """Of one session; implements `ports.Controls`.

    Args:
        of: the client and the process as they are now.
        patience: seconds for a reply.
        error: makes a failure of a sentence and what was raised.
    """

    def __init__(
        self,
        of: Callable[[], tuple[ClaudeSDKClient, Process]],
        patience: float,
        error: Callable[[str, BaseException], ports.AgentError],
    ) -> None:
        self._of = of
        self._patience = patience
        self._error = error

    @property
    def _client(self) -> ClaudeSDKClient:
        return self._of()[0]

    @property
    def _process(self) -> Process:
        return self._of()[1]

    async def context(self) -> Context:
        """See `ports.Controls.context`."""
        # Counting "full" asks the API about each part; this takes 20 ms, and no request.
        asked = self._process.request(private.CONTEXT, detail="summary")
        return context.read(await self._have("tell how full its context is", asked)) or Context()

    async def plan(self) -> list[Window]:
        """See `ports.Controls.plan`."""
        asked = self._process.request(private.USAGE, skip_behaviors=True)
        return plan.read(await self._have("tell what is left of your plan", asked))

    async def stop_task(self, id: str) -> int:
        """See `ports.Controls.stop_task`."""
        await self._have("stop this", self._client.stop_task(id))
        return await leftovers.end(id)

    async def background(self, call: str) -> bool:
        """See `ports.Controls.background`."""
        asking = self._process.request(private.BACKGROUND, tool_use_id=call)
        reply = await self._have("send this to the background", asking)
        return bool(reply.get("backgrounded"))

    async def task_output(self, id: str) -> str:
        """See `ports.Controls.task_output`."""
        asking = self._process.request(private.TASK_OUTPUT, task_id=id)
        reply = await self._have("say what this has said", asking)
        return str(reply.get("output") or "")

    async def _have(self, what: str, reply: Awaitable[T]) -> T:
        """A reply, in time; ``what`` it is for goes after "Claude Code could not"."""
        try:
            return await asyncio.wait_for(reply, self._patience)
        except Exception as error:  # the SDK raises bare ones
            raise self._error(failures.could_not(what, str(error)), error) from error
