"""What a worker's agent is made from."""

from __future__ import annotations

import msgspec

from winnow import ports
from winnow.app import trust
from winnow.core.run.run import Run
from winnow.core.run.task import Task


async def outfit(spec: ports.AgentSpec, of: Task, run: Run, world: ports.World) -> ports.AgentSpec:
    """As the chat's own agent, but for what is wanted of the task, or of all workers of the run."""
    if of.tree and spec.kind != "scripted":
        given = await trust.given_in(world, of.tree.cwd, run.cwd)
        spec = msgspec.structs.replace(spec, given=given)
    usual = run.limits.worker
    left = [money for money in (of.left, run.left) if money is not None]
    return msgspec.structs.replace(
        spec,
        cwd=of.tree.cwd if of.tree else spec.cwd,
        session=of.session,
        model=of.worker.model or usual.model or spec.model,
        mode=of.worker.mode or usual.mode or spec.mode,
        effort=of.worker.effort or usual.effort,
        budget=max(0.01, min(left)) if left else 0.0,
        role="worker",
        about=of.title,
    )
