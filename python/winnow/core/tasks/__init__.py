"""Work that an agent has started: subagents, and commands that run beside it."""
