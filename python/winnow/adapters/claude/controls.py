"""What Claude Code can be asked for beside talking: see `ports.Controls`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from claude_agent_sdk import ClaudeSDKClient

from winnow import ports
from winnow.adapters.claude import carried, failures, leftovers, private, rules, settings_files
from winnow.adapters.claude.patience import within
from winnow.adapters.claude.process import Process
from winnow.core import controls
from winnow.core.context.session import Carried, Command
from winnow.core.controls import Model, Rule, Server
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

    async def models(self) -> list[Model]:
        """See `ports.Controls.models`."""
        info = await self._have("list its models", self._client.get_server_info())
        return controls.models((info or {}).get("models"))

    async def set_model(self, name: str) -> None:
        """See `ports.Controls.set_model`."""
        wanted = None if name == "default" else name
        await self._have("change the model", self._client.set_model(wanted))

    async def set_flag(self, name: str, value: str) -> None:
        """See `ports.Controls.set_flag`."""
        settings: dict[str, object]
        if name == "effort":
            settings = {"effortLevel": None if value == "default" else value}
        else:
            settings = {"fastMode": value == "on"}
        asked = self._process.request(private.FLAGS, settings=settings)
        await self._have("change that", asked)

    async def servers(self) -> list[Server]:
        """See `ports.Controls.servers`."""
        status = await self._have("list its MCP servers", self._client.get_mcp_status())
        return controls.servers(status.get("mcpServers"))

    async def switch(self, server: str, *, on: bool) -> None:
        """See `ports.Controls.switch`."""
        what = f"switch {server} {'on' if on else 'off'}"
        await self._have(what, self._client.toggle_mcp_server(server, on))

    async def rules(self) -> list[Rule]:
        """See `ports.Controls.rules`."""
        reply = await self._have("list its rules", self._process.request(private.LIST_RULES))
        return controls.rules(reply.get("state") or {}, rules.SOURCES)

    async def revoke(self, rules: Sequence[Rule]) -> None:
        """See `ports.Controls.revoke`."""
        try:
            await asyncio.to_thread(lambda: settings_files.revoke(rules))
        except settings_files.NotRevoked as error:
            raise ports.AgentError(str(error)) from error

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

    async def commands(self) -> list[Command]:
        """See `ports.Controls.commands`: it has told them when it started."""
        info = await self._have("say what it has", self._client.get_server_info())
        return carried.commands(info or {})

    async def carried(self) -> Carried:
        """See `ports.Controls.carried`."""
        usage = await self._have("say what it carries", self._client.get_context_usage())
        return carried.carried(usage)

    async def _have(self, what: str, reply: Awaitable[T]) -> T:
        """A reply, in time; ``what`` it is for goes after "Claude Code could not"."""
        try:
            return await within(self._patience, reply)
        except Exception as error:  # the SDK raises bare ones
            raise self._error(failures.could_not(what, str(error)), error) from error
